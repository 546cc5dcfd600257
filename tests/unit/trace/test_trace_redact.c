/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names that a redaction replaces: what stays, what is hashed, and how keys are made. */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collections/arena.h"
#include "trace/write/redact.h"

static const struct redaction redaction = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };

/* The vectors of the reference implementation: key 00 .. 0f, message 00 01 02 ... */
TEST(test_siphash_reference)
{
	static const struct {
		size_t length;
		uint64_t hash;
	} vectors[] = { { 0, 0x726fdb47dd0e0e31 },
			{ 1, 0x74f839c593dc67fd },
			{ 8, 0x93f5f5799a932462 },
			{ 15, 0xa129ca6149be45e5 } };
	uint8_t message[16];

	for (uint8_t i = 0; i < sizeof(message); i++)
		message[i] = i;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		assert_int_equal(redact_hash(redaction.key, message, vectors[i].length),
				 vectors[i].hash);
}

/* Returns the redacted text, valid until the next call; each hash reads as "#". */
static const char *redacted(enum trace_name sort, const char *text)
{
	static char out[TRACE_STRING_BYTES_MAX + 1], shown[TRACE_STRING_BYTES_MAX + 1];
	size_t length = redact_name(&redaction, sort, text, strlen(text), out), used = 0;

	out[length] = '\0';
	for (size_t i = 0; i < length; i++) {
		if (out[i] == 'x' && strspn(out + i + 1, "0123456789abcdef") >= 12) {
			shown[used++] = '#';
			i += 12;
		} else {
			shown[used++] = out[i];
		}
	}
	shown[used] = '\0';
	return shown;
}

TEST(test_redacted_names)
{
	static const struct {
		enum trace_name sort;
		const char *from, *to;
	} cases[] = {
		{ TRACE_NAME_PATH, "/data/acme/tokens.bin", "/data/#/#.bin" },
		{ TRACE_NAME_PATH, "/mnt/data/tokens", "/mnt/#/#" },
		{ TRACE_NAME_PATH, "/acme", "/#" },
		{ TRACE_NAME_PATH, "/tmp/shard-00017.tar.gz", "/tmp/#.tar.gz" },
		{ TRACE_NAME_PATH, "/srv/model.safetensors", "/srv/#.safetensors" },
		{ TRACE_NAME_PATH, "/srv/run.2026", "/srv/#" },
		{ TRACE_NAME_PATH, "/srv/weights.acme", "/srv/#" },
		{ TRACE_NAME_PATH, "/srv/weights.acme.gz", "/srv/#.gz" },
		{ TRACE_NAME_PATH, "/srv/.hidden", "/srv/#" },
		{ TRACE_NAME_PATH, "/srv/acme.d/x", "/srv/#/#" },
		{ TRACE_NAME_PATH, "/opt/acme/lib/libacme.so.1.2", "/opt/#/lib/#.so.1.2" },
		{ TRACE_NAME_PATH, "/usr/lib/python3/dist-packages/numpy/core.py",
		  "/usr/lib/python3/dist-packages/numpy/core.py" },
		{ TRACE_NAME_PATH, "/usr/src/acme/train.py", "/usr/#/#/#.py" },
		{ TRACE_NAME_PATH,
		  "/home/jo/env/lib/python3.11/site-packages/acme/__pycache__/m.pyc",
		  "/home/#/#/lib/python3.11/site-packages/#/__pycache__/#.pyc" },
		{ TRACE_NAME_PATH, "/dev/shm/acme", "/dev/shm/#" },
		{ TRACE_NAME_PATH, "/binaries/acme", "/#/#" },
		{ TRACE_NAME_PATH, "../acme//x.py", "../#//#.py" },
		{ TRACE_NAME_PATH, "<frozen importlib._bootstrap>",
		  "<frozen importlib._bootstrap>" },
		{ TRACE_NAME_PATH, "<acme>", "#" },
		{ TRACE_NAME_PATH, "/usr/lib/../../home/acme/x", "/usr/lib/../../#/#/#" },
		{ TRACE_NAME_PATH, "/usr/lib/..", "/usr/lib/.." },
		{ TRACE_NAME_PATH, "/usr/lib/a..b/c", "/usr/lib/a..b/c" },
		{ TRACE_NAME_PATH, "/proc/self/cwd/acme", "/#/#/#/#" },
		{ TRACE_NAME_PATH, "/proc/1/root/home/acme", "/#/#/#/#/#" },
		{ TRACE_NAME_PATH, "/proc/self/fd/3/acme", "/#/#/#/#/#" },
		{ TRACE_NAME_PATH, "/proc/self/status", "/proc/self/status" },
		{ TRACE_NAME_PATH, "[acme] salaries.csv", "#.csv" },
		{ TRACE_NAME_PATH, "[inode 7 of device sda1]", "[inode 7 of device sda1]" },
		{ TRACE_NAME_PATH, "", "" },
		{ TRACE_NAME_PROGRAM, "python3.11", "python3.11" },
		{ TRACE_NAME_PROGRAM, "python-acme", "#" },
		{ TRACE_NAME_PROGRAM, "acme", "#" },
		{ TRACE_NAME_DEVICE, "nvme0n1", "nvme0n1" },
		{ TRACE_NAME_DEVICE, "server:/export", "#/#" },
		{ TRACE_NAME_DEVICE, "acme (fuse.s3fs)", "# (fuse.s3fs)" },
		{ TRACE_NAME_COMMAND, "train --token acme", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(redacted(cases[i].sort, cases[i].from), cases[i].to);
}

TEST(test_functions)
{
	static const char name[] = "Acme.load.<locals>.<lambda>",
			  library[] = "/usr/lib/python3/os.py";
	char out[TRACE_STRING_BYTES_MAX];
	size_t length = redact_function(&redaction, "/x/a.py", 7, name, strlen(name), out);

	assert_null(memmem(out, length, "Acme", 4));
	assert_null(memmem(out, length, "load", 4));
	assert_non_null(memmem(out, length, ".<locals>.<lambda>", 18));
	length = redact_function(&redaction, library, strlen(library), name, strlen(name), out);
	assert_int_equal(length, strlen(name));
	assert_memory_equal(out, name, length);
}

/* A path of the longest size, all of short components, which grow. */
TEST(test_long_path)
{
	char path[TRACE_STRING_BYTES_MAX], out[TRACE_STRING_BYTES_MAX];

	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 2 ? 'a' : '/';
	assert_int_equal(redact_name(&redaction, TRACE_NAME_PATH, path, sizeof(path), out),
			 sizeof(out));
}

TEST(test_equal_stays_equal)
{
	const struct redaction other = { { 1, 2 } };
	char a[64], b[64], c[64];
	size_t length = redact_name(&redaction, TRACE_NAME_PATH, "/a/name", 7, a);

	assert_int_equal(redact_name(&redaction, TRACE_NAME_PATH, "/b/name", 7, b), length);
	assert_memory_not_equal(a, b, length);
	assert_memory_equal(a + length - 13, b + length - 13, 13); /* the same last component */
	assert_int_equal(redact_name(&other, TRACE_NAME_PATH, "/a/name", 7, c), length);
	assert_memory_not_equal(a, c, length);
}

TEST(test_keys)
{
	char path[] = "/tmp/faultline-key-XXXXXX";
	struct redaction first, second;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "fifteen bytes..", 15), 15);
	assert_int_equal(redaction_from_file(&first, path), -EINVAL);
	assert_int_equal(write(fd, "+", 1), 1);
	assert_int_equal(redaction_from_file(&first, path), 0);
	assert_int_equal(redaction_from_file(&second, path), 0);
	assert_memory_equal(&first, &second, sizeof(first));
	close(fd);
	unlink(path);
	assert_int_equal(redaction_from_file(&first, path), -ENOENT);
	assert_int_equal(redaction_random(&first), 0);
	assert_memory_not_equal(&first, &second, sizeof(first));
}

TEST(test_header)
{
	static const char *const command[] = { "train", "--token", "acme", NULL };
	const struct trace_mount mount = { .type = "nfs", .options = "addr=acme", .path = "/acme" };
	struct trace_header header = { .command = command, .mounts = &mount, .mount_count = 1 };
	struct arena arena = { .bytes = 0 };

	assert_int_equal(redact_header(&redaction, &header, &arena), 0);
	assert_string_equal(header.command[0], REDACTED_COMMAND);
	assert_null(header.command[1]);
	assert_null(header.targets);
	assert_string_equal(header.mounts[0].type, "nfs");
	assert_string_equal(header.mounts[0].options, "");
	assert_null(strstr(header.mounts[0].path, "acme"));
	assert_ptr_equal(header.redaction, &redaction);
	arena_free(&arena);
}
