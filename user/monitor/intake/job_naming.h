/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of jobs, looked up by a thread of their own: the thread that drains the buffers must not
 * wait for the node's disk.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "monitor/ledger/ledger.h"

struct job_naming;

/* `root`: the node's root directory. Unless `privileged`, it reads only what the user may. Returns
 * 0 or a negative errno. */
int job_naming_open(struct job_naming **naming, const char *root, bool privileged);
/* NULL is fine. Does not wait for a lookup in progress. */
void job_naming_close(struct job_naming *naming);

/* Gives jobs the names that have been found, and asks for those that are missing. The ledger is
 * locked. */
void job_naming_settle(struct job_naming *naming, struct ledger *ledger, uint64_t now_ns);
