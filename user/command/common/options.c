/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses options described by tables. */
#include "command/common/options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/common/command.h"
#include "command/common/suggest.h"
#include "command/common/traces.h"
#include "base/log.h"
#include "output/text/wrap.h"
#include "output/base/style.h"
#include "base/units.h"
#include "base/strbuf.h"

#define MAX_OPTIONS 48
#define HELP_COLUMN 31 /* where descriptions begin */
#define FIRST_LONG 256 /* getopt_long's value of row i is FIRST_LONG + i */

static const struct option_row everywhere[] = {
	{ 'q', "quiet", NULL, OPTION_FLAG, 0, "Print only errors on stderr." },
	{ 'v', "verbose", NULL, OPTION_FLAG, 0, "Print more on stderr." },
	{ 'h', "help", NULL, OPTION_FLAG, 0, "Print this help." },
};
static const struct option_rows common_rows = OPTION_ROWS(everywhere);

static void print_row(struct sink *out, const struct option_row *row, size_t width)
{
	struct strbuf line = { .used = 0 };

	strbuf_add(&line, row->short_name ? "  -%c, " : "      ", row->short_name);
	strbuf_add(&line, row->value ? "--%s %s" : "--%s", row->long_name, row->value);
	if (line.used > HELP_COLUMN - 2) {
		sink_format(out, "%s\n", line.bytes);
		line.used = 0;
	}
	strbuf_add(&line, "%*s%s", HELP_COLUMN - (int)line.used, "", row->help);
	wrap_indented(out, line.bytes, width, HELP_COLUMN);
}

/* An option, and where its value goes. */
struct option_at {
	const struct option_row *row;
	void *field;
};

struct option_list {
	struct option_at items[MAX_OPTIONS];
	size_t count;
};

static void list_rows(struct option_list *list, const struct option_rows *rows, char *target)
{
	for (size_t i = 0; i < rows->count && list->count < MAX_OPTIONS; i++)
		list->items[list->count++] =
			(struct option_at) { &rows->rows[i], target + rows->rows[i].offset };
}

/* Lists the command's own options, then those it shares with others. */
static void list_options(struct option_list *list, const struct option_table *table, char *target)
{
	const struct option_shared *shared = table->shared;

	list_rows(list, &table->own, target);
	for (size_t i = 0; i < OPTION_SHARED_MAX && shared[i].rows; i++)
		list_rows(list, shared[i].rows, target + shared[i].offset);
	list_rows(list, &common_rows, target);
}

/* Writes one paragraph for each line of `about`. */
static void print_about(struct sink *out, const char *about, size_t width)
{
	while (*about) {
		struct strbuf paragraph = { .used = 0 };
		size_t length = strcspn(about, "\n");

		strbuf_add(&paragraph, "%.*s", (int)length, about);
		wrap_text(out, paragraph.bytes, width);
		about += length + (about[length] == '\n');
	}
}

/* Returns the exit status. */
static int print_help(const struct option_table *table, const struct option_list *list)
{
	size_t width = style_width(STDOUT_FILENO);
	struct strbuf usage = { .used = 0 };
	struct sink out;
	int err = sink_open(&out, STDOUT_FILENO);

	if (err)
		return output_failed(err);
	strbuf_add(&usage, "Usage: %s", table->usage);
	wrap_indented(&out, usage.bytes, width, strlen("Usage: "));
	sink_char(&out, '\n');
	print_about(&out, table->about, width);
	sink_text(&out, "\nOptions:\n");
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].row->help)
			print_row(&out, list->items[i].row, width);
	err = sink_flush(&out);
	sink_close(&out);
	return err ? output_failed(err) : 0;
}

static bool is_choice(const char *words, const char *text)
{
	size_t length = strlen(text);

	for (const char *word = words; word; word = strchr(word, '|')) {
		word += *word == '|';
		if (length && !strncmp(word, text, length) &&
		    (word[length] == '|' || !word[length]))
			return true;
	}
	return false;
}

static char *number_text(char text[UNITS_TEXT], enum option_type type, uint64_t number)
{
	return type == OPTION_TIME    ? units_ns(text, number)
	       : type == OPTION_BYTES ? units_bytes(text, number)
				      : units_count(text, number);
}

/* A number of bytes without a unit is a mistake if it is too small, but valid in MiB. */
static bool lacks_unit(const struct option_row *row, const char *text, uint64_t given)
{
	return row->type == OPTION_BYTES && given < row->min && given && given << 20 >= row->min &&
	       strspn(text, "0123456789") == strlen(text);
}

static int check_range(const struct option_row *row, const char *text, uint64_t given)
{
	char min[UNITS_TEXT], max[UNITS_TEXT];

	if (!row->max || (given >= row->min && given <= row->max))
		return OPTIONS_GO;
	number_text(min, row->type, row->min);
	number_text(max, row->type, row->max);
	if (lacks_unit(row, text, given))
		log_error("--%s %s: must be at least %s; %sM is %s MiB", row->long_name, text, min,
			  text, text);
	else if (row->max == UINT64_MAX)
		log_error("--%s: must be at least %s", row->long_name, min);
	else
		log_error("--%s: must be between %s and %s", row->long_name, min, max);
	return EXIT_USAGE;
}

static int set_value(const struct option_row *row, const char *text, void *field)
{
	struct option_texts *texts = field;

	switch (row->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return OPTIONS_GO;
	case OPTION_CHOICE:
		if (!is_choice(row->value, text)) {
			log_error("--%s %s: not one of %s", row->long_name, text, row->value);
			return EXIT_USAGE;
		}
		/* fall through */
	case OPTION_STRING:
		*(const char **)field = text;
		return OPTIONS_GO;
	case OPTION_TEXTS:
		if (texts->count == OPTION_TEXTS_MAX) {
			log_error("--%s %s: given more than %d times", row->long_name, text,
				  OPTION_TEXTS_MAX);
			return EXIT_USAGE;
		}
		texts->items[texts->count++] = text;
		return OPTIONS_GO;
	case OPTION_TIME:
		if (units_read_time(text, field))
			return check_range(row, text, *(uint64_t *)field);
		log_error("--%s %s: not a time, such as 1.5 (seconds), 250ms or 10us",
			  row->long_name, text);
		return EXIT_USAGE;
	case OPTION_COUNT:
	case OPTION_BYTES:
		if (units_read_number(text, row->type == OPTION_BYTES, field))
			return check_range(row, text, *(uint64_t *)field);
		log_error("--%s %s: not a number%s", row->long_name, text,
			  row->type == OPTION_BYTES ? " of bytes, such as 4096, 512K or 8M" : "");
		return EXIT_USAGE;
	}
	return EXIT_USAGE;
}

/* Options of other programs. */
static const struct {
	const char *theirs, *ours;
} known_elsewhere[] = {
	{ "json", "format json" }, { "text", "format text" }, { "out", "output" },
	{ "since", "from" },	   { "overwrite", "force" },  { "sort-by", "sort" },
	{ "group-by", "by" },	   { "compare", "against" },
};

static bool has_option(const struct option_list *list, const char *name)
{
	size_t length = strcspn(name, " ");

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].row->help && strlen(list->items[i].row->long_name) == length &&
		    !strncmp(list->items[i].row->long_name, name, length))
			return true;
	return false;
}

/* Returns our option for one that other programs call `theirs`; NULL: none. */
static const char *ours_for(const struct option_list *list, const char *theirs)
{
	for (size_t i = 0; i < sizeof(known_elsewhere) / sizeof(known_elsewhere[0]); i++)
		if (!strcmp(theirs, known_elsewhere[i].theirs) &&
		    has_option(list, known_elsewhere[i].ours))
			return known_elsewhere[i].ours;
	return NULL;
}

/* Returns whether a word is an option of other programs that abbreviates one of ours: "--json" must
 * not print the JSON Schema. */
static bool is_of_others(const struct option_list *list, const char *word)
{
	return !strncmp(word, "--", 2) && ours_for(list, word + 2) && !has_option(list, word + 2);
}

/* Returns the option that an unknown name was probably meant to be; NULL: no guess. */
static const char *guess_option(const struct option_list *list, const char *name)
{
	struct suggestion suggestion = { .word = name, .best = ours_for(list, name) };

	if (suggestion.best)
		return suggestion.best;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].row->help)
			suggest_consider(&suggestion, list->items[i].row->long_name);
	return suggestion.best;
}

/* Returns the exit status. */
static int refuse_unknown(const struct option_list *list, const char *word, const char *command)
{
	char name[32] = "";
	const char *meant;

	if (!strncmp(word, "--", 2))
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	meant = guess_option(list, name);
	if (meant)
		log_error("%s: unknown option; did you mean --%s? See 'faultline %s --help'", word,
			  meant, command);
	else
		log_error("%s: unknown option; try 'faultline %s --help'", word, command);
	return EXIT_USAGE;
}

/* The options for getopt_long(), all zeros. */
struct getopt_options {
	struct option longs[MAX_OPTIONS + 1];
	char shorts[2 * MAX_OPTIONS + 4];
};

static void fill_getopt(struct getopt_options *options, const struct option_list *list,
			bool command_follows)
{
	size_t n;

	/* '+' stops at the first operand, ':' distinguishes a missing value from an unknown
	 * option. */
	strcpy(options->shorts, command_follows ? "+:" : ":");
	n = strlen(options->shorts);
	for (size_t i = 0; i < list->count; i++) {
		const struct option_row *row = list->items[i].row;

		options->longs[i] = (struct option) { row->long_name,
						      row->value ? required_argument : no_argument,
						      NULL, FIRST_LONG + (int)i };
		if (row->short_name) {
			options->shorts[n++] = row->short_name;
			if (row->value)
				options->shorts[n++] = ':';
		}
	}
}

/* Returns the option for a result of getopt_long(), or NULL. */
static const struct option_at *option_of(const struct option_list *list, int c)
{
	for (size_t i = 0; i < list->count; i++)
		if (c == FIRST_LONG + (int)i || c == list->items[i].row->short_name)
			return &list->items[i];
	return NULL;
}

int options_parse(const struct option_table *table, int argc, char **argv, void *target, int *first)
{
	struct getopt_options options = { 0 };
	struct option_list list = { .count = 0 };
	int c, status;

	list_options(&list, table, target);
	fill_getopt(&options, &list, table->command_follows);
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, options.shorts, options.longs, NULL)) != -1) {
		const struct option_at *option;

		if (c == ':') {
			log_error("%s: requires a value; try 'faultline %s --help'",
				  argv[optind - 1], argv[0]);
			return EXIT_USAGE;
		}
		if (c == '?' || (c >= FIRST_LONG && is_of_others(&list, argv[optind - 1])))
			return refuse_unknown(&list, argv[optind - 1], argv[0]);
		option = option_of(&list, c);
		if (!option)
			return EXIT_USAGE;
		switch (option->row->short_name) {
		case 'h':
			return print_help(table, &list);
		case 'q':
			log_set_level(LOG_ERROR);
			continue;
		case 'v':
			log_set_level(LOG_DEBUG);
			continue;
		}
		status = set_value(option->row, optarg, option->field);
		if (status != OPTIONS_GO)
			return status;
	}
	if (first) {
		*first = optind;
	} else if (optind < argc) {
		log_error("%s: %s takes no arguments; try 'faultline %s --help'", argv[optind],
			  argv[0], argv[0]);
		return EXIT_USAGE;
	}
	return OPTIONS_GO;
}
