/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Attaches the program of the span layer to markers in a file, for every process that maps the file
 * now or later. libbpf's USDT manager is not used: it reads the file itself, which may be hostile,
 * and supports only 256 markers.
 */
#pragma once

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "capture/usdt/notes.h"

struct uprobes {
	const struct bpf_program *program;
	int specs;     /* the map of struct marker_spec */
	int rows;      /* the map of its rows by struct marker_position; -1: uprobes have cookies */
	bool multi;    /* one link covers a whole file */
	uint32_t used; /* rows of the map in use */
};

/* Returns whether the kernel has uprobe_multi links (since 6.6): creating or removing one costs as
 * much as a single uprobe, and takes no lock that all tracers share. The program must be loaded for
 * them. */
bool uprobes_have_multi(void);
void uprobes_load_multi(struct bpf_program *program);

/*
 * Attaches to all markers of the file `fd`, which may be opened with O_PATH. Attachments last until
 * this process ends. Returns 0; -ENOSPC if there are too many markers; or the kernel's negative
 * errno, and what was attached before stays.
 */
int uprobes_attach(struct uprobes *uprobes, int fd, const struct marker *markers, size_t count);
