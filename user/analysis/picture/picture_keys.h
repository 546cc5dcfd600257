/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The subjects of series, maps, lanes and spans of pictures: a key and a number. One row for each
 * key says how many are kept, which matter most, and how one is named.
 */
#pragma once

#include "analysis/shared/results.h"
#include "collections/arena.h"
#include "base/units.h"

enum picture_key {
	PICTURE_BY_PART,      /* number: enum picture_part */
	PICTURE_BY_OPERATION, /* number in the job's operations */
	PICTURE_BY_FILE,      /* ... files */
	PICTURE_BY_PROCESS,   /* ... processes */
	PICTURE_BY_RANK,      /* the rank itself */
	PICTURE_BY_SPAN,      /* ... labels */
	PICTURE_BY_DEVICE,    /* (host << 32 | device number) */
	PICTURE_BY_ROWS,      /* + a table of picture_tables: the row, or what represents one */
	PICTURE_TABLES = 7,
	PICTURE_KEYS = PICTURE_BY_ROWS + PICTURE_TABLES,
};

#define PICTURE_DEVICES 12 /* those with the most time of requests */

/* Unset texts are NULL and numbers 0. */
struct picture_name {
	struct table_text text; /* operation, path, comm, name of a span or device */
	struct table_text more; /* layer, category */
	uint32_t pid;
	uint64_t ino, start_ns; /* start_ns: since the start of the run */
	int64_t rank;		/* -1: none */
	const char *host;	/* of a file, process or device */
	char dev[UNITS_TEXT];
	uint32_t instance; /* of the device; 0: unknown */
};

struct picture_key_rule {
	size_t max; /* kept individually */
	/* Number and weight of the keys, if the heaviest are kept; NULL: chosen otherwise. */
	size_t (*count)(const struct results *results);
	uint64_t (*weigh)(const struct results *results, uint32_t number);
	/* Texts are added to the arena. Returns 0 or -ENOMEM. NULL: the page knows the names. */
	int (*name)(struct arena *arena, struct picture_name *name, const struct results *results,
		    uint64_t number);
};

extern const struct picture_key_rule picture_keys[PICTURE_KEYS];
