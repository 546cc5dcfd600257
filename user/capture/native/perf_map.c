/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads /tmp/perf-PID.map: functions that a program compiled while it ran. */
#include "capture/native/perf_map.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collections/bisect.h"
#include "collections/compare.h"
#include "collections/grow.h"
#include "capture/host/host.h"

#define BYTES_MAX (64u << 20)
#define FUNCTIONS_MAX (1u << 20)
#define AGAIN_NS 1000000000ull

COMPARE_BY(compare_functions, struct perf_map_function,
	   COMPARE(a->start, b->start) ?: COMPARE(a->order, b->order))

/* Reads a hexadecimal number, with or without 0x, that a space follows. */
static bool parse_number(char **at, const char *end, uint64_t *number)
{
	char *from;

	if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	*number = 0;
	for (from = *at; *at < end && **at != ' '; ++*at) {
		const char c = **at | 0x20;
		const int digit = c >= '0' && c <= '9'	 ? c - '0'
				  : c >= 'a' && c <= 'f' ? c - 'a' + 10
							 : -1;

		if (digit < 0 || *at - from >= 16)
			return false;
		*number = *number << 4 | digit;
	}
	return *at > from && (*at)++ < end;
}

void perf_map_parse(struct perf_map *map, char *text, size_t bytes)
{
	size_t room = 0;
	char *at = text, *end = text + bytes, *line_end;

	perf_map_free(map);
	map->text = text;
	map->bytes = bytes;
	for (; at < end && map->count < FUNCTIONS_MAX; at = line_end + 1) {
		struct perf_map_function function = { .order = map->count };

		line_end = memchr(at, '\n', end - at);
		if (!line_end)
			break; /* still being written */
		if (!parse_number(&at, line_end, &function.start) ||
		    !parse_number(&at, line_end, &function.bytes) || at >= line_end)
			continue;
		function.name = at;
		function.name_bytes = line_end - at;
		if (!GROW(map->functions, room, map->count + 1))
			break;
		map->functions[map->count++] = function;
	}
	if (map->count)
		qsort(map->functions, map->count, sizeof(*map->functions), compare_functions);
}

void perf_map_free(struct perf_map *map)
{
	free(map->text);
	free(map->functions);
	map->text = NULL;
	map->functions = NULL;
	map->count = 0;
}

/* Reads the process's effective user, and its id in its own namespace. */
static bool read_status(uint32_t pid, unsigned int *user, unsigned int *own_pid)
{
	char path[64], line[512];
	bool has_user = false, has_pid = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char *last = strrchr(line, '\t');

		has_user |= sscanf(line, "Uid: %*u %u", user) == 1;
		if (!strncmp(line, "NSpid:", 6) && last)
			has_pid = sscanf(last, "%u", own_pid) == 1;
	}
	if (file)
		fclose(file);
	return has_user && has_pid;
}

/* Opens the file below the process's root. */
static int open_map(uint32_t pid, unsigned int own_pid)
{
	char path[64];
	int root, fd;

	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	snprintf(path, sizeof(path), "tmp/perf-%u.map", own_pid);
	fd = host_open_below(root, path, 0);
	close(root);
	return fd;
}

static void read_from(struct perf_map *map, int fd, size_t bytes)
{
	char *text = malloc(bytes + 1);
	ssize_t got = text ? pread(fd, text, bytes, 0) : -1;

	if (got > 0)
		perf_map_parse(map, text, got);
	else
		free(text);
}

void perf_map_read(struct perf_map *map, uint32_t pid)
{
	uint64_t now_ns = host_now_ns();
	unsigned int user, own_pid;
	struct stat status;
	int fd;

	if (map->read_ns && now_ns - map->read_ns < AGAIN_NS)
		return;
	map->read_ns = now_ns;
	if (!read_status(pid, &user, &own_pid))
		return;
	fd = open_map(pid, own_pid);
	if (fd < 0)
		return;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == user &&
	    status.st_size > 0 && status.st_size <= BYTES_MAX &&
	    (uint64_t)status.st_size != map->bytes)
		read_from(map, fd, status.st_size);
	close(fd);
}

const struct perf_map_function *perf_map_find(const struct perf_map *map, uint64_t address)
{
	const size_t count = BISECT(i, 0, map->count, map->functions[i].start <= address);
	const struct perf_map_function *last = count ? &map->functions[count - 1] : NULL;

	return last && address - last->start < last->bytes ? last : NULL;
}
