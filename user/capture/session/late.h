/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Layers whose tracepoints, functions and types may come with kernel modules (LAYERS_LATE). A
 * helper process loads their programs when the modules are loaded, also during a recording, and
 * detaches them when the modules are unloaded: a program that is attached to a module's tracepoint,
 * or by fentry, keeps the module in the kernel.
 */
#pragma once

#include <stdint.h>

#include "trace/format/layers.h"

struct late;
struct session;

/* Starts the helper. The session must be loaded; the helper then owns these layers' links. Returns
 * NULL if none is on. A failure is logged. */
struct late *late_start(struct session *session);
/* Ends the helper, which detaches its programs. May be called twice; NULL is fine. */
void late_stop(struct late *late);
void late_close(struct late *late); /* NULL is fine */

/* Returns for how long, in ns, the modules of a layer were loaded while requests were not recorded:
 * an upper bound, 0 for NULL. */
uint64_t late_unseen_ns(const struct late *late, enum layer layer);
/* The same as session_missed(), for programs that the helper loaded; 0 for NULL. */
uint64_t late_missed(const struct late *late, enum layer layer);
