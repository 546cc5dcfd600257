/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What operations count as that the kernel side has summed up, by the model that reports have of
 * them. Knows nothing of where the sums come from.
 */
#ifndef FAULTLINE_MONITOR_CLASSES_H
#define FAULTLINE_MONITOR_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/sums.h"
#include "trace/header.h"

struct classes;

struct class
{
	enum {
		CLASS_NONE, /* no I/O */
		CLASS_IO,
		CLASS_THROTTLED, /* sleeps of writers */
		CLASS_ASIDE,	 /* bytes that came into the page cache on nobody's account */
	} what;
	enum ledger_op op;
	enum io_method method;
	bool counted;  /* they are operations of that kind, not only time or bytes of it */
	bool timed;    /* how long they took is known */
	bool transfer; /* from a file to a second one */
};

/* The operations stay the caller's. NULL without memory. */
struct classes *classes_open(const struct trace_operation *operations, size_t count);
void classes_close(struct classes *classes); /* NULL is fine */

/* Of operation number `op`, under some TRACE_PROFILE_*. */
struct class classes_of(const struct classes *classes, unsigned int op, uint32_t flags);

#endif
