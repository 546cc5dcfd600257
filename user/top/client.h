/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Asks the monitoring service one question. Knows nothing of what it answers.
 */
#ifndef FAULTLINE_TOP_CLIENT_H
#define FAULTLINE_TOP_CLIENT_H

#include "output/sink.h"

#define CLIENT_ANSWER_MOST (64 << 20)
#define CLIENT_WAIT_S 2
#define CLIENT_ANSWER_S 5

/*
 * GET of a path at a place as --listen has it. `body` is a memory sink, which receives the answer,
 * and `trouble`, of `size` bytes, what is wrong, if anything is. Returns 0 or a negative errno:
 * -EPROTO for an answer that is none or not a good one, -ETIMEDOUT when for CLIENT_WAIT_S
 * nobody takes the call, or nothing comes, or when the answer is not complete after
 * CLIENT_ANSWER_S.
 */
int client_get(const char *where, const char *path, struct sink *body, char *trouble, size_t size);

#endif
