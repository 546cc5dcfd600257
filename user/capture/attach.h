/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Attaching the programs that were loaded to where their probes say. Knows nothing of how they were
 * chosen, nor of what they record.
 */
#ifndef FAULTLINE_ATTACH_H
#define FAULTLINE_ATTACH_H

#include <stddef.h>

#include "capture/probes.h"

struct bpf_link;
struct bpf_object;

/* The links that hold programs where they are attached. Grows; all zeroes is none. */
struct attached {
	struct bpf_link **links;
	size_t count;
};

/*
 * Attaches every program of the variants in `choice`; `cpus` are the possible ones. Returns 0, or a
 * negative errno and in `failed` the probe that could not be; what was attached before it stays.
 */
int attach_chosen(struct attached *attached, struct bpf_object *object, const struct choice *choice,
		  int cpus, const struct probe **failed);
/* Whether any of them stands for one CPU alone, and so has to be attached again to one that comes
 * online later: what was attached to it before it went is dead. */
bool attach_is_by_cpu(const struct choice *choice);
int attach_to_cpu(struct attached *attached, struct bpf_object *object, const struct choice *choice,
		  int cpu);
/* Detaches all. May be called twice. */
void attached_free(struct attached *attached);

#endif
