/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The system calls in which a thread may wait for something other than storage, as one table. */
#pragma once

#include "bpf/records/event.h"

/* Fills the kernel side's table: WAIT_CALL_COUNT rows, indexed by call number. */
void wait_calls_fill(struct wait_call *rows);

/* Returns the name of a call by its number; "" if it is not in the table. */
const char *wait_call_name(unsigned int number);

/* Returns a state's name in traces and reports; "" if there is no such state. */
const char *thread_state_name(unsigned int state);
