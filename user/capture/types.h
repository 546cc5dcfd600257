/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's types, as far as an object asks for them. libbpf goes through all that it is given
 * for each struct that the object knows: 126,000 types, of which a few hundred matter.
 */
#ifndef FAULTLINE_TYPES_H
#define FAULTLINE_TYPES_H

#include <bpf/btf.h>

#include "capture/type_names.h"

/*
 * Writes a BTF with those of the kernel's structs, unions, enums and typedefs that are called like
 * one of the object's, and with what those hold, into a file. Types of the kernel proper keep their
 * numbers, which programs hand to the kernel; those of modules come behind them. Pointers lead
 * nowhere. `names` are the kernel's. Returns 0 or a negative errno.
 */
int types_write(int fd, const struct btf *kernel, const struct type_names *names,
		const struct btf *object);

#endif
