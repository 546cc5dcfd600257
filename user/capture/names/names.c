/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Builds paths and ranks from what the kernel side read. The data comes from traced programs:
 * lengths are bounded, and text is never assumed to end with a NUL.
 */
#include "capture/names/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

/* --- paths --- */

/* Turns "leaf\0dir\0top\0" into "/top/dir/leaf". */
static size_t reverse_components(const char *names, size_t bytes, const char *lead, char *out)
{
	size_t length = 0, end = bytes;

	length += sprintf(out, "%s", lead);
	while (end > 0) {
		size_t start = end - 1;

		while (start > 0 && names[start - 1])
			start--;
		out[length++] = '/';
		memcpy(out + length, names + start, end - 1 - start);
		length += end - 1 - start;
		end = start;
	}
	if (!bytes)
		out[length++] = '/';
	return length;
}

static size_t device_name(uint32_t rdev, char *out)
{
	char link[64], target[256], device[UNITS_TEXT];
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/sys/dev/block/%s", units_device(device, rdev));
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return sprintf(out, "[block device %s]", device);
	target[n] = 0;
	name = strrchr(target, '/');
	return sprintf(out, "[block device %s]", name ? name + 1 : target);
}

size_t names_path(const struct event_file *file, char *out)
{
	size_t bytes = file->names_bytes;
	char device[UNITS_TEXT];
	unsigned long long ino = file->ino;

	if (bytes > EVENT_PATH_BYTES + 256)
		bytes = EVENT_PATH_BYTES + 256;
	if (!(file->flags & TRACE_FILE_NAMELESS)) {
		bool cut = file->flags & TRACE_FILE_PATH_CUT;

		if (!bytes && cut && file->class == FILE_CLASS_BLK)
			return device_name(file->rdev, out);
		if (!bytes && cut)
			return sprintf(out, "[inode %llu of device %s]", ino,
				       units_device(device, file->dev));
		return reverse_components(file->names, bytes, cut ? "..." : "", out);
	}
	switch (file->class) {
	case FILE_CLASS_FIFO:
		return sprintf(out, "pipe:[%llu]", ino);
	case FILE_CLASS_SOCK:
		return sprintf(out, "socket:[%llu]", ino);
	case FILE_CLASS_ANON:
		return sprintf(out, "anon_inode:%.*s", (int)(bytes ? bytes - 1 : 0), file->names);
	}
	bytes = bytes ? bytes - 1 : 0;
	memcpy(out, file->names, bytes);
	return bytes ? bytes : (size_t)sprintf(out, "[inode %llu without a name]", ino);
}

/* --- ranks --- */

#define RANK_DIGITS_MAX 9
_Static_assert(RANK_DIGITS_MAX < EVENT_RANK_BYTES, "a character after the digits must fit");

const char *names_variable(const char *environment, size_t bytes, const char *name, size_t *length)
{
	size_t n = strlen(name);

	for (size_t at = 0; at < bytes;) {
		const char *entry = environment + at;
		const char *end = memchr(entry, 0, bytes - at);
		size_t size = end ? (size_t)(end - entry) : bytes - at;

		if (size > n && entry[n] == '=' && !memcmp(entry, name, n)) {
			*length = size - n - 1;
			return entry + n + 1;
		}
		at += size + 1;
	}
	return NULL;
}

/* Returns -1 if `text`, at most EVENT_RANK_BYTES long, is not a rank. */
static int64_t read_rank(const char *text)
{
	int64_t rank = 0;
	size_t digits = 0;

	for (; digits < RANK_DIGITS_MAX && text[digits] >= '0' && text[digits] <= '9'; digits++)
		rank = rank * 10 + text[digits] - '0';
	return digits && !text[digits] ? rank : -1;
}

int64_t names_rank(const struct event_ranks *ranks)
{
	int64_t rank = -1;

	for (size_t i = 0; i < EVENT_RANK_COUNT && rank < 0; i++)
		rank = read_rank(ranks->value[i]);
	return rank;
}

#define NAME(name) name,
static const char *const variables[] = { EVENT_RANK_VARIABLES(NAME) };
#undef NAME

int64_t names_rank_in(char *const *environment,
		      const char *(*get)(char *const *environment, const char *name))
{
	int64_t rank = -1;

	for (size_t i = 0; i < EVENT_RANK_COUNT && rank < 0; i++) {
		const char *value = get(environment, variables[i]);

		rank = value ? read_rank(value) : -1;
	}
	return rank;
}

void names_find_ranks(const char *environment, size_t bytes, struct event_ranks *ranks)
{
	memset(ranks, 0, sizeof(*ranks));
	for (size_t i = 0; i < EVENT_RANK_COUNT; i++) {
		size_t length;
		const char *value = names_variable(environment, bytes, variables[i], &length);

		if (value && length < EVENT_RANK_BYTES)
			memcpy(ranks->value[i], value, length);
	}
}
