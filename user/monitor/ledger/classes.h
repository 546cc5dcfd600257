/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps operations summed in the kernel to classes of the ledger, using the reports' model. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/ledger/sums.h"
#include "trace/format/header.h"

struct classes;

struct class
{
	enum {
		CLASS_NONE, /* no I/O */
		CLASS_IO,
		CLASS_THROTTLED, /* sleeps of throttled writers */
		CLASS_FILL,	 /* unattributed page-cache fills */
	} what;
	enum ledger_op op;
	enum io_method method;
	bool counted;  /* counts as operations, not only as their time or bytes */
	bool timed;    /* durations are known */
	bool transfer; /* from one file to another */
};

/* The caller keeps owning `operations`. Returns NULL if out of memory. */
struct classes *classes_open(const struct trace_operation *operations, size_t count);
void classes_close(struct classes *classes); /* NULL is fine */

/* Returns the class of operation number `op` with some TRACE_PROFILE_* flags. */
struct class classes_of(const struct classes *classes, unsigned int op, uint32_t flags);
