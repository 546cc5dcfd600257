/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lists of words to masks.
 */
#include "capture/selection.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "capture/probes.h"
#include "log.h"

static const char *const file_types[] = { "reg", "dir", "blk", "chr", "fifo", "sock", "anon" };
#define FILE_TYPE_COUNT (sizeof(file_types) / sizeof(file_types[0]))

static int parse_list(const char *option, const char *list, const char *const *words, size_t count,
		      unsigned int *mask)
{
	*mask = 0;
	for (const char *word = list;; word++) {
		size_t length = strcspn(word, ","), i;
		char known[128] = "all";

		for (i = 0; i < count; i++)
			if (strlen(words[i]) == length && !strncmp(word, words[i], length))
				break;
		if (i < count) {
			*mask |= 1u << i;
		} else if (length == 3 && !strncmp(word, "all", 3)) {
			*mask = (1u << count) - 1;
		} else {
			for (i = 0; i < count; i++)
				snprintf(known + strlen(known), sizeof(known) - strlen(known),
					 ", %s", words[i]);
			log_error("%s %s: '%.*s' is not known; known are %s", option, list,
				  (int)length, word, known);
			return -EINVAL;
		}
		word += length;
		if (!*word)
			return 0;
	}
}

int selection_layers(const char *list, unsigned int *mask)
{
	return parse_list("--layers", list ? list : "all", layer_names, LAYER_COUNT, mask);
}

int selection_file_types(const char *list, unsigned int *mask)
{
	return parse_list("--file-types", list ? list : "reg,dir,blk", file_types, FILE_TYPE_COUNT,
			  mask);
}
