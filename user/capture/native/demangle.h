/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Demangles C++ and Rust names. */
#pragma once

#include <stddef.h>

/* Writes the name of a symbol to `out`, without parameters and return type; what does not fit is
 * cut. The symbol is hostile. Returns the number of bytes; 0: it is not mangled, or this was built
 * without libiberty. */
size_t demangle(const char *symbol, char *out, size_t size);
