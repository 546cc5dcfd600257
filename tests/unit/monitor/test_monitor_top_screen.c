// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* faultline top without a terminal: what the screen shows, and keys. */
#include "unit_test.h"

#include "output/base/escape.h"
#include "top/screen.h"
#include "top/terminal.h"
#include "top_samples.h"

struct shown {
	struct sink text;
	size_t lines;
};

static struct shown show(size_t width, size_t lines, const struct controls *controls,
			 const char *command)
{
	struct top_sample before = sample_of(1, 1, command), after = sample_of(2, 2, command);
	const struct style style = { .width = width };
	struct top_screen screen = {
		&style, lines, "unix:/run/faultline.sock", "12:34:56", NULL, 0
	};
	struct top_view view = controls_view(controls);
	struct table *node, *table;
	struct shown shown = { 0 };

	assert_int_equal(top_frame_node(&node, &before, &after), 0);
	assert_int_equal(top_frame(&table, &before, &after, &view, &screen.idle), 0);
	sink_open_memory(&shown.text);
	top_screen_write(&shown.text, &screen, controls, &after, node, table);
	sink_char(&shown.text, 0);
	assert_int_equal(shown.text.error, 0);
	table_free(node);
	table_free(table);
	top_sample_free(&before);
	top_sample_free(&after);
	for (char *at = shown.text.buffer; *at; shown.lines++) {
		size_t length = strcspn(at, "\n");

		assert_true(escape_columns(at, length) <= width);
		for (size_t i = 0; i < length; i++)
			assert_true((unsigned char)at[i] >= ' ' && at[i] != 127);
		at += length + (at[length] == '\n');
	}
	return shown;
}

TEST(test_screen)
{
	static const char expected[] =
		"faultline top  12:34:56  unix:/run/faultline.sock\n"
		"all: 9.5% in I/O, 522 ops/s, 2.0 MiB read/s, 20.0 KiB written/s\n"
		"jobs not shown: 1 idle and 3 more\n"
		"                               in\n"
		"job                           I/O  cpu  ops/s   read/s   mmap/s  written/s\n"
		"/system.slice/train.service  9.5%    -    522  2.0 MiB  146 KiB   20.0 KiB\n"
		"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
		"j jobs  p processes  f files  <> sort: in I/O  / filter  h help  q quit\n";
	struct controls controls;
	struct shown shown;

	assert_true(controls_init(&controls, TOP_JOBS, NULL, NULL));
	shown = show(80, 24, &controls, "train");
	assert_string_equal(shown.text.buffer, expected);
	sink_close(&shown.text);
}

/*
 * At any size and for any subject, no line exceeds the terminal's width, nor the screen its height.
 */
TEST(test_sizes)
{
	static const size_t sizes[][2] = { { 80, 24 }, { 200, 60 }, { 60, 12 }, { 500, 10 } };
	struct controls controls;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int subject = 0; subject < TOP_SUBJECTS; subject++)
			for (int help = 0; help < 2; help++) {
				struct shown shown;

				assert_true(controls_init(&controls, subject, NULL, NULL));
				controls.help = help;
				shown = show(sizes[i][0], sizes[i][1], &controls, "train");
				assert_int_equal(shown.lines, sizes[i][1]);
				sink_close(&shown.text);
			}
}

/* The column that rows are sorted by is visible even on narrow screens. */
TEST(test_sorted_is_seen)
{
	for (size_t i = 0; top_sort_column(i); i++) {
		const char *title = top_sort_column(i)->title;
		struct controls controls;
		struct shown shown;
		char *word;

		assert_true(controls_init(&controls, TOP_FILES, top_sort_column(i)->name, NULL));
		shown = show(80, 24, &controls, "train");
		word = strrchr(title, ' '); /* second line of a two-line heading */
		assert_non_null(strstr(shown.text.buffer, word ? word + 1 : title));
		sink_close(&shown.text);
	}
}

TEST(test_hostile_names)
{
	struct controls controls;
	struct shown shown;

	assert_true(controls_init(&controls, TOP_PROCESSES, NULL, "\033[2J\xff"));
	shown = show(120, 24, &controls, "\\u001b[2Jpython\\u009b\\u202e\\nroot");
	assert_int_equal(shown.lines, 24);
	sink_close(&shown.text);
	controls.filter[0] = 0;
	shown = show(200, 24, &controls, "\\u001b[2Jpython\\u009b\\u202e\\nroot");
	assert_non_null(strstr(shown.text.buffer, "\\x1b[2Jpython"));
	sink_close(&shown.text);
}

/* --- keys --- */

static void keys(struct controls *controls, const char *all)
{
	for (; *all; all++)
		controls_key(controls, (unsigned char)*all);
}

TEST(test_keys)
{
	struct controls controls;

	assert_false(controls_init(&controls, TOP_JOBS, "no such column", NULL));
	assert_true(controls_init(&controls, TOP_JOBS, "busy", NULL));
	keys(&controls, "p");
	assert_int_equal(controls.subject, TOP_PROCESSES);
	keys(&controls, "f");
	assert_int_equal(controls.subject, TOP_FILES);
	keys(&controls, "j<");
	assert_int_equal(controls.subject, TOP_JOBS);
	assert_int_equal(controls.sort, 0);
	keys(&controls, ">");
	controls_key(&controls, TERMINAL_RIGHT);
	assert_string_equal(controls_view(&controls).sort, "operations");
	for (int i = 0; i < 100; i++)
		keys(&controls, ">");
	assert_non_null(top_sort_column(controls.sort));
	assert_null(top_sort_column(controls.sort + 1));
	keys(&controls, " h");
	assert_true(controls.paused && controls.help);
	keys(&controls, " h");
	assert_false(controls.paused || controls.help);
	keys(&controls, "i");
	assert_true(controls_view(&controls).idle);
	keys(&controls, "i");
	assert_false(controls_view(&controls).idle);
	assert_false(controls_key(&controls, 'x'));
	assert_false(controls_key(&controls, TERMINAL_NOTHING));
	keys(&controls, "q");
	assert_true(controls.quit);
}

TEST(test_typing)
{
	struct controls controls;

	assert_true(controls_init(&controls, TOP_JOBS, NULL, "before"));
	keys(&controls, "/quj\xc3\xbc\x7f\x7f"); /* backspace takes whole characters */
	assert_string_equal(controls.typed, "qu");
	assert_string_equal(controls_view(&controls).filter, "before");
	assert_false(controls.quit);
	keys(&controls, "\r");
	assert_string_equal(controls_view(&controls).filter, "qu");
	keys(&controls, "/other\033");
	assert_string_equal(controls_view(&controls).filter, "qu");
	keys(&controls, "\033");
	assert_string_equal(controls_view(&controls).filter, "");
	keys(&controls, "/");
	for (int i = 0; i < 1000; i++)
		keys(&controls, "a");
	assert_int_equal(strlen(controls.typed), CONTROLS_FILTER_BYTES - 1);
}
