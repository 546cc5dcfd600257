/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads how often the kernel skipped programs. */
#include "capture/support/missed.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

static uint64_t program_missed(const struct bpf_object *object, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (!program || bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return 0;
	return info.recursion_misses;
}

/* Returns whether the program serves the preceding probe's target as well, and is counted there. */
static bool counted_before(const struct choice *choice, const struct probe_program *program)
{
	const struct probe *probe = program->probe;

	return probe != choice->variants[program->part]->probes &&
	       !strcmp(probe[-1].program, probe->program);
}

/* Only hits that every copy of a program missed are lost: at most the smallest count of a copy. */
uint64_t missed_by_layer(const struct bpf_object *object, const struct choice *choice,
			 enum layer layer)
{
	struct probe_program program = { 0 };
	uint64_t missed = 0, min = 0;

	while (probes_next(choice, &program)) {
		uint64_t own;

		if (parts[program.part].layer != layer || counted_before(choice, &program))
			continue;
		own = program_missed(object, program.name);
		if (program.copy)
			missed -= min;
		min = program.copy && min < own ? min : own;
		missed += min;
	}
	return missed;
}
