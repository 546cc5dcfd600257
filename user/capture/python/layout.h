/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds out where CPython keeps the frames of its threads, from the file of the interpreter. */
#pragma once

#include <stdbool.h>

#include "bpf/records/event_python.h"

/* The supported interpreters. */
#define PYTHON_LAYOUTS "CPython 3.8 to 3.15 (free-threaded: 3.13, 3.14)"

/* Whether a file of this name (without directories) may be an interpreter; libpython3.so only
 * refers to its library. */
bool python_layout_may_be(const char *name);

/*
 * Reads the layout in a confined process, because the file may be hostile. `fd` is open for
 * reading; `name` is the file's, without directories: before 3.11, only it shows the version.
 * Returns 0; -ENOEXEC: no interpreter; -ENOTSUP: none of PYTHON_LAYOUTS; -ENODATA: by its
 * name an interpreter, but without the symbols that are needed; or another negative errno. On error
 * the layout is all zeros. Offsets are within the parts that the kernel side reads.
 */
int python_layout_find(int fd, const char *name, struct python_layout *layout);
