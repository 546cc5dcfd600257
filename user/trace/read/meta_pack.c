/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packs the header and the totals of a trace. */
#include "trace/read/meta.h"

#include "trace/format/format.h"

static void pack_pair(struct pack *pack, const char *key, const char *text)
{
	pack_cstring(pack, key);
	pack_cstring(pack, text);
}

static void pack_number(struct pack *pack, const char *key, uint64_t number)
{
	pack_cstring(pack, key);
	pack_uint(pack, number);
}

static void pack_texts(struct pack *pack, const char *key, const char *const *texts)
{
	size_t count = 0;

	while (texts && texts[count])
		count++;
	pack_cstring(pack, key);
	pack_array(pack, count);
	for (size_t i = 0; i < count; i++)
		pack_cstring(pack, texts[i]);
}

static void pack_layers(struct pack *pack, const struct trace_layer *layers, size_t count)
{
	pack_cstring(pack, "layers");
	pack_map(pack, count);
	for (size_t i = 0; i < count; i++) {
		pack_cstring(pack, layers[i].name);
		pack_map(pack, 3);
		pack_pair(pack, "state", layers[i].on ? "on" : "off");
		pack_pair(pack, "attach", layers[i].attach);
		pack_pair(pack, "reason", layers[i].reason);
	}
}

static void pack_operations(struct pack *pack, const struct trace_header *header)
{
	pack_cstring(pack, "operations");
	pack_array(pack, header->operation_count);
	for (size_t i = 0; i < header->operation_count; i++) {
		const struct trace_operation *operation = &header->operations[i];

		pack_map(pack, 3);
		pack_pair(pack, "layer", operation->layer);
		pack_pair(pack, "name", operation->name);
		pack_pair(pack, "family", trace_family_names[operation->family]);
	}
}

static void pack_limits(struct pack *pack, const struct trace_header *header)
{
	pack_cstring(pack, "limits");
	pack_map(pack, 5);
	pack_number(pack, "memory_bytes", header->memory_bytes);
	pack_number(pack, "cgroup_memory_bytes", header->cgroup_memory_bytes);
	pack_number(pack, "cpu_milli", header->cpu_milli);
	pack_number(pack, "dirty_bytes", header->dirty_bytes);
	pack_number(pack, "dirty_background_bytes", header->dirty_background_bytes);
}

static void pack_mounts(struct pack *pack, const struct trace_header *header)
{
	pack_cstring(pack, "mounts");
	pack_array(pack, header->mount_count);
	for (size_t i = 0; i < header->mount_count; i++) {
		const struct trace_mount *mount = &header->mounts[i];

		pack_map(pack, 5);
		pack_number(pack, "dev", mount->dev);
		pack_pair(pack, "type", mount->type);
		pack_pair(pack, "options", mount->options);
		pack_pair(pack, "path", mount->path);
		pack_number(pack, "readahead_bytes", mount->readahead_bytes);
	}
}

static void pack_flight(struct pack *pack, const struct trace_flight *flight)
{
	pack_cstring(pack, "flight");
	pack_map(pack, 3);
	pack_pair(pack, "reason", flight->reason);
	pack_number(pack, "complete_from_ns", flight->complete_from_ns);
	pack_number(pack, "overwritten", flight->overwritten);
}

/* Counts the pairs that every header has, and those of a flight recorder. */
static size_t header_pairs(const struct trace_header *header)
{
	return 18 + (header->flight.reason != NULL);
}

static void pack_header_pairs(struct pack *pack, const struct trace_header *header)
{
	pack_pair(pack, "format", FORMAT_NAME);
	pack_number(pack, "version", TRACE_VERSION);
	pack_pair(pack, "tool", header->tool);
	pack_pair(pack, "host", header->host);
	pack_pair(pack, "boot_id", header->boot_id);
	pack_pair(pack, "kernel", header->kernel);
	pack_pair(pack, "machine", header->machine);
	pack_number(pack, "page_bytes", header->page_bytes);
	pack_number(pack, "cpus", header->cpus);
	pack_cstring(pack, "clock");
	pack_map(pack, 2);
	pack_number(pack, "monotonic_ns", header->clock_monotonic_ns);
	pack_number(pack, "realtime_ns", header->clock_realtime_ns);
	pack_limits(pack, header);
	pack_mounts(pack, header);
	pack_pair(pack, "mode", header->mode);
	pack_pair(pack, "start", header->start);
	pack_texts(pack, "command", header->command);
	pack_texts(pack, "targets", header->targets);
	pack_layers(pack, header->layers, header->layer_count);
	pack_operations(pack, header);
	if (header->flight.reason)
		pack_flight(pack, &header->flight);
}

void header_pack(struct pack *pack, const struct trace_header *header)
{
	pack_map(pack, header_pairs(header));
	pack_header_pairs(pack, header);
}

void header_pack_copy(struct pack *pack, const struct trace_header *header)
{
	pack_map(pack, 2 + header_pairs(header));
	pack_pair(pack, "block", FORMAT_HEADER);
	pack_number(pack, "n", 0);
	pack_header_pairs(pack, header);
}

static void pack_operation_totals(struct pack *pack, const struct trace_totals *totals)
{
	pack_cstring(pack, "operations");
	pack_array(pack, totals->operation_count);
	for (size_t i = 0; i < totals->operation_count; i++) {
		const struct trace_operation_total *total = &totals->operations[i];

		pack_map(pack, 9);
		pack_number(pack, "count", total->count);
		pack_number(pack, "errors", total->errors);
		pack_number(pack, "bytes", total->bytes);
		pack_number(pack, "thread_time_ns", total->thread_time_ns);
		pack_number(pack, "fetched_bytes", total->fetched_bytes);
		pack_number(pack, "created_bytes", total->created_bytes);
		pack_number(pack, "read_for_write_bytes", total->read_for_write_bytes);
		pack_number(pack, "submissions", total->submissions);
		pack_number(pack, "major_faults", total->major_faults);
	}
}

static void pack_kind_totals(struct pack *pack, const struct trace_totals *totals)
{
	pack_cstring(pack, "kinds");
	pack_array(pack, totals->kind_count);
	for (size_t i = 0; i < totals->kind_count; i++) {
		const struct trace_kind_total *kind = &totals->kinds[i];

		pack_map(pack, 5);
		pack_pair(pack, "kind", kind->kind);
		pack_pair(pack, "layer", kind->layer);
		pack_number(pack, "events", kind->events);
		pack_number(pack, "written", kind->written);
		pack_number(pack, "lost", kind->lost);
	}
}

void totals_pack(struct pack *pack, const struct trace_totals *totals)
{
	pack_map(pack, 8);
	pack_pair(pack, "block", FORMAT_TOTALS);
	pack_number(pack, "start_ns", totals->start_ns);
	pack_number(pack, "end_ns", totals->end_ns);
	pack_cstring(pack, "exit_code");
	pack_int(pack, totals->exit_code);
	pack_operation_totals(pack, totals);
	pack_kind_totals(pack, totals);
	pack_cstring(pack, "survivors");
	pack_array(pack, totals->survivor_count);
	for (size_t i = 0; i < totals->survivor_count; i++)
		pack_uint(pack, totals->survivors[i]);
	pack_cstring(pack, "notes");
	pack_array(pack, totals->note_count);
	for (size_t i = 0; i < totals->note_count; i++) {
		pack_map(pack, 2);
		pack_pair(pack, "name", totals->notes[i].name);
		pack_number(pack, "count", totals->notes[i].count);
	}
}
