/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How often the kernel skipped programs, by its own count. */
#pragma once

#include <stdint.h>

#include "capture/support/probes.h"

struct bpf_object;

/* Returns the total of the programs chosen for a layer. */
uint64_t missed_by_layer(const struct bpf_object *object, const struct choice *choice,
			 enum layer layer);
