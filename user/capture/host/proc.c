/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads files in /proc/PID. */
#include "capture/host/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_BYTES 8192
#define COMMAND_BYTES 4096
#define KERNEL_THREAD 0x200000u /* PF_KTHREAD */

#define FIRST_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO of include/linux/proc_ns.h */

bool proc_is_of_kernel_side(void)
{
	static int known; /* 1: yes, -1: no */
	struct stat status;

	if (!known)
		known = (stat("/proc/1/ns/pid", &status) && stat("/proc/self/ns/pid", &status)) ||
					status.st_ino == FIRST_NAMESPACE
				? 1
				: -1;
	return known > 0;
}

bool proc_hides_others(void)
{
	size_t bytes;
	char *text = proc_read(1, "cgroup", 64, &bytes);

	free(text);
	return !text;
}

char *proc_read(uint32_t pid, const char *name, size_t max, size_t *bytes)
{
	char path[64], *text = malloc(max);
	ssize_t got = -1;
	int fd;

	*bytes = 0;
	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && text && *bytes < max &&
	       ((got = read(fd, text + *bytes, max - *bytes)) > 0 || (got < 0 && errno == EINTR)))
		*bytes += got > 0 ? got : 0;
	if (fd >= 0)
		close(fd);
	if (*bytes)
		return text;
	free(text);
	return NULL;
}

char *proc_text(uint32_t pid, const char *name, size_t max)
{
	size_t bytes;
	char *text = proc_read(pid, name, max - 1, &bytes), *whole;

	if (!text)
		return NULL;
	whole = realloc(text, bytes + 1);
	if (!whole) {
		free(text);
		return NULL;
	}
	whole[bytes] = 0;
	return whole;
}

char *proc_arguments(uint32_t pid, size_t max, size_t *bytes)
{
	char *text = proc_read(pid, "cmdline", max, bytes);

	while (*bytes && !text[*bytes - 1])
		--*bytes;
	if (*bytes)
		return text;
	free(text);
	return NULL;
}

void proc_command(uint32_t pid, char *out, size_t size)
{
	size_t bytes;
	char *text = proc_arguments(pid, COMMAND_BYTES, &bytes);

	if (text) {
		for (size_t i = 0; i < bytes; i++)
			if (!text[i])
				text[i] = ' ';
		snprintf(out, size, "%.*s", (int)bytes, text);
		free(text);
		return;
	}
	text = proc_text(pid, "comm", STATUS_BYTES);
	if (text)
		snprintf(out, size, "[%.*s]", (int)strcspn(text, "\n"), text);
	else
		out[0] = 0;
	free(text);
}

bool proc_owner(uint32_t pid, uid_t uid, bool *ours)
{
	char *text = proc_text(pid, "status", STATUS_BYTES), *line;
	unsigned int real = 0, effective = 0, saved = 0, fs = 0;
	bool found;

	line = text ? strstr(text, "\nUid:") : NULL;
	found = line && sscanf(line, "\nUid: %u %u %u %u", &real, &effective, &saved, &fs) == 4;
	*ours = found && real == uid && effective == uid && saved == uid && fs == uid;
	free(text);
	return found;
}

bool proc_is_kernel(uint32_t pid)
{
	char *text = proc_text(pid, "stat", STATUS_BYTES), *after;
	unsigned int flags = 0;

	/* The name may contain a ')'; the fields after it do not. */
	after = text ? strrchr(text, ')') : NULL;
	if (!after || sscanf(after, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		flags = 0;
	free(text);
	return flags & KERNEL_THREAD;
}
