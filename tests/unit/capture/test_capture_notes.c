/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Marker notes: argument locations, what a valid library yields, and the confined reader on
 * malicious files: bounded memory, bounded time, no privileges.
 */
#define OWN_MAIN
#include "unit_test.h"

#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/usdt/confined.h"
#include "capture/usdt/notes.h"

#define RESIDENT_MAX_KB (256 << 10) /* of a reader, whose limit is 64 MiB */

/* --- arguments --- */

TEST(test_arguments)
{
	struct marker_arg args[MARKER_ARGS_MAX];

#if defined(__x86_64__)
#define AT(field) offsetof(struct pt_regs, field)
	assert_int_equal(notes_arguments("8@%rax -4@%r9d 8@$5 8@-16(%rbp) 2@(%rax,%rbx,8)", args),
			 5);
	assert_int_equal(args[0].source, MARKER_REGISTER);
	assert_int_equal(args[0].base, AT(rax));
	assert_int_equal(args[0].bytes, 8);
	assert_int_equal(args[0].is_signed, 0);
	assert_int_equal(args[1].base, AT(r9));
	assert_int_equal(args[1].bytes, 4);
	assert_int_equal(args[1].is_signed, 1);
	assert_int_equal(args[2].source, MARKER_CONSTANT);
	assert_int_equal(args[2].value, 5);
	assert_int_equal(args[3].source, MARKER_MEMORY);
	assert_int_equal(args[3].base, AT(rbp));
	assert_int_equal(args[3].value, -16);
	assert_int_equal(args[3].scale, 0);
	assert_int_equal(args[4].base, AT(rax));
	assert_int_equal(args[4].index, AT(rbx));
	assert_int_equal(args[4].scale, 8);
	assert_int_equal(args[5].source, MARKER_CONSTANT);
	assert_int_equal(args[5].value, 0);
#undef AT
#else
	assert_int_equal(notes_arguments("8@x0 -4@w9 8@5 8@[sp, 16] 8@[x1] 8@[x2, x3]", args), 6);
	assert_int_equal(args[0].base, 0);
	assert_int_equal(args[1].base, 9 * 8);
	assert_int_equal(args[2].value, 5);
	assert_int_equal(args[3].base, offsetof(struct user_pt_regs, sp));
	assert_int_equal(args[3].value, 16);
	assert_int_equal(args[4].source, MARKER_MEMORY);
	assert_int_equal(args[5].index, 3 * 8);
	assert_int_equal(args[5].scale, 1);
#endif
}

TEST(test_invalid_arguments)
{
	static const char *const texts[] = {
		"8",
		"@%rax",
		"8@",
		"3@%rax",
		"8@%zmm0",
		"8@%",
		"8@-16(",
		"8@-16(%rbp",
		"8@(%rax,",
		"8@(%rax,%rbx,3)",
		"8@foo",
		"8@$",
		"8@[sp",
		"8@x31",
		"8@%rax8@%rbx",
		"8@%raxx",
		"99@%rax",
		"8@$99999999999999999999999",
		"8f@%rax",
		"8@%rax 8@%rax 8@%rax 8@%rax 8@%rax 8@%rax 8@%rax 8@%rax",
	};
	struct marker_arg args[MARKER_ARGS_MAX];

	assert_int_equal(notes_arguments("", args), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (notes_arguments(texts[i], args) != -ENOTSUP)
			fail_msg("'%s' is taken for arguments", texts[i]);
}

/* --- files --- */

static char place[] = "/tmp/faultline-notes-XXXXXX";

static int make_place(void **state)
{
	return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", place);
	return system(command);
}

/* A copy of our library to corrupt. */
static int copy_library(char **bytes, size_t *size)
{
	const char *build = getenv("BUILD");
	char path[4096];
	struct stat status;
	int from, to;

	snprintf(path, sizeof(path), "%s/libfaultline.so.0", build ? build : "build");
	from = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(from >= 0);
	assert_int_equal(fstat(from, &status), 0);
	*size = status.st_size;
	snprintf(path, sizeof(path), "%s/library", place);
	to = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(to >= 0);
	assert_int_equal(ftruncate(to, *size), 0);
	*bytes = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	assert_ptr_not_equal(*bytes, MAP_FAILED);
	assert_int_equal(pread(from, *bytes, *size, 0), *size);
	close(from);
	return to;
}

static Elf64_Shdr *section(char *bytes, const char *name)
{
	Elf64_Ehdr *header = (void *)bytes;
	Elf64_Shdr *sections = (void *)(bytes + header->e_shoff);
	const char *names = bytes + sections[header->e_shstrndx].sh_offset;

	for (int i = 0; i < header->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, name))
			return &sections[i];
	fail_msg("no section %s", name);
	return NULL;
}

TEST(test_library)
{
	static struct markers_found found;
	unsigned int kinds = 0;
	char *bytes;
	size_t size;
	int fd = copy_library(&bytes, &size);

	notes_find(fd, &found);
	assert_int_equal(found.status, 0);
	for (uint32_t i = 0; i < found.count; i++) {
		kinds |= 1u << found.markers[i].spec.kind;
		assert_int_not_equal(found.markers[i].semaphore, 0);
	}
	assert_int_equal(kinds, (1u << MARKER_KIND_COUNT) - 1);
	assert_int_equal(found.count, MARKER_KIND_COUNT);

	/* A location without a nop is not attached to. */
	bytes[found.markers[1].offset] ^= 1;
	notes_find(fd, &found);
	assert_int_equal(found.status, -ENOTSUP);
	assert_int_equal(found.count, 0);
	munmap(bytes, size);
	close(fd);
}

TEST(test_other_files)
{
	int fds[2] = { open("/bin/true", O_RDONLY | O_CLOEXEC), -1 };
	static struct markers_found found;
	bool suspected[2];
	char *bytes;
	size_t size;

	notes_find(fds[0], &found);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.status, 0);
	fds[1] = copy_library(&bytes, &size);
	notes_suspect(fds, 2, suspected);
	assert_false(suspected[0]);
	assert_true(suspected[1]);
	munmap(bytes, size);
	close(fds[0]);
	close(fds[1]);
}

static void check_bounded(int fd, uint32_t count)
{
	static struct markers_found found;
	struct rusage children;

	notes_find(fd, &found);
	assert_int_equal(found.count, count);
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &children), 0);
	assert_true(children.ru_maxrss < RESIDENT_MAX_KB);
}

/* Files of a few KiB that claim to hold GiB. */
TEST(test_claims)
{
	char *bytes;
	size_t size;
	int fd = copy_library(&bytes, &size);

	section(bytes, ".note.stapsdt")->sh_size = 3ull << 30;
	assert_int_equal(ftruncate(fd, 4ll << 30), 0);
	check_bounded(fd, 0);
	munmap(bytes, size);
	close(fd);

	fd = copy_library(&bytes, &size);
	section(bytes, ".shstrtab")->sh_size = 3ull << 30; /* only a small part is read */
	assert_int_equal(ftruncate(fd, 4ll << 30), 0);
	check_bounded(fd, MARKER_KIND_COUNT);
	munmap(bytes, size);
	close(fd);

	fd = copy_library(&bytes, &size);
	((Elf64_Ehdr *)bytes)->e_shnum = 0; /* the first section then holds the number */
	((Elf64_Ehdr *)bytes)->e_shoff = 1ull << 30;
	assert_int_equal(ftruncate(fd, 4ll << 30), 0);
	assert_int_equal(
		pwrite(fd, &(Elf64_Shdr) { .sh_size = 16 << 20 }, sizeof(Elf64_Shdr), 1ll << 30),
		sizeof(Elf64_Shdr));
	check_bounded(fd, 0);
	munmap(bytes, size);
	close(fd);
}

/* --- forms that linkers do not produce --- */

#define ADDRESSES 3
#define ADDRESS(n) (sizeof(Elf64_Nhdr) + sizeof("stapsdt") + (n) * sizeof(uint64_t))

/* One invalid value: in the file header, in a section header, or in the first note. */
TEST(test_forms)
{
	static const struct {
		const char *section;
		bool note;
		size_t at, bytes;
		uint64_t value;
		int status;
	} forms[] = {
#define FILE_FORM(field, value, status)                                                            \
	{ NULL, false, offsetof(Elf64_Ehdr, field), 2, value, status }
#define SECTION_FORM(name, field, value, status)                                                   \
	{                                                                                          \
		name, false, offsetof(Elf64_Shdr, field), 8, value, status                         \
	}
#define NOTE_FORM(at, bytes, value, status)                                                        \
	{                                                                                          \
		".note.stapsdt", true, at, bytes, value, status                                    \
	}
		FILE_FORM(e_shentsize, 1, 0),
		FILE_FORM(e_shstrndx, 0xfffe, 0),
		FILE_FORM(e_phnum, PN_XNUM, -ENOTSUP),
		SECTION_FORM(".note.stapsdt", sh_flags, SHF_COMPRESSED, 0),
		SECTION_FORM(".note.stapsdt", sh_offset, 0, 0),
		SECTION_FORM(".note.stapsdt", sh_offset, UINT64_MAX - 8, 0),
		SECTION_FORM(".note.stapsdt", sh_addralign, UINT64_MAX, 0),
		SECTION_FORM(".stapsdt.base", sh_addr, UINT64_MAX, -ENOTSUP),
		SECTION_FORM(".shstrtab", sh_flags, SHF_COMPRESSED, 0),
		NOTE_FORM(offsetof(Elf64_Nhdr, n_namesz), 4, UINT32_MAX, 0),
		NOTE_FORM(offsetof(Elf64_Nhdr, n_descsz), 4, UINT32_MAX, 0),
		NOTE_FORM(offsetof(Elf64_Nhdr, n_descsz), 4, ADDRESSES * sizeof(uint64_t), 0),
		NOTE_FORM(ADDRESS(0), 8, UINT64_MAX - 1, -ENOTSUP),
		NOTE_FORM(ADDRESS(1), 8, 1, -ENOTSUP),
		NOTE_FORM(ADDRESS(2), 8, UINT64_MAX - 1, -ENOTSUP),
#undef FILE_FORM
#undef SECTION_FORM
#undef NOTE_FORM
	};
	static struct markers_found found;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		char *bytes, *where;
		size_t size;
		int fd = copy_library(&bytes, &size);

		where = forms[i].section ? (char *)section(bytes, forms[i].section) : bytes;
		if (forms[i].note)
			where = bytes + ((Elf64_Shdr *)where)->sh_offset;
		memcpy(where + forms[i].at, &forms[i].value, forms[i].bytes);
		notes_find(fd, &found);
		if (found.status != forms[i].status || found.count > MARKER_KIND_COUNT)
			fail_msg("form %zu: status %d, %u markers", i, found.status, found.count);
		munmap(bytes, size);
		close(fd);
	}
}

/* Appends `count` notes with arguments of `each` bytes to the library's. */
static void put_notes(int fd, char *bytes, size_t size, size_t count, size_t each)
{
	static const char probe[] = "faultline\0instant", argument[] = "8@%rax ";
	Elf64_Shdr *notes = section(bytes, ".note.stapsdt");
	size_t head = ADDRESS(ADDRESSES), whole = (head + sizeof(probe) + each + 1 + 3) & ~3ul;
	char *text = calloc(1, whole);

	assert_non_null(text);
	memcpy(text, bytes + notes->sh_offset, head);
	((Elf64_Nhdr *)text)->n_descsz = whole - ADDRESS(0);
	memcpy(text + head, probe, sizeof(probe));
	for (size_t i = 0; i < each; i++)
		text[head + sizeof(probe) + i] = argument[i % (sizeof(argument) - 1)];
	for (size_t i = 0; i < count; i++)
		assert_int_equal(pwrite(fd, text, whole, size + i * whole), whole);
	notes->sh_offset = size;
	notes->sh_size = count * whole;
	free(text);
}

TEST(test_many_notes)
{
	/*
	 * Thousands with the same name; arguments of 1 MiB, and of 40 MiB in total, which are not
	 * read.
	 */
	static const struct {
		size_t count, each;
		int status;
	} files[] = { { 20000, 27, -E2BIG }, { 1, 1 << 20, -ENOTSUP }, { 40, 1 << 20, -E2BIG } };
	static struct markers_found found;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *bytes;
		size_t size;
		int fd = copy_library(&bytes, &size);

		put_notes(fd, bytes, size, files[i].count, files[i].each);
		notes_find(fd, &found);
		assert_int_equal(found.status, files[i].status);
		munmap(bytes, size);
		close(fd);
	}
}

/* Prepends sections, and adds an unterminated name table. */
static void put_sections(int fd, char *bytes, size_t size, size_t more, size_t name_bytes)
{
	Elf64_Ehdr *file = (void *)bytes;
	size_t table = (size + name_bytes + 7) & ~7ul, real = file->e_shnum;
	Elf64_Shdr *sections = calloc(more + real, sizeof(*sections));
	Elf64_Shdr *names_section = &sections[more + file->e_shstrndx];
	char *names = malloc(name_bytes + 1);

	assert_non_null(sections);
	assert_non_null(names);
	memset(names, 'x', name_bytes);
	memcpy(sections + more, bytes + file->e_shoff, real * sizeof(*sections));
	for (size_t i = 1; i <= more; i++)
		sections[i] = (Elf64_Shdr) { .sh_name = 5, .sh_type = SHT_NOBITS };
	names_section->sh_size = size + name_bytes - names_section->sh_offset;
	assert_int_equal(pwrite(fd, names, name_bytes, size), name_bytes);
	assert_int_equal(pwrite(fd, sections, (more + real) * sizeof(*sections), table),
			 (more + real) * sizeof(*sections));
	file->e_shoff = table;
	file->e_shnum += more;
	file->e_shstrndx += more;
	free(sections);
	free(names);
}

TEST(test_many_sections)
{
	static const struct {
		size_t more, name_bytes;
		int status;
	} files[] = { { 16000, 8 << 20, 0 }, { 16000, 0, 0 }, { 16384, 0, -E2BIG } };
	static struct markers_found found;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *bytes;
		size_t size;
		int fd = copy_library(&bytes, &size);

		put_sections(fd, bytes, size, files[i].more, files[i].name_bytes);
		notes_find(fd, &found);
		assert_int_equal(found.status, files[i].status);
		assert_int_equal(found.count, files[i].status ? 0 : MARKER_KIND_COUNT);
		munmap(bytes, size);
		close(fd);
	}
}

/* --- confinement --- */

struct attempts {
	uint32_t uid, opened, mapped, written, sent;
};

static void attempt_all(void *context, void *out)
{
	struct attempts *attempts = out;
	const int *file = context;

	attempts->uid = geteuid();
	attempts->opened = open("/dev/null", O_RDONLY) >= 0;
	attempts->mapped = mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0) != MAP_FAILED;
	signal(SIGXFSZ, SIG_IGN);
	attempts->written = write(*file, "x", 1) == 1;
	attempts->sent = !geteuid() || kill(getppid(), 0) == 0;
}

TEST(test_confined)
{
	struct attempts attempts = { 0 };
	struct time_budget time_budget = { 0 };
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/file", place);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	time_budget.left_ns = CONFINED_BUDGET_NS;
	assert_int_equal(confined_run(attempt_all, &fd, &attempts, sizeof(attempts), &time_budget),
			 0);
	close(fd);
	assert_false(attempts.opened);
	assert_false(attempts.mapped);
	assert_false(attempts.written);
	if (!geteuid()) {
		assert_int_equal(attempts.uid, 65534);
		assert_false(attempts.sent);
	}
}

static void loop(void *context, void *out)
{
	for (;;)
		__asm__ volatile("");
}

static void hang(void *context, void *out)
{
	for (;;)
		pause();
}

static void crash(void *context, void *out)
{
	signal(SIGABRT, SIG_DFL);
	raise(SIGKILL);
}

TEST(test_confined_child_hangs)
{
	struct time_budget time_budget = { CONFINED_BUDGET_NS };
	int out;

	assert_int_not_equal(confined_run(loop, NULL, &out, sizeof(out), &time_budget), 0);
	assert_int_equal(confined_run(hang, NULL, &out, sizeof(out), &time_budget), -ETIMEDOUT);
	assert_true(time_budget.left_ns < CONFINED_LONGEST_NS);
	assert_int_equal(confined_run(hang, NULL, &out, sizeof(out), &time_budget), -ETIMEDOUT);
	assert_int_equal(time_budget.left_ns, 0);
	assert_int_equal(confined_run(crash, NULL, &out, sizeof(out), &time_budget), -EPROTO);
}

/* Time used up by hanging files is not available to later ones, except for a reserved share. */
TEST(test_patience)
{
	struct time_budget time_budget = { CONFINED_LONGEST_NS };

	assert_int_equal(confined_max_ns(&time_budget), CONFINED_LONGEST_NS);
	confined_took(&time_budget, CONFINED_SHARE_NS);
	confined_took(&time_budget, 0);
	assert_int_equal(confined_max_ns(&time_budget), CONFINED_LONGEST_NS);
	confined_took(&time_budget, CONFINED_LONGEST_NS);
	assert_int_equal(time_budget.left_ns, CONFINED_SHARE_NS);
	assert_int_equal(confined_max_ns(&time_budget), 2 * CONFINED_SHARE_NS);
	confined_took(&time_budget, UINT64_MAX);
	assert_int_equal(time_budget.left_ns, 0);
	assert_int_equal(confined_max_ns(&time_budget), CONFINED_SHARE_NS);
	confined_took(&time_budget, UINT64_MAX);
	assert_int_equal(confined_max_ns(&time_budget), CONFINED_SHARE_NS);
}

int main(void)
{
	return cmocka_run_group_tests(unit_tests, make_place, remove_place);
}
