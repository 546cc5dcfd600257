/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sends datagrams to a socket named in the environment. */
#include "monitor/service/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static uint64_t wanted_signs(void)
{
	const char *period = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!period || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(period, NULL, 10) * 1000;
}

/* A path, or "@" and an abstract name. */
static int take_address(struct notify *notify, const char *name)
{
	size_t length = strlen(name);

	if ((*name != '/' && *name != '@') || length < 2 || length >= sizeof(notify->to.sun_path))
		return -EINVAL;
	notify->to.sun_family = AF_UNIX;
	memcpy(notify->to.sun_path, name, length);
	if (*name == '@')
		notify->to.sun_path[0] = '\0';
	notify->to_length = offsetof(struct sockaddr_un, sun_path) + length;
	return 0;
}

void notify_open(struct notify *notify)
{
	const char *name = getenv("NOTIFY_SOCKET");
	int err;

	*notify = (struct notify) { .fd = -1 };
	if (name && *name) {
		err = take_address(notify, name);
		if (!err) {
			notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
			err = notify->fd < 0 ? -errno : 0;
		}
		if (err)
			log_warning("NOTIFY_SOCKET %s: %s; the service manager is not notified",
				    name, strerror(-err));
		else
			notify->watchdog_ns = wanted_signs();
	}
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_close(struct notify *notify)
{
	if (notify->fd >= 0)
		close(notify->fd);
	notify->fd = -1;
}

void notify_say(const struct notify *notify, const char *format, ...)
{
	char text[512];
	va_list args;

	if (notify->fd < 0)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (sendto(notify->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (const void *)&notify->to, notify->to_length) < 0)
		log_debug("NOTIFY_SOCKET: %s", strerror(errno));
}
