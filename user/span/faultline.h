/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Spans: a program marks what it is doing, and Faultline reports its I/O by span.
 * A call costs one or two nanoseconds while no tracer listens.
 *
 *	uint64_t step = faultline_span_begin("step", "compute", NULL, 0);
 *	...
 *	faultline_span_end(step);
 *
 * Every function may be called from any thread, after fork, and from a signal handler. None
 * fails, sets errno, allocates memory or takes a lock. Arguments need not outlive the call: the
 * probes copy what the tracer needs.
 *
 * Categories with a meaning of their own: "compute" (I/O can overlap with it) and "io" (I/O as
 * the program sees it). Other names are free to use; "data", "checkpoint" and "comm" are usual.
 */
#ifndef FAULTLINE_H
#define FAULTLINE_H

#include <stddef.h>
#include <stdint.h>

#define FAULTLINE_NAME_BYTES 255    /* longer names are truncated ... */
#define FAULTLINE_CATEGORY_BYTES 63 /* ... and categories, never inside a UTF-8 character */
#define FAULTLINE_ARGS_BYTES 1024   /* longer arguments are dropped as a whole */

#ifndef FAULTLINE_API
#define FAULTLINE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Returns nonzero while a tracer listens; otherwise costly preparations can be skipped. */
FAULTLINE_API int faultline_enabled(void);

/*
 * Begins a span on the calling thread. `name` and `category` are strings; NULL means "".
 * `args` are `args_bytes` bytes of one msgpack map (see struct faultline_args), or NULL.
 * Returns the span's id, unique within the process, or 0 while no tracer listens.
 */
FAULTLINE_API uint64_t faultline_span_begin(const char *name, const char *category,
					    const void *args, size_t args_bytes);

/* Ends the span with this id, which any thread may have begun. Does nothing for id 0. */
FAULTLINE_API void faultline_span_end(uint64_t id);

/*
 * Records a span that has ended, from `start_ns` to `end_ns` in ns of CLOCK_MONOTONIC. Use it for
 * durations known only afterwards; otherwise mark begin and end, which also shows spans of a
 * program that is killed in between. Faultline clamps both times to between the start of the
 * process and now. Other arguments as for faultline_span_begin().
 */
FAULTLINE_API void faultline_span_record(const char *name, const char *category, const void *args,
					 size_t args_bytes, uint64_t start_ns, uint64_t end_ns);

/* Marks a moment. Arguments as for faultline_span_begin(). */
FAULTLINE_API void faultline_instant(const char *name, const char *category, const void *args,
				     size_t args_bytes);

/*
 * Arguments of a span, built key by key:
 *
 *	struct faultline_args args;
 *
 *	faultline_args_init(&args);
 *	faultline_args_int(&args, "step", step);
 *	id = faultline_span_begin("step", "compute", args.bytes, args.used);
 *
 * No call fails: if anything does not fit, all arguments are dropped. `bytes` holds a complete map
 * after each call. Keys and texts are strings; NULL means "".
 */
struct faultline_args {
	size_t used;   /* bytes of the map; above FAULTLINE_ARGS_BYTES if it did not fit */
	size_t _count; /* pairs in the map */
	unsigned char bytes[FAULTLINE_ARGS_BYTES];
};

FAULTLINE_API void faultline_args_init(struct faultline_args *args);
FAULTLINE_API void faultline_args_int(struct faultline_args *args, const char *key, int64_t value);
FAULTLINE_API void faultline_args_uint(struct faultline_args *args, const char *key,
				       uint64_t value);
FAULTLINE_API void faultline_args_double(struct faultline_args *args, const char *key,
					 double value);
FAULTLINE_API void faultline_args_bool(struct faultline_args *args, const char *key, int value);
FAULTLINE_API void faultline_args_text(struct faultline_args *args, const char *key,
				       const char *value);

#ifdef __cplusplus
} /* extern "C" */

namespace faultline
{
/* A span as long as its scope: faultline::span step("step", "compute"); */
class span
{
      public:
	explicit span(const char *name, const char *category = "", const void *args = NULL,
		      size_t args_bytes = 0)
	    : id(faultline_span_begin(name, category, args, args_bytes))
	{
	}
	~span()
	{
		faultline_span_end(id);
	}

      private:
	span(const span &);
	span &operator=(const span &);
	uint64_t id;
};
} /* namespace faultline */
#endif

#endif
