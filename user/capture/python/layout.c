/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Offsets up to 3.12 are those of the headers of each version; since 3.13 the interpreter's file
 * holds a table of them (_Py_DebugOffsets).
 */
#include "capture/python/layout.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/usdt/confined.h"
#include "capture/usdt/elf_file.h"

#define SYMBOLS_BYTES_MAX (32u << 20) /* of a table of symbols, and of their names */

static struct time_budget time_budget = { CONFINED_BUDGET_NS }; /* per-process time budget */

/* --- the versions --- */

#define UP_TO_3_10(number, instruction)                                                            \
	{                                                                                          \
		.version = number, .flags = PYTHON_BY_THREAD_POINTER | PYTHON_FRAME_HAS_INDEX,     \
		.runtime_interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8,       \
		.thread_next = 8, .thread_id = 176, .thread_frame = 24,                            \
		.cframe_frame = PYTHON_NOWHERE, .frame_code = 32, .frame_caller = 24,              \
		.frame_instruction = instruction, .frame_owner = PYTHON_NOWHERE, .code_line = 40,  \
		.code_path = 104, .code_function = 112, .code_table = 120,                         \
		.code_start = PYTHON_NOWHERE, .text_ascii = 48, .text_other = 72,                  \
		.frame_entry = PYTHON_NOWHERE, .frame_copy = PYTHON_NOWHERE, .object_bytes = 16,   \
	}

/* Other offsets: see debug_words. */
#define SINCE_3_13(number)                                                                         \
	{                                                                                          \
		.version = number, .cframe_frame = PYTHON_NOWHERE, .frame_owner_c = 3,             \
		.frame_entry = PYTHON_NOWHERE, .frame_copy = PYTHON_NOWHERE,                       \
	}

static const struct python_layout versions[] = {
	UP_TO_3_10(0x308, 104),
	UP_TO_3_10(0x309, 104),
	UP_TO_3_10(0x30a, 96),
	{
		.version = 0x30b,
		.runtime_interpreters = 40,
		.interpreter_next = 0,
		.interpreter_threads = 16,
		.thread_next = 8,
		.thread_id = 160,
		.thread_frame = 56,
		.cframe_frame = 8,
		.frame_code = 32,
		.frame_caller = 48,
		.frame_instruction = 56,
		.frame_owner = PYTHON_NOWHERE,
		.code_line = 72,
		.code_path = 112,
		.code_function = 128,
		.code_table = 136,
		.code_start = 184,
		.text_ascii = 48,
		.text_other = 72,
		.frame_entry = 68, /* is_entry */
		.frame_copy = PYTHON_NOWHERE,
		.object_bytes = 16,
	},
	{
		.version = 0x30c,
		.runtime_interpreters = 40,
		.interpreter_next = 0,
		.interpreter_threads = 72,
		.thread_next = 8,
		.thread_id = 144,
		.thread_frame = 56,
		.cframe_frame = 0,
		.frame_code = 0,
		.frame_caller = 8,
		.frame_instruction = 56,
		.frame_owner = 70,
		.frame_owner_c = 3, /* FRAME_OWNED_BY_CSTACK */
		.code_line = 68,
		.code_path = 112,
		.code_function = 128,
		.code_table = 136,
		.code_start = 192,
		.text_ascii = 40,
		.text_other = 56,
		.frame_entry = PYTHON_NOWHERE,
		.frame_copy = PYTHON_NOWHERE,
		.object_bytes = 16,
	},
	SINCE_3_13(0x30d),
	SINCE_3_13(0x30e),
	SINCE_3_13(0x30f),
};

/*
 * Numbers of the 8-byte words of _Py_DebugOffsets, for each version from 3.13 on; 0: it has no such
 * word (Include/internal/pycore_runtime.h, since 3.14 pycore_debug_offsets.h).
 */
#define DEBUG_COOKIE "xdebugpy"
#define DEBUG_FIRST 0x30d
#define FREE_THREADED_LAST 0x30e
#define DEBUG_VERSION 1
#define DEBUG_FREE_THREADED 2
#define DEBUG_WORDS 93
#define DEBUG_WORD(field, ...)                                                                     \
	{                                                                                          \
		offsetof(struct python_layout, field),                                             \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
static const struct {
	size_t field;
	uint8_t words[3];
} debug_words[] = {
	DEBUG_WORD(runtime_interpreters, 5, 5, 5), DEBUG_WORD(interpreter_next, 8, 8, 8),
	DEBUG_WORD(interpreter_threads, 9, 9, 9),  DEBUG_WORD(thread_next, 21, 24, 24),
	DEBUG_WORD(thread_frame, 23, 26, 26),	   DEBUG_WORD(thread_id, 25, 28, 31),
	DEBUG_WORD(frame_caller, 29, 32, 40),	   DEBUG_WORD(frame_code, 30, 33, 41),
	DEBUG_WORD(frame_instruction, 31, 34, 42), DEBUG_WORD(frame_owner, 33, 36, 44),
	DEBUG_WORD(frame_copy, 0, 38, 0),	   DEBUG_WORD(code_path, 35, 40, 48),
	DEBUG_WORD(code_function, 37, 42, 50),	   DEBUG_WORD(code_table, 38, 43, 51),
	DEBUG_WORD(code_line, 39, 44, 52),	   DEBUG_WORD(code_start, 43, 48, 56),
	DEBUG_WORD(code_copies, 0, 49, 0),	   DEBUG_WORD(object_bytes, 44, 50, 58),
	DEBUG_WORD(text_ascii, 70, 80, 92),
};

/* --- confined reading --- */

struct symbols {
	uint64_t runtime, version; /* addresses; 0: none */
	bool uses_library;	   /* the file runs an interpreter that is in another one */
};

/* Takes what a table of symbols has. */
static void take_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			 struct symbols *symbols)
{
	GElf_Shdr names;
	Elf_Data *data;
	GElf_Sym symbol;

	if (header->sh_size > SYMBOLS_BYTES_MAX ||
	    !gelf_getshdr(elf_getscn(elf, header->sh_link), &names) ||
	    names.sh_size > SYMBOLS_BYTES_MAX)
		return;
	data = elf_getdata(section, NULL);
	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (!name)
			continue;
		if (symbol.st_shndx == SHN_UNDEF)
			symbols->uses_library |= !strncmp(name + (*name == '_'), "Py", 2);
		if (!symbol.st_value || symbol.st_shndx == SHN_UNDEF)
			continue;
		if (!strcmp(name, "_PyRuntime"))
			symbols->runtime = symbol.st_value;
		else if (!strcmp(name, "Py_Version"))
			symbols->version = symbol.st_value;
	}
}

/* A stripped program without dynamic symbols may still have the section (since 3.10). */
static void find_symbols(int fd, Elf *elf, struct symbols *symbols)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (!symbols->runtime && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
			take_symbols(elf, section, &header, symbols);
	if (!symbols->runtime && elf_file_section(fd, elf, ".PyRuntime", &header))
		symbols->runtime = header.sh_addr;
}

/* Reads initialized data at an address. */
static bool read_data(int fd, Elf *elf, uint64_t address, void *to, size_t size)
{
	uint64_t offset;

	return elf_file_offset(elf, address, PF_R, &offset) &&
	       pread(fd, to, size, offset) == (ssize_t)size;
}

/* Returns the version that a file's name shows, as 0x30b for 3.11; 0: none. */
static unsigned int version_of_name(const char *name)
{
	unsigned int major, minor;

	name += strncmp(name, "lib", 3) ? 0 : 3;
	return sscanf(name, "python%1u.%3u", &major, &minor) == 2 ? major << 8 | (minor & 0xff) : 0;
}

/* Returns 0x30b for 3.11; 0: unknown. */
static unsigned int version_of(int fd, Elf *elf, const struct symbols *symbols, const char *name)
{
	uint64_t number = 0;

	if (symbols->version)
		return read_data(fd, elf, symbols->version, &number, sizeof(number))
			       ? (number >> 16) & 0xffff
			       : 0;
	return version_of_name(name);
}

static const struct python_layout *find_version(unsigned int version)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].version == version)
			return &versions[i];
	return NULL;
}

/* Returns the status for a file that lacks the interpreter's symbol. Other programs' names may
 * begin with "python", too. */
static int status_without_symbol(const struct symbols *symbols, const char *name)
{
	const char *end = name + (strncmp(name, "lib", 3) ? 0 : 3) + strlen("python");
	unsigned int version = version_of_name(name);

	end += strspn(end, "0123456789.dmt");
	if (symbols->uses_library || (*end && strncmp(end, "so", 2) != 0))
		return -ENOEXEC;
	return version && !find_version(version) ? -ENOTSUP : -ENODATA;
}

/* The table may differ from the final one before the first release candidate. */
static bool is_released(uint64_t version)
{
	return (version & 0xff) >= 0xc0;
}

static int take_debug_words(int fd, Elf *elf, uint64_t runtime, struct python_layout *layout)
{
	uint64_t words[DEBUG_WORDS];

	if (!read_data(fd, elf, runtime, words, sizeof(words)) ||
	    memcmp(words, DEBUG_COOKIE, sizeof(words[0])) != 0 ||
	    words[DEBUG_VERSION] >> 16 != layout->version || !is_released(words[DEBUG_VERSION]) ||
	    (words[DEBUG_FREE_THREADED] && layout->version > FREE_THREADED_LAST))
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(debug_words) / sizeof(debug_words[0]); i++) {
		unsigned int word = debug_words[i].words[layout->version - DEBUG_FIRST];

		if (word && words[word] >= PYTHON_NOWHERE)
			return -ENOTSUP;
		if (word)
			memcpy((char *)layout + debug_words[i].field, &(uint16_t) { words[word] },
			       sizeof(uint16_t));
	}
	layout->text_other = layout->text_ascii + 16;
	if (!words[DEBUG_FREE_THREADED])
		layout->frame_copy = PYTHON_NOWHERE;
	else if (layout->version > DEBUG_FIRST)
		layout->text_shift = 6; /* a byte for what else takes 2 bits */
	return 0;
}

struct question {
	int fd;
	const char *name;
};

struct found {
	int32_t status;
	uint32_t pad;
	struct python_layout layout;
};

static int read_layout(int fd, Elf *elf, const char *name, struct python_layout *layout)
{
	const struct python_layout *version;
	struct symbols symbols = { 0 };
	GElf_Phdr code;

	find_symbols(fd, elf, &symbols);
	if (!elf_file_code(elf, &code))
		return -ENOEXEC;
	if (!symbols.runtime)
		return status_without_symbol(&symbols, name);
	version = find_version(version_of(fd, elf, &symbols, name));
	if (!version)
		return -ENOTSUP;
	*layout = *version;
	layout->runtime = symbols.runtime - (code.p_vaddr & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1));
	return layout->thread_next ? 0 : take_debug_words(fd, elf, symbols.runtime, layout);
}

static void find_confined(void *context, void *out)
{
	const struct question *question = context;
	struct found *found = out;
	Elf *elf;

	memset(found, 0, sizeof(*found));
	found->status = elf_file_open(question->fd, &elf);
	if (!found->status)
		found->status = read_layout(question->fd, elf, question->name, &found->layout);
	elf_end(elf);
}

/* --- checking the result --- */

static bool fits(unsigned int offset, unsigned int bytes, unsigned int part)
{
	return !(offset % 4) && offset + bytes <= part;
}

static bool is_sound(const struct python_layout *layout)
{
	const unsigned int frame = layout->flags & PYTHON_FRAME_HAS_INDEX ? PYTHON_FRAME_BYTES
									  : PYTHON_FRAME_BYTES_NEW;

	return fits(layout->frame_code, 8, frame) && !(layout->frame_code % 8) &&
	       fits(layout->frame_caller, 8, frame) && !(layout->frame_caller % 8) &&
	       fits(layout->frame_instruction, 8, frame) && !(layout->frame_instruction % 8) &&
	       (layout->frame_owner == PYTHON_NOWHERE || layout->frame_owner < frame) &&
	       (layout->frame_copy == PYTHON_NOWHERE || fits(layout->frame_copy, 4, frame)) &&
	       fits(layout->code_line, 4, PYTHON_CODE_BYTES) &&
	       fits(layout->code_path, 8, PYTHON_CODE_BYTES) && !(layout->code_path % 8) &&
	       fits(layout->code_function, 8, PYTHON_CODE_BYTES) && !(layout->code_function % 8) &&
	       fits(layout->code_table, 8, PYTHON_CODE_BYTES) && !(layout->code_table % 8);
}

bool python_layout_may_be(const char *name)
{
	return !strncmp(name, "python", 6) ||
	       (!strncmp(name, "libpython3.", 11) && name[11] != 's');
}

int python_layout_find(int fd, const char *name, struct python_layout *layout)
{
	struct question question = { fd, name };
	struct found found;
	int err = confined_run(find_confined, &question, &found, sizeof(found), &time_budget);

	memset(layout, 0, sizeof(*layout));
	if (!err)
		err = found.status < 0 ? found.status : 0;
	if (!err && !is_sound(&found.layout))
		err = -ENOTSUP;
	if (!err)
		*layout = found.layout;
	return err;
}
