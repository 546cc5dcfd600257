/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Converts lists of words to masks. */
#include "capture/support/selection.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"

static const char *const file_types[] = { "reg", "dir", "blk", "chr", "fifo", "sock", "anon" };
#define FILE_TYPE_COUNT (sizeof(file_types) / sizeof(file_types[0]))

static bool is_word(const char *word, size_t length, const char *known)
{
	return strlen(known) == length && !strncmp(word, known, length);
}

static int parse_list(const char *option, const char *list, const char *const *words, size_t count,
		      unsigned int *mask)
{
	const unsigned int usual = *mask;

	if (!list)
		return 0;
	*mask = 0;
	for (const char *word = list;; word++) {
		size_t length = strcspn(word, ","), i;
		struct strbuf known = { .used = 0 };

		for (i = 0; i < count; i++)
			if (is_word(word, length, words[i]))
				break;
		if (i < count) {
			*mask |= 1u << i;
		} else if (is_word(word, length, "all")) {
			*mask = (1u << count) - 1;
		} else if (is_word(word, length, "default")) {
			*mask |= usual;
		} else {
			strbuf_add(&known, "all, default");
			for (i = 0; i < count; i++)
				strbuf_join(&known, ", ", "%s", words[i]);
			log_error("%s %s: unknown '%.*s'; choose from %s", option, list,
				  (int)length, word, known.bytes);
			return -EINVAL;
		}
		word += length;
		if (!*word)
			return 0;
	}
}

int selection_layers(const char *list, unsigned int *mask)
{
	return parse_list("--layers", list, layer_names, LAYER_COUNT, mask);
}

int selection_file_types(const char *list, unsigned int *mask)
{
	*mask = FILE_CLASS_REG | FILE_CLASS_DIR | FILE_CLASS_BLK;
	return parse_list("--file-types", list, file_types, FILE_TYPE_COUNT, mask);
}

/* Returns whether a layer has the variant; if not, `known` receives the names of its variants. */
static bool is_variant(enum layer layer, const char *name, struct strbuf *known)
{
	for (size_t p = 0; p < part_count; p++) {
		if (!parts[p].required || parts[p].layer != layer)
			continue;
		for (size_t v = 0; v < PART_VARIANTS_MAX && parts[p].variants[v].name; v++) {
			if (!strcmp(parts[p].variants[v].name, name))
				return true;
			strbuf_join(known, ", ", "%s", parts[p].variants[v].name);
		}
	}
	return false;
}

bool selection_lists_variants(const char *word)
{
	if (!word || strcmp(word, "list") != 0)
		return false;
	for (size_t p = 0; p < part_count; p++)
		for (size_t v = 0; parts[p].required && v < PART_VARIANTS_MAX; v++)
			if (parts[p].variants[v].name)
				printf("%s=%s\n", layer_names[parts[p].layer],
				       parts[p].variants[v].name);
	return true;
}

int selection_variants(const char *list, struct forced_variants *forced)
{
	memset(forced, 0, sizeof(*forced));
	for (const char *word = list; word && *word; word += *word == ',') {
		size_t length = strcspn(word, "=,"), layer = 0, rest;
		char name[sizeof(forced->names[0])];
		struct strbuf known = { .used = 0 };

		while (layer < LAYER_COUNT && (strlen(layer_names[layer]) != length ||
					       strncmp(word, layer_names[layer], length)))
			layer++;
		rest = strcspn(word, ",");
		snprintf(name, sizeof(name), "%.*s",
			 word[length] == '=' ? (int)(rest - length - 1) : 0, word + length + 1);
		if (layer == LAYER_COUNT || !is_variant(layer, name, &known)) {
			log_error("--force-variant %s: '%.*s' is not a known LAYER=VARIANT%s%s",
				  list, (int)rest, word, known.used ? "; variants: " : "",
				  known.bytes);
			return -EINVAL;
		}
		memcpy(forced->names[layer], name, sizeof(name));
		word += rest;
	}
	return 0;
}
