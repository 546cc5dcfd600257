/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loads BPF programs quickly: on several CPUs at once, with only the kernel types that they need.
 */
#pragma once

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "capture/support/kernel.h"

struct loader;

/* Must be opened before the first object that it loads, and closed after the last. Only one may be
 * open at a time. Returns 0 or a negative errno. */
int loader_open(struct loader **loader, struct kernel *kernel);
void loader_close(struct loader *loader); /* NULL is fine */

/* Returns the path of the kernel types: the btf_custom_path to open every object with; and the
 * descriptor behind it, which the loader owns. */
const char *loader_types(const struct loader *loader);
int loader_types_fd(const struct loader *loader);

/* Makes the next load read the types of the kernel's modules again, which may have changed. */
void loader_forget_types(struct loader *loader);

/* Loads an object, its maps first. If `alone`, loads one program after the other, and writes the
 * logs of those with log buffers. Returns 0 or a negative errno, that of a program that the kernel
 * refuses. */
int loader_load(struct loader *loader, struct bpf_object_skeleton *skeleton, bool alone);
