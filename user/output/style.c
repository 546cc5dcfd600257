/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Width and colour. Knows nothing of what is printed.
 */
#include "output/style.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_LEAST 40
#define WIDTH_MOST 500

size_t style_width(int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	size_t width = STYLE_WIDTH_DEFAULT;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		width = size.ws_col;
	else if (columns && atoi(columns) > 0)
		width = atoi(columns);
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

bool style_colour(const char *when, int fd)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (strcmp(when, "auto") != 0)
		return !strcmp(when, "always");
	return !(none && *none) && isatty(fd) && terminal && strcmp(terminal, "dumb") != 0;
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
