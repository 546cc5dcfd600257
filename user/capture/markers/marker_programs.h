/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that may have marked spans before the listener attached: they ran code of a file with
 * markers earlier, without having asked for it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct marker_programs;

enum {
	PROGRAM_ASKED = 1 << 0, /* asked, and waited until the file was attached to */
	PROGRAM_LATE = 1 << 1,	/* the file was attached to after it was mapped, or never */
};

/* Keeps `unheard` at the number of program-file pairs that are late and have not asked. Returns
 * NULL if out of memory. */
struct marker_programs *marker_programs_make(_Atomic uint64_t *unheard);
void marker_programs_set(struct marker_programs *programs, uint32_t pid, uint32_t file,
			 unsigned int flag);
void marker_programs_free(struct marker_programs *programs);
