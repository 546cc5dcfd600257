/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Formats and parses numbers for people. Functions with `out` write a text with a NUL there and
 * return `out`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNITS_TEXT 32 /* fits any of these texts, including the NUL */

/* "512 B", "1.5 KiB", "12.3 GiB", "123 TiB": powers of 1024, three digits, or four as in "1000
 * KiB". */
char *units_bytes(char out[UNITS_TEXT], uint64_t bytes);
/* "15 ns", "1.2 us", "12.3 ms", "59.9 s", then "1m 40s", "2h 05m", "3d 04h". */
char *units_ns(char out[UNITS_TEXT], uint64_t ns);
/* "1,234,567" */
char *units_count(char out[UNITS_TEXT], uint64_t count);
/* A share of 1: "12.3%"; "<0.1%" if it is not zero but would round to zero. */
char *units_share(char out[UNITS_TEXT], double share);
/* The same after `bound`, which is "≥", "≤" or "". A tiny lower bound is ">0%". */
char *units_share_bound(char out[UNITS_TEXT], const char *bound, double share);
/* A device as in the kernel, "MAJOR:MINOR" of include/linux/kdev_t.h: "259:3". */
char *units_device(char out[UNITS_TEXT], uint64_t dev);

/* Parses a time, in seconds or with a unit: 1.5, 250ms, 10us. False if it is invalid. */
bool units_read_time(const char *text, uint64_t *ns);
/* Parses a plain number, or with `bytes` one that may have a unit: 64K, 2GiB. False if it is
 * invalid. */
bool units_read_number(const char *text, bool bytes, uint64_t *number);
