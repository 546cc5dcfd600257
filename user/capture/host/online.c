/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads the kernel's list repeatedly, which takes a microsecond and no privileges. The list does
 * not show a CPU that went offline and came back between two reads; the kernel's uevents do.
 */
#include "capture/host/online.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ONLINE "/sys/devices/system/cpu/online"
#define PRESENT "/sys/devices/system/cpu/present"
#define LIST_BYTES 4096
#define LOOK_NS 10000000u
#define GONE "offline@/devices/system/cpu/cpu"
#define EVENTS_OF_KERNEL 1 /* group of NETLINK_KOBJECT_UEVENT; the other is udev's */

struct online {
	int fd, events, cpus;
	uint64_t next_ns;
	bool *now, *before;
};

bool online_parse(const char *text, bool *set, int cpus)
{
	memset(set, 0, cpus * sizeof(*set));
	for (;; text++) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return false;
		text = end;
		if (*text == '-') {
			last = strtoul(text + 1, &end, 10);
			if (end == text + 1)
				return false;
			text = end;
		}
		for (; first <= last && first < (unsigned long)cpus; first++)
			set[first] = true;
		if (*text != ',')
			return !*text || *text == '\n';
	}
}

static bool read_list(const struct online *online, bool *set)
{
	char text[LIST_BYTES];
	ssize_t got = pread(online->fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return false;
	text[got] = '\0';
	return online_parse(text, set, online->cpus);
}

/* Opens a socket for the kernel's uevents of devices that go offline, and no others. Returns -1 on
 * failure. */
static int events_open(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x6f66666c, 0, 1), /* "offl" */
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK,
					     .nl_groups = EVENTS_OF_KERNEL };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ||
			bind(fd, (const struct sockaddr *)&address, sizeof(address)))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Treats a CPU that went offline as offline, whatever the list now says. The event arrives before
 * the CPU can come back, so its return is reported exactly once. */
static void take_events(struct online *online)
{
	struct sockaddr_nl from = { 0 };
	socklen_t size = sizeof(from);
	char text[sizeof(GONE) + 16], *end;
	ssize_t got;

	while (online->events >= 0 &&
	       (got = recvfrom(online->events, text, sizeof(text) - 1, MSG_DONTWAIT,
			       (struct sockaddr *)&from, &size)) > 0) {
		unsigned long cpu;

		text[got] = '\0';
		size = sizeof(from);
		if (from.nl_pid || strncmp(text, GONE, strlen(GONE)))
			continue;
		cpu = strtoul(text + strlen(GONE), &end, 10);
		if (end != text + strlen(GONE) && !*end && cpu < (unsigned long)online->cpus)
			online->before[cpu] = false;
	}
}

struct online *online_open_from(const char *path, int events, int cpus)
{
	struct online *online = calloc(1, sizeof(*online));

	if (!online) {
		if (events >= 0)
			close(events);
		return NULL;
	}
	online->cpus = cpus;
	online->events = events;
	online->fd = open(path, O_RDONLY | O_CLOEXEC);
	online->now = calloc(cpus, sizeof(bool));
	online->before = calloc(cpus, sizeof(bool));
	if (online->fd >= 0 && online->now && online->before && read_list(online, online->before))
		return online;
	online_close(online);
	return NULL;
}

struct online *online_open(int cpus)
{
	return online_open_from(ONLINE, events_open(), cpus);
}

void online_close(struct online *online)
{
	if (!online)
		return;
	if (online->fd >= 0)
		close(online->fd);
	if (online->events >= 0)
		close(online->events);
	free(online->now);
	free(online->before);
	free(online);
}

unsigned int present_end(int cpus)
{
	struct online *present = online_open_from(PRESENT, -1, cpus);
	unsigned int end = 0;

	for (int cpu = 0; present && cpu < cpus; cpu++)
		if (present->before[cpu])
			end = cpu + 1;
	online_close(present);
	return end ? end : (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

void online_look(struct online *online, uint64_t now_ns, online_fn emit, void *context)
{
	bool *before;

	if (!online || now_ns < online->next_ns)
		return;
	online->next_ns = now_ns + LOOK_NS;
	take_events(online);
	if (!read_list(online, online->now))
		return;
	before = online->before;
	for (int cpu = 0; cpu < online->cpus; cpu++)
		if (online->now[cpu] && !before[cpu])
			emit(context, cpu);
	online->before = online->now;
	online->now = before;
}
