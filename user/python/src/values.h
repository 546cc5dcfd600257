/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packs Python values as the msgpack arguments of a span. */
#pragma once

#include <Python.h>

#include "pack.h"

/*
 * Writes keyword arguments (a tuple of names, and as many values) as one map, except those that
 * `is_argument` rejects; writes nothing if none is left. Never raises because of a value: one
 * without a msgpack type becomes its repr, truncated. If the map does not fit, the buffer is left
 * overflowed. Returns -1, with the exception set, only for exceptions that must not be swallowed
 * (KeyboardInterrupt, SystemExit).
 */
int values_pack(struct args_pack *pack, PyObject *keywords, PyObject *const *values,
		int (*is_argument)(PyObject *key));
