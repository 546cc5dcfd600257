/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Options as tables: parsing, --help, -q and -v from one description. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
	OPTION_FLAG,   /* no value; sets a bool */
	OPTION_STRING, /* const char *, points into argv */
	OPTION_COUNT,  /* uint64_t, a plain number */
	OPTION_BYTES,  /* uint64_t, a number with an optional K, M or G (powers of 1024) */
	OPTION_TIME,   /* uint64_t, ns: seconds, or a number with ns, us, ms, s, m or h */
	OPTION_TEXTS,  /* struct option_texts: may be given several times */
	OPTION_CHOICE, /* const char *, one of the words in `value` separated by "|" */
};

#define OPTION_TEXTS_MAX 8

struct option_texts {
	const char *items[OPTION_TEXTS_MAX]; /* point into argv */
	size_t count;
};

struct option_row {
	char short_name; /* 0 for none */
	const char *long_name;
	const char *value; /* name of the value in --help; for OPTION_CHOICE the words */
	enum option_type type;
	size_t offset;	   /* of the field in the caller's struct */
	const char *help;  /* NULL: the option is undocumented */
	uint64_t min, max; /* range of a number; most 0: any */
};

struct option_rows {
	const struct option_row *rows;
	size_t count;
};

#define OPTION_ROWS(array)                                                                         \
	{                                                                                          \
		array, sizeof(array) / sizeof((array)[0])                                          \
	}
#define OPTION_SHARED_MAX 3

struct option_table {
	const char *usage; /* "faultline report [OPTION...] TRACE..." */
	const char *about; /* a sentence or two for --help; more lines are fine */
	struct option_rows own;
	/* Shared with other commands; `offset` is that of their struct in the caller's. */
	struct option_shared {
		const struct option_rows *rows;
		size_t offset;
	} shared[OPTION_SHARED_MAX];
	bool command_follows; /* options end at the first operand: the rest is not ours */
};

#define OPTIONS_GO (-1) /* parsed: continue */

/*
 * Parses argv[1..] into `target`; parsing stops at "--". Operands may come between options, and are
 * moved behind them unless a command follows. -h/--help, -q/--quiet and -v/--verbose are always
 * accepted. `first` receives the index of the first operand; NULL: no operands are allowed. Returns
 * OPTIONS_GO, or an exit status: 0 after --help, EXIT_USAGE after a line on stderr.
 */
int options_parse(const struct option_table *table, int argc, char **argv, void *target,
		  int *first);
