/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Terminal width and colour. */
#include "output/base/style.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define WIDTH_MIN 40
#define WIDTH_MAX 500

/* Queries the terminal behind `fd`; for a pipe, which may lead to a pager, the controlling
 * terminal. */
static bool ask_terminal(int fd, struct winsize *size)
{
	struct stat status;
	int terminal;
	bool reported;

	if (!ioctl(fd, TIOCGWINSZ, size))
		return size->ws_col;
	if (fstat(fd, &status) || !S_ISFIFO(status.st_mode))
		return false;
	terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0)
		return false;
	reported = !ioctl(terminal, TIOCGWINSZ, size) && size->ws_col;
	close(terminal);
	return reported;
}

size_t style_width(int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	size_t width = STYLE_WIDTH_DEFAULT;

	if (!isatty(fd) && columns && atoi(columns) > 0)
		width = atoi(columns);
	else if (ask_terminal(fd, &size))
		width = size.ws_col;
	else if (columns && atoi(columns) > 0)
		width = atoi(columns);
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

bool style_escapes(int fd)
{
	const char *terminal = getenv("TERM");

	return isatty(fd) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

bool style_colour(const char *when, int fd)
{
	const char *none = getenv("NO_COLOR");

	if (strcmp(when, "auto") != 0)
		return !strcmp(when, "always");
	return !(none && *none) && style_escapes(fd);
}

void style_mark(struct sink *out, const struct style *style, enum style_mark mark)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m",    [STYLE_TITLE] = "\033[1m",  [STYLE_QUIET] = "\033[2m",
		[STYLE_WARNING] = "\033[33m", [STYLE_BAD] = "\033[1;31m", [STYLE_GOOD] = "\033[32m",
	};

	if (style->colour)
		sink_text(out, codes[mark]);
}
