/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The environments of programs that are being executed, put together from their parts. Knows how
 * the parts come (bpf/event.h), nothing of what is looked for in them.
 */
#ifndef FAULTLINE_ENVIRONMENTS_H
#define FAULTLINE_ENVIRONMENTS_H

#include <stddef.h>
#include <stdint.h>

struct environments;
struct event_environ;

/* `most` bounds how many are remembered that have not been asked for: the oldest goes. Returns NULL
 * without memory. */
struct environments *environments_open(size_t most);
void environments_close(struct environments *environments); /* NULL is fine */

/* Takes a part of a task's environment. The parts of several tasks may come in any mixture, each
 * task's in order. */
void environments_add(struct environments *environments, const struct event_environ *part);

/* What has come of a task's environment, and forgets it: valid until the next call. NULL if nothing
 * has come. A part that was lost leaves zeros. */
const char *environments_take(struct environments *environments, uint32_t tid, size_t *bytes);

#endif
