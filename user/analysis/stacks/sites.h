/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The line of a stack that a report names: that of the application's innermost frame, and next to
 * it that of the library it called.
 */
#ifndef FAULTLINE_SITES_H
#define FAULTLINE_SITES_H

#include "analysis/job/job.h"
#include "analysis/table/table.h"

#define LOCATION_BYTES 512   /* longer ones are cut */
#define SITE_NONE UINT32_MAX /* a stack without a known frame */

/* Texts are hostile, and in the arena. */
struct site {
	struct table_text file, function;
	struct table_text library; /* "torch/utils.py:7"; none: the innermost is the site */
	const char *reason;	   /* why the application's frame is unknown; NULL: it is known */
	uint64_t line;		   /* 0: unknown */
	uint32_t plain;		   /* the site with the same line and no library */
	size_t shown;		   /* where the part of `file` begins that sites_show chose */
};

struct sites {
	const struct job *job;
	struct arena *arena;
	struct site *all;
	size_t count, room;
	struct map numbers; /* hashes of the texts and lines -> index in `all` */
	struct map stacks;  /* trace and id of a stack -> the same, or SITE_NONE */
	struct map texts;   /* hash and length -> a copy */
};

void sites_init(struct sites *sites, struct arena *arena, const struct job *job);
/* Returns the index in `all` for a stack of a trace, the same for all stacks with these lines; or
 * SITE_NONE, also after an error of the arena. `cut`: outer frames are missing. */
uint32_t sites_find(struct sites *sites, uint32_t trace, uint64_t stack, bool cut);
/* Sets `shown` of all sites: a file is shown by its name, with as many directories as it takes to
 * tell it from others. */
void sites_show(struct sites *sites);

/* Returns a file's path without its directories. */
struct table_text site_base_name(struct table_text file);
/* Writes where the stack of a trace is, as site_locate does. Returns the length; 0: unknown. */
size_t site_locate_stack(char text[LOCATION_BYTES], const struct job *job, uint32_t trace,
			 uint64_t stack);

/* Writes "loader.py:42 in TokenDataset.__getitem__"; "<module> in train.py" if the line is 0.
 * Returns the length. */
size_t site_locate(char text[LOCATION_BYTES], struct table_text file, uint64_t line,
		   struct table_text function);

#endif
