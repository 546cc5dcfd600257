/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes the seeds of fuzz_reader into a directory: small traces as files, and as lists of what
 * their frames hold (see fuzz_reader.c); the latter of traces that are given, too. Knows nothing of
 * the reader.
 *
 *   make_seeds DIRECTORY [TRACE...]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "../unit/trace_sample.h"

static int write_seed(const char *directory, const char *name, size_t rows, const uint8_t *bytes,
		      size_t length)
{
	char path[4096];
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "%s/%s-%zu", directory, name, rows);
	file = fopen(path, "w");
	if (!file)
		return -errno;
	err = fwrite(bytes, 1, length, file) == length ? 0 : -EIO;
	return fclose(file) ? -errno : err;
}

/* The contents of a file's frames, each behind its length. */
static size_t list_frames(const struct sample_bytes *sample, uint8_t *list, size_t room)
{
	size_t length = 0;

	list[length++] = 0;
	for (size_t at = 0, frame; at < sample->length; at += frame) {
		size_t content;

		frame = ZSTD_findFrameCompressedSize(sample->bytes + at, sample->length - at);
		if (ZSTD_isError(frame) || room - length < 3)
			break;
		content = ZSTD_decompress(list + length + 3, room - length - 3, sample->bytes + at,
					  frame);
		if (ZSTD_isError(content) || !content) /* the tail holds nothing */
			break;
		list[length] = content;
		list[length + 1] = content >> 8;
		list[length + 2] = content >> 16;
		length += 3 + content;
	}
	return length;
}

/* What a trace's frames hold, as far as there is room. */
static int write_given(const char *directory, const char *path, size_t number, uint8_t *list,
		       size_t room)
{
	int err, fd = open(path, O_RDONLY | O_CLOEXEC);
	struct sample_bytes given;

	if (fd < 0)
		return -errno;
	given = sample_read_fd(fd); /* closes it */
	err = write_seed(directory, "given", number, list, list_frames(&given, list, room));
	free(given.bytes);
	return err;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 0, 1, 3, 20 };
	static uint8_t list[1 << 20];
	int err = argc >= 2 ? 0 : -EINVAL;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !err; i++) {
		struct sample_bytes sample = sample_trace(sizes[i], 2, SAMPLE_EDGES, NULL);

		err = write_seed(argv[1], "file", sizes[i], sample.bytes, sample.length);
		if (!err)
			err = write_seed(argv[1], "frames", sizes[i], list,
					 list_frames(&sample, list, sizeof(list)));
		free(sample.bytes);
	}
	for (int i = 2; i < argc && !err; i++)
		err = write_given(argv[1], argv[i], i, list, sizeof(list));
	if (err)
		fprintf(stderr, "make_seeds: %s\n", strerror(-err));
	return err ? 1 : 0;
}
