/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A terminal that shows a screen of lines and reads keys. The lines have the layout of reports and
 * are drawn whole, a few times a second at most: that needs no curses library, only a dozen control
 * sequences that every terminal has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct terminal {
	int in, out; /* keys; the screen */
	struct termios before;
	int signals; /* signalfd for the signals below */
	bool taken;
};

/*
 * Blocks the signals that end, stop and resize, for terminal_open to take. Must run before any
 * thread is created: a thread that lets them through would end the process without restoring the
 * terminal. Returns 0 or a negative errno.
 */
int terminal_prepare(void);
/*
 * Takes the terminal: keys arrive at once without echo, the screen is a second one, and those
 * signals come from a signalfd. Returns 0 or a negative errno; -ENOTTY: not a terminal.
 */
int terminal_open(struct terminal *terminal, int in, int out);
/* Restores the terminal. May be called twice. */
void terminal_close(struct terminal *terminal);

enum terminal_key {
	/* A character stands for itself. */
	TERMINAL_NOTHING = 0, /* timed out, or the size has changed */
	TERMINAL_END = -1,    /* a signal to end, or the terminal is gone */
	TERMINAL_ESCAPE = 27,
	TERMINAL_LEFT = 256,
	TERMINAL_RIGHT,
	TERMINAL_UP,
	TERMINAL_DOWN,
	TERMINAL_OTHER, /* any other key that sends several characters */
};

/* Waits up to `wait_ms` for a key. On SIGTSTP stops the process, and takes the terminal again when
 * it continues. */
int terminal_key(struct terminal *terminal, int wait_ms);

void terminal_size(const struct terminal *terminal, size_t *columns, size_t *lines);
/* Draws text, as many lines as fit. It must have no line wider than the terminal, and no control
 * characters but line ends and the marks of style.h. */
void terminal_draw(struct terminal *terminal, const char *text, size_t length);
