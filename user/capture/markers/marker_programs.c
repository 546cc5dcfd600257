/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A hash table of program-file pairs. */
#include "capture/markers/marker_programs.h"

#include <stddef.h>
#include <stdlib.h>

#define SLOTS 65536 /* a power of two; late pairs that do not fit each count as unheard */
#define PROBES 64

struct program {
	uint32_t pid, file;
	unsigned int flags;
};

struct marker_programs {
	_Atomic uint64_t *unheard;
	struct program slots[SLOTS];
};

struct marker_programs *marker_programs_make(_Atomic uint64_t *unheard)
{
	struct marker_programs *programs = calloc(1, sizeof(*programs));

	if (programs)
		programs->unheard = unheard;
	return programs;
}

static struct program *find(struct marker_programs *programs, uint32_t pid, uint32_t file)
{
	uint32_t hash = (pid * 2654435761u) ^ (file * 2246822519u);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct program *program = &programs->slots[(hash + i) % SLOTS];

		if (!program->pid)
			*program = (struct program) { .pid = pid, .file = file };
		if (program->pid == pid && program->file == file)
			return program;
	}
	return NULL;
}

void marker_programs_set(struct marker_programs *programs, uint32_t pid, uint32_t file,
			 unsigned int flag)
{
	struct program *program = find(programs, pid, file);

	if (!program) {
		*programs->unheard += flag == PROGRAM_LATE;
		return;
	}
	*programs->unheard -= program->flags == PROGRAM_LATE;
	program->flags |= flag;
	*programs->unheard += program->flags == PROGRAM_LATE;
}

void marker_programs_free(struct marker_programs *programs)
{
	free(programs);
}
