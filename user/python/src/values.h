/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Python values as the msgpack arguments of a span.
 * Knows nothing of spans.
 */
#ifndef FAULTLINE_PYTHON_VALUES_H
#define FAULTLINE_PYTHON_VALUES_H

#include <Python.h>

#include "pack.h"

/*
 * Writes keyword arguments (a tuple of names, and as many values) as one map, those that
 * `is_argument` says no to left out; nothing when none is left. Never raises for a value: what has
 * no counterpart in msgpack becomes its repr, cut to a bounded length; what does not fit into the
 * buffer as a whole leaves it overflowed. Returns -1, with the exception set, only for what no
 * value may swallow (KeyboardInterrupt, SystemExit).
 */
int values_pack(struct args_pack *pack, PyObject *keywords, PyObject *const *values,
		int (*is_argument)(PyObject *key));

#endif
