/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Words to whoever started the service and watches over it, by systemd's protocol (sd_notify(3),
 * which may be spoken without its library). Knows nothing of what the service does.
 */
#ifndef FAULTLINE_MONITOR_NOTIFY_H
#define FAULTLINE_MONITOR_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int fd; /* -1: nobody listens */
	struct sockaddr_un to;
	socklen_t to_length;
	uint64_t watchdog_ns; /* a sign of life is wanted at least so often; 0: none is */
};

/* Takes NOTIFY_SOCKET and WATCHDOG_USEC out of the environment. What cannot be used is logged, and
 * as if it were not there. */
void notify_open(struct notify *notify);
/* May be called twice. */
void notify_close(struct notify *notify);

/* "READY=1\nSTATUS=..." and the like. */
void notify_say(const struct notify *notify, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
