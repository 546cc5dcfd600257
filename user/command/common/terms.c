/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Prints the terms of reports. */
#include "command/common/terms.h"

#include <unistd.h>

#include "base/strbuf.h"
#include "command/common/traces.h"
#include "output/base/style.h"
#include "output/base/terms.h"
#include "output/text/wrap.h"

#define INDENT 4

int terms_print(void)
{
	size_t width = style_width(STDOUT_FILENO);
	struct sink out;
	int err = sink_open(&out, STDOUT_FILENO);

	if (err)
		return output_failed(err);
	for (const struct term *each = terms; each->term; each++) {
		struct strbuf line = { .used = 0 };

		sink_format(&out, "%s\n", each->term);
		strbuf_add(&line, "%*s%s", INDENT, "", each->meaning);
		wrap_indented(&out, line.bytes, width, INDENT);
	}
	err = sink_flush(&out);
	sink_close(&out);
	return err ? output_failed(err) : 0;
}
