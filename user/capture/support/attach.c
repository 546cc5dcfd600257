/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Attaches loaded programs to the targets of their probes. */
#include "capture/support/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/records/block_functions.h"
#include "capture/support/perf.h"
#include "base/log.h"

/* Stores a link, of a perf event unless `event` is -1, whose descriptor is closed on failure.
 * Returns -errno if the link is NULL. */
static int keep_link(struct attached *attached, struct bpf_link *link, int event)
{
	struct attachment *rows;
	int err = -errno;

	if (!link) {
		if (event >= 0)
			close(event);
		return err;
	}
	rows = realloc(attached->rows, (attached->count + 1) * sizeof(*rows));
	if (!rows) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	attached->rows = rows;
	rows[attached->count++] = (struct attachment) { link, event };
	return 0;
}

/* Attaches to an event's descriptor, which the link then owns. Returns `fd` if that is an errno. */
static int attach_event(struct attached *attached, struct bpf_program *program, int fd)
{
	return fd < 0 ? fd : keep_link(attached, bpf_program__attach_perf_event(program, fd), fd);
}

static int attach_perf_on(struct attached *attached, struct bpf_program *program, const char *event,
			  int cpu)
{
	return attach_event(attached, program, perf_open(event, cpu));
}

static int attach_perf(struct attached *attached, struct bpf_program *program, const char *event,
		       int cpus)
{
	int err = 0;

	for (int cpu = 0; cpu < cpus && !err; cpu++) {
		err = attach_perf_on(attached, program, event, cpu);
		if (err == -ENODEV || err == -ENXIO) /* not online */
			err = 0;
	}
	return err;
}

/* Runs a program, which returns 0 or a negative errno. */
static int run_once(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int err = bpf_prog_test_run_opts(bpf_program__fd(program), &options);

	return err ? -errno : (int)options.retval;
}

#define FUNCTION_NAME(field, name) name,
static const char *const block_functions[] = { BLOCK_FUNCTIONS(FUNCTION_NAME) };

/* Runs a program with the addresses of struct block_functions; the kernel may hide them all. */
static int run_with_functions(struct bpf_program *program, const char *path)
{
	uint64_t found[sizeof(block_functions) / sizeof(block_functions[0])] = { 0 }, any = 0;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = found, .ctx_size_in = sizeof(found));
	FILE *file = fopen(path, "re");
	unsigned long long address;
	char name[128];

	if (!file)
		return -errno;
	while (fscanf(file, "%llx %*c %127s%*[^\n]", &address, name) == 2)
		for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
			if (!strcmp(name, block_functions[i]))
				any |= found[i] = address;
	fclose(file);
	if (!any)
		return -EPERM;
	return bpf_prog_test_run_opts(bpf_program__fd(program), &options) ? -errno : 0;
}

bool attach_is_by_cpu(const struct choice *choice)
{
	struct probe_program program = { 0 };

	while (probes_next(choice, &program))
		if (program.probe->hook == HOOK_PERF)
			return true;
	return false;
}

int attach_to_cpu(struct attached *attached, struct bpf_object *object, const struct choice *choice,
		  int cpu)
{
	struct probe_program program = { 0 };
	int err = 0;

	while (!err && probes_next(choice, &program))
		if (program.probe->hook == HOOK_PERF)
			err = attach_perf_on(attached,
					     bpf_object__find_program_by_name(object, program.name),
					     program.probe->target, cpu);
	return err;
}

static int attach_one(struct attached *attached, struct bpf_object *object,
		      const struct probe_program *wanted, int cpus)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, wanted->name);
	const struct probe *probe = wanted->probe;

	if (!program)
		return -ENOENT;
	switch (probe->hook) {
	case HOOK_RUN:
		return run_once(program);
	case HOOK_RUN_FOUND:
		return run_with_functions(program, probe->target);
	case HOOK_ITER:
		return 0; /* run on demand */
	case HOOK_USDT:
		return 0; /* attached by the listener, to markers in programs */
	case HOOK_PERF:
		return attach_perf(attached, program, probe->target, cpus);
	case HOOK_RAW_TP:
		return keep_link(attached,
				 bpf_program__attach_raw_tracepoint(program, probe->target), -1);
	case HOOK_TP:
		return attach_event(attached, program, perf_open_tracepoint(probe->target));
	case HOOK_KPROBE:
	case HOOK_KRETPROBE:
		return attach_event(attached, program,
				    perf_open_kprobe(probe->target, probe->hook == HOOK_KRETPROBE));
	default:
		return keep_link(attached, bpf_program__attach_trace(program), -1);
	}
}

int attach_chosen(struct attached *attached, struct bpf_object *object, const struct choice *choice,
		  unsigned int layers, int cpus, struct probe_program *failed)
{
	struct probe_program program = { 0 };

	while (probes_next(choice, &program)) {
		int err;

		if (!(layers & 1u << parts[program.part].layer))
			continue;
		err = attach_one(attached, object, &program, cpus);
		if (err) {
			*failed = program;
			return err;
		}
		log_debug("%s is attached to %s", program.name, program.probe->target);
	}
	return 0;
}

void attached_free(struct attached *attached)
{
	/* In reverse: if a tracepoint's first program is detached while others stay, the kernel
	 * waits for all running ones. */
	for (size_t i = attached->count; i-- > 0;)
		bpf_link__destroy(attached->rows[i].link);
	free(attached->rows);
	*attached = (struct attached) { 0 };
}

void attached_leave(struct attached *attached)
{
	for (size_t i = 0; i < attached->count; i++) {
		const struct attachment *row = &attached->rows[i];
		int fd = bpf_link__fd(row->link);

		/* libbpf would disable the event, which is one for both processes. */
		bpf_link__disconnect(row->link);
		close(fd);
		if (row->event >= 0 && row->event != fd)
			close(row->event);
	}
	attached_free(attached);
}
