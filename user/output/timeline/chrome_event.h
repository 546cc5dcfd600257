/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the parts of Trace Event Format events. Private to that export. */
#ifndef FAULTLINE_CHROME_EVENT_H
#define FAULTLINE_CHROME_EVENT_H

#include <stdbool.h>

#include "output/base/sink.h"
#include "trace/read/reader.h"

/* Ids as written: shifted if an earlier process had the same pid. */
struct chrome_place {
	uint64_t pid, tid;
};

static inline struct trace_string chrome_text(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}

/* Writes the members common to all events except the time, without a leading comma. Omits an empty
 * category. The caller adds further members and "}". */
void chrome_open(struct sink *out, struct trace_string name, struct trace_string category,
		 char phase, struct chrome_place place);
/* Writes a member that is a time or a duration. */
void chrome_time(struct sink *out, const char *name, uint64_t ns);

/* "args" under construction. */
struct chrome_args {
	struct sink *out;
	bool any; /* it has a member */
};

struct chrome_args chrome_args_begin(struct sink *out);
void chrome_args_end(struct chrome_args *args);

/* Writes bytes that are not UTF-8 as \xHH, and all bytes in an additional member NAME_hex. */
void chrome_add_text(struct chrome_args *args, const char *name, struct trace_string text);
void chrome_add_uint(struct chrome_args *args, const char *name, uint64_t value);
void chrome_add_int(struct chrome_args *args, const char *name, int64_t value);
/* A constant string, or true. */
void chrome_add_word(struct chrome_args *args, const char *name, const char *word);
void chrome_add_true(struct chrome_args *args, const char *name);
/* Writes the names of the set flags as a list, if there are any. */
void chrome_add_flags(struct chrome_args *args, enum trace_kind kind, uint64_t flags);

/* The part of the traces to write, on the job's clock. */
struct chrome_window {
	uint64_t base_ns; /* origin of all times */
	uint64_t from_ns, until_ns;
};

/* An event with a duration, cut to the window. */
struct chrome_slice {
	struct trace_string name, category;
	struct chrome_place place;
	uint64_t start_ns, end_ns; /* relative to the window's base */
	const char *cut;	   /* truncated end: "start", "end", "both"; or NULL */
	uint64_t async;		   /* 0: nests on its thread; else a unique id */
};

/* Sets the times and `cut`. Returns false if the slice is outside the window. */
bool chrome_slice_cut(struct chrome_slice *slice, const struct chrome_window *window,
		      uint64_t start_ns, uint64_t end_ns);
/* Writes the slice, with a leading comma; the caller adds args in between. */
struct chrome_args chrome_slice_begin(struct sink *out, const struct chrome_slice *slice);
void chrome_slice_end(struct chrome_args *args, const struct chrome_slice *slice);

#endif
