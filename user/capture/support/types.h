/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The subset of the kernel's types that an object needs. For each struct in the object, libbpf
 * searches all types that it is given: 126,000, of which a few hundred matter.
 */
#pragma once

#include <bpf/btf.h>

#include "capture/support/type_names.h"

/*
 * Writes a BTF to a file: the kernel's structs, unions, enums and typedefs that have the same name
 * as one of the object's, and the types that they contain. Types of the kernel proper keep their
 * ids, which programs pass to the kernel; those of modules follow. Pointers have no target. `names`
 * are the kernel's. Returns 0 or a negative errno.
 */
int types_write(int fd, const struct btf *kernel, const struct type_names *names,
		const struct btf *object);
