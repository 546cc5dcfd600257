/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that are loaded to run, told by their paths. Knows nothing of what was done with them.
 */
#ifndef FAULTLINE_LOADED_H
#define FAULTLINE_LOADED_H

#include <stdbool.h>

#include "analysis/model/file_table.h"
#include "analysis/table/table.h"

/* Programs, libraries and modules, and what the loader and the C library look into at the start of
 * each: caches of names, locales, time zones. Other files below /usr and /etc are data. */
bool loaded_is(struct table_text path);

/* The same in a job. Sources of Python (.py) that lie where none are installed are data, such as a
 * corpus to train on, unless somebody imports from their directory. */
bool loaded_in(const struct file_table *files, struct table_text path);
bool loaded_in_is_module(const struct file_table *files, struct table_text path);

/* Modules of Python, what they are compiled to, and the directories that they lie in. */
bool loaded_is_module(struct table_text path);

#endif
