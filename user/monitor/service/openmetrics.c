/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes samples of metrics as text. */
#include "monitor/service/openmetrics.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/calls/wait_calls.h"
#include "output/base/escape.h"
#include "base/units.h"

struct writing {
	const struct metric *metric;
	enum openmetrics_format format;
	struct sink *out;
	struct sink text; /* of the label being written */
	bool labelled;	  /* a label has been written */
};

/* --- choosing a format --- */

/* Returns the weight of a media type in an Accept header; -1 if it is absent. */
static double weight_of(const char *accept, const char *type)
{
	const char *at = accept ? strcasestr(accept, type) : NULL, *q;
	size_t length;

	if (!at)
		return -1;
	length = strcspn(at, ",");
	q = memmem(at, length, "q=", 2);
	return q ? strtod(q + 2, NULL) : 1;
}

enum openmetrics_format openmetrics_choose(const char *accept)
{
	double open = weight_of(accept, "application/openmetrics-text");

	return open > 0 && open >= weight_of(accept, "text/plain") ? FORMAT_OPENMETRICS
								   : FORMAT_PROMETHEUS;
}

const char *openmetrics_type(enum openmetrics_format format)
{
	return format == FORMAT_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

/* --- labels --- */

static void write_escaped(struct sink *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		switch (text[i]) {
		case '\\':
			sink_text(out, "\\\\");
			break;
		case '"':
			sink_text(out, "\\\"");
			break;
		case '\n':
			sink_text(out, "\\n");
			break;
		default:
			sink_char(out, text[i]);
		}
	}
}

/* Returns whether a backslash begins what would be read as an escape, \x8f or \x5c: of a byte that
 * is not UTF-8, or of a backslash. */
static bool looks_escaped(const char *text)
{
	return text[1] == 'x' &&
	       ((strchr("89abcdef", text[2]) && text[2] && isxdigit((unsigned char)text[3])) ||
		!strncmp(text + 2, "5c", 2));
}

/* Writes valid UTF-8. Different names stay different, or one series would have two samples. */
static void write_value(struct sink *out, const char *value)
{
	const char *from = value;

	for (const char *at = strchr(value, '\\'); at; at = strchr(at + 1, '\\')) {
		if (!looks_escaped(at))
			continue;
		escape_to_utf8(out, from, at - from);
		sink_text(out, "\\x5c");
		from = at + 1;
	}
	escape_to_utf8(out, from, strlen(from));
}

/* A label without a value is omitted. */
static void write_label(struct writing *writing, const char *name, const char *value)
{
	if (!value[0])
		return;
	sink_char(writing->out, writing->labelled ? ',' : '{');
	writing->labelled = true;
	sink_text(writing->out, name);
	sink_text(writing->out, "=\"");
	/* Names of cgroups and programs may be arbitrary bytes. */
	writing->text.used = 0;
	write_value(&writing->text, value);
	write_escaped(writing->out, writing->text.buffer, writing->text.used);
	sink_char(writing->out, '"');
}

static void write_job(struct writing *writing, const struct metric_item *item, bool command)
{
	const struct ledger_job *job = item->job;

	if (!job) {
		write_label(writing, "cgroup", LEDGER_OTHER);
		return;
	}
	for (size_t i = 0; i < ledger_label_count; i++)
		write_label(writing, ledger_labels[i].name, ledger_labels[i].get(job));
	if (command)
		write_label(writing, "command", item->command->name);
}

static void write_cell(struct writing *writing, const struct ledger_cell *cell)
{
	write_label(writing, "method", ledger_method_name(cell->method));
	write_label(writing, "op", ledger_op_names[cell->op]);
}

static void write_device(struct writing *writing, uint32_t dev)
{
	char device[UNITS_TEXT];

	write_label(writing, "device", units_device(device, dev));
}

static void write_labels(struct writing *writing, const struct metric_item *item)
{
	const struct service_facts *facts = &item->source->facts;

	switch (writing->metric->of) {
	case METRIC_OF_SERVICE:
		if (writing->metric->type == METRIC_INFO)
			write_label(writing, "version", FAULTLINE_VERSION);
		break;
	case METRIC_OF_LAYER:
		write_label(writing, "layer", layer_names[item->number]);
		break;
	case METRIC_OF_FLIGHT:
		break;
	case METRIC_OF_CAUSE:
		write_label(writing, "cause", flight_causes[item->number]);
		break;
	case METRIC_OF_LOSS:
		write_label(writing, "kind", facts->losses[item->number].kind);
		write_label(writing, "layer", facts->losses[item->number].layer);
		break;
	case METRIC_OF_CELL:
		write_job(writing, item, true);
		write_cell(writing, item->cell);
		break;
	case METRIC_OF_LATENCY:
		write_job(writing, item, false);
		write_cell(writing, item->cell);
		break;
	case METRIC_OF_FAULT:
		write_job(writing, item, true);
		write_label(writing, "kind", metric_fault_kinds[item->number]);
		write_label(writing, "op", ledger_op_names[item->cell->op]);
		break;
	case METRIC_OF_JOB:
		write_job(writing, item, false);
		break;
	case METRIC_OF_SPAN:
		write_job(writing, item, false);
		write_label(writing, "name", item->span ? item->span->name.name : LEDGER_OTHER);
		write_label(writing, "category",
			    item->span ? item->span->name.category : LEDGER_OTHER);
		break;
	case METRIC_OF_THREAD:
		write_job(writing, item, false);
		write_label(writing, "state", thread_state_name(item->number));
		break;
	case METRIC_OF_FILE_SYSTEM: {
		char type[sizeof(item->file_system->type) + 1] = { 0 };

		memcpy(type, item->file_system->type, sizeof(item->file_system->type));
		write_label(writing, "filesystem", type);
		if (item->file_system->dev)
			write_device(writing, item->file_system->dev);
		write_label(writing, "op", ledger_op_names[item->op]);
		break;
	}
	case METRIC_OF_DEVICE:
	case METRIC_OF_CALLS:
		write_label(writing, "device", item->device->name);
		write_label(writing, "op",
			    (writing->metric->of == METRIC_OF_DEVICE ? metric_device_uses
								     : metric_calls)[item->number]);
		break;
	}
}

/* --- samples --- */

static void write_number(struct sink *out, enum metric_unit unit, uint64_t value)
{
	if (unit == METRIC_SECONDS)
		sink_format(out, "%llu.%09llu", (unsigned long long)(value / 1000000000),
			    (unsigned long long)(value % 1000000000));
	else
		sink_uint(out, value);
}

static void write_sample(struct writing *writing, const struct metric_item *item,
			 const char *suffix, const char *bound, enum metric_unit unit,
			 uint64_t value)
{
	sink_text(writing->out, writing->metric->name);
	sink_text(writing->out, suffix);
	writing->labelled = false;
	write_labels(writing, item);
	if (bound)
		write_label(writing, "le", bound);
	sink_text(writing->out, writing->labelled ? "} " : " ");
	write_number(writing->out, unit, value);
	sink_char(writing->out, '\n');
}

/* Writes when a series began to count: with its job, or with the service. */
static void write_created(struct writing *writing, const struct metric_item *item)
{
	const struct service_facts *facts = &item->source->facts;
	uint64_t after_ns = 0;

	if (writing->format != FORMAT_OPENMETRICS)
		return;
	if (item->job && item->job->start_ns > facts->start_ns)
		after_ns = item->job->start_ns - facts->start_ns;
	write_sample(writing, item, "_created", NULL, METRIC_SECONDS,
		     facts->start_unix_ns + after_ns);
}

static void write_histogram(struct writing *writing, const struct metric_item *item)
{
	const struct ledger_cell *cell = item->cell;
	uint64_t below = 0, all = 0;
	unsigned int class = 0;

	for (unsigned int i = 0; i < LEDGER_LATENCIES; i++)
		all += cell->latencies[i];
	for (unsigned int i = 0; i < METRIC_BUCKETS; i++) {
		char bound[32];

		while (class < metric_bucket_classes[i])
			below += cell->latencies[class ++];
		/* The largest time of the classes below: bounds are inclusive. */
		snprintf(bound, sizeof(bound), "%.10g",
			 ((1ull << LEDGER_LATENCY_SHIFT << (class - 1)) - 1) / 1e9);
		write_sample(writing, item, "_bucket", bound, METRIC_NUMBER, below);
	}
	write_sample(writing, item, "_bucket", "+Inf", METRIC_NUMBER, all);
	write_sample(writing, item, "_sum", NULL, METRIC_SECONDS, cell->counts.time_ns);
	write_sample(writing, item, "_count", NULL, METRIC_NUMBER, all);
	write_created(writing, item);
}

/* Returns what samples append to the name of their family. */
static const char *suffix_of(const struct metric *metric)
{
	return metric->type == METRIC_COUNTER ? "_total"
	       : metric->type == METRIC_INFO  ? "_info"
					      : "";
}

void openmetrics_name(const struct metric *metric, char *out, size_t size)
{
	snprintf(out, size, "%s%s", metric->name, suffix_of(metric));
}

/* Prometheus' own format has no info type. */
const char *openmetrics_type_name(const struct metric *metric)
{
	static const char *const types[] = { "counter", "gauge", "histogram", "gauge" };

	return types[metric->type];
}

static void write_item(void *context, const struct metric_item *item)
{
	struct writing *writing = context;
	const struct metric *metric = writing->metric;

	if (metric->type == METRIC_HISTOGRAM)
		write_histogram(writing, item);
	else
		write_sample(writing, item, suffix_of(metric), NULL, metric->unit,
			     metric->get(item));
	if (metric->type == METRIC_COUNTER)
		write_created(writing, item);
}

static void write_head(const struct writing *writing)
{
	static const char *const units[] = { NULL, "bytes", "seconds" };
	const struct metric *metric = writing->metric;
	bool open = writing->format == FORMAT_OPENMETRICS;
	/* Prometheus' format names samples, OpenMetrics names families. */
	const char *suffix = open ? "" : suffix_of(metric);

	/* Help texts are our own and need no escaping. */
	sink_format(writing->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", metric->name, suffix,
		    metric->help, metric->name, suffix,
		    open && metric->type == METRIC_INFO ? "info" : openmetrics_type_name(metric));
	if (open && units[metric->unit])
		sink_format(writing->out, "# UNIT %s %s\n", metric->name, units[metric->unit]);
}

void openmetrics_write(const struct metric_source *source, enum openmetrics_format format,
		       struct sink *out)
{
	struct writing writing = { .format = format, .out = out };

	sink_open_memory(&writing.text);
	for (size_t i = 0; i < metric_count; i++) {
		writing.metric = &metrics[i];
		write_head(&writing);
		metrics_each(&metrics[i], source, write_item, &writing);
	}
	if (format == FORMAT_OPENMETRICS)
		sink_text(out, "# EOF\n");
	if (writing.text.error && !out->error)
		out->error = writing.text.error;
	sink_close(&writing.text);
}

void openmetrics_render(struct service *service, uint64_t series_max,
			enum openmetrics_format format, struct sink *out)
{
	struct metric_source source;

	ledger_lock(service_ledger(service));
	metrics_fill_source(&source, service, series_max);
	openmetrics_write(&source, format, out);
	ledger_unlock(service_ledger(service));
}
