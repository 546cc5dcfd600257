/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads the kernel's list again and again: it costs a microsecond, and takes no privileges. Knows
 * nothing of what is done with CPUs.
 */
#include "capture/online.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ONLINE "/sys/devices/system/cpu/online"
#define PRESENT "/sys/devices/system/cpu/present"
#define LIST_BYTES 4096
#define LOOK_NS 100000000u /* a CPU is off for longer than this before it is back */

struct online {
	int fd, cpus;
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

static struct online *list_open(const char *path, int cpus)
{
	struct online *online = calloc(1, sizeof(*online));

	if (!online)
		return NULL;
	online->cpus = cpus;
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
	return list_open(ONLINE, cpus);
}

void online_close(struct online *online)
{
	if (!online)
		return;
	if (online->fd >= 0)
		close(online->fd);
	free(online->now);
	free(online->before);
	free(online);
}

unsigned int present_end(int cpus)
{
	struct online *present = list_open(PRESENT, cpus);
	unsigned int end = 0;

	for (int cpu = 0; present && cpu < cpus; cpu++)
		if (present->before[cpu])
			end = cpu + 1;
	online_close(present);
	return end ? end : (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

void online_look(struct online *online, uint64_t now_ns, online_fn tell, void *context)
{
	bool *before;

	if (!online || now_ns < online->next_ns)
		return;
	online->next_ns = now_ns + LOOK_NS;
	if (!read_list(online, online->now))
		return;
	before = online->before;
	for (int cpu = 0; cpu < online->cpus; cpu++)
		if (online->now[cpu] && !before[cpu])
			tell(context, cpu);
	online->before = online->now;
	online->now = before;
}
