/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sends one request to the monitoring service. */
#pragma once

#include "output/base/sink.h"

#define CLIENT_ANSWER_MAX (64 << 20)
#define CLIENT_WAIT_S 2
#define CLIENT_ANSWER_S 5

/*
 * GETs a path from an address as in --listen. `body` is a memory sink that receives the answer. On
 * failure, `error` (`size` bytes) receives the reason. Returns 0 or a negative errno:
 * -EPROTO for a missing or bad answer; -ETIMEDOUT if nobody accepts the connection or no data
 * arrives for CLIENT_WAIT_S, or the answer is not complete after CLIENT_ANSWER_S.
 */
int client_get(const char *where, const char *path, struct sink *body, char *error, size_t size);
