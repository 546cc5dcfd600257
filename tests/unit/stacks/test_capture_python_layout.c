// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Layouts of interpreters' memory, read from their files and from hostile ones. */
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/python/layout.h"

#define RUNTIME 0x3000ull /* its address */
#define WORDS 93

/* A library with the symbols of an interpreter, as small as possible. */
struct library {
	Elf64_Ehdr file;
	Elf64_Phdr parts[2];
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[3];
	char names[64]; /* of symbols */
	char sections_names[64];
	uint64_t version;
	uint64_t runtime[WORDS];
};

#define AT(field) offsetof(struct library, field)
#define NAME_RUNTIME 1
#define NAME_VERSION 12

static struct library library_of(unsigned int version)
{
	static const char names[] = "\0_PyRuntime\0Py_Version";
	static const char sections_names[] = "\0.dynsym\0.dynstr\0.PyRuntime\0.shstrtab";
	const uint64_t here = RUNTIME - AT(runtime); /* address of the file's start */
	struct library library = {
		.file = { .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = AT(parts),
			  .e_shoff = AT(sections),
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 5,
			  .e_shstrndx = 4 },
		.parts = { { PT_LOAD, PF_R | PF_X, 0, 0x1234, 0, 0x100, 0x100, 0x1000 },
			   { PT_LOAD, PF_R | PF_W, 0, here, 0, sizeof(struct library),
			     sizeof(struct library), 0x1000 } },
		.sections = { { 0 },
			      { .sh_name = 1,
				.sh_type = SHT_DYNSYM,
				.sh_offset = AT(symbols),
				.sh_size = sizeof(library.symbols),
				.sh_link = 2,
				.sh_entsize = sizeof(Elf64_Sym),
				.sh_addralign = 8 },
			      { .sh_name = 9,
				.sh_type = SHT_STRTAB,
				.sh_offset = AT(names),
				.sh_size = sizeof(library.names),
				.sh_addralign = 1 },
			      { .sh_name = 17,
				.sh_type = SHT_PROGBITS,
				.sh_addr = RUNTIME,
				.sh_offset = AT(runtime),
				.sh_size = sizeof(library.runtime),
				.sh_addralign = 8 },
			      { .sh_name = 28,
				.sh_type = SHT_STRTAB,
				.sh_offset = AT(sections_names),
				.sh_size = sizeof(library.sections_names),
				.sh_addralign = 1 } },
		.symbols = { { 0 },
			     { .st_name = NAME_RUNTIME, .st_shndx = 3, .st_value = RUNTIME },
			     { .st_name = NAME_VERSION,
			       .st_shndx = 3,
			       .st_value = here + AT(version) } },
		.version = (uint64_t)version << 16 | 0x07f0,
	};

	memcpy(library.file.e_ident, ELFMAG, SELFMAG);
	library.file.e_ident[EI_CLASS] = ELFCLASS64;
	library.file.e_ident[EI_DATA] = ELFDATA2LSB;
	library.file.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(library.names, names, sizeof(names));
	memcpy(library.sections_names, sections_names, sizeof(sections_names));
	if (version < 0x30b)
		library.symbols[2].st_value = 0;
	return library;
}

/* The words that are read, as in interpreters that were run. */
static const uint16_t words_3_13[WORDS] = {
	[5] = 632,  [8] = 7264, [9] = 7344, [21] = 8,  [23] = 72,  [25] = 160,
	[29] = 8,   [30] = 0,	[31] = 56,  [33] = 70, [35] = 112, [37] = 128,
	[38] = 136, [39] = 68,	[43] = 200, [44] = 16, [70] = 40,
};
static const uint16_t words_3_14[WORDS] = {
	[5] = 808,  [8] = 7272, [9] = 7344, [24] = 8,  [26] = 72,  [28] = 160,
	[32] = 8,   [33] = 0,	[34] = 56,  [36] = 74, [40] = 112, [42] = 128,
	[43] = 136, [44] = 68,	[48] = 208, [50] = 16, [80] = 40,
};
static const uint16_t words_3_15[WORDS] = {
	[5] = 936,  [8] = 7264, [9] = 7336, [24] = 8,  [26] = 72,  [31] = 184,
	[40] = 8,   [41] = 0,	[42] = 56,  [44] = 74, [48] = 112, [50] = 128,
	[51] = 136, [52] = 68,	[56] = 208, [58] = 16, [92] = 40,
};
static const uint16_t words_3_14t[WORDS] = {
	[5] = 808, [8] = 7272, [9] = 7344, [24] = 8,  [26] = 72,  [28] = 160, [32] = 8,
	[33] = 0,  [34] = 56,  [36] = 78,  [38] = 72, [40] = 128, [42] = 144, [43] = 152,
	[44] = 84, [48] = 232, [49] = 224, [50] = 32, [80] = 56,
};
static const uint16_t words_3_13t[WORDS] = {
	[5] = 632,  [8] = 7264, [9] = 7344, [21] = 8,  [23] = 72,  [25] = 160,
	[29] = 8,   [30] = 0,	[31] = 56,  [33] = 70, [35] = 128, [37] = 144,
	[38] = 152, [39] = 84,	[43] = 216, [44] = 32, [70] = 56,
};
enum { OF_3_13, OF_3_14, OF_3_15, OF_3_14T, OF_3_13T, INTERPRETERS };
static const struct {
	const uint16_t *words;
	uint32_t version;
	bool free_threaded;
} interpreters[] = {
	{ words_3_13, 0x30d00f0, false }, { words_3_14, 0x30e0af0, false },
	{ words_3_15, 0x30f02f0, false }, { words_3_14t, 0x30e04f0, true },
	{ words_3_13t, 0x30d05f0, true },
};

/* A library of one of these. */
static struct library library_with_words(size_t i)
{
	struct library library = library_of(interpreters[i].version >> 16);

	for (size_t word = 0; word < WORDS; word++)
		library.runtime[word] = interpreters[i].words[word];
	memcpy(library.runtime, "xdebugpy", 8);
	library.runtime[1] = interpreters[i].version;
	library.runtime[2] = interpreters[i].free_threaded;
	return library;
}

static int find_in(const void *bytes, size_t size, const char *name, struct python_layout *layout)
{
	int fd = memfd_create("library", MFD_CLOEXEC), status;

	assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	status = python_layout_find(fd, name, layout);
	close(fd);
	return status;
}

TEST(test_names)
{
	assert_true(python_layout_may_be("python3.11"));
	assert_true(python_layout_may_be("libpython3.8.so.1.0"));
	assert_false(python_layout_may_be("ipython"));
	assert_false(python_layout_may_be("libpython3.so"));
	assert_false(python_layout_may_be("libpythonqt.so"));
	assert_false(python_layout_may_be(""));
}

TEST(test_layouts)
{
	struct library library = library_of(0x30b);
	struct python_layout layout;

	assert_int_equal(find_in(&library, sizeof(library), "libpython3.11.so.1.0", &layout), 0);
	assert_int_equal(layout.version, 0x30b);
	assert_int_equal(layout.runtime, RUNTIME - 0x1000); /* from the page of the code */
	assert_int_equal(layout.code_start, 184);
	/* Without symbols, by the section; then the version is in the name only. */
	library.sections[1].sh_type = SHT_PROGBITS;
	assert_int_equal(find_in(&library, sizeof(library), "python3.12", &layout), 0);
	assert_int_equal(layout.version, 0x30c);
	assert_int_equal(layout.runtime, RUNTIME - 0x1000);
	library = library_of(0x308);
	assert_int_equal(find_in(&library, sizeof(library), "libpython3.8.so.1.0", &layout), 0);
	assert_int_equal(layout.version, 0x308);
	assert_true(layout.flags & PYTHON_FRAME_HAS_INDEX);
}

TEST(test_offsets_of_its_own)
{
	struct library library = library_with_words(OF_3_13);
	struct python_layout layout;

	assert_int_equal(find_in(&library, sizeof(library), "python3.13", &layout), 0);
	assert_int_equal(layout.interpreter_threads, 7344);
	assert_int_equal(layout.thread_id, 160);
	assert_int_equal(layout.frame_instruction, 56);
	assert_int_equal(layout.code_start, 200);
	library = library_with_words(OF_3_14);
	assert_int_equal(find_in(&library, sizeof(library), "python3.14", &layout), 0);
	assert_int_equal(layout.version, 0x30e);
	assert_int_equal(layout.runtime_interpreters, 808);
	assert_int_equal(layout.thread_id, 160);
	assert_int_equal(layout.frame_owner, 74);
	assert_int_equal(layout.code_start, 208);
	library = library_with_words(OF_3_15);
	assert_int_equal(find_in(&library, sizeof(library), "python3.15", &layout), 0);
	assert_int_equal(layout.version, 0x30f);
	assert_int_equal(layout.thread_frame, 72);
	assert_int_equal(layout.thread_id, 184);
	assert_int_equal(layout.frame_caller, 8);
	assert_int_equal(layout.code_line, 68);
	for (size_t i = OF_3_13; i <= OF_3_15; i++) {
		library = library_with_words(i);
		assert_int_equal(find_in(&library, sizeof(library), "python3", &layout), 0);
		assert_int_equal(layout.frame_copy, PYTHON_NOWHERE);
		assert_int_equal(layout.object_bytes, 16);
		assert_int_equal(layout.text_ascii, 40);
		assert_int_equal(layout.text_other, 56);
		assert_int_equal(layout.text_shift, 0);
	}
}

TEST(test_free_threaded)
{
	struct library library = library_with_words(OF_3_14T);
	struct python_layout layout;

	assert_int_equal(find_in(&library, sizeof(library), "python3.14t", &layout), 0);
	assert_int_equal(layout.frame_copy, 72);
	assert_int_equal(layout.code_copies, 224);
	assert_int_equal(layout.code_table, 152);
	assert_int_equal(layout.object_bytes, 32);
	assert_int_equal(layout.text_ascii, 56);
	assert_int_equal(layout.text_other, 72);
	assert_int_equal(layout.text_shift, 6);
	/* Threads have no copies of their own. */
	library = library_with_words(OF_3_13T);
	assert_int_equal(find_in(&library, sizeof(library), "python3.13t", &layout), 0);
	assert_int_equal(layout.frame_copy, PYTHON_NOWHERE);
	assert_int_equal(layout.code_table, 152);
	assert_int_equal(layout.object_bytes, 32);
	assert_int_equal(layout.text_other, 72);
	assert_int_equal(layout.text_shift, 0);
	library = library_with_words(OF_3_14T);
	library.runtime[38] = PYTHON_FRAME_BYTES_NEW - 3; /* part of it beyond what is read */
	assert_int_equal(find_in(&library, sizeof(library), "python3.14t", &layout), -ENOTSUP);
	library = library_with_words(OF_3_15);
	library.runtime[2] = 1;
	assert_int_equal(find_in(&library, sizeof(library), "python3.15t", &layout), -ENOTSUP);
}

/* Tables of other versions, and such as no interpreter has. */
TEST(test_other_offsets)
{
	struct library library;
	struct python_layout layout;

	for (size_t i = OF_3_13; i <= OF_3_15; i++) {
		library = library_with_words(i);
		library.runtime[0]++;
		assert_int_equal(find_in(&library, sizeof(library), "python3", &layout), -ENOTSUP);
		library = library_with_words(i);
		library.runtime[1] += 0x10000;
		assert_int_equal(find_in(&library, sizeof(library), "python3", &layout), -ENOTSUP);
		library = library_with_words(i);
		library.runtime[1] += 0xa1 - 0xf0; /* an alpha release */
		assert_int_equal(find_in(&library, sizeof(library), "python3", &layout), -ENOTSUP);
		assert_int_equal(layout.version, 0);
	}
	/* Beyond the part of a code object that is read; beyond what an offset may be. */
	for (int i = 0; i < 2; i++) {
		library = library_with_words(OF_3_14);
		library.runtime[40] = i ? 1ull << 40 : PYTHON_CODE_BYTES;
		assert_int_equal(find_in(&library, sizeof(library), "python3.14", &layout),
				 -ENOTSUP);
	}
}

TEST(test_files_that_are_not_interpreters)
{
	struct library library = library_of(0x30b);
	struct python_layout layout;

	assert_int_equal(find_in("#!/bin/sh\n", 10, "python3", &layout), -ENOEXEC);
	assert_int_equal(find_in("", 0, "python3", &layout), -ENOEXEC);
	library.symbols[1].st_name = 0;
	library.sections[3].sh_name = 0;
	assert_int_equal(find_in(&library, sizeof(library), "python3-config", &layout), -ENOEXEC);
	assert_int_equal(find_in(&library, sizeof(library), "pythonista", &layout), -ENOEXEC);
	/* An interpreter by its name: without symbols, or too old to have this one. */
	assert_int_equal(find_in(&library, sizeof(library), "python3", &layout), -ENODATA);
	assert_int_equal(find_in(&library, sizeof(library), "python3.9d", &layout), -ENODATA);
	assert_int_equal(find_in(&library, sizeof(library), "libpython3.9.so.1.0", &layout),
			 -ENODATA);
	assert_int_equal(find_in(&library, sizeof(library), "python2.7", &layout), -ENOTSUP);
	/* The interpreter is in a library. */
	library.symbols[1].st_name = NAME_RUNTIME;
	library.symbols[1].st_shndx = SHN_UNDEF;
	assert_int_equal(find_in(&library, sizeof(library), "python3", &layout), -ENOEXEC);
	library = library_of(0x307);
	assert_int_equal(find_in(&library, sizeof(library), "python3.7", &layout), -ENOTSUP);
	library = library_of(0x310);
	assert_int_equal(find_in(&library, sizeof(library), "python3.16", &layout), -ENOTSUP);
	library = library_of(0x30b);
	library.parts[0].p_flags = PF_R; /* no code */
	assert_int_equal(find_in(&library, sizeof(library), "python3", &layout), -ENOEXEC);
}

/* Whatever is in the file, the offsets stay within what is read. */
static void check(const void *bytes, size_t size)
{
	struct python_layout layout;

	if (find_in(bytes, size, "python3.11", &layout)) {
		assert_int_equal(layout.version, 0);
		return;
	}
	assert_true(layout.frame_code + 8u <= PYTHON_FRAME_BYTES);
	assert_true(layout.frame_instruction + 8u <= PYTHON_FRAME_BYTES);
	assert_true(layout.frame_copy == PYTHON_NOWHERE ||
		    layout.frame_copy + 4u <= PYTHON_FRAME_BYTES);
	assert_true(layout.code_table + 8u <= PYTHON_CODE_BYTES);
	assert_true(layout.code_line + 4u <= PYTHON_CODE_BYTES);
}

TEST(test_files_that_end_early)
{
	struct library library = library_with_words(OF_3_14T);

	for (size_t size = 1; size < sizeof(library); size += 41)
		check(&library, size);
}

TEST(test_hostile_files)
{
	unsigned int seed = 1;

	for (int round = 0; round < 200; round++) {
		struct library library = library_with_words(round % INTERPRETERS);

		for (int i = 0; i < 1 + round % 4; i++) {
			/* Past the identification: without it, nothing else is read. */
			size_t at = EI_NIDENT + rand_r(&seed) % (sizeof(library) - EI_NIDENT - 8);

			memcpy((char *)&library + at, round % 2 ? "\xff\xff\xff\xff" : "\0\0\0\x7f",
			       4);
		}
		check(&library, sizeof(library));
	}
}
