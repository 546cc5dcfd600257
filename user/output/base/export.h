/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Formats of `faultline export`. A new one is a row of EXPORT_FORMATS and a struct export_format.
 */
#pragma once

#include "analysis/order/filter.h"
#include "output/base/sink.h"
#include "trace/read/reader.h"

/* Every format, in the order in which users see them; `export_NAME` describes it. */
#define EXPORT_FORMATS(FIRST, FORMAT)                                                              \
	FIRST(chrome)                                                                              \
	FORMAT(csv)                                                                                \
	FORMAT(jsonl)                                                                              \
	FORMAT(sqlite)                                                                             \
	FORMAT(pfw)                                                                                \
	FORMAT(perfetto)                                                                           \
	FORMAT(speedscope)                                                                         \
	FORMAT(collapsed)                                                                          \
	FORMAT(pprof)

struct export_format;
struct relation_options;
struct table_format;
struct timeline_encoder;

struct export_options {
	const struct filter *filter; /* NULL: all events */
	/* Called periodically with the fraction done, 0 to 1; may be NULL. */
	void (*progress)(void *context, double done);
	void *context;
};

/*
 * Writes traces, as one job, in a single-stream format. Returns 0, the sink's error, -ENOMEM, or
 * the error of a trace or a filter, which `error` describes.
 */
typedef int export_stream(const struct export_format *format, struct sink *out,
			  struct trace_reader *const *traces, const char *const *names,
			  size_t trace_count, const struct export_options *options,
			  struct trace_error *error);

/* One of `stream`, `tables` and `file`; one of `about` and `describe`. */
struct export_format {
	const char *name;
	export_stream *stream;
	const struct timeline_encoder *timeline; /* if `stream` is timeline_export */
	const struct table_format *tables;	 /* a file per table; --table selects one */
	/* Fills an empty file, which is unusable after an error. Returns 0, an error of
	 * relations_write, or -errno; `error` describes it. */
	int (*file)(const char *path, struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, const struct relation_options *options,
		    struct trace_error *error);
	/* What the format contains, for people: in its own words, or as derived from an empty
	 * trace. Keeps to 80 columns. */
	const char *about;
	bool stacks;	 /* is empty without samples of stacks */
	bool compressed; /* is always written through gzip */
	int (*describe)(struct sink *out, struct trace_reader *nothing, struct trace_error *error);
};

#define EXPORT_DECLARATION(name) extern const struct export_format export_##name;
EXPORT_FORMATS(EXPORT_DECLARATION, EXPORT_DECLARATION)

#define EXPORT_FIRST_NAME(name) #name
#define EXPORT_NAME(name) ", " #name
/* "chrome, csv, ..." */
#define EXPORT_NAMES EXPORT_FORMATS(EXPORT_FIRST_NAME, EXPORT_NAME)

/* The elements of an array of const struct export_format *. */
#define EXPORT_ADDRESS(name) &export_##name,
#define EXPORT_ADDRESSES EXPORT_FORMATS(EXPORT_ADDRESS, EXPORT_ADDRESS)
