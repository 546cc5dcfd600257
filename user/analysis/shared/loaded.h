/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recognizes files that are loaded to run a program, by path. */
#pragma once

#include <stdbool.h>

#include "analysis/job/file_table.h"
#include "analysis/table/table.h"

/* Programs, libraries and modules, and what the loader and the C library read at startup: name
 * caches, locales, time zones. Other files below /usr and /etc are data. */
bool loaded_is(struct table_text path);

/* The same within a job. Python sources (.py) outside installation directories count as data, e.g.
 * a training corpus, unless something is imported from their directory. */
bool loaded_in(const struct file_table *files, struct table_text path);
bool loaded_in_is_module(const struct file_table *files, struct table_text path);

/* Python modules, their compiled files, the directories that contain them, and names under which
 * Python looks for extension modules. */
bool loaded_names_module(struct table_text path);
