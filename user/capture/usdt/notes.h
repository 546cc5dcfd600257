/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the markers of a program or library in the notes of its file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"

#define NOTES_MARKERS_MAX 32 /* per file; a file with more is refused */

/* One probe site in the code. Offsets are file offsets. */
struct marker {
	uint64_t offset;
	uint64_t semaphore; /* 0: none */
	struct marker_spec spec;
};

struct markers_found {
	int32_t status; /* 0 or a negative errno; -ENOTSUP: arguments are not supported */
	uint32_t count;
	struct marker markers[NOTES_MARKERS_MAX];
};

/*
 * Finds the markers in a confined process, because the file may be hostile. `fd` is open for
 * reading. A file without markers is not an error. Results are within bounds, and each marker is at
 * an instruction that can hold a probe.
 */
void notes_find(int fd, struct markers_found *found);

/* Finds out which of `count` files (at most NOTES_BATCH_MAX) may have markers. Cheaper than
 * notes_find, but a hostile file can falsify the result. */
#define NOTES_BATCH_MAX 64
void notes_suspect(const int *fds, size_t count, bool *suspected);

/* Parses the arguments of a marker from the text of its note. Returns their number, or -ENOTSUP if
 * one is not supported on this machine. */
int notes_arguments(const char *text, struct marker_arg args[MARKER_ARGS_MAX]);
