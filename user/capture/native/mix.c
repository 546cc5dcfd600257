/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Puts the frames of Python into a native stack. */
#include "capture/native/mix.h"

#include <string.h>

#include "capture/native/queue.h"

static bool is_entry(const struct mix_python *python, size_t i)
{
	return python->entries[i / 64 & 1] >> (i & 63) & 1;
}

/* Returns the end of the frames that ran in the same call of the interpreter as frame `i`. */
static size_t end_of_call(const struct mix_python *python, size_t i)
{
	while (i < python->count && !is_entry(python, i))
		i++;
	return i < python->count ? i + 1 : i;
}

size_t mix_frames(const struct mix_native *native, const struct mix_python *python, uint32_t *mixed,
		  bool *reached)
{
	size_t count = 0, taken = 0;

	*reached = !python->count;
	if (!python->count) {
		memcpy(mixed, native->frames, native->count * sizeof(*mixed));
		return native->count;
	}
	for (size_t i = 0; i < native->count && taken < python->count; i++) {
		size_t end;

		if (!(native->flags[i] & NATIVE_FRAME_INTERPRETER)) {
			mixed[count++] = native->frames[i];
			continue;
		}
		*reached = true;
		if (!(native->flags[i] & NATIVE_FRAME_EVAL))
			continue;
		end = end_of_call(python, taken);
		while (taken < end)
			mixed[count++] = python->frames[taken++];
	}
	/* The stack copy ended early, or frames of the interpreter could not be named: append the
	 * remaining Python frames. */
	while (taken < python->count)
		mixed[count++] = python->frames[taken++];
	return count;
}
