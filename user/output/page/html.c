/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the page: the parts made at build time, with the data between them. */
#include "output/page/html.h"

#include <errno.h>

#include "analysis/finding/finding.h"
#include "output/base/terms.h"
#include "output/page/html_data.h"

/* Made from html/ by html/shared/make_page.py: the page before the data, and after it. */
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

static int write_data(struct sink *out, const struct report *report)
{
	struct sink data;
	struct json json = { .out = &data };
	int status = sink_open_through(&data, put_escaped, out);

	if (status)
		return status;
	json_begin(&json, NULL);
	json_literal(&json, "version", FAULTLINE_VERSION);
	html_tables(&json, "tables", (const struct table *const *)report->tables,
		    report->table_count);
	json_line(&json, 0);
	html_pictures(&json, "pictures", report->pictures);
	json_line(&json, 0);
	json_begin(&json, "terms");
	for (const struct term *each = terms; each->term; each++)
		json_literal(&json, each->term, each->meaning);
	json_end(&json);
	json_literal(&json, "no_findings", report_why_no_findings(report));
	json_begin(&json, "finding_pictures");
	for (size_t i = 0; i < finding_rule_count; i++)
		if (finding_rules[i]->pictures)
			json_literal(&json, finding_rules[i]->id, finding_rules[i]->pictures);
	json_end(&json);
	json_end(&json);
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
