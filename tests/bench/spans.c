// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Begins and ends spans as fast as it can; or hits two bare probes with an empty BPF program
 * attached, a lower bound for any tracing of spans. Runs with or without a tracer. Prints
 * "ns-per-pair pairs".
 *
 * usage: spans pairs|floor SECONDS
 */
#include <fcntl.h>
#include <link.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faultline.h"
#include "tests/bench/clock.h"

#define PAIRS_PER_LOOK 256 /* between clock checks */

static void mark(void)
{
	faultline_span_end(faultline_span_begin("forward", "compute", NULL, 0));
}

/* --- lower bound: one-byte nops, like those of USDT, and a BPF program that returns --- */

extern const char floor_begin[], floor_end[];

static __attribute__((noinline)) void hit(void)
{
	__asm__ volatile(".global floor_begin, floor_end\n"
			 "floor_begin: nop\n"
			 "floor_end: nop\n");
}

struct place {
	uintptr_t address;
	uint64_t offset; /* in the program's file */
};

static int find_in(struct dl_phdr_info *object, size_t size, void *argument)
{
	struct place *place = argument;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && place->address - start < part->p_filesz) {
			place->offset = place->address - start + part->p_offset;
			return 1;
		}
	}
	return 0;
}

/* mov r0, 0; exit */
static int load_empty_program(void)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attributes = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insns = (uintptr_t)code,
		.insn_cnt = sizeof(code) / sizeof(code[0]),
		.license = (uintptr_t) "GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof(attributes));
}

static int attach(int program, const void *address)
{
	struct place place = { .address = (uintptr_t)address };
	struct perf_event_attr attributes = { .size = sizeof(attributes) };
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	int event, found;

	if (!type)
		return -1;
	found = fscanf(type, "%u", &attributes.type);
	fclose(type);
	if (found != 1 || !dl_iterate_phdr(find_in, &place))
		return -1;
	attributes.uprobe_path = (uintptr_t) "/proc/self/exe";
	attributes.probe_offset = place.offset;
	event = syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -1;
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ||
			       ioctl(event, PERF_EVENT_IOC_ENABLE, 0)
		       ? -1
		       : 0;
}

static bool make_floor(void)
{
	int program = load_empty_program();

	return program >= 0 && !attach(program, floor_begin) && !attach(program, floor_end);
}

int main(int argc, char **argv)
{
	uint64_t start, end, pairs = 0;
	bool is_floor;

	if (argc != 3 || (strcmp(argv[1], "pairs") != 0 && strcmp(argv[1], "floor") != 0)) {
		fprintf(stderr, "usage: spans pairs|floor SECONDS\n");
		return 2;
	}
	is_floor = !strcmp(argv[1], "floor");
	if (is_floor && !make_floor()) {
		perror("spans: cannot attach to its own probes");
		return 1;
	}
	start = clock_ns();
	do {
		if (is_floor)
			for (int i = 0; i < PAIRS_PER_LOOK; i++)
				hit();
		else
			for (int i = 0; i < PAIRS_PER_LOOK; i++)
				mark();
		pairs += PAIRS_PER_LOOK;
		end = clock_ns();
	} while (end - start < atof(argv[2]) * 1e9);
	printf("%.2f %llu\n", (double)(end - start) / pairs, (unsigned long long)pairs);
	return 0;
}
