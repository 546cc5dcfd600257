/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about files that are alike in some way: the sums over those that a rule takes, and the
 * one with the most time as their example. Knows nothing of what is wrong with them.
 */
#ifndef FAULTLINE_FINDING_FILES_H
#define FAULTLINE_FINDING_FILES_H

#include "analysis/files.h"
#include "analysis/finding/finding.h"

/* Evidence of such a rule; numbers are sums over all files that it takes. */
struct alike {
	struct table_text path, file; /* of the example */
	uint64_t files, others;	      /* others: without the example; TABLE_NO_UINT for none */
	uint64_t processes;	      /* of the file that most use */
	uint64_t opens, metadata;     /* metadata: calls of that class */
	uint64_t count, bytes, fetched_bytes, created_bytes;
	uint64_t major, minor; /* faults */
	uint64_t size_bytes, size_each;
	uint64_t bytes_each;	      /* of an operation */
	uint64_t fetched_each;	      /* of a major fault */
	uint64_t readahead_bytes;     /* of the example; TABLE_NO_UINT: not known */
	uint64_t again_bytes;	      /* read beyond the size of the file */
	uint64_t direct_bytes;	      /* read with O_DIRECT; TABLE_NO_UINT for none */
	uint64_t storage_bytes;	      /* fetched, and read with O_DIRECT */
	uint64_t copied_bytes;	      /* by stores to private mappings; TABLE_NO_UINT for none */
	uint64_t time_ns, bandwidth;  /* bandwidth: bytes (of faults: fetched) in a second */
	uint64_t advised;	      /* calls of fadvise that fetched nothing; as above */
	uint64_t dropped, random;     /* as advice_of has them; as above */
	uint64_t misadvised;	      /* random, if the files are read in order; as above */
	double consecutive, backward; /* shares of the accesses */
	double fetched_share;	      /* of the bytes, that came from storage */
	double of_run;		      /* of the run, its time that no compute hid */
	uint64_t reopen_ns; /* from opens to the first new read; TABLE_NO_UINT: not asked */
};

#define ALIKE_COLUMNS 32

extern const struct table_column alike_columns[ALIKE_COLUMNS];

#define FINDING_ALIKE                                                                              \
	.evidence = alike_columns, .evidence_count = ALIKE_COLUMNS,                                \
	.evidence_bytes = sizeof(struct alike)

/* What a rule takes, and how it counts. */
struct alike_rule {
	enum use use;	     /* whose count, bytes and time are summed */
	bool with_metadata;  /* ... and the time of metadata calls, too */
	bool with_faults;    /* ... and faults, too: their count, bytes and time */
	enum io_class class; /* that its time is of */
	bool (*takes)(const struct file_view *file);
	/* A count that must reach `least` in each file, or a few if they take much of the run;
	 * NULL: no such count. */
	uint64_t (*counts)(const struct file_view *file);
	enum threshold least;
	/* Whether the sums are enough to speak of; NULL: they are. */
	bool (*speaks)(const struct alike *alike);
	/* Bytes that it costs. */
	uint64_t (*cost_bytes)(const struct alike *alike);
	bool reopens;	 /* it costs what reopens.h has, where that is more */
	bool costs_time; /* else bytes alone */
	bool common;	 /* the example is of the names' most common ending */
	enum finding_confidence confidence;
};

/* A `told_by`: whatever is read one after the other waits as long then, in whatever order. */
extern const struct finding_rule *const alike_held_back[];

/* The `find` of rules with an `alike`: adds the finding when there are such files. The first one
 * looks at all files for all of them: there may be a million. Returns 0 or -ENOMEM. */
int finding_add_alike(struct findings *findings, const struct finding_rule *rule);
/* Backward: of the same thread, faults by 1 MiB and more. */
double alike_backward(const struct file_view *file, unsigned int by);
/* A `cost_bytes`: what storage brought. */
uint64_t alike_fetched(const struct alike *alike);

/* What came from storage by reads and faults. */
static inline uint64_t alike_fetched_to_read(const struct file_view *file)
{
	return file->tallies[USE_READ].fetched_bytes + file->tallies[USE_MMAP].fetched_bytes;
}

/* What devices read for the run of no file that is known; UINT64_MAX where what they read is not
 * known, or not all of it. It goes over all files: rules find it in `elsewhere_bytes`. */
uint64_t alike_elsewhere_bytes(const struct findings *findings);
/* The file of that number, if far more came into it than devices can have read of it, those bytes
 * included: there are holes in it, or no block was read of it for another reason, and nothing of it
 * is from storage. */
void alike_forget_holes(const struct findings *findings, uint32_t number, struct file_view *file);

/* Whether no more than next to nothing of so many bytes that came into memory can have come from
 * storage: devices read nearly nothing, and there is nearly nothing else that it may have come
 * from. Returns 0 or -ENOMEM. */
int finding_find_holes(struct findings *findings, uint64_t fetched_bytes, bool *holes);

/* Programs, libraries, modules, and what the kernel makes up (/proc, /sys): no data of the job. */
bool alike_is_program(const struct file_view *file);

#endif
