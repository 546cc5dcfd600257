/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the page: the parts made at build time, with the data between them. */
#include "output/page/html.h"

#include <errno.h>

#include "analysis/finding/finding.h"
#include "output/page/html_data.h"

/* Made from html/ by html/make_page.py: the page before the data, and after it. */
extern const unsigned char html_page_head[], html_page_tail[];

/* JSON within a page: nothing in it may end the element that contains it, begin a comment or be
 * taken for markup. These characters occur only in strings. */
static int put_escaped(void *to, const void *bytes, size_t length)
{
	struct sink *out = to;
	const char *text = bytes;
	size_t first = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] != '<' && text[i] != '>' && text[i] != '&')
			continue;
		sink_bytes(out, text + first, i - first);
		sink_format(out, "\\u%04x", text[i]);
		first = i + 1;
	}
	sink_bytes(out, text + first, length - first);
	return out->error;
}

static void write_finding_pictures(struct sink *out)
{
	const char *between = "";

	sink_text(out, ",\n\"finding_pictures\":{");
	for (size_t i = 0; i < finding_rule_count; i++) {
		if (!finding_rules[i]->pictures)
			continue;
		sink_format(out, "%s\"%s\":\"%s\"", between, finding_rules[i]->id,
			    finding_rules[i]->pictures);
		between = ",";
	}
	sink_char(out, '}');
}

static int write_data(struct sink *out, const struct report *report)
{
	struct sink data;
	int status = sink_open_through(&data, put_escaped, out);

	if (status)
		return status;
	sink_format(&data, "{\"version\":\"%s\",\"tables\":", FAULTLINE_VERSION);
	html_tables(&data, (const struct table *const *)report->tables, report->table_count);
	sink_text(&data, ",\n\"pictures\":");
	html_pictures(&data, report->pictures);
	write_finding_pictures(&data);
	sink_char(&data, '}');
	status = sink_flush(&data);
	sink_close(&data);
	return status;
}

int html_report(struct sink *out, const struct report *report)
{
	int status;

	if (!report->pictures)
		return -EINVAL;
	sink_text(out, (const char *)html_page_head);
	status = write_data(out, report);
	sink_text(out, (const char *)html_page_tail);
	return status ? status : out->error;
}
