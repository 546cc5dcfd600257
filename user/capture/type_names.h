/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finding types by their names. libbpf goes through all of them for each; here each is looked at
 * once. Knows no type.
 */
#ifndef FAULTLINE_TYPE_NAMES_H
#define FAULTLINE_TYPE_NAMES_H

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>

struct type_names;

/* An index of what a BTF has named, from the type `first` on. The BTF must outlive it. Returns 0 or
 * a negative errno. */
int type_names_open(struct type_names **names, const struct btf *btf, uint32_t first);
void type_names_close(struct type_names *names); /* NULL is fine */

/* The first type of that name and kind, BTF_KIND_*, or -ENOENT. */
int type_names_find(const struct type_names *names, const char *name, unsigned int kind);

/* The next type that has the name of so many bytes; `place` is 0 at first and for it to keep. 0:
 * there is no other. */
uint32_t type_names_next(const struct type_names *names, const char *name, size_t bytes,
			 size_t *place);

#endif
