/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that are loaded to run, told by their paths. Knows nothing of what was done with them.
 */
#ifndef FAULTLINE_LOADED_H
#define FAULTLINE_LOADED_H

#include <stdbool.h>

#include "analysis/table/table.h"

/* Programs, libraries and modules, and what the loader and the C library look into at the start of
 * each: caches of names, locales, time zones. Other files below /usr and /etc are data. */
bool loaded_is(struct table_text path);

/* Modules of Python, what they are compiled to, and the directories that they lie in. */
bool loaded_is_module(struct table_text path);

#endif
