/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Attaching the program of the span layer to markers in a file, for every process that maps it now
 * or later. Not by libbpf's USDT manager: it reads the file itself, which may be hostile, and has
 * room for 256 markers.
 */
#ifndef FAULTLINE_UPROBES_H
#define FAULTLINE_UPROBES_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "capture/notes.h"

struct uprobes {
	const struct bpf_program *program;
	int specs;     /* the map of struct marker_spec */
	bool multi;    /* one link takes a whole file */
	uint32_t used; /* rows of the map */
};

/* Whether the kernel has links of many uprobes (since 6.6): made and undone at the price of one,
 * without a lock that all tracers share. The program must be loaded for it. */
bool uprobes_have_multi(void);
void uprobes_load_multi(struct bpf_program *program);

/*
 * Attaches to all markers of the file that `fd` leads to, which may be open as a path only. What is
 * attached stays so until this process ends. Returns 0; -ENOSPC when there are too many; a negative
 * errno of the kernel, and what could be attached stays.
 */
int uprobes_attach(struct uprobes *uprobes, int fd, const struct marker *markers, size_t count);

#endif
