/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Text for a locale that is not UTF-8 (LANG=C): the symbols that Faultline draws with, in ASCII.
 */
#ifndef FAULTLINE_ASCII_H
#define FAULTLINE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the environment (LC_ALL, LC_CTYPE, LANG) names a locale that is not UTF-8. One that names
 * none, as below sudo, is taken for UTF-8. */
bool ascii_is_wanted(void);
/* Replaces bars, shades and signs in place; what is none of these stays. Returns the length, which
 * is no more than before. */
size_t ascii_replace(char *text, size_t length);

#endif
