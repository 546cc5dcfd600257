// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Lustre layouts: intact, truncated at every byte, damaged; and their rows in a trace. */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/xattr.h>

#include "capture/drain/decode.h"
#include "capture/names/lustre.h"
#include "tests/random.h"
#include "trace_sample.h"

#define MIB (1u << 20)
#define COMPOSED_BYTES (32 + 3 * 48 + 32 + 48 + 48)

static void put(uint8_t *at, size_t bytes, uint64_t number)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = number >> 8 * i;
}

/* Writes a layout without its list of objects. Returns its size. */
static size_t put_plain(uint8_t *at, uint32_t magic, uint32_t pattern, uint32_t count,
			uint32_t size)
{
	put(at, 4, magic);
	put(at + 4, 4, pattern);
	put(at + 24, 4, size);
	put(at + 28, 2, count);
	return magic == 0x0bd30bd0 ? 48 : 32;
}

/* Three parts: on the metadata server, one stripe, and eight; the last one has no storage unless
 * `whole`. */
static size_t put_composed(uint8_t *at, bool whole)
{
	static const struct {
		uint32_t magic, pattern, count, size;
	} parts[] = { { 0x0bd10bd0, 0x100, 9, MIB },
		      { 0x0bd30bd0, 1, 1, MIB },
		      { 0x0bd30bd0, 1, 8, 4 * MIB } };
	size_t end = 32 + 3 * 48;

	put(at, 4, 0x0bd60bd0);
	put(at + 14, 2, 3);
	for (size_t i = 0; i < 3; i++) {
		uint8_t *entry = at + 32 + i * 48;
		size_t size = put_plain(at + end, parts[i].magic, parts[i].pattern, parts[i].count,
					parts[i].size);

		put(entry + 4, 4, i < 2 || whole ? 0x10 : 0);
		put(entry + 24, 4, end);
		put(entry + 28, 4, size);
		end += size;
	}
	put(at + 4, 4, end);
	return end;
}

/* Parses a copy in memory of exactly its size, so that sanitizers catch overreads. */
static bool parse(const uint8_t *value, size_t bytes, struct lustre_stripes *stripes)
{
	uint8_t *copy = malloc(bytes + !bytes);
	bool found;

	assert_non_null(copy);
	memcpy(copy, value, bytes);
	found = lustre_parse(copy, bytes, stripes);
	free(copy);
	assert_true(!found || (stripes->count >= 1 && stripes->count <= 2000 && stripes->bytes));
	return found;
}

static void expect(const uint8_t *value, size_t bytes, uint32_t count, uint32_t size)
{
	struct lustre_stripes stripes;

	assert_int_equal(parse(value, bytes, &stripes), count != 0);
	assert_int_equal(stripes.count, count);
	assert_int_equal(stripes.bytes, size);
}

TEST(test_forms)
{
	uint8_t value[COMPOSED_BYTES] = { 0 };
	size_t bytes = put_plain(value, 0x0bd10bd0, 1, 4, MIB);

	expect(value, bytes, 4, MIB);
	put_plain(value, 0x0bd10bd0, 1, 0xffff, MIB); /* all targets: a directory's default */
	expect(value, bytes, 0, 0);
	put_plain(value, 0x0bd10bd0, 1, 4, 0);
	expect(value, bytes, 0, 0);
	put_plain(value, 0x0bd50bd0, 1, 4, MIB);
	expect(value, bytes, 0, 0);
	bytes = put_plain(value, 0x0bd30bd0, 1, 2000, 64 << 10);
	expect(value, bytes, 2000, 64 << 10);
	memset(value, 0, sizeof(value));
	bytes = put_composed(value, true);
	assert_int_equal(bytes, sizeof(value));
	expect(value, bytes, 8, 4 * MIB);
	memset(value, 0, sizeof(value));
	put_composed(value, false);
	expect(value, bytes, 1, MIB);
}

TEST(test_cut_off)
{
	uint8_t value[COMPOSED_BYTES] = { 0 };
	struct lustre_stripes stripes;
	size_t bytes = put_composed(value, true);

	for (size_t cut = 0; cut < bytes; cut++) {
		bool found = parse(value, cut, &stripes);

		assert_int_equal(found, cut >= bytes - 48); /* the part with one stripe is whole */
		assert_true(!found || stripes.count == 1);
	}
	for (int version = 1; version <= 3; version += 2) {
		bytes = put_plain(value, 0x0bd00bd0 | version << 16, 1, 4, MIB);
		for (size_t cut = 0; cut < bytes; cut++)
			assert_false(parse(value, cut, &stripes));
	}
}

/* Whatever the bytes are: see parse(). Most damaged values still have stripes. */
TEST(test_damaged)
{
	struct lustre_stripes stripes;
	uint64_t random = 1;
	size_t found = 0;

	for (int round = 0; round < 200000; round++) {
		uint8_t value[COMPOSED_BYTES] = { 0 };
		size_t bytes = put_composed(value, round & 1);

		for (uint64_t n = 1 + next_random(&random) % 8; n; n--)
			value[next_random(&random) % bytes] = next_random(&random);
		found += parse(value, round % 4 ? bytes : next_random(&random) % bytes, &stripes);
	}
	assert_true(found > 1000);
}

/* --- in a trace --- */

static uint8_t attribute[COMPOSED_BYTES];

/* Stands for that of the C library: every file has the attribute. */
ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	assert_string_equal(name, "lustre.lov");
	assert_true(size >= sizeof(attribute));
	memcpy(value, attribute, sizeof(attribute));
	return sizeof(attribute);
}

struct file_record {
	struct event_file file;
	char names[64];
};

/* Passes the record of a file as the kernel side sends it. */
static void take(struct decoder *decoder, uint32_t id, const struct stat *status, uint64_t ino,
		 const char *path, const char *type)
{
	struct file_record record = { .file.header.kind = RECORD_FILE };
	size_t bytes = 0;

	record.file.id = id;
	record.file.dev = major(status->st_dev) << 20 | minor(status->st_dev);
	record.file.ino = ino;
	record.file.mode = status->st_mode;
	snprintf(record.file.filesystem, sizeof(record.file.filesystem), "%s", type);
	for (const char *end = path + strlen(path); end > path;) { /* from leaf to root */
		const char *slash = memrchr(path, '/', end - path);

		memcpy(record.names + bytes, slash + 1, end - slash - 1);
		bytes += end - slash;
		end = slash;
	}
	record.file.names_bytes = bytes;
	record.file.header.size = sizeof(record.file) + bytes;
	decoder_take(decoder, 0, &record, record.file.header.size);
}

/* A file on Lustre gets a second row, with its stripes; not one elsewhere, nor one whose path is
 * another file's by now. */
TEST(test_rows)
{
	const struct trace_writer_options options = { .lanes = 1 };
	char path[] = "/tmp/lustre.XXXXXX";
	FILE *out = tmpfile();
	struct trace_writer *writer;
	struct decoder *decoder;
	struct stat status;
	uint64_t written = 0, lost = 0;
	int fd = mkstemp(path);

	assert_true(fd >= 0 && out && !fstat(fd, &status));
	put_composed(attribute, true);
	assert_int_equal(trace_writer_open(&writer, fileno(out), &sample_header, &options), 0);
	assert_int_equal(decoder_open(&decoder, writer, 1, 4096), 0);
	take(decoder, 1, &status, status.st_ino, path, "lustre");
	take(decoder, 2, &status, status.st_ino, path, "ext4");
	take(decoder, 3, &status, status.st_ino + 1, path, "lustre");
	assert_int_equal(decoder_add_stripes(decoder), 1);
	assert_int_equal(decoder_taken(decoder, RECORD_FILE), 4);
	decoder_add_rows(decoder, writer, RECORD_FILE, &written, &lost);
	assert_int_equal(written, 4);
	decoder_close(decoder);
	trace_writer_close(writer);
	fclose(out);
	close(fd);
	remove(path);
}
