/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds types by name. libbpf searches all types for each name; this index visits each type once.
 */
#pragma once

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>

struct type_names;

/* Indexes the named types of a BTF, from type `first` on. The BTF must outlive the index. Returns 0
 * or a negative errno. */
int type_names_open(struct type_names **names, const struct btf *btf, uint32_t first);
void type_names_close(struct type_names *names); /* NULL is fine */

/* Returns the first type with that name and kind (BTF_KIND_*), or -ENOENT. */
int type_names_find(const struct type_names *names, const char *name, unsigned int kind);

/* Returns the next type with the name of `bytes` bytes; 0: no more. `place` starts at 0 and keeps
 * the position between calls. */
uint32_t type_names_next(const struct type_names *names, const char *name, size_t bytes,
			 size_t *slot);
