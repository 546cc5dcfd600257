/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Puts the frames of Python into a native stack, where the interpreter's own frames are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames from the innermost on. */
struct mix_native {
	const uint32_t *frames;
	const uint32_t *flags; /* NATIVE_FRAME_* of each */
	size_t count;
};

struct mix_python {
	const uint32_t *frames;
	const uint64_t *entries; /* bits by number of frame: C has called it; see event_stack */
	size_t count;
};

/*
 * Fills `mixed` with up to native->count + python->count frames, the innermost first, and returns
 * their number. Each call of the interpreter is replaced by the frames of Python that ran in it.
 * Other frames of the interpreter are left out, and so are frames outside of Python's: whether they
 * are in a copy depends on how deep it is. If there are no frames of Python, all native ones stay.
 * Sets *reached to whether the native frames have reached the interpreter: otherwise some are
 * missing between the two.
 */
size_t mix_frames(const struct mix_native *native, const struct mix_python *python, uint32_t *mixed,
		  bool *reached);
