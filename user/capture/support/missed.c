/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
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

/* A program that serves several targets is counted once for all of them. */
static bool counted_before(const struct variant *variant, size_t probe)
{
	for (size_t i = 0; i < probe; i++)
		if (!strcmp(variant->probes[i].program, variant->probes[probe].program))
			return true;
	return false;
}

/* What all copies of a program missed is at most what the luckiest one missed. */
static uint64_t variant_missed(const struct bpf_object *object, const struct variant *variant)
{
	uint64_t missed = 0;

	for (size_t i = 0; i < VARIANT_PROBES_MAX && variant->probes[i].program;) {
		const struct probe *first = &variant->probes[i];
		bool counted = counted_before(variant, i);
		uint64_t least = program_missed(object, variant->probes[i++].program);

		while (i < VARIANT_PROBES_MAX && variant->probes[i].program &&
		       variant->probes[i].hook == first->hook &&
		       !strcmp(variant->probes[i].target, first->target)) {
			uint64_t other = program_missed(object, variant->probes[i++].program);

			least = other < least ? other : least;
		}
		missed += counted ? 0 : least;
	}
	return missed;
}

uint64_t missed_by_layer(const struct bpf_object *object, const struct choice *choice,
			 enum layer layer)
{
	uint64_t missed = 0;

	for (size_t p = 0; p < part_count; p++)
		if (parts[p].layer == layer && choice->variants[p])
			missed += variant_missed(object, choice->variants[p]);
	return missed;
}
