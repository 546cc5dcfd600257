/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libdw goes through all symbols for each address that it names, so they are sorted once. Names
 * are fetched when they are needed.
 */
#include "capture/native/symbols.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collections/bisect.h"
#include "collections/compare.h"
#include "base/number.h"

#define SYMBOLS_MAX (4u << 20)	      /* of a file */
#define SYMBOLS_TOTAL_MAX (16u << 20) /* of all files */
#define UNSIZED_BYTES 65536	      /* of a function without a size, at most */
#define NESTED_MAX 8
#define DEBUG_DIRECTORY "/usr/lib/debug"

struct symbol {
	uint64_t start;
	uint32_t bytes;
	uint32_t index; /* in the file's table */
	uint32_t word;
	uint32_t global;
};

struct symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct symbol *all; /* by address */
	size_t count;
	bool has_eval;
};

static size_t total; /* in all files */

/* --- debug files --- */

static bool has_build_id(Dwfl_Module *module, int fd)
{
	const unsigned char *wanted;
	const void *found;
	GElf_Addr address;
	bool equal = false;
	int bytes = dwfl_module_build_id(module, &wanted, &address);
	Elf *elf = bytes > 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;

	if (elf)
		equal = dwelf_elf_gnu_build_id(elf, &found) == bytes &&
			!memcmp(found, wanted, bytes);
	elf_end(elf);
	return equal;
}

/* Opens a debug file if anyone may read it: its name may come from a hostile file. */
static int open_debug_file(Dwfl_Module *module, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_mode & S_IROTH &&
	    has_build_id(module, fd))
		return fd;
	close(fd);
	return -1;
}

static int open_by_build_id(Dwfl_Module *module)
{
	char path[sizeof(DEBUG_DIRECTORY) + 160] = DEBUG_DIRECTORY "/.build-id/";
	const unsigned char *id;
	GElf_Addr address;
	int bytes = dwfl_module_build_id(module, &id, &address);
	size_t at = strlen(path);

	if (bytes < 2 || bytes > 64)
		return -1;
	for (int i = 0; i < bytes; i++)
		at += snprintf(path + at, sizeof(path) - at, i == 0 ? "%02x/" : "%02x", id[i]);
	snprintf(path + at, sizeof(path) - at, ".debug");
	return open_debug_file(module, path);
}

static int open_by_link(Dwfl_Module *module, const char *of, const char *link)
{
	static const char *const patterns[] = { DEBUG_DIRECTORY "%.*s/%s", "%.*s/.debug/%s",
						"%.*s/%s" };
	const char *slash = strrchr(of, '/');
	char path[2048];
	int fd = -1;

	if (!slash || strchr(link, '/'))
		return -1;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && fd < 0; i++)
		if (snprintf(path, sizeof(path), patterns[i], (int)(slash - of), of, link) <
		    (int)sizeof(path))
			fd = open_debug_file(module, path);
	return fd;
}

/* Unlike libdw's own, opens no other files, and asks no server. */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *file, const char *link, GElf_Word crc, char **found)
{
	int fd = open_by_build_id(module);

	if (fd < 0 && file && link)
		fd = open_by_link(module, file, link);
	*found = NULL;
	return fd;
}

static int find_no_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			char **file, Elf **elf)
{
	return -1;
}

/* --- reading --- */

bool symbols_is_eval(const char *name)
{
	static const char eval[] = "_PyEval_EvalFrameDefault";
	const size_t length = sizeof(eval) - 1;

	return !strncmp(name, eval, length) && (!name[length] || name[length] == '.');
}

COMPARE_BY(compare_symbols, struct symbol,
	   COMPARE(a->start, b->start) ?: COMPARE(a->index, b->index))

/* If an address has several names, prefers those that programs use: read, not __libc_read. */
static bool is_better(const struct symbols *symbols, const struct symbol *symbol,
		      const struct symbol *than)
{
	const char *name = symbols_name(symbols, symbol - symbols->all);
	const char *other = symbols_name(symbols, than - symbols->all);
	const size_t underscores = strspn(name, "_"), others = strspn(other, "_");

	if (symbol->global != than->global)
		return symbol->global;
	if (underscores != others)
		return underscores < others;
	return strlen(name) < strlen(other);
}

static void keep_best(struct symbols *symbols)
{
	size_t kept = 0;

	for (size_t i = 0, end; i < symbols->count; i = end) {
		size_t best = i;
		uint32_t bytes = symbols->all[i].bytes;

		for (end = i + 1;
		     end < symbols->count && symbols->all[end].start == symbols->all[i].start;
		     end++) {
			if (is_better(symbols, &symbols->all[end], &symbols->all[best]))
				best = end;
			if (symbols->all[end].bytes > bytes)
				bytes = symbols->all[end].bytes;
		}
		symbols->all[kept] = symbols->all[best];
		symbols->all[kept++].bytes = bytes;
	}
	symbols->count = kept;
}

static bool is_function(const GElf_Sym *symbol, GElf_Word section, const char *name)
{
	const int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && section != SHN_UNDEF &&
	       symbol->st_value && *name;
}

static void read_table(struct symbols *symbols, int count, GElf_Addr bias)
{
	for (int i = 1; i < count; i++) {
		GElf_Word section;
		GElf_Addr address;
		GElf_Sym symbol;
		const char *name = dwfl_module_getsym_info(symbols->module, i, &symbol, &address,
							   &section, NULL, NULL);

		if (!name || !is_function(&symbol, section, name))
			continue;
		symbols->has_eval |= symbols_is_eval(name);
		symbols->all[symbols->count++] = (struct symbol) {
			.start = address - bias,
			.bytes = number_min(symbol.st_size, UINT32_MAX),
			.index = i,
			.global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
		};
	}
}

static bool read_symbols(struct symbols *symbols, int fd, const char *path)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_no_file,
		.find_debuginfo = find_debug_file,
		.section_address = dwfl_offline_section_address,
	};
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3), count;
	GElf_Addr bias;

	symbols->dwfl = own >= 0 ? dwfl_begin(&callbacks) : NULL;
	if (symbols->dwfl)
		symbols->module = dwfl_report_offline(symbols->dwfl, path, path, own);
	if (!symbols->module) { /* else it is the library's */
		if (own >= 0)
			close(own);
		return false;
	}
	if (dwfl_report_end(symbols->dwfl, NULL, NULL) ||
	    !dwfl_module_getelf(symbols->module, &bias))
		return false;
	count = dwfl_module_getsymtab(symbols->module);
	if (count <= 0 || (unsigned int)count > SYMBOLS_MAX || total + count > SYMBOLS_TOTAL_MAX)
		return false;
	symbols->all = calloc(count, sizeof(*symbols->all));
	if (!symbols->all)
		return false;
	read_table(symbols, count, bias);
	qsort(symbols->all, symbols->count, sizeof(*symbols->all), compare_symbols);
	keep_best(symbols);
	return symbols->count;
}

struct symbols *symbols_open(int fd, const char *path)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	if (!read_symbols(symbols, fd, path)) {
		symbols->count = 0;
		symbols_close(symbols);
		return NULL;
	}
	total += symbols->count;
	return symbols;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	total -= symbols->count;
	free(symbols->all);
	dwfl_end(symbols->dwfl);
	free(symbols);
}

/* --- use --- */

static bool contains(const struct symbol *symbol, uint64_t address)
{
	const uint64_t bytes = symbol->bytes ? symbol->bytes : UNSIZED_BYTES;

	return address - symbol->start < bytes;
}

ptrdiff_t symbols_find(const struct symbols *symbols, uint64_t address)
{
	const size_t count = BISECT(i, 0, symbols->count, symbols->all[i].start <= address);

	/* A function may contain others. */
	for (size_t i = 1; i <= NESTED_MAX && i <= count; i++)
		if (contains(&symbols->all[count - i], address))
			return count - i;
	return -1;
}

const char *symbols_name(const struct symbols *symbols, size_t function)
{
	GElf_Addr address;
	GElf_Sym symbol;
	const char *name = dwfl_module_getsym_info(symbols->module, symbols->all[function].index,
						   &symbol, &address, NULL, NULL, NULL);

	return name ? name : "";
}

uint32_t *symbols_word(const struct symbols *symbols, size_t function)
{
	return &symbols->all[function].word;
}

bool symbols_have_eval(const struct symbols *symbols)
{
	return symbols->has_eval;
}
