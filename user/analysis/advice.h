/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What programs advised the kernel on files, for those who draw conclusions from it.
 */
#ifndef FAULTLINE_ADVICE_H
#define FAULTLINE_ADVICE_H

#include "analysis/measured.h"
#include "analysis/base/map.h"

/* Of one file; zeros where nothing was advised, or is not known. */
struct advice_view {
	/* Calls of fadvise that dropped what memory held, after which some of the file came into it
	 * again, and the bytes that they named; of reports that were made one all that dropped. */
	uint64_t dropped, dropped_bytes;
	uint64_t random; /* calls of madvise that said that access is at random */
};

/* To be asked for many files: there may be a million. */
struct advice_index {
	const struct advice *advice; /* of a job */
	struct map by_path;	     /* of reports that were made one: hash -> struct advice_view */
};

/* Returns 0 or -ENOMEM; to be freed after an error, too. The measured must outlive it. */
int advice_index_make(struct advice_index *index, const struct measured *measured);
void advice_index_free(struct advice_index *index);
/* `file`: its number, as of files_used. `path` is that of its row, where reports were made one. */
struct advice_view advice_of(const struct advice_index *index, uint32_t file,
			     struct table_text path);

#endif
