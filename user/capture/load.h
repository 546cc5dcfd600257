/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loading programs quickly: on all CPUs at a time, and with no more of the kernel's types than they
 * ask for. Knows nothing of what they are for.
 */
#ifndef FAULTLINE_LOAD_H
#define FAULTLINE_LOAD_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "capture/kernel.h"

struct loader;

/* To be opened before the first object that it shall load, and closed after the last. There may be
 * one at a time. Returns 0 or a negative errno. */
int loader_open(struct loader **loader, struct kernel *kernel);
void loader_close(struct loader *loader); /* NULL is fine */

/* Which types of the kernel objects are to be opened with: their btf_custom_path. All that it loads
 * have the same. */
const char *loader_types(const struct loader *loader);

/* Loads an object, its maps first. Alone: one program after the other, and their logs, if they have
 * buffers for any, are written. Returns 0 or a negative errno, that of a program which the kernel
 * refuses. */
int loader_load(struct loader *loader, struct bpf_object_skeleton *skeleton, bool alone);

#endif
