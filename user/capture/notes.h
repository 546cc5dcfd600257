/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The markers of a program or library, as the notes in its file describe them.
 */
#ifndef FAULTLINE_NOTES_H
#define FAULTLINE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

#define NOTES_MARKERS_MAX 32 /* of one file; more are refused */

/* One place of the program's code. Offsets are those in the file. */
struct marker {
	uint64_t offset;
	uint64_t semaphore; /* 0: it has none */
	struct marker_spec spec;
};

struct markers_found {
	int32_t status; /* 0 or a negative errno; -ENOTSUP for arguments that are not understood */
	uint32_t count;
	struct marker markers[NOTES_MARKERS_MAX];
};

/*
 * Looks for them, in a confined process: the file may be hostile. `fd` is open for reading.
 * No markers are no error. What is found is within bounds, and lies on an instruction that a probe
 * may stand on.
 */
void notes_find(int fd, struct markers_found *found);

/* Whether there may be any, for `count` files at once (at most NOTES_BATCH_MAX), each told by a
 * descriptor: at less cost, and for a word that a hostile file may have turned. */
#define NOTES_BATCH_MAX 64
void notes_suspect(const int *fds, size_t count, bool *suspected);

/* Where the arguments of a marker stand, from the text of its note. Returns how many, -ENOTSUP for
 * what is not understood on this machine. */
int notes_arguments(const char *text, struct marker_arg args[MARKER_ARGS_MAX]);

#endif
