/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A terminal that shows a screen of lines and hands on keys. Knows nothing of what they mean. The
 * lines come from the same layout as those of reports and are drawn whole, a few times a second at
 * most: that takes no library of windows, only a dozen control sequences that every terminal has.
 */
#ifndef FAULTLINE_TOP_TERMINAL_H
#define FAULTLINE_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct terminal {
	int in, out; /* keys, the screen */
	struct termios before;
	int signals; /* a signalfd of those below */
	bool taken;
};

/*
 * Blocks the signals that end, stop and resize, for terminal_open to take. To be called before any
 * thread is made: one that lets them through would end without giving the terminal back. Returns 0
 * or a negative errno.
 */
int terminal_prepare(void);
/*
 * Takes the terminal: keys come at once and are not shown, the screen is a second one, and those
 * signals are taken from signalfd. Returns 0 or a negative errno; -ENOTTY: it is none.
 */
int terminal_open(struct terminal *terminal, int in, int out);
/* Gives it back as it was. May be called twice. */
void terminal_close(struct terminal *terminal);

enum terminal_key {
	/* A character stands for itself. */
	TERMINAL_NOTHING = 0, /* the time is over, or the size has changed */
	TERMINAL_END = -1,    /* a signal that ends, or nobody is at the terminal any more */
	TERMINAL_ESCAPE = 27,
	TERMINAL_LEFT = 256,
	TERMINAL_RIGHT,
	TERMINAL_UP,
	TERMINAL_DOWN,
	TERMINAL_OTHER, /* any other key that sends several characters */
};

/* Waits so long for a key, or for `also` to be readable (-1: nothing). Stops the process when that
 * is what was asked for, and comes back with the terminal taken again. */
int terminal_key(struct terminal *terminal, int wait_ms, int also);

void terminal_size(const struct terminal *terminal, size_t *columns, size_t *lines);
/* Draws text, of which as many lines are shown as there are; it holds no line that is longer than
 * the terminal is wide, and no control character but line ends and the marks of style.h. */
void terminal_draw(struct terminal *terminal, const char *text, size_t length);

#endif
