/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Hostile text: terminal control sequences are escaped, printable text passes. */
#include "unit_test.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "output/timeline/device_names.h"
#include "output/base/escape.h"

static char shown[4096];

static const char *take(struct sink *out)
{
	assert_int_equal(out->error, 0);
	assert_true(out->used < sizeof(shown));
	if (out->used)
		memcpy(shown, out->buffer, out->used);
	shown[out->used] = '\0';
	sink_close(out);
	return shown;
}

static const char *show(const char *text, size_t length, size_t columns)
{
	struct sink out;

	sink_open_memory(&out);
	if (columns)
		escape_shortened(&out, text, length, columns);
	else
		escape_text(&out, text, length);
	return take(&out);
}

static const char *show_cut(const char *text, size_t length, size_t columns)
{
	struct sink out;

	sink_open_memory(&out);
	escape_cut(&out, text, length, columns);
	return take(&out);
}

TEST(test_passes)
{
	static const char *const texts[] = {
		"",
		"/data/train 01.bin",
		"/daten/größe",
		"/数据/训练",
		"/σ/𝔘nicode/🙂",
		"back\\slash",
		"/می‌خواهم/👩‍🔬",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_string_equal(show(texts[i], strlen(texts[i]), 0), texts[i]);
		assert_true(utf8_is_valid(texts[i], strlen(texts[i])));
	}
}

TEST(test_escapes)
{
	static const struct {
		const char *text, *shown;
		bool utf8;
	} samples[] = {
		{ "\033[2J", "\\x1b[2J", true },
		{ "a\nb\tc\r\177", "a\\x0ab\\x09c\\x0d\\x7f", true },
		{ "\xc2\x9b"
		  "31m",
		  "\\xc2\\x9b31m", true },			       /* CSI as a C1 control */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae", true },	       /* right-to-left override */
		{ "\xe2\x81\xa6x", "\\xe2\\x81\\xa6x", true },	       /* isolate */
		{ "\xe2\x80\xa8", "\\xe2\\x80\\xa8", true },	       /* line separator */
		{ "a\xe2\x80\x8b", "a\\xe2\\x80\\x8b", true },	       /* zero-width space */
		{ "\xef\xbb\xbf", "\\xef\\xbb\\xbf", true },	       /* byte order mark */
		{ "\xff\xfe", "\\xff\\xfe", false },		       /* never in UTF-8 */
		{ "\xc0\xaf", "\\xc0\\xaf", false },		       /* overlong "/" */
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf", false },	       /* another one */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80", false },	       /* a surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", false }, /* above U+10FFFF */
		{ "\xc3", "\\xc3", false },			       /* truncated */
		{ "gr\xf6\xdf"
		  "e",
		  "gr\\xf6\\xdfe", false }, /* Latin-1 */
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		size_t length = strlen(samples[i].text);

		assert_string_equal(show(samples[i].text, length, 0), samples[i].shown);
		assert_int_equal(escape_columns(samples[i].text, length), strlen(samples[i].shown));
		assert_int_equal(utf8_is_valid(samples[i].text, length), samples[i].utf8);
	}
	assert_string_equal(show("a\0b", 3, 0), "a\\x00b");
}

TEST(test_columns)
{
	assert_int_equal(escape_columns("größe", strlen("größe")), 5);
	assert_int_equal(escape_columns("数据", strlen("数据")), 4);
	assert_int_equal(escape_columns("e\xcc\x81", 3), 1); /* a combining accent */
}

TEST(test_shortens)
{
	const char *path = "/data/imagenet/train/n01440764/n01440764_10026.JPEG";
	const char *wide = "/数据/训练/数据/训练/数据/训练.bin";
	const char *line = "loader.py:42 in TokenDataset.__getitem__";

	assert_string_equal(show(path, strlen(path), 200), path);
	assert_string_equal(show(path, strlen(path), 24), "/data/i…40764_10026.JPEG");
	assert_string_equal(show(path, strlen(path), 1), "…");
	/* A line of code keeps its number, if there is room for some of the function. */
	assert_string_equal(show(line, strlen(line), 30), "loader.py:42 in …t.__getitem__");
	assert_string_equal(show(line, strlen(line), 21), "loader.py:42 in …em__");
	assert_string_equal(show(line, strlen(line), 15), "load…_getitem__");
	for (size_t columns = 1; columns < 40; columns++) {
		show(wide, strlen(wide), columns);
		assert_true(utf8_is_valid(shown, strlen(shown)));
		assert_true(escape_columns(shown, strlen(shown)) <= columns);
	}
}

TEST(test_cuts)
{
	const char *command = "python3 train.py --epochs 数据";

	assert_string_equal(show_cut(command, strlen(command), 30), command);
	assert_string_equal(show_cut(command, strlen(command), 29),
			    "python3 train.py --epochs 数…");
	assert_string_equal(show_cut(command, strlen(command), 28), "python3 train.py --epochs …");
	assert_string_equal(show_cut(command, strlen(command), 1), "…");
}

/* For any bytes, the output is UTF-8 without control characters, and as wide as predicted. */
TEST(test_any_bytes)
{
	srand(1);
	for (int round = 0; round < 5000; round++) {
		char text[64];
		size_t length = rand() % sizeof(text);

		for (size_t i = 0; i < length; i++)
			text[i] = rand() % 3 ? rand() : 0x80 | rand();
		show(text, length, 0);
		assert_true(utf8_is_valid(shown, strlen(shown)));
		assert_int_equal(escape_columns(shown, strlen(shown)),
				 escape_columns(text, length));
		for (const char *p = shown; *p; p++)
			assert_false((*p >= 0 && *p < 0x20) || *p == 0x7f);
		show(text, length, 1 + rand() % 20);
		assert_true(utf8_is_valid(shown, strlen(shown)));
	}
}

/* Texts are not cut inside a character. */
TEST(test_utf8_cut)
{
	static const char text[] =
		"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"; /* 1, 2, 3, 4, 1 bytes */
	static const size_t cuts[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };

	for (size_t most = 0; most < sizeof(cuts) / sizeof(cuts[0]); most++)
		assert_int_equal(utf8_cut(text, strlen(text), most), cuts[most]);
	assert_int_equal(utf8_cut("\xac\xac\xac\xac\xac\xac", 6, 5), 5); /* not UTF-8 */
}

TEST(test_device_title)
{
	static struct device_names names = { .count = 1 };
	char name[100] = "a", title[DEVICE_TITLE_BYTES];

	for (size_t i = 1; i + 1 < sizeof(name); i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	names.all[0].name = (struct trace_string) { name, 81 };
	device_names_title(&names, 0, 0, title);
	assert_true(utf8_is_valid(title, strlen(title)));
	assert_non_null(strstr(title, "\xc3\xa9 ("));
}

/* Log messages contain file names, which must not reach a terminal unescaped. */
TEST(test_log)
{
	static const char name[] = "a\x9b"	 /* C1, not UTF-8 */
				   "31m\xc2\x9b" /* C1, UTF-8 */
				   "32m\x1b[33m\xe2\x80\xae\xc3\xa9\n";
	char text[256] = "";
	int pipes[2], kept = dup(STDERR_FILENO);
	ssize_t bytes;

	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	log_error("%s", name);
	dup2(kept, STDERR_FILENO);
	bytes = read(pipes[0], text, sizeof(text) - 1);
	close(kept);
	close(pipes[0]);
	close(pipes[1]);
	assert_true(bytes > 0);
	assert_string_equal(
		text, "faultline: a\\x9b31m\\xc2\\x9b32m\\x1b[33m\\xe2\\x80\\xae\xc3\xa9\\x0a\n");
}
