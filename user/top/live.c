/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Takes a sample, shows what was done since the previous one, waits for a key or the next sample.
 */
#include "top/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "base/log.h"
#include "output/base/ascii.h"
#include "output/base/json_tables.h"
#include "top/screen.h"
#include "top/terminal.h"

#define ERROR_BYTES 256

struct show {
	const struct live *live;
	struct controls controls;
	struct terminal *terminal; /* NULL: batch */
	struct top_sample before, after;
	char error[ERROR_BYTES]; /* "": none */
	uint64_t shown;		 /* frames */
};

/* --- samples --- */

/* Takes the next sample if there is a new one, and drops the oldest. *fresh receives whether there
 * is something new to show. */
static int take_sample(struct show *show, bool *fresh)
{
	const struct live_source *source = &show->live->source;
	struct top_sample sample = { 0 };
	struct sink json;
	int status;

	sink_open_memory(&json);
	show->error[0] = 0;
	*fresh = false;
	status = source->take(source->context, &json, show->error, sizeof(show->error));
	if (!status) {
		status = top_sample_parse(&sample, json.buffer, json.used);
		if (status)
			snprintf(show->error, sizeof(show->error), "%s",
				 status == -EINVAL ? "cannot parse the monitor's answer; is it a "
						     "different version?"
						   : strerror(-status));
	}
	sink_close(&json);
	if (status || sample.readings == show->after.readings) {
		top_sample_free(&sample);
		return status;
	}
	/* A restarted monitor counts from zero, and so does a restarted machine's clock. */
	if (sample.readings < show->after.readings || sample.time_ns <= show->after.time_ns)
		top_sample_free(&show->after);
	top_sample_free(&show->before);
	show->before = show->after;
	show->after = sample;
	*fresh = show->before.readings != 0;
	return 0;
}

/* --- frames --- */

static int make_tables(const struct show *show, struct table **node, struct table **table,
		       uint64_t *idle)
{
	struct top_view view = controls_view(&show->controls);
	int status;

	*node = *table = NULL;
	*idle = 0;
	if (!show->before.readings)
		return 0;
	status = top_frame_node(node, &show->before, &show->after);
	if (!status)
		status = top_frame(table, &show->before, &show->after, &view, idle);
	return status;
}

static void write_text(const struct show *show, struct sink *out, const struct table *node,
		       const struct table *table, uint64_t idle)
{
	struct style style = { .width = style_width(STDOUT_FILENO),
			       .colour = style_colour(show->live->colour, STDOUT_FILENO) };
	struct top_screen screen = { .style = &style,
				     .where = show->live->source.where,
				     .idle = idle };
	time_t now = time(NULL);
	struct tm local;
	char clock[16];
	size_t columns;

	if (show->terminal) {
		terminal_size(show->terminal, &columns, &screen.lines);
		style.width = columns;
	}
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &local));
	screen.clock = clock;
	screen.error = show->error[0] ? show->error : NULL;
	top_screen_write(out, &screen, &show->controls, &show->after, node, table);
}

static int write_frame(const struct show *show, struct sink *out)
{
	struct table *node, *table;
	uint64_t idle;
	int status = make_tables(show, &node, &table, &idle);

	if (!status && show->live->json) {
		const struct table *tables[] = { node, table };

		status = json_tables(out, tables, 2);
	} else if (!status) {
		write_text(show, out, node, table, idle);
	}
	table_free(node);
	table_free(table);
	return status ? status : out->error;
}

static int draw(const struct show *show)
{
	struct sink out;
	int status;

	sink_open_memory(&out);
	status = write_frame(show, &out);
	if (!status && ascii_is_wanted())
		out.used = ascii_replace(out.buffer, out.used);
	if (!status)
		terminal_draw(show->terminal, out.buffer, out.used);
	sink_close(&out);
	return status;
}

static int print(const struct show *show)
{
	struct sink out;
	int status = sink_open(&out, STDOUT_FILENO);

	if (status)
		return status;
	if (show->shown && !show->live->json)
		sink_char(&out, '\n');
	status = write_frame(show, &out);
	if (!status)
		status = sink_flush(&out);
	sink_close(&out);
	return status;
}

/* --- the loop --- */

static int run_batch(struct show *show)
{
	bool fresh;
	int status = take_sample(show, &fresh);

	while (!status) {
		struct timespec wait = { .tv_sec = show->live->interval_ns / 1000000000,
					 .tv_nsec = show->live->interval_ns % 1000000000 };

		nanosleep(&wait, NULL);
		status = take_sample(show, &fresh);
		if (status || !fresh)
			continue;
		status = print(show);
		if (!status && ++show->shown == show->live->frames)
			return 0;
	}
	if (show->error[0])
		log_error("%s", show->error);
	else
		log_error("cannot print: %s", strerror(-status));
	return status;
}

/* Returns the time until the next sample. */
static int wait_ms(uint64_t next_ns)
{
	uint64_t now_ns = host_now_ns();

	return now_ns >= next_ns ? 0 : (int)((next_ns - now_ns + 999999) / 1000000);
}

static int run_terminal(struct show *show)
{
	uint64_t next_ns = 0;
	int status = 0, key;
	bool fresh;

	while (!status && !show->controls.quit) {
		if (host_now_ns() >= next_ns) {
			next_ns = host_now_ns() + show->live->interval_ns;
			if (!show->controls.paused && !take_sample(show, &fresh))
				show->shown += fresh;
		}
		status = draw(show);
		if (show->live->frames && show->shown >= show->live->frames)
			break;
		key = terminal_key(show->terminal, wait_ms(next_ns));
		if (key == TERMINAL_END)
			break;
		controls_key(&show->controls, key);
	}
	return status;
}

int live_run(const struct live *live)
{
	struct show show = { .live = live, .controls = live->controls };
	struct terminal terminal;
	int status;

	if (live->batch) {
		status = run_batch(&show);
	} else {
		status = terminal_open(&terminal, STDIN_FILENO, STDOUT_FILENO);
		if (status) {
			log_error("cannot set up the terminal: %s", strerror(-status));
			return status;
		}
		show.terminal = &terminal;
		status = run_terminal(&show);
		terminal_close(&terminal);
		if (status)
			log_error("cannot draw the screen: %s", strerror(-status));
	}
	top_sample_free(&show.before);
	top_sample_free(&show.after);
	return status;
}
