/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Unwinds stacks and names their frames, with libdw. To be used in a process of its own. */
#pragma once

#include "capture/native/queue.h"

struct unwind;

/* Returns NULL if out of memory. Lives as long as the process. */
struct unwind *unwind_make(struct unwind_queue *queue);

/* Does what a slot requests, and fills in the answer. */
void unwind_answer(struct unwind *unwind, struct unwind_slot *slot);
