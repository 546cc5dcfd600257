/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keys, one row each. */
#include "top/controls.h"

#include <string.h>

#include "top/terminal.h"

#define BACKSPACE 127
#define CONTROL_H 8
#define CONTROL_U 21
#define RETURN_KEY '\r'

static void see_jobs(struct controls *controls)
{
	controls->subject = TOP_JOBS;
}

static void see_processes(struct controls *controls)
{
	controls->subject = TOP_PROCESSES;
}

static void see_files(struct controls *controls)
{
	controls->subject = TOP_FILES;
}

static void sort_right(struct controls *controls)
{
	if (top_sort_column(controls->sort + 1))
		controls->sort++;
}

static void sort_left(struct controls *controls)
{
	if (controls->sort)
		controls->sort--;
}

static void filter(struct controls *controls)
{
	controls->typing = true;
	controls->typed[0] = 0;
}

static void all(struct controls *controls)
{
	controls->filter[0] = 0;
	controls->help = false;
}

static void idle(struct controls *controls)
{
	controls->idle = !controls->idle;
}

static void toggle_pause(struct controls *controls)
{
	controls->paused = !controls->paused;
}

static void help(struct controls *controls)
{
	controls->help = !controls->help;
}

static void quit(struct controls *controls)
{
	controls->quit = true;
}

static const struct {
	int keys[3];
	void (*act)(struct controls *controls);
	const char *help; /* NULL: covered by the previous row */
} actions[] = {
	{ { 'j', '1' }, see_jobs, "j, 1      jobs" },
	{ { 'p', '2' }, see_processes, "p, 2      processes" },
	{ { 'f', '3' }, see_files, "f, 3      files" },
	{ { '>', '.', TERMINAL_RIGHT }, sort_right, "<, >      sort by the previous, next column" },
	{ { '<', ',', TERMINAL_LEFT }, sort_left, NULL },
	{ { '/' }, filter, "/         filter by name, job or user; Return to apply" },
	{ { TERMINAL_ESCAPE, '*' }, all, "Esc, *    clear the filter" },
	{ { 'i' }, idle, "i         show or hide idle jobs and processes" },
	{ { ' ' }, toggle_pause, "Space     pause, resume" },
	{ { 'h', '?' }, help, "h, ?      show or hide this help" },
	{ { 'q', 'Q' }, quit, "q         quit" },
};
#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

const char *controls_help(size_t number)
{
	for (size_t i = 0; i < ACTIONS; i++)
		if (actions[i].help && !number--)
			return actions[i].help;
	return NULL;
}

bool controls_init(struct controls *controls, enum top_subject subject, const char *sort,
		   const char *filter)
{
	*controls = (struct controls) { .subject = subject };
	if (filter)
		strncpy(controls->filter, filter, sizeof(controls->filter) - 1);
	if (!sort)
		return true;
	for (; top_sort_column(controls->sort); controls->sort++)
		if (!strcmp(top_sort_column(controls->sort)->name, sort))
			return true;
	return false;
}

/* Handles a key while typing the filter. Bytes of UTF-8 arrive one by one. */
static bool type(struct controls *controls, int key)
{
	size_t length = strlen(controls->typed);

	if (key == RETURN_KEY || key == '\n') {
		strcpy(controls->filter, controls->typed);
		controls->typing = false;
	} else if (key == TERMINAL_ESCAPE) {
		controls->typing = false;
	} else if (key == CONTROL_U) {
		controls->typed[0] = 0;
	} else if (key == BACKSPACE || key == CONTROL_H) {
		while (length && (controls->typed[--length] & 0xc0) == 0x80)
			;
		controls->typed[length] = 0;
	} else if (key >= ' ' && key <= 0xff && length + 1 < sizeof(controls->typed)) {
		controls->typed[length] = key;
		controls->typed[length + 1] = 0;
	} else {
		return false;
	}
	return true;
}

bool controls_key(struct controls *controls, int key)
{
	if (key <= TERMINAL_NOTHING)
		return false;
	if (controls->typing)
		return type(controls, key);
	for (size_t i = 0; i < ACTIONS; i++)
		for (int k = 0; k < 3; k++)
			if (actions[i].keys[k] == key) {
				actions[i].act(controls);
				return true;
			}
	return false;
}

struct top_view controls_view(const struct controls *controls)
{
	return (struct top_view) {
		.subject = controls->subject,
		.sort = top_sort_column(controls->sort)->name,
		.filter = controls->filter,
		.idle = controls->idle,
	};
}
