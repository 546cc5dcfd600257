/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Options as tables. Knows nothing of what the options mean.
 */
#include "command/options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "log.h"
#include "units.h"

#define MAX_OPTIONS 48
#define FIRST_LONG 256 /* getopt_long's value of row i is FIRST_LONG + i */

static const struct option_row common_rows[] = {
	{ 'q', "quiet", NULL, OPTION_FLAG, 0, "Say nothing but errors on stderr." },
	{ 'v', "verbose", NULL, OPTION_FLAG, 0, "Say more on stderr." },
	{ 'h', "help", NULL, OPTION_FLAG, 0, "Print this help." },
};
#define COMMON_COUNT (sizeof(common_rows) / sizeof(common_rows[0]))

static void print_row(const struct option_row *row)
{
	char left[96];
	int n = snprintf(left, sizeof(left), row->short_name ? "  -%c, " : "      ",
			 row->short_name);

	n += snprintf(left + n, sizeof(left) - n, "--%s", row->long_name);
	if (row->value)
		snprintf(left + n, sizeof(left) - n, " %s", row->value);
	if (strlen(left) > 29)
		printf("%s\n%-31s%s\n", left, "", row->help);
	else
		printf("%-30s %s\n", left, row->help);
}

static void print_help(const struct option_table *table)
{
	printf("Usage: %s\n\n%s\n\nOptions:\n", table->usage, table->about);
	for (size_t i = 0; i < table->row_count; i++)
		if (table->rows[i].help)
			print_row(&table->rows[i]);
	for (size_t i = 0; i < COMMON_COUNT; i++)
		print_row(&common_rows[i]);
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

static int set_value(const struct option_row *row, const char *text, void *target)
{
	void *field = (char *)target + row->offset;

	switch (row->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return OPTIONS_GO;
	case OPTION_STRING:
		*(const char **)field = text;
		return OPTIONS_GO;
	case OPTION_CHOICE:
		if (!is_choice(row->value, text)) {
			log_error("--%s %s: not one of %s", row->long_name, text, row->value);
			return EXIT_USAGE;
		}
		*(const char **)field = text;
		return OPTIONS_GO;
	case OPTION_TIME:
		if (!units_read_time(text, field)) {
			log_error("--%s %s: not a time (such as 1.5 for seconds, 250ms, 10us)",
				  row->long_name, text);
			return EXIT_USAGE;
		}
		return OPTIONS_GO;
	case OPTION_TEXTS: {
		struct option_texts *texts = field;

		if (texts->count == OPTION_TEXTS_MOST) {
			log_error("--%s %s: given more than %d times", row->long_name, text,
				  OPTION_TEXTS_MOST);
			return EXIT_USAGE;
		}
		texts->items[texts->count++] = text;
		return OPTIONS_GO;
	}
	case OPTION_COUNT:
	case OPTION_BYTES:
		if (!units_read_number(text, row->type == OPTION_BYTES, field)) {
			log_error("--%s %s: not a number%s", row->long_name, text,
				  row->type == OPTION_BYTES ? " of bytes (such as 4096, 512K, 8M)"
							    : "");
			return EXIT_USAGE;
		}
		return OPTIONS_GO;
	}
	return EXIT_USAGE;
}

int options_parse(const struct option_table *table, int argc, char **argv, void *target, int *first)
{
	struct option longs[MAX_OPTIONS + 1] = { 0 };
	char shorts[2 * MAX_OPTIONS + 4] = "";
	const struct option_row *rows[MAX_OPTIONS];
	size_t count = 0;
	int c, status;

	/* '+' stops at the first operand, ':' tells a missing value from an unknown option. */
	strcpy(shorts, table->command_follows ? "+:" : ":");
	for (size_t i = 0; i < table->row_count + COMMON_COUNT && count < MAX_OPTIONS;
	     i++, count++) {
		const struct option_row *row =
			i < table->row_count ? &table->rows[i] : &common_rows[i - table->row_count];
		size_t n = strlen(shorts);

		rows[count] = row;
		longs[count] = (struct option) { row->long_name,
						 row->value ? required_argument : no_argument, NULL,
						 FIRST_LONG + (int)count };
		if (row->short_name) {
			shorts[n++] = row->short_name;
			if (row->value)
				shorts[n++] = ':';
		}
	}
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row = NULL;

		if (c == '?' || c == ':') {
			log_error("%s: %s; try 'faultline %s --help'", argv[optind - 1],
				  c == ':' ? "needs a value" : "unknown option", argv[0]);
			return EXIT_USAGE;
		}
		for (size_t i = 0; i < count && !row; i++)
			if (c == FIRST_LONG + (int)i || c == rows[i]->short_name)
				row = rows[i];
		if (row == NULL)
			return EXIT_USAGE;
		switch (row->short_name) {
		case 'h':
			print_help(table);
			return 0;
		case 'q':
			log_set_level(LOG_ERROR);
			continue;
		case 'v':
			log_set_level(LOG_DEBUG);
			continue;
		}
		status = set_value(row, optarg, target);
		if (status != OPTIONS_GO)
			return status;
	}
	*first = optind;
	return OPTIONS_GO;
}
