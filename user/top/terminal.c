/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Control sequences (ECMA-48, and xterm's second screen), raw keys and signals. */
#include "top/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/write_all.h"
#include "output/base/sink.h"

#define TAKE "\033[?1049h\033[?25l\033[?7l" /* second screen, no cursor, no line wrapping */
#define GIVE "\033[?7h\033[?25h\033[?1049l"
#define HOME "\033[H"
#define REST_OF_LINE "\033[K"
#define REST_OF_SCREEN "\033[J"

static void put(const struct terminal *terminal, const char *bytes, size_t length)
{
	write_all(terminal->out, bytes, length); /* an error is reported at the next key */
}

static void take(struct terminal *terminal)
{
	struct termios raw = terminal->before;

	raw.c_lflag &= ~(ECHO | ICANON);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(terminal->in, TCSADRAIN, &raw);
	put(terminal, TAKE, strlen(TAKE));
	terminal->taken = true;
}

static void give(struct terminal *terminal)
{
	if (!terminal->taken)
		return;
	put(terminal, GIVE, strlen(GIVE));
	tcsetattr(terminal->in, TCSADRAIN, &terminal->before);
	terminal->taken = false;
}

static sigset_t wanted_signals(void)
{
	/* SIGUSR1 and SIGUSR2 would end it, and leave the terminal as it is. */
	static const int wanted[] = { SIGINT,  SIGTERM,	 SIGHUP,  SIGQUIT,
				      SIGTSTP, SIGWINCH, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		sigaddset(&set, wanted[i]);
	return set;
}

int terminal_prepare(void)
{
	const sigset_t set = wanted_signals();

	return sigprocmask(SIG_BLOCK, &set, NULL) ? -errno : 0;
}

int terminal_open(struct terminal *terminal, int in, int out)
{
	const sigset_t set = wanted_signals();

	*terminal = (struct terminal) { .in = in, .out = out, .signals = -1 };
	if (tcgetattr(in, &terminal->before))
		return -errno;
	terminal->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (terminal->signals < 0)
		return -errno;
	take(terminal);
	return 0;
}

void terminal_close(struct terminal *terminal)
{
	give(terminal);
	if (terminal->signals >= 0)
		close(terminal->signals);
	terminal->signals = -1;
}

/* --- keys --- */

static int take_signal(struct terminal *terminal)
{
	struct signalfd_siginfo info;

	if (read(terminal->signals, &info, sizeof(info)) != sizeof(info) ||
	    info.ssi_signo == SIGWINCH || info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2)
		return TERMINAL_NOTHING;
	if (info.ssi_signo != SIGTSTP)
		return TERMINAL_END;
	give(terminal);
	raise(SIGSTOP);
	take(terminal);
	return TERMINAL_NOTHING;
}

/* Named keys send ESC [ or ESC O, and a letter, all at once. */
static int key_of(const char *bytes, size_t length)
{
	static const struct {
		char letter;
		int key;
	} named[] = { { 'A', TERMINAL_UP },
		      { 'B', TERMINAL_DOWN },
		      { 'C', TERMINAL_RIGHT },
		      { 'D', TERMINAL_LEFT } };

	if (length == 1)
		return (unsigned char)bytes[0];
	if (length == 3 && bytes[0] == TERMINAL_ESCAPE && (bytes[1] == '[' || bytes[1] == 'O'))
		for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
			if (bytes[2] == named[i].letter)
				return named[i].key;
	return TERMINAL_OTHER;
}

/* Reads one key: a character, or a sequence that begins with ESC. Characters that arrive together
 * are taken one by one. */
static int take_key(const struct terminal *terminal)
{
	struct pollfd more = { .fd = terminal->in, .events = POLLIN };
	char bytes[8];
	size_t length = 0;

	do {
		if (read(terminal->in, &bytes[length], 1) != 1)
			return TERMINAL_END;
		length++;
	} while (bytes[0] == TERMINAL_ESCAPE && length < 3 && poll(&more, 1, 0) > 0);
	return key_of(bytes, length);
}

int terminal_key(struct terminal *terminal, int wait_ms)
{
	struct pollfd fds[] = { { .fd = terminal->signals, .events = POLLIN },
				{ .fd = terminal->in, .events = POLLIN } };

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), wait_ms) < 0)
		return errno == EINTR ? TERMINAL_NOTHING : TERMINAL_END;
	if (fds[0].revents)
		return take_signal(terminal);
	if (fds[1].revents)
		return take_key(terminal);
	return TERMINAL_NOTHING;
}

/* --- the screen --- */

void terminal_size(const struct terminal *terminal, size_t *columns, size_t *lines)
{
	struct winsize size = { 0 };

	ioctl(terminal->out, TIOCGWINSZ, &size);
	*columns = size.ws_col ? size.ws_col : 80;
	*lines = size.ws_row ? size.ws_row : 24;
}

void terminal_draw(struct terminal *terminal, const char *text, size_t length)
{
	size_t columns, lines, line = 0;
	struct sink out;

	terminal_size(terminal, &columns, &lines);
	sink_open_memory(&out);
	sink_text(&out, HOME);
	while (length && line < lines) {
		const char *end = memchr(text, '\n', length);
		size_t bytes = end ? (size_t)(end - text) : length;

		if (line++)
			sink_text(&out, "\r\n");
		length -= bytes + (end ? 1 : 0);
		/* Before the text: after a full line the cursor is still on its last column. */
		sink_text(&out, length && line < lines ? REST_OF_LINE : REST_OF_SCREEN);
		sink_bytes(&out, text, bytes);
		text += bytes + (end ? 1 : 0);
	}
	if (!out.error)
		put(terminal, out.buffer, out.used);
	sink_close(&out);
}
