/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Marking spans in Python programs without a change to them: a start-up hook on PYTHONPATH.
 */
#ifndef FAULTLINE_PYTHON_SPANS_H
#define FAULTLINE_PYTHON_SPANS_H

/*
 * Puts the hook into the environment of the command. `list` names what to mark: torch,
 * dftracer, or both separated by a comma; NULL for nothing. Logs and returns -EINVAL for an unknown
 * word, -ENOENT when the hook is not installed beside the program.
 */
int python_spans_prepare(const char *list, char ***environment);

#endif
