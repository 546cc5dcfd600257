/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of a file, by address. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/* Reads the symbols of an ELF file: .symtab, else .dynsym, its own or those of a debug file that
 * has the same build ID. Returns NULL if there are none, too many, or the file is damaged. */
struct symbols *symbols_open(int fd, const char *path);
void symbols_close(struct symbols *symbols); /* NULL is fine */

/* Returns the number of the function that contains an address in the file's numbering, or -1. */
ptrdiff_t symbols_find(const struct symbols *symbols, uint64_t address);
/* Returns its name, valid until symbols_close. */
const char *symbols_name(const struct symbols *symbols, size_t function);
/* A word of the caller's for each function; 0 at first. */
uint32_t *symbols_word(const struct symbols *symbols, size_t function);

/* Whether this is the function that runs code of Python, in CPython 3.8 to 3.15, or a part of it
 * that the compiler has moved. */
bool symbols_is_eval(const char *name);
/* Whether the file has that function. */
bool symbols_have_eval(const struct symbols *symbols);
