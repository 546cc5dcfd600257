/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers for people, and by them. Each function that has `out` for a text writes it with a NUL and
 * returns out. Knows nothing of tables.
 */
#ifndef FAULTLINE_UNITS_H
#define FAULTLINE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#define UNITS_TEXT 32 /* room for any of these texts, its NUL included */

/* "512 B", "1.5 KiB", "12.3 GiB", "123 TiB": powers of 1024, three digits or "1000 KiB" and the
 * like. */
char *units_bytes(char out[UNITS_TEXT], uint64_t bytes);
/* "15 ns", "1.2 us", "12.3 ms", "59.9 s", then "1m 40s", "2h 05m", "3d 04h". */
char *units_ns(char out[UNITS_TEXT], uint64_t ns);
/* "1,234,567" */
char *units_count(char out[UNITS_TEXT], uint64_t count);
/* Of 1: "12.3%"; "<0.1%" for what would round to zero and is not zero. */
char *units_share(char out[UNITS_TEXT], double share);
/* A device as the kernel keeps it, "MAJOR:MINOR" of include/linux/kdev_t.h: "259:3". */
char *units_device(char out[UNITS_TEXT], uint64_t dev);

/* Reads a time: seconds, or with its unit, such as 1.5, 250ms, 10us; false for what is none. */
bool units_read_time(const char *text, uint64_t *ns);
/* Reads a plain number, or with `bytes` one that may have a unit, such as 64K or 2GiB. */
bool units_read_number(const char *text, bool bytes, uint64_t *number);

#endif
