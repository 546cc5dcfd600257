/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parses the header and the totals of a trace, which are as hostile as the rest.
 *
 * Tables of fields describe maps: where a key's value goes, and its type. A missing field stays
 * zero, an unknown key is skipped, a value of the wrong type is an error.
 */
#include "trace/read/meta.h"

#include <errno.h>
#include <string.h>

#include "trace/read/error.h"
#include "trace/read/texts.h"
#include "trace/format/format.h"

/* Far above what any trace has, and low enough that lists of empty items cost little. */
#define ITEMS_MAX 65536
#define COMMAND_MAX (1u << 20)

/* FIELD_PART is text that stays in the buffer: checked, but not kept. */
enum field_type { FIELD_TEXT, FIELD_PART, FIELD_U32, FIELD_U64, FIELD_I32 };

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
};

static int parse_part(struct mp *mp, struct mp_value *part)
{
	if (mp_next(mp, part))
		return -EINVAL;
	return part->type == MP_NIL || part->type == MP_STR || part->type == MP_BIN ? 0 : -EINVAL;
}

static int parse_text(struct mp *mp, struct arena *arena, const char **text)
{
	struct mp_value value;
	int err = parse_part(mp, &value);

	*text = NULL;
	if (err || value.type == MP_NIL)
		return err;
	*text = texts_copy(arena, value.bytes, value.length).bytes;
	return *text ? 0 : -ENOMEM;
}

static int parse_field(const struct field *field, struct mp *mp, struct arena *arena, void *target)
{
	void *member = (char *)target + field->offset;
	uint64_t number = 0;
	int64_t sign = 0;

	switch (field->type) {
	case FIELD_TEXT:
		return parse_text(mp, arena, member);
	case FIELD_PART:
		return parse_part(mp, member);
	case FIELD_U64:
		return mp_uint(mp, member);
	case FIELD_U32:
		if (mp_uint(mp, &number) || number > UINT32_MAX)
			return -EINVAL;
		*(uint32_t *)member = number;
		return 0;
	case FIELD_I32:
		if (mp_int(mp, &sign) || sign < INT32_MIN || sign > INT32_MAX)
			return -EINVAL;
		*(int32_t *)member = sign;
		return 0;
	}
	return -EINVAL;
}

/* Parses one map and moves past it. */
static int parse_fields(const struct field *fields, size_t count, struct mp *mp,
			struct arena *arena, void *target)
{
	struct mp_value key;
	uint32_t pairs;
	int err = mp_map(mp, &pairs);

	while (!err && pairs--) {
		const struct field *field = NULL;
		struct mp name = *mp;

		err = mp_skip(mp); /* keys that are not text are not ours */
		if (err || mp_next(&name, &key))
			return -EINVAL;
		for (size_t i = 0; i < count && !field; i++)
			if (mp_is(&key, fields[i].key))
				field = &fields[i];
		err = field ? parse_field(field, mp, arena, target) : mp_skip(mp);
	}
	return err;
}

#define PARSE(fields, mp, arena, target)                                                           \
	parse_fields((fields), sizeof(fields) / sizeof((fields)[0]), (mp), (arena), (target))

/*
 * Opens the list or map at `key`: its length, memory for its items (zeroed, with one more as a
 * terminator), and the position of the first. A missing list is an empty one.
 */
static int open_items(struct mp object, const char *key, enum mp_type type, size_t limit,
		      size_t item_bytes, struct arena *arena, struct mp *mp, uint32_t *length,
		      void **items)
{
	struct mp_value value = { .length = 0 };
	int found = mp_find(object, key, mp);

	if (found < 0)
		return found;
	if (found && (mp_next(mp, &value) || value.type != type || value.length > limit))
		return -EINVAL;
	*length = value.length;
	*items = arena_alloc(arena, (value.length + 1) * item_bytes);
	if (!*items)
		return -ENOMEM;
	memset(*items, 0, (value.length + 1) * item_bytes);
	return 0;
}

static int parse_texts(struct mp object, const char *key, struct arena *arena,
		       const char *const **texts)
{
	uint32_t count;
	struct mp mp;
	void *items;
	int err = open_items(object, key, MP_ARRAY, COMMAND_MAX, sizeof(char *), arena, &mp, &count,
			     &items);
	const char **list = items;

	for (uint32_t i = 0; !err && i < count; i++) {
		err = parse_text(&mp, arena, &list[i]);
		if (!err && !list[i])
			return -EINVAL;
	}
	if (!err)
		*texts = list;
	return err;
}

static int parse_layers(struct trace_header *header, struct mp object, struct arena *arena)
{
	struct raw {
		const char *state, *attach, *reason;
	};
	static const struct field fields[] = {
		{ "state", FIELD_TEXT, offsetof(struct raw, state) },
		{ "attach", FIELD_TEXT, offsetof(struct raw, attach) },
		{ "reason", FIELD_TEXT, offsetof(struct raw, reason) },
	};
	uint32_t count;
	struct mp mp;
	void *items;
	int err = open_items(object, "layers", MP_MAP, ITEMS_MAX, sizeof(struct trace_layer), arena,
			     &mp, &count, &items);
	struct trace_layer *layers = items;

	for (uint32_t i = 0; !err && i < count; i++) {
		struct raw raw = { 0 };

		err = parse_text(&mp, arena, &layers[i].name);
		if (!err)
			err = PARSE(fields, &mp, arena, &raw);
		if (!err && (!layers[i].name || !raw.state))
			return -EINVAL;
		if (err)
			return err;
		layers[i].on = !strcmp(raw.state, "on");
		layers[i].attach = raw.attach;
		layers[i].reason = raw.reason;
	}
	if (!err) {
		header->layers = layers;
		header->layer_count = count;
	}
	return err;
}

static int parse_mounts(struct trace_header *header, struct mp object, struct arena *arena)
{
	static const struct field fields[] = {
		{ "dev", FIELD_U32, offsetof(struct trace_mount, dev) },
		{ "type", FIELD_TEXT, offsetof(struct trace_mount, type) },
		{ "options", FIELD_TEXT, offsetof(struct trace_mount, options) },
		{ "path", FIELD_TEXT, offsetof(struct trace_mount, path) },
		{ "readahead_bytes", FIELD_U64, offsetof(struct trace_mount, readahead_bytes) },
	};
	uint32_t count;
	struct mp mp;
	void *items;
	int err = open_items(object, "mounts", MP_ARRAY, ITEMS_MAX, sizeof(struct trace_mount),
			     arena, &mp, &count, &items);
	struct trace_mount *mounts = items;

	for (uint32_t i = 0; !err && i < count; i++) {
		err = PARSE(fields, &mp, arena, &mounts[i]);
		if (!err && (!mounts[i].type || !mounts[i].options || !mounts[i].path))
			return -EINVAL;
	}
	if (!err) {
		header->mounts = mounts;
		header->mount_count = count;
	}
	return err;
}

/* The meaning of a family that a later version adds is unknown. */
static enum trace_family find_family(const struct mp_value *name)
{
	for (int family = 0; family < TRACE_FAMILY_COUNT; family++)
		if (mp_is(name, trace_family_names[family]))
			return family;
	return TRACE_UNDECODED;
}

/* Operations of a layer are adjacent, and each of a thousand traces has hundreds of operations: the
 * layer's name is kept once per run. */
static int parse_operations(struct trace_header *header, struct mp object, struct arena *arena)
{
	struct raw {
		struct mp_value layer, family;
		const char *name;
	};
	static const struct field fields[] = {
		{ "layer", FIELD_PART, offsetof(struct raw, layer) },
		{ "name", FIELD_TEXT, offsetof(struct raw, name) },
		{ "family", FIELD_PART, offsetof(struct raw, family) },
	};
	uint32_t count;
	struct mp mp;
	void *items;
	int err = open_items(object, "operations", MP_ARRAY, ITEMS_MAX,
			     sizeof(struct trace_operation), arena, &mp, &count, &items);
	struct trace_operation *operations = items;
	const char *layer = NULL;

	for (uint32_t i = 0; !err && i < count; i++) {
		struct raw raw = { .name = NULL };

		err = PARSE(fields, &mp, arena, &raw);
		if (!err && (raw.layer.type == MP_NIL || !raw.name || raw.family.type == MP_NIL))
			return -EINVAL;
		if (!err && (!layer || !mp_is(&raw.layer, layer))) {
			layer = texts_copy(arena, raw.layer.bytes, raw.layer.length).bytes;
			err = layer ? 0 : -ENOMEM;
		}
		if (err)
			return err;
		operations[i].layer = layer;
		operations[i].name = raw.name;
		operations[i].family = find_family(&raw.family);
	}
	if (!err) {
		header->operations = operations;
		header->operation_count = count;
	}
	return err;
}

static int check_format(struct mp object, struct trace_error *error)
{
	struct mp_value value;
	uint64_t version;
	struct mp mp;

	if (mp_find(object, "format", &mp) != 1 || mp_next(&mp, &value) ||
	    !mp_is(&value, FORMAT_NAME))
		return trace_fail(error, -EINVAL, "is not a Faultline trace");
	if (mp_find(object, "version", &mp) != 1 || mp_uint(&mp, &version) || !version)
		return trace_fail(error, -EINVAL, "has a damaged header: no format version");
	if (version > TRACE_VERSION)
		return trace_fail(error, -ENOTSUP,
				  "was written by a newer Faultline (format version %llu; this one "
				  "reads up to %d)",
				  (unsigned long long)version, TRACE_VERSION);
	return 0;
}

/* Sets missing texts that programs print without a check. */
static void name_the_unknown(struct trace_header *header)
{
	const char **texts[] = { &header->tool,	  &header->host,    &header->boot_id,
				 &header->kernel, &header->machine, &header->mode };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!*texts[i])
			*texts[i] = "";
	if (!header->start)
		header->start = "run";
}

/* Others are forged: no kernel has them, and ranges of pages would be huge or have holes. */
static bool is_page_size(uint32_t bytes)
{
	return bytes >= 4096 && bytes <= 65536 && !(bytes & (bytes - 1));
}

static const struct field header_fields[] = {
	{ "version", FIELD_U32, offsetof(struct trace_header, version) },
	{ "tool", FIELD_TEXT, offsetof(struct trace_header, tool) },
	{ "host", FIELD_TEXT, offsetof(struct trace_header, host) },
	{ "boot_id", FIELD_TEXT, offsetof(struct trace_header, boot_id) },
	{ "kernel", FIELD_TEXT, offsetof(struct trace_header, kernel) },
	{ "machine", FIELD_TEXT, offsetof(struct trace_header, machine) },
	{ "page_bytes", FIELD_U32, offsetof(struct trace_header, page_bytes) },
	{ "cpus", FIELD_U32, offsetof(struct trace_header, cpus) },
	{ "mode", FIELD_TEXT, offsetof(struct trace_header, mode) },
	{ "start", FIELD_TEXT, offsetof(struct trace_header, start) },
};
static const struct field clock_fields[] = {
	{ "monotonic_ns", FIELD_U64, offsetof(struct trace_header, clock_monotonic_ns) },
	{ "realtime_ns", FIELD_U64, offsetof(struct trace_header, clock_realtime_ns) },
};
static const struct field limit_fields[] = {
	{ "memory_bytes", FIELD_U64, offsetof(struct trace_header, memory_bytes) },
	{ "cgroup_memory_bytes", FIELD_U64, offsetof(struct trace_header, cgroup_memory_bytes) },
	{ "cpu_milli", FIELD_U64, offsetof(struct trace_header, cpu_milli) },
	{ "dirty_bytes", FIELD_U64, offsetof(struct trace_header, dirty_bytes) },
	{ "dirty_background_bytes", FIELD_U64,
	  offsetof(struct trace_header, dirty_background_bytes) },
};
static const struct field flight_fields[] = {
	{ "reason", FIELD_TEXT, offsetof(struct trace_header, flight.reason) },
	{ "complete_from_ns", FIELD_U64, offsetof(struct trace_header, flight.complete_from_ns) },
	{ "overwritten", FIELD_U64, offsetof(struct trace_header, flight.overwritten) },
};

/* Parses a map in the header; it may be missing. */
static int parse_member(struct trace_header *header, struct mp object, const char *name,
			const struct field *fields, size_t count, struct arena *arena)
{
	struct mp mp;
	int found = mp_find(object, name, &mp);

	return found == 1 ? parse_fields(fields, count, &mp, arena, header) : found;
}

#define PARSE_MEMBER(header, object, name, fields, arena)                                          \
	parse_member((header), (object), (name), (fields), sizeof(fields) / sizeof((fields)[0]),   \
		     (arena))

int header_parse(struct trace_header *header, struct mp object, struct arena *arena,
		 struct trace_error *error)
{
	struct mp mp = object;
	int err;

	memset(header, 0, sizeof(*header));
	err = check_format(object, error);
	if (err)
		return err;
	err = PARSE(header_fields, &mp, arena, header);
	if (!err && mp.at != mp.end)
		err = -EINVAL;
	if (!err)
		err = PARSE_MEMBER(header, object, "clock", clock_fields, arena);
	if (!err)
		err = PARSE_MEMBER(header, object, "limits", limit_fields, arena);
	if (!err)
		err = PARSE_MEMBER(header, object, "flight", flight_fields, arena);
	if (!err)
		err = parse_mounts(header, object, arena);
	if (!err)
		err = parse_texts(object, "command", arena, &header->command);
	if (!err)
		err = parse_texts(object, "targets", arena, &header->targets);
	if (!err)
		err = parse_layers(header, object, arena);
	if (!err)
		err = parse_operations(header, object, arena);
	if (err == -ENOMEM)
		return trace_no_memory(error);
	if (err)
		return trace_fail(error, err, "has a damaged header");
	if (!is_page_size(header->page_bytes))
		header->page_bytes = 0;
	name_the_unknown(header);
	return 0;
}

static int parse_operation_totals(struct trace_totals *totals, struct mp object,
				  struct arena *arena)
{
	static const struct field fields[] = {
		{ "count", FIELD_U64, offsetof(struct trace_operation_total, count) },
		{ "errors", FIELD_U64, offsetof(struct trace_operation_total, errors) },
		{ "bytes", FIELD_U64, offsetof(struct trace_operation_total, bytes) },
		{ "thread_time_ns", FIELD_U64,
		  offsetof(struct trace_operation_total, thread_time_ns) },
		{ "fetched_bytes", FIELD_U64,
		  offsetof(struct trace_operation_total, fetched_bytes) },
		{ "created_bytes", FIELD_U64,
		  offsetof(struct trace_operation_total, created_bytes) },
		{ "read_for_write_bytes", FIELD_U64,
		  offsetof(struct trace_operation_total, read_for_write_bytes) },
		{ "submissions", FIELD_U64, offsetof(struct trace_operation_total, submissions) },
		{ "major_faults", FIELD_U64, offsetof(struct trace_operation_total, major_faults) },
	};
	uint32_t count;
	struct mp mp;
	void *items;
	int err = open_items(object, "operations", MP_ARRAY, ITEMS_MAX,
			     sizeof(struct trace_operation_total), arena, &mp, &count, &items);
	struct trace_operation_total *operations = items;

	for (uint32_t i = 0; !err && i < count; i++) {
		operations[i].major_faults = TRACE_NOT_COUNTED;
		err = PARSE(fields, &mp, arena, &operations[i]);
	}
	if (!err) {
		totals->operations = operations;
		totals->operation_count = count;
	}
	return err;
}

static int parse_kind_totals(struct trace_totals *totals, struct mp object, struct arena *arena)
{
	static const struct field fields[] = {
		{ "kind", FIELD_TEXT, offsetof(struct trace_kind_total, kind) },
		{ "layer", FIELD_TEXT, offsetof(struct trace_kind_total, layer) },
		{ "events", FIELD_U64, offsetof(struct trace_kind_total, events) },
		{ "written", FIELD_U64, offsetof(struct trace_kind_total, written) },
		{ "lost", FIELD_U64, offsetof(struct trace_kind_total, lost) },
	};
	uint32_t count;
	struct mp mp;
	void *items;
	int err = open_items(object, "kinds", MP_ARRAY, ITEMS_MAX, sizeof(struct trace_kind_total),
			     arena, &mp, &count, &items);
	struct trace_kind_total *kinds = items;

	for (uint32_t i = 0; !err && i < count; i++) {
		err = PARSE(fields, &mp, arena, &kinds[i]);
		if (!err && (!kinds[i].kind || !kinds[i].layer))
			return -EINVAL;
	}
	if (!err) {
		totals->kinds = kinds;
		totals->kind_count = count;
	}
	return err;
}

static int parse_notes(struct trace_totals *totals, struct mp object, struct arena *arena)
{
	static const struct field fields[] = {
		{ "name", FIELD_TEXT, offsetof(struct trace_note, name) },
		{ "count", FIELD_U64, offsetof(struct trace_note, count) },
	};
	uint32_t count;
	struct mp mp;
	void *items;
	int err = open_items(object, "notes", MP_ARRAY, ITEMS_MAX, sizeof(struct trace_note), arena,
			     &mp, &count, &items);
	struct trace_note *notes = items;

	for (uint32_t i = 0; !err && i < count; i++) {
		err = PARSE(fields, &mp, arena, &notes[i]);
		if (!err && !notes[i].name)
			return -EINVAL;
	}
	if (!err) {
		totals->notes = notes;
		totals->note_count = count;
	}
	return err;
}

static int parse_survivors(struct trace_totals *totals, struct mp object, struct arena *arena)
{
	uint32_t count;
	struct mp mp;
	void *items;
	int err = open_items(object, "survivors", MP_ARRAY, COMMAND_MAX, sizeof(uint64_t), arena,
			     &mp, &count, &items);
	uint64_t *survivors = items;

	for (uint32_t i = 0; !err && i < count; i++)
		err = mp_uint(&mp, &survivors[i]);
	if (!err) {
		totals->survivors = survivors;
		totals->survivor_count = count;
	}
	return err;
}

int totals_parse(struct trace_totals *totals, struct mp object, const struct trace_header *header,
		 struct arena *arena, struct trace_error *error)
{
	static const struct field fields[] = {
		{ "start_ns", FIELD_U64, offsetof(struct trace_totals, start_ns) },
		{ "end_ns", FIELD_U64, offsetof(struct trace_totals, end_ns) },
		{ "exit_code", FIELD_I32, offsetof(struct trace_totals, exit_code) },
	};
	struct mp mp = object;
	int err;

	memset(totals, 0, sizeof(*totals));
	totals->exit_code = -1;
	err = PARSE(fields, &mp, arena, totals);
	if (!err && mp.at != mp.end)
		err = -EINVAL;
	if (!err)
		err = parse_operation_totals(totals, object, arena);
	if (!err)
		err = parse_kind_totals(totals, object, arena);
	if (!err)
		err = parse_survivors(totals, object, arena);
	if (!err)
		err = parse_notes(totals, object, arena);
	if (!err && totals->operation_count != header->operation_count)
		err = -EINVAL;
	if (err == -ENOMEM)
		return trace_no_memory(error);
	return err ? trace_fail(error, err, "has damaged totals") : 0;
}
