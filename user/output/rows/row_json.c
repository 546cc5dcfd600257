/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes an event as a line of JSON. */
#include "output/base/json.h"
#include "output/rows/row.h"

static void write_string(struct json *json, const struct resolved_row *row, const char *name,
			 struct trace_string text)
{
	if (!strcmp(name, "command")) {
		json_word_list(json, name, text.bytes, text.length);
		return;
	}
	/* Paths as a call names them; row_json adds those of its files. */
	if (row->kind != TRACE_FILE && !strcmp(name, "path"))
		name = "given_path";
	else if (row->kind != TRACE_FILE && !strcmp(name, "path2"))
		name = "given_path2";
	json_string(json, name, text.bytes, text.length);
}

static void write_column(struct json *json, const struct resolved_row *row, unsigned int number)
{
	const struct trace_schema *schema = &trace_schemas[row->kind];
	const char *name = schema->columns[number].name;
	uint64_t value = row->values[number];

	switch (schema->columns[number].type) {
	case TRACE_TIME:
		json_uint(json, "time_ns", value);
		break;
	case TRACE_STRING:
		write_string(json, row, name, trace_reader_args(row->reader, value));
		break;
	case TRACE_INT:
		json_int(json, name, value);
		break;
	case TRACE_UINT:
		if (!strcmp(name, "op")) {
			json_literal(json, name, row->name);
			break;
		}
		json_name(json, name, strlen(name), schema->duration == (int)number ? "_ns" : "");
		json_uint(json, NULL, value);
		break;
	}
}

void row_json(struct sink *out, const struct resolved_row *row)
{
	const struct trace_schema *schema = &trace_schemas[row->kind];
	struct json json = { .out = out, .style = JSON_SPACED };

	json_begin(&json, NULL);
	json_literal(&json, "layer", row->layer);
	json_literal(&json, "kind", schema->kind);
	for (unsigned int i = 0; i < schema->column_count; i++)
		write_column(&json, row, i);
	if (row->program.length)
		json_string(&json, "program", row->program.bytes, row->program.length);
	if (row->path.length && row->kind != TRACE_FILE)
		json_string(&json, "path", row->path.bytes, row->path.length);
	if (row->path2.length)
		json_string(&json, "path2", row->path2.bytes, row->path2.length);
	json_end(&json);
	sink_char(out, '\n');
}
