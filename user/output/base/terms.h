/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The terms of reports with short explanations, for 'faultline help terms' and the glossary of the
 * page. A test asserts that the manual page says the same. */
#pragma once

#include <stddef.h>

struct term {
	const char *term, *meaning;
};

/* Ends with a NULL. */
extern const struct term terms[];
