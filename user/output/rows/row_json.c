/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes an event as a line of JSON. */
#include "output/rows/row.h"
#include "output/base/json.h"

static void write_name(struct sink *out, const char *before, const char *name, const char *after)
{
	sink_text(out, ", \"");
	sink_text(out, before);
	sink_text(out, name);
	sink_text(out, after);
	sink_text(out, "\": ");
}

static void write_text(struct sink *out, const char *before, const char *name,
		       struct trace_string text)
{
	write_name(out, before, name, "");
	if (!json_text(out, text.bytes, text.length)) {
		write_name(out, before, name, "_hex");
		json_hex(out, text.bytes, text.length);
	}
}

/* Arguments are separated by NUL; the last one may end with one. */
static void write_arguments(struct sink *out, const char *name, struct trace_string text)
{
	bool plain = true;

	for (int hex = 0; hex <= !plain; hex++) {
		const char *at = text.bytes, *end = text.bytes + text.length;

		write_name(out, "", name, hex ? "_hex" : "");
		sink_char(out, '[');
		while (at < end) {
			size_t length = strnlen(at, end - at);

			if (at > text.bytes)
				sink_text(out, ", ");
			if (hex)
				json_hex(out, at, length);
			else
				plain &= json_text(out, at, length);
			at += length + 1;
		}
		sink_char(out, ']');
	}
}

static void write_string(struct sink *out, const struct resolved_row *row, const char *name,
			 struct trace_string text)
{
	if (!strcmp(name, "command"))
		write_arguments(out, name, text);
	else if (!strncmp(name, "path", 4))
		/* A file's own row: the path it contains is the file's. */
		write_text(out, row->kind == TRACE_FILE ? "" : "given_", name, text);
	else
		write_text(out, "", name, text);
}

static void write_column(struct sink *out, const struct resolved_row *row, unsigned int number)
{
	const struct trace_schema *schema = &trace_schemas[row->kind];
	const char *name = schema->columns[number].name;
	uint64_t value = row->values[number];

	switch (schema->columns[number].type) {
	case TRACE_TIME:
		write_name(out, "", "time_ns", "");
		sink_uint(out, value);
		break;
	case TRACE_STRING:
		write_string(out, row, name, trace_reader_string(row->reader, value));
		break;
	case TRACE_INT:
		write_name(out, "", name, "");
		sink_int(out, value);
		break;
	case TRACE_UINT:
		write_name(out, "", name, schema->duration == (int)number ? "_ns" : "");
		if (!strcmp(name, "op"))
			json_text(out, row->name, strlen(row->name));
		else
			sink_uint(out, value);
		break;
	}
}

void row_json(struct sink *out, const struct resolved_row *row)
{
	const struct trace_schema *schema = &trace_schemas[row->kind];

	sink_text(out, "{\"layer\": \"");
	sink_text(out, schema->layer);
	sink_text(out, "\", \"kind\": \"");
	sink_text(out, schema->kind);
	sink_char(out, '"');
	for (unsigned int i = 0; i < schema->column_count; i++)
		write_column(out, row, i);
	if (row->program.length)
		write_text(out, "", "program", row->program);
	if (row->path.length && row->kind != TRACE_FILE)
		write_text(out, "", "path", row->path);
	if (row->path2.length)
		write_text(out, "", "path2", row->path2);
	sink_text(out, "}\n");
}
