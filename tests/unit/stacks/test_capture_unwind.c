// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Unwinds this program's own stack, in the process that does so in a recording, and reads symbols
 * of this program and of damaged copies.
 */
#include "unit_test.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "capture/native/mapped_files.h"
#include "capture/native/symbols.h"
#include "capture/native/unwinder.h"

#define LIMIT_NS 20000000000ull

/* --- a stack of our own --- */

/* A stack has parts that no variable is in. */
static __attribute__((noinline, no_sanitize("address"))) void
copy_bytes(volatile uint8_t *to, const volatile uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = from[i];
}

/* Copies this thread's registers and stack as the kernel side does. */
static inline __attribute__((always_inline)) void copy_here(struct native_copy *copy)
{
	uint64_t sp;

	memset(copy, 0, sizeof(*copy));
#if defined(__x86_64__)
	__u64 *at = copy->registers;

	asm volatile("mov %%rbx, 40(%0); mov %%rbp, 32(%0); mov %%r12, 24(%0); mov %%r13, 16(%0);"
		     "mov %%r14, 8(%0); mov %%r15, 0(%0); mov %%rsp, 152(%0);"
		     "lea 1f(%%rip), %%rcx; 1: mov %%rcx, 128(%0)"
		     :
		     : "a"(at)
		     : "rcx", "memory");
	sp = copy->registers[19];
#else
	__u64 *at = copy->registers;

	asm volatile("mov x9, %0; stp x19, x20, [x9, #152]; stp x21, x22, [x9, #168];"
		     "stp x23, x24, [x9, #184]; stp x25, x26, [x9, #200]; stp x27, x28, [x9, #216];"
		     "stp x29, x30, [x9, #232]; mov x10, sp; str x10, [x9, #248]; adr x10, .;"
		     "str x10, [x9, #256]"
		     :
		     : "r"(at)
		     : "x9", "x10", "memory");
	sp = copy->registers[31];
#endif
	copy_bytes(copy->stack + sp % NATIVE_PIECE_BYTES, (void *)sp,
		   NATIVE_STACK_BYTES - sp % NATIVE_PIECE_BYTES);
	copy->end = NATIVE_STACK_BYTES;
}

static struct native_copy copy;

static __attribute__((noinline, noclone)) void test_innermost(void)
{
	copy_here(&copy);
	asm volatile("" ::: "memory");
}

static __attribute__((noinline, noclone)) void test_descend(int depth)
{
	if (depth)
		test_descend(depth - 1);
	else
		test_innermost();
	asm volatile("" ::: "memory");
}

/* Runs it above more stack than is copied: nothing beyond the stack may be read. */
static __attribute__((noinline, noclone)) void test_begin(void)
{
	volatile char room[2 * NATIVE_STACK_BYTES];

	room[0] = room[sizeof(room) - 1] = 0;
	test_descend(5);
	asm volatile("" ::: "memory");
}

static struct unwinder *start(void)
{
	struct unwinder *unwinder;

	assert_int_equal(unwinder_start(&unwinder), 0);
	return unwinder;
}

static void ask(struct unwinder *unwinder, struct unwound *unwound)
{
	assert_true(unwinder_ask(unwinder, getpid(), getpid(), &copy));
	assert_true(unwinder_wait(unwinder, host_now_ns() + LIMIT_NS));
	assert_true(unwinder_take(unwinder, unwound));
}

static void expect_name(struct unwinder *unwinder, uint32_t frame, const char *function)
{
	struct native_name name;

	assert_true(unwinder_name(unwinder, frame, &name));
	assert_int_equal(name.function_bytes, strlen(function));
	assert_memory_equal(name.function, function, name.function_bytes);
}

static void expect_own_stack(struct unwinder *unwinder)
{
	struct unwound unwound;

	ask(unwinder, &unwound);
	assert_int_equal(unwound.status, UNWIND_CUT);
	assert_int_equal(unwound.count, 8);
	expect_name(unwinder, unwound.frames[0], "test_innermost");
	for (uint32_t i = 1; i < 7; i++)
		expect_name(unwinder, unwound.frames[i], "test_descend");
	expect_name(unwinder, unwound.frames[7], "test_begin");
}

TEST(test_own_stack)
{
	struct unwinder *unwinder = start();

	test_begin();
	unwinder_note(unwinder, UNWIND_CODE, getpid(), 0, host_now_ns());
	expect_own_stack(unwinder);
	expect_own_stack(unwinder);
	unwinder_stop(unwinder);
}

/* There is an answer even if nothing can be unwound. */
TEST(test_no_stack)
{
	struct unwinder *unwinder = start();
	struct unwound unwound;

	test_begin();
	copy.end = 0;
	ask(unwinder, &unwound);
	assert_int_equal(unwound.status, UNWIND_FAILED);
	test_begin();
	memset(copy.registers, 0xff, sizeof(copy.registers)); /* addresses at the end of memory */
	ask(unwinder, &unwound);
	assert_int_equal(unwound.status, UNWIND_FAILED);
	test_begin();
	memset(copy.stack, 0xff, sizeof(copy.stack));
	ask(unwinder, &unwound);
	assert_int_not_equal(unwound.status, UNWIND_WHOLE);
	assert_false(unwinder_take(unwinder, &unwound));
	unwinder_stop(unwinder);
}

/* --- the process --- */

/* Finds the only child of a process. */
static pid_t child_of(pid_t parent)
{
	struct dirent *entry;
	DIR *processes = opendir("/proc");
	pid_t found = 0;

	while (processes && (entry = readdir(processes))) {
		char path[300];
		int ppid;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = atoi(entry->d_name) ? fopen(path, "r") : NULL;
		if (!file)
			continue;
		if (fscanf(file, "%*d (%*[^)]) %*c %d", &ppid) == 1 && ppid == parent)
			found = atoi(entry->d_name);
		fclose(file);
	}
	closedir(processes);
	return found;
}

/* A crash costs one stack, not the recording. */
TEST(test_crash)
{
	struct unwinder *unwinder = start();
	pid_t parent = child_of(getpid());

	test_begin();
	expect_own_stack(unwinder);
	assert_int_equal(kill(child_of(parent), SIGKILL), 0);
	while (child_of(parent) <= 0)
		usleep(1000);
	for (int tries = 0;; tries++) { /* the one that it was at, if any, has no frames */
		struct unwound unwound;

		ask(unwinder, &unwound);
		if (unwound.status == UNWIND_CUT)
			break;
		assert_true(tries < 2);
	}
	expect_own_stack(unwinder);
	assert_int_equal(kill(parent, SIGKILL), 0);
	while (!unwinder_has_ended(unwinder))
		usleep(1000);
	assert_false(unwinder_ask(unwinder, getpid(), getpid(), &copy));
	unwinder_stop(unwinder);
}

/* Finds the process that unwinds, while there are no others. */
static pid_t find_unwinding(void)
{
	pid_t child = 0;

	while (child <= 0)
		child = child_of(child_of(getpid()));
	return child;
}

/* The queue is bounded: what does not fit is refused, and all the rest is answered in order. */
TEST(test_full_queue)
{
	struct unwinder *unwinder = start();
	struct unwound unwound;
	pid_t child = find_unwinding();
	unsigned int given = 0, taken = 0;

	test_begin();
	assert_int_equal(kill(child, SIGSTOP), 0);
	while (given <= UNWIND_SLOTS && unwinder_ask(unwinder, getpid(), getpid(), &copy))
		given++;
	assert_true(given > UNWIND_SLOTS / 2 && given < UNWIND_SLOTS);
	assert_int_equal(kill(child, SIGCONT), 0);
	while (taken < given && unwinder_wait(unwinder, host_now_ns() + LIMIT_NS))
		taken += unwinder_take(unwinder, &unwound);
	assert_int_equal(taken, given);
	unwinder_stop(unwinder);
}

/* Starts a copy of this program, which executes another one at a byte from `tell`. */
static pid_t start_other(int *tell)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		char byte;

		if (read(ends[0], &byte, 1) == 1)
			execlp("sleep", "sleep", "60", NULL);
		_exit(1);
	}
	close(ends[0]);
	*tell = ends[1];
	return pid;
}

static bool has_executed(pid_t pid)
{
	char path[64], name[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "r");
	assert_true(file && fgets(name, sizeof(name), file));
	fclose(file);
	return !strcmp(name, "sleep\n");
}

/* If it did not fit that a process executes another program, its stacks have no names of the one
 * before. */
TEST(test_missed_exec)
{
	struct unwinder *unwinder = start();
	struct unwound unwound;
	struct native_name name;
	pid_t child = find_unwinding(), other;
	int tell, status;

	other = start_other(&tell);
	test_begin();
	assert_true(unwinder_ask(unwinder, other, other, &copy));
	assert_true(unwinder_wait(unwinder, host_now_ns() + LIMIT_NS));
	assert_true(unwinder_take(unwinder, &unwound));
	expect_name(unwinder, unwound.frames[0], "test_innermost");
	assert_int_equal(kill(child, SIGSTOP), 0);
	for (unsigned int i = 0; i < UNWIND_SLOTS; i++) /* processes whose parents are unknown */
		unwinder_note(unwinder, UNWIND_FORK, 1, 2, host_now_ns());
	assert_int_equal(write(tell, "", 1), 1);
	while (!has_executed(other))
		usleep(1000);
	unwinder_note(unwinder, UNWIND_EXEC, other, 0, host_now_ns());
	assert_int_equal(kill(child, SIGCONT), 0);
	while (!unwinder_ask(unwinder, other, other, &copy))
		unwinder_wait(unwinder, host_now_ns() + 1000000);
	assert_true(unwinder_wait(unwinder, host_now_ns() + LIMIT_NS));
	assert_true(unwinder_take(unwinder, &unwound));
	if (unwound.count && unwinder_name(unwinder, unwound.frames[0], &name))
		assert_false(name.function_bytes == strlen("test_innermost") &&
			     !memcmp(name.function, "test_innermost", name.function_bytes));
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	close(tell);
	unwinder_stop(unwinder);
}

/* --- files --- */

/* A file that a process could not open before it ended is opened for the next one. */
TEST(test_file_is_opened_later)
{
	static struct mapped_module modules[MAPPED_MODULES_MAX];
	struct mapped_files *files = mapped_files_make();
	struct mapped_file *file;

	assert_non_null(files);
	assert_true(mapped_files_of(files, getpid(), modules) > 0);
	file = modules[0].file;
	assert_true(file && file->fd >= 0);
	close(file->fd);
	file->fd = -1;
	assert_true(mapped_files_of(files, getpid(), modules) > 0);
	assert_ptr_equal(modules[0].file, file);
	assert_true(file->fd >= 0);
	mapped_files_forget(files);
	free(files);
}

/* --- symbols --- */

static int open_own(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

TEST(test_symbols)
{
	int fd = open_own();
	struct symbols *symbols = symbols_open(fd, "/proc/self/exe");
	extern char __ehdr_start;
	const uint64_t address = (char *)test_begin - &__ehdr_start;
	ptrdiff_t function;

	assert_non_null(symbols);
	function = symbols_find(symbols, address);
	assert_true(function >= 0);
	assert_string_equal(symbols_name(symbols, function), "test_begin");
	assert_int_equal(symbols_find(symbols, address + 4), function);
	assert_int_not_equal(symbols_find(symbols, address - 1), function);
	assert_int_equal(symbols_find(symbols, 0), -1);
	assert_int_equal(symbols_find(symbols, UINT64_MAX), -1);
	assert_int_equal(*symbols_word(symbols, function), 0);
	assert_false(symbols_have_eval(symbols));
	symbols_close(symbols);
	close(fd);
	assert_true(symbols_is_eval("_PyEval_EvalFrameDefault"));
	assert_true(symbols_is_eval("_PyEval_EvalFrameDefault.cold"));
	assert_false(symbols_is_eval("_PyEval_EvalFrameDefaults"));
	assert_false(symbols_is_eval("_PyEval_EvalFrame"));
}

/* A small library, so that most of the damage hits tables. */
static char *read_library(size_t *bytes)
{
	static const char *const places[] = { "/lib/x86_64-linux-gnu/libanl.so.1",
					      "/lib/aarch64-linux-gnu/libanl.so.1",
					      "/proc/self/exe" };
	struct stat status;
	char *content;
	int fd = -1;

	for (size_t i = 0; i < 3 && fd < 0; i++)
		fd = open(places[i], O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && !fstat(fd, &status));
	content = malloc(status.st_size);
	assert_int_equal(read(fd, content, status.st_size), status.st_size);
	close(fd);
	*bytes = status.st_size;
	return content;
}

/* Reads symbols as the process does, whose crash must not matter. Returns the child's status. */
static int read_in_child(const char *content, size_t bytes)
{
	int fd = memfd_create("damaged", MFD_CLOEXEC), status;
	pid_t pid;

	assert_int_equal(write(fd, content, bytes), bytes);
	pid = fork();
	if (!pid) {
		struct symbols *symbols;

		alarm(20);
		symbols = symbols_open(fd, "/damaged");
		for (uint64_t at = 0; symbols && at < bytes; at += 64) {
			ptrdiff_t function = symbols_find(symbols, at);

			if (function >= 0)
				symbols_name(symbols, function);
		}
		symbols_close(symbols);
		_exit(0);
	}
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(test_damaged_files)
{
	size_t bytes;
	char *content = read_library(&bytes);

	srand(1);
	for (int i = 0; i < 300; i++) {
		char *damaged = malloc(bytes);
		const size_t kept = i % 3 ? bytes : rand() % bytes;
		/* of the headers, or anywhere */
		const size_t within = i % 2 ? bytes : sizeof(Elf64_Ehdr) + 16 * sizeof(Elf64_Phdr);

		memcpy(damaged, content, bytes);
		for (int n = 0; n < 1 + i % 8; n++)
			damaged[rand() % within] = rand();
		assert_int_equal(read_in_child(damaged, kept), 0);
		free(damaged);
	}
	free(content);
}
