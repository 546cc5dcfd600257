/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Notifies the service manager with systemd's protocol (sd_notify(3), which needs no library). */
#pragma once

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int fd; /* -1: no listener */
	struct sockaddr_un to;
	socklen_t to_length;
	uint64_t watchdog_ns; /* longest interval between notifications; 0: no watchdog */
};

/* Takes NOTIFY_SOCKET and WATCHDOG_USEC out of the environment. Unusable values are logged and
 * ignored. */
void notify_open(struct notify *notify);
/* May be called twice. */
void notify_close(struct notify *notify);

/* Sends "READY=1\nSTATUS=..." and the like. */
void notify_say(const struct notify *notify, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
