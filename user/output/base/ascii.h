/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Replaces Faultline's drawing symbols with ASCII for locales other than UTF-8 (LANG=C). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the environment (LC_ALL, LC_CTYPE, LANG) names a locale other than UTF-8. If it names
 * none, as under sudo, UTF-8 is assumed. */
bool ascii_is_wanted(void);
/* Replaces bars, shades and signs in place; leaves everything else. Returns the length, which never
 * grows. */
size_t ascii_replace(char *text, size_t length);
