/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The process that unwinds. It has the privileges to read what followed processes have mapped, and
 * no others.
 */
#pragma once

#include "capture/native/queue.h"

/* Never returns. Call in a process without other threads. */
void __attribute__((noreturn)) unwind_process_run(struct unwind_queue *queue);
