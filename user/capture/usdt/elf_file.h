/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads ELF files that may be hostile. To be used in a confined process only (confined.h). */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Opens a 64-bit little-endian ELF file. Returns 0; -ENOEXEC if it is none; -E2BIG if it has more
 * sections than a linked program needs. `*elf` is NULL on error; elf_end() takes NULL.
 */
int elf_file_open(int fd, Elf **elf);

/* Converts an address in the file's numbering to a file offset. Returns false if no segment with
 * `flag` (PF_*) maps it. */
bool elf_file_offset(Elf *elf, uint64_t address, unsigned int flag, uint64_t *offset);

/* Finds a section by name, of at most 31 bytes. Returns NULL if there is none. */
Elf_Scn *elf_file_section(int fd, Elf *elf, const char *wanted, GElf_Shdr *header);

/* Returns the first segment of code, or false. */
bool elf_file_code(Elf *elf, GElf_Phdr *code);
