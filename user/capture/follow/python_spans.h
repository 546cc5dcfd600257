/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Marks spans in unmodified Python programs with a startup hook on PYTHONPATH. */
#pragma once

/*
 * Adds the hook to the command's environment. `list` names what to mark: torch, dftracer, or both
 * separated by a comma; NULL for nothing. Logs and returns -EINVAL for an unknown word, -ENOENT if
 * the hook is not installed next to the program.
 */
int python_spans_prepare(const char *list, char ***environment);
