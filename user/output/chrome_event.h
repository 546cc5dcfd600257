/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The pieces that events of the Trace Event Format are made of. Knows nothing of traces. Private to
 * the export to it.
 */
#ifndef FAULTLINE_CHROME_EVENT_H
#define FAULTLINE_CHROME_EVENT_H

#include <stdbool.h>

#include "output/sink.h"
#include "trace/reader.h"

/* As they are written, moved where a number was used before. */
struct chrome_place {
	uint64_t pid, tid;
};

static inline struct trace_string chrome_text(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}

/* Writes all that every event has but its time, without a comma in front. An empty category is left
 * out. What follows are members, then "}". */
void chrome_open(struct sink *out, struct trace_string name, struct trace_string category,
		 char phase, struct chrome_place place);
/* A member that is a time or a duration. */
void chrome_time(struct sink *out, const char *name, uint64_t ns);

/* "args" while it is written. */
struct chrome_args {
	struct sink *out;
	bool any; /* it has a member */
};

struct chrome_args chrome_args_begin(struct sink *out);
void chrome_args_end(struct chrome_args *args);

/* Bytes that are not UTF-8 show as \xHH, and a member NAME_hex holds all of them. */
void chrome_add_text(struct chrome_args *args, const char *name, struct trace_string text);
void chrome_add_uint(struct chrome_args *args, const char *name, uint64_t value);
void chrome_add_int(struct chrome_args *args, const char *name, int64_t value);
/* A word of the program's own, or true. */
void chrome_add_word(struct chrome_args *args, const char *name, const char *word);
void chrome_add_true(struct chrome_args *args, const char *name);
/* The names of the flags that are set, as a list, if there are any. */
void chrome_add_flags(struct chrome_args *args, enum trace_kind kind, uint64_t flags);

/* A time of the trace that is written, on the job's clock. */
struct chrome_window {
	uint64_t base_ns; /* what times are relative to */
	uint64_t from_ns, until_ns;
};

/* What lasts, as it is drawn: within the window. */
struct chrome_slice {
	struct trace_string name, category;
	struct chrome_place place;
	uint64_t start_ns, end_ns; /* relative to the window's base */
	const char *cut; /* which end is not the real one: "start", "end", "both"; or NULL */
	uint64_t async;	 /* 0: nests on its thread; else its number, like no other */
};

/* Sets times and `cut`. False for what is not in the window. */
bool chrome_slice_cut(struct chrome_slice *slice, const struct chrome_window *window,
		      uint64_t start_ns, uint64_t end_ns);
/* Writes it, with a comma in front, but for its args, which come in between. */
struct chrome_args chrome_slice_begin(struct sink *out, const struct chrome_slice *slice);
void chrome_slice_end(struct chrome_args *args, const struct chrome_slice *slice);

#endif
