/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Listens to span probes without root and without Faultline: a minimal debugger that uses only the
 * notes that USDT tracers read.
 *
 * usage: span_listener OUTPUT COMMAND...
 * Runs COMMAND with FAULTLINE_RUN=1, follows its threads and children, and writes a line of JSON to
 * OUTPUT for each probe that fires; texts and arguments in hexadecimal. Exits with COMMAND's
 * status; 77 if this machine's registers are unsupported; 3 if a probe has unexpected arguments.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void)
{
	puts("registers of this kind of machine are not known here");
	return 77;
}
#else

#define NOP 0x90
#define BREAKPOINT 0xcc
#define ARMED_MAX 4096

/* A probe as described by its note. */
struct probe {
	char name[32];
	char arguments[128];
	uint64_t address, semaphore; /* addresses as stored in the file */
};

/* A probe armed in a process. */
static struct armed {
	pid_t pid;
	uint64_t address;
	struct probe probe;
} armed[ARMED_MAX];
static size_t armed_count;
static FILE *output;

static __attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("span_listener: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	exit(3);
}

/* A number from /proc/TID/status; `key` is for example "Tgid:" or "PPid:". */
static pid_t status_number(pid_t tid, const char *key)
{
	char path[64], line[256];
	pid_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			number = atoi(line + strlen(key));
	if (file)
		fclose(file);
	return number;
}

static int memory_of(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* --- notes --- */

static void read_note(const char *data, size_t size, struct probe *probe)
{
	const char *provider = data + 24, *end = data + size, *name, *arguments;

	name = memchr(provider, '\0', end - provider);
	arguments = name ? memchr(name + 1, '\0', end - name - 1) : NULL;
	if (!arguments || strcmp(provider, "faultline"))
		fail("a note that is none of faultline's");
	memcpy(&probe->address, data, 8);
	memcpy(&probe->semaphore, data + 16, 8);
	snprintf(probe->name, sizeof(probe->name), "%s", name + 1);
	snprintf(probe->arguments, sizeof(probe->arguments), "%s", arguments + 1);
}

/* Reads the faultline probes of an ELF file in memory. Returns their number. */
static size_t read_notes(const char *file, size_t size, struct probe *probes, size_t limit)
{
	const Elf64_Ehdr *elf = (const void *)file;
	const Elf64_Shdr *section;
	size_t count = 0, i, at;

	if (size < sizeof(*elf) || memcmp(file, ELFMAG, SELFMAG) || !elf->e_shoff ||
	    elf->e_shoff + elf->e_shnum * sizeof(*section) > size)
		return 0;
	section = (const void *)(file + elf->e_shoff);
	for (i = 0; i < elf->e_shnum; i++) {
		if (section[i].sh_type != SHT_NOTE ||
		    section[i].sh_offset + section[i].sh_size > size)
			continue;
		for (at = 0; at + sizeof(Elf64_Nhdr) <= section[i].sh_size && count < limit;) {
			const Elf64_Nhdr *note = (const void *)(file + section[i].sh_offset + at);
			const char *name = (const char *)(note + 1);
			const char *data = name + ((note->n_namesz + 3) & ~3u);

			if (note->n_type == 3 && !strcmp(name, "stapsdt") &&
			    !strcmp(data + 24, "faultline"))
				read_note(data, note->n_descsz, &probes[count++]);
			at = data + ((note->n_descsz + 3) & ~3u) - (file + section[i].sh_offset);
		}
	}
	return count;
}

/* --- arming --- */

static void arm_probe(pid_t pid, const struct probe *probe, uint64_t bias)
{
	int memory = memory_of(pid);
	unsigned char byte = 0;
	uint16_t semaphore = 1;
	size_t i;

	for (i = 0; i < armed_count; i++)
		if (armed[i].pid == pid && armed[i].address == probe->address + bias)
			goto out;
	if (armed_count == ARMED_MAX)
		fail("too many probes");
	if (pread(memory, &byte, 1, probe->address + bias) != 1 || byte != NOP)
		fail("%s is no one-byte nop, but %#x", probe->name, byte);
	byte = BREAKPOINT;
	if (pwrite(memory, &byte, 1, probe->address + bias) != 1 ||
	    pwrite(memory, &semaphore, 2, probe->semaphore + bias) != 2)
		fail("cannot write to process %d: %s", pid, strerror(errno));
	armed[armed_count++] = (struct armed) { pid, probe->address + bias, *probe };
out:
	close(memory);
}

/* Arms the probes of a mapped file; `start` is the address of its offset `offset`. */
static void arm_file(pid_t pid, const char *path, uint64_t start, uint64_t offset)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct probe probes[8];
	const Elf64_Phdr *part;
	struct stat status;
	size_t count, i, j;
	char *bytes;

	if (file < 0)
		return;
	fstat(file, &status);
	bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	if (bytes == MAP_FAILED)
		return;
	count = read_notes(bytes, status.st_size, probes, 8);
	for (i = 0; count && i < ((const Elf64_Ehdr *)bytes)->e_phnum; i++) {
		part = (const Elf64_Phdr *)(bytes + ((const Elf64_Ehdr *)bytes)->e_phoff) + i;
		if (part->p_type != PT_LOAD || (part->p_offset & ~4095ull) != offset)
			continue;
		for (j = 0; j < count; j++)
			arm_probe(pid, &probes[j], start - (part->p_vaddr & ~4095ull));
		break;
	}
	munmap(bytes, status.st_size);
}

static void arm(pid_t pid)
{
	char path[64], line[4096], name[4096], mode[8];
	uint64_t start, end, offset;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]",
			   &start, &end, mode, &offset, name) == 5 &&
		    mode[2] == 'x' && name[0] == '/')
			arm_file(pid, name, start, offset);
	if (maps)
		fclose(maps);
}

static void forget(pid_t pid)
{
	size_t i, kept = 0;

	for (i = 0; i < armed_count; i++)
		if (armed[i].pid != pid)
			armed[kept++] = armed[i];
	armed_count = kept;
}

/* A forked child inherits its parents' probes, so their armed rows remain. */
static const struct armed *find_armed(pid_t pid, uint64_t address)
{
	size_t i;

	for (; pid > 1; pid = status_number(pid, "PPid:"))
		for (i = 0; i < armed_count; i++)
			if (armed[i].pid == pid && armed[i].address == address)
				return &armed[i];
	return NULL;
}

/* --- probe arguments --- */

static const struct {
	const char *name;
	size_t offset;
} registers[] = {
#define REGISTER(name)                                                                             \
	{                                                                                          \
#name, offsetof(struct user_regs_struct, name)                                     \
	}
	REGISTER(rax), REGISTER(rbx), REGISTER(rcx), REGISTER(rdx), REGISTER(rsi), REGISTER(rdi),
	REGISTER(rbp), REGISTER(rsp), REGISTER(r8),  REGISTER(r9),  REGISTER(r10), REGISTER(r11),
	REGISTER(r12), REGISTER(r13), REGISTER(r14), REGISTER(r15),
};

static uint64_t register_value(const struct user_regs_struct *all, const char *name)
{
	size_t i, length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

	for (i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		if (strlen(registers[i].name) == length && !memcmp(registers[i].name, name, length))
			return *(const unsigned long long *)((const char *)all +
							     registers[i].offset);
	fail("no register %s", name);
}

/* "8@%rax", "8@-16(%rbp)" or "8@$5" */
static uint64_t argument(int memory, const struct user_regs_struct *all, const char *text)
{
	const char *operand = strchr(text, '@');
	uint64_t value = 0;
	char *rest;
	long offset;

	if (!operand || strtol(text, NULL, 10) != 8)
		fail("an argument that has not 8 bytes: %s", text);
	operand++;
	if (*operand == '%')
		return register_value(all, operand + 1);
	if (*operand == '$')
		return strtoull(operand + 1, NULL, 0);
	offset = strtol(operand, &rest, 0);
	if (rest[0] != '(' || rest[1] != '%')
		fail("an argument of a kind that is not known: %s", text);
	if (pread(memory, &value, 8, register_value(all, rest + 2) + offset) != 8)
		fail("an argument that cannot be read: %s", text);
	return value;
}

static void write_hex(int memory, const char *key, uint64_t address, size_t size, bool is_string)
{
	unsigned char byte;
	size_t i;

	fprintf(output, ", \"%s\": \"", key);
	for (i = 0; address && i < size; i++) {
		if (pread(memory, &byte, 1, address + i) != 1)
			fail("%s cannot be read at byte %zu", key, i);
		if (is_string && !byte)
			break;
		fprintf(output, "%02x", byte);
	}
	fputc('"', output);
}

static void write_hit(pid_t tid, const struct probe *probe, const struct user_regs_struct *all)
{
	const bool has_id = strcmp(probe->name, "instant") != 0;
	const bool has_text = strcmp(probe->name, "span_end") != 0;
	const bool has_times = strcmp(probe->name, "span_record") == 0;
	uint64_t values[7] = { 0 }, *text = values + has_id;
	const char *next = probe->arguments;
	int memory = memory_of(tid);
	size_t i;

	for (i = 0; next && i < 7; i++) {
		values[i] = argument(memory, all, next);
		next = strchr(next, ' ');
		next = next ? next + 1 : NULL;
	}
	if (next || i != (size_t)(has_id + 4 * has_text + 2 * has_times))
		fail("%s has not the arguments that were agreed: %s", probe->name,
		     probe->arguments);
	fprintf(output, "{\"probe\": \"%s\", \"pid\": %d, \"tid\": %d", probe->name,
		status_number(tid, "Tgid:"), tid);
	if (has_id)
		fprintf(output, ", \"id\": %" PRIu64, values[0]);
	if (has_text) {
		write_hex(memory, "name", text[0], 4096, true);
		write_hex(memory, "category", text[1], 4096, true);
		write_hex(memory, "args", text[2], text[3], false);
		fprintf(output, ", \"args_len\": %" PRIu64, text[3]);
	}
	if (has_times)
		fprintf(output, ", \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64, values[5],
			values[6]);
	fputs("}\n", output);
	close(memory);
}

/* --- tracing --- */

/* Returns the signal to resume the stopped thread with. */
static int stopped(pid_t tid, int status)
{
	struct user_regs_struct all;
	const struct armed *hit;
	int signal = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_EXEC)
		forget(status_number(tid, "Tgid:"));
	if (event || signal == SIGSTOP)
		return 0;
	if (signal != SIGTRAP && signal != (SIGTRAP | 0x80))
		return signal;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &all))
		return 0;
	if (signal != SIGTRAP) {
		/* the library waits for a tracer: it is fully mapped, and no span has begun */
		if (all.orig_rax == SYS_nanosleep || all.orig_rax == SYS_clock_nanosleep)
			arm(status_number(tid, "Tgid:"));
		return 0;
	}
	hit = find_armed(status_number(tid, "Tgid:"), all.rip - 1);
	if (!hit)
		return SIGTRAP;
	write_hit(tid, &hit->probe, &all); /* resume after the breakpoint, which replaced a nop */
	return 0;
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int status, result = 0, signal;
	pid_t child, tid;

	output = argc > 2 ? fopen(argv[1], "we") : NULL;
	if (!output)
		fail("usage: span_listener OUTPUT COMMAND...");
	child = fork();
	if (child == 0) {
		setenv("FAULTLINE_RUN", "1", 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, options))
		fail("cannot follow %s", argv[2]);
	ptrace(PTRACE_SYSCALL, child, NULL, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			signal = stopped(tid, status);
			ptrace(PTRACE_SYSCALL, tid, NULL, signal);
		} else if (tid == child) {
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
	}
	fclose(output);
	return result;
}
#endif
