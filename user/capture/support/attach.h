/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Attaches loaded programs to the targets of their probes. */
#pragma once

#include <stddef.h>

#include "capture/support/probes.h"

struct bpf_link;
struct bpf_object;

/* The links that keep programs attached. Grows; zero-initialized is empty. */
struct attached {
	struct attachment {
		struct bpf_link *link;
		int event; /* descriptor of the perf event that the link also owns; -1: none */
	} * rows;
	size_t count;
};

/*
 * Attaches every program of the variants in `choice` whose layer is in the mask `layers`; `cpus` is
 * the number of possible CPUs. Returns 0, or a negative errno with the failing program in `failed`;
 * earlier links stay.
 */
int attach_chosen(struct attached *attached, struct bpf_object *object, const struct choice *choice,
		  unsigned int layers, int cpus, struct probe_program *failed);
/* Whether any program is attached per CPU, and so must be attached again to a CPU that comes
 * online: its links from before it went offline are dead. */
bool attach_is_by_cpu(const struct choice *choice);
int attach_to_cpu(struct attached *attached, struct bpf_object *object, const struct choice *choice,
		  int cpu);
/* Detaches all. May be called twice. */
void attached_free(struct attached *attached);
/* Leaves all to another process, which has the same descriptors: those of this one are closed. */
void attached_leave(struct attached *attached);
