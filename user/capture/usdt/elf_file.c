/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads sections of ELF files that may be hostile. */
#include "capture/usdt/elf_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Limits on what is searched in a file. A linked program has a few dozen sections and segments;
 * searching more only wastes time. */
#define SECTIONS_MAX 16384
#define PARTS_MAX 1024

/* Must run before libelf allocates memory for each section. */
static bool has_too_many(const Elf64_Ehdr *file)
{
	/* A count that does not fit here is 0; the section table then holds it. */
	return file->e_shnum > SECTIONS_MAX || (!file->e_shnum && file->e_shoff);
}

int elf_file_open(int fd, Elf **elf)
{
	Elf64_Ehdr file;

	*elf = NULL;
	if (pread(fd, &file, sizeof(file), 0) != sizeof(file) ||
	    memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	if (has_too_many(&file))
		return -E2BIG;
	elf_version(EV_CURRENT);
	*elf = elf_begin(fd, ELF_C_READ, NULL);
	return *elf ? 0 : -ENOEXEC;
}

bool elf_file_offset(Elf *elf, uint64_t address, unsigned int flag, uint64_t *offset)
{
	size_t count;
	GElf_Phdr part;

	if (elf_getphdrnum(elf, &count) || count > PARTS_MAX)
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, i, &part); i++) {
		if (part.p_type != PT_LOAD || !(part.p_flags & flag) || address < part.p_vaddr ||
		    address - part.p_vaddr >= part.p_filesz)
			continue;
		*offset = address - part.p_vaddr + part.p_offset;
		return true;
	}
	return false;
}

bool elf_file_code(Elf *elf, GElf_Phdr *code)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) || count > PARTS_MAX)
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, i, code); i++)
		if (code->p_type == PT_LOAD && code->p_flags & PF_X)
			return true;
	return false;
}

/* Reads names one by one, because their table may be arbitrarily long. */
Elf_Scn *elf_file_section(int fd, Elf *elf, const char *wanted, GElf_Shdr *header)
{
	size_t names, length = strlen(wanted) + 1;
	Elf_Scn *section = NULL;
	GElf_Shdr table;
	char name[32];

	if (elf_getshdrstrndx(elf, &names) || !gelf_getshdr(elf_getscn(elf, names), &table))
		return NULL;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_name < table.sh_size &&
		    pread(fd, name, length, table.sh_offset + header->sh_name) == (ssize_t)length &&
		    !memcmp(name, wanted, length))
			return section;
	return NULL;
}
