/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads when a GPU was busy from a PyTorch profiler trace. Such files have gigabytes: they are
 * split into events byte by byte, and only events from a GPU are parsed.
 */
#include "analysis/job/gpu.h"
#include "collections/compare.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define READ_BYTES (1u << 18)
#define PIECE_BYTES (1u << 18) /* longer events are not from a GPU and are skipped */
#define INTERVALS_FIRST 4096

/* The reader's position in the text. A piece is a member of the top-level object, or one event. */
struct scan {
	char *piece;
	size_t length;
	bool too_long, in_string, escaped;
	bool in_events; /* in the list of events, at depth `floor` */
	bool started;
	size_t depth, floor; /* of brackets; commas at depth `floor` end a piece */
};

struct gpu_reader {
	struct gpu *gpu;
	struct trace_error *error;
	struct scan scan;
	struct json_tokener *tokener;
	size_t room;
	uint64_t base_ns;
};

static int complain(const struct gpu_reader *reader, const char *what)
{
	snprintf(reader->error->text, sizeof(reader->error->text), "%.120s: %.120s",
		 reader->gpu->name, what);
	return -EINVAL;
}

/* --- intervals --- */

COMPARE_BY(compare_intervals, struct gpu_interval, COMPARE(a->start_ns, b->start_ns))

/* Sorts intervals, and merges those that overlap or touch. */
static void merge(struct gpu *gpu)
{
	size_t kept = 0;

	if (!gpu->count)
		return;
	qsort(gpu->intervals, gpu->count, sizeof(*gpu->intervals), compare_intervals);
	for (size_t i = 1; i < gpu->count; i++) {
		const struct gpu_interval *next = &gpu->intervals[i];
		struct gpu_interval *last = &gpu->intervals[kept];

		if (next->start_ns > last->end_ns)
			gpu->intervals[++kept] = *next;
		else if (next->end_ns > last->end_ns)
			last->end_ns = next->end_ns;
	}
	gpu->count = kept + 1;
}

static int make_room(struct gpu_reader *reader)
{
	struct gpu *gpu = reader->gpu;
	size_t room = reader->room ? reader->room * 2 : INTERVALS_FIRST;
	struct gpu_interval *intervals;

	if (gpu->count < reader->room)
		return 0;
	/* Kernels run back to back: most of them merge. */
	merge(gpu);
	if (reader->room && gpu->count <= reader->room / 2)
		return 0;
	if (room > GPU_INTERVALS_MAX)
		return complain(reader, "has too much GPU activity");
	intervals = reallocarray(gpu->intervals, room, sizeof(*intervals));
	if (!intervals)
		return -ENOMEM;
	gpu->intervals = intervals;
	reader->room = room;
	return 0;
}

/* --- pieces --- */

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return "";
	return json_object_get_string(value);
}

/* Converts microseconds to ns; false for a value that is not a time. */
static bool time_of(struct json_object *object, const char *key, uint64_t *time_ns)
{
	struct json_object *value;
	double number;

	if (!json_object_object_get_ex(object, key, &value))
		return false;
	number = json_object_get_double(value) * 1000;
	if (!(number >= 0 && number < 1.8e19))
		return false;
	*time_ns = json_object_is_type(value, json_type_int)
			   ? (uint64_t)json_object_get_int64(value) * 1000
			   : (uint64_t)(number + 0.5);
	return true;
}

/* Kineto's categories, old and new, that keep a GPU busy. */
static bool is_busy(const char *category)
{
	static const char *const busy[] = { "kernel", "gpu_memcpy", "gpu_memset",
					    "memcpy", "memset",	    "gpu_op" };

	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++)
		if (!strcasecmp(category, busy[i]))
			return true;
	return false;
}

static int take_event(struct gpu_reader *reader, struct json_object *event)
{
	struct gpu *gpu = reader->gpu;
	uint64_t start_ns, duration_ns;
	int status;

	if (strcmp(text_of(event, "ph"), "X") || !is_busy(text_of(event, "cat")) ||
	    !time_of(event, "ts", &start_ns) || !time_of(event, "dur", &duration_ns))
		return 0;
	gpu->kernels++;
	if (!duration_ns || start_ns + duration_ns < start_ns)
		return 0;
	status = make_room(reader);
	if (!status)
		gpu->intervals[gpu->count++] =
			(struct gpu_interval) { start_ns, start_ns + duration_ns };
	return status;
}

static void take_member(struct gpu_reader *reader, struct json_object *whole)
{
	struct json_object *value;

	if (json_object_object_get_ex(whole, "baseTimeNanoseconds", &value))
		reader->base_ns = json_object_get_uint64(value);
	if (json_object_object_get_ex(whole, "distributedInfo", &value) &&
	    json_object_is_type(value, json_type_object) &&
	    json_object_object_get_ex(value, "rank", &value) &&
	    json_object_is_type(value, json_type_int))
		reader->gpu->rank = json_object_get_int64(value);
}

/* True if a piece may be useful, without parsing it. */
static bool is_of_use(const struct scan *scan)
{
	static const char *const events[] = { "ernel\"", "emcpy\"", "emset\"", "gpu_", NULL };
	static const char *const members[] = { "\"baseTimeNanoseconds\"", "\"distributedInfo\"",
					       NULL };

	for (const char *const *word = scan->in_events ? events : members; *word; word++)
		if (memmem(scan->piece, scan->length, *word, strlen(*word)))
			return true;
	return false;
}

static int end_piece(struct gpu_reader *reader)
{
	struct scan *scan = &reader->scan;
	struct json_object *object = NULL;
	int status = 0;

	if (!scan->too_long && is_of_use(scan)) {
		json_tokener_reset(reader->tokener);
		if (!scan->in_events)
			json_tokener_parse_ex(reader->tokener, "{", 1);
		object = json_tokener_parse_ex(reader->tokener, scan->piece, scan->length);
		if (!scan->in_events)
			object = json_tokener_parse_ex(reader->tokener, "}", 1);
		if (!object || !json_object_is_type(object, json_type_object))
			status = complain(reader, "is not valid JSON");
		else if (scan->in_events)
			status = take_event(reader, object);
		else
			take_member(reader, object);
		json_object_put(object);
	}
	scan->length = 0;
	scan->too_long = false;
	return status;
}

/* --- bytes --- */

/* True if the piece so far is only the key of the event list. */
static bool at_events(const struct scan *scan)
{
	static const char key[] = "\"traceEvents\":";
	size_t at = 0;

	for (size_t i = 0; i < scan->length; i++) {
		char c = scan->piece[i];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			continue;
		if (at >= sizeof(key) - 1 || c != key[at++])
			return false;
	}
	return at == sizeof(key) - 1;
}

static void keep(struct scan *scan, char c)
{
	if (scan->length == PIECE_BYTES)
		scan->too_long = true;
	else
		scan->piece[scan->length++] = c;
}

static int open_bracket(struct gpu_reader *reader, char c)
{
	struct scan *scan = &reader->scan;
	bool events = c == '[' && scan->depth == 1 && !scan->in_events && at_events(scan);

	if (!scan->depth && scan->started)
		return complain(reader, "is not valid JSON");
	scan->depth++;
	if (scan->depth == 1) {
		/* The older form is only the list. */
		scan->started = true;
		scan->floor = 1;
		scan->in_events = c == '[';
	} else if (events) {
		scan->floor = 2;
		scan->in_events = true;
		scan->length = 0;
	} else {
		keep(scan, c);
	}
	return 0;
}

static int close_bracket(struct gpu_reader *reader, char c)
{
	struct scan *scan = &reader->scan;
	int status;

	if (!scan->depth)
		return complain(reader, "is not valid JSON");
	if (scan->depth-- != scan->floor) {
		keep(scan, c);
		return 0;
	}
	status = end_piece(reader);
	scan->floor = 1;
	scan->in_events = false;
	return status;
}

static int take_byte(struct gpu_reader *reader, char c)
{
	struct scan *scan = &reader->scan;

	if (scan->in_string) {
		scan->in_string = c != '"' || scan->escaped;
		scan->escaped = c == '\\' && !scan->escaped;
		keep(scan, c);
		return 0;
	}
	if (c == '{' || c == '[')
		return open_bracket(reader, c);
	if (c == '}' || c == ']')
		return close_bracket(reader, c);
	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return 0;
	if (!scan->depth)
		return complain(reader, "is not a trace of PyTorch's profiler: not a JSON object");
	if (c == ',' && scan->depth == scan->floor)
		return end_piece(reader);
	scan->in_string = c == '"';
	keep(scan, c);
	return 0;
}

static int read_all(struct gpu_reader *reader, gzFile file)
{
	char *bytes = malloc(READ_BYTES);
	int status = bytes ? 0 : -ENOMEM, count = 0, failure;

	while (!status && (count = gzread(file, bytes, READ_BYTES)) > 0)
		for (int i = 0; i < count && !status; i++)
			status = take_byte(reader, bytes[i]);
	free(bytes);
	if (status)
		return status;
	gzerror(file, &failure);
	if (failure == Z_ERRNO) {
		status = -errno;
		complain(reader, strerror(errno));
		return status;
	}
	if (failure == Z_MEM_ERROR)
		return -ENOMEM;
	if (failure == Z_BUF_ERROR || (!failure && reader->scan.started && reader->scan.depth))
		return complain(reader, "is cut short: the profiler did not finish writing it, or "
					"a copy is not whole");
	if (failure || count < 0)
		return complain(reader, "is damaged: it cannot be decompressed");
	if (!reader->scan.started)
		return complain(reader, "is empty");
	return 0;
}

static int finish(struct gpu_reader *reader)
{
	struct gpu *gpu = reader->gpu;

	merge(gpu);
	if (!gpu->count)
		return complain(reader, "has no GPU activity: no events of category kernel");
	/* Without a base, times already count from 1970. */
	if (gpu->intervals[gpu->count - 1].end_ns > UINT64_MAX - reader->base_ns)
		return complain(reader, "has impossible times");
	for (size_t i = 0; i < gpu->count; i++) {
		gpu->intervals[i].start_ns += reader->base_ns;
		gpu->intervals[i].end_ns += reader->base_ns;
	}
	return 0;
}

int gpu_read(struct gpu *gpu, const char *path, struct trace_error *error)
{
	struct gpu_reader reader = { .gpu = gpu, .error = error };
	gzFile file;
	int status;

	*gpu = (struct gpu) { .name = path, .rank = -1 };
	error->text[0] = '\0';
	file = gzopen(path, "rbe");
	if (!file) {
		status = errno ? -errno : -ENOMEM;
		complain(&reader, strerror(-status));
		return status;
	}
	reader.scan.piece = malloc(PIECE_BYTES);
	reader.tokener = json_tokener_new();
	status = reader.scan.piece && reader.tokener ? read_all(&reader, file) : -ENOMEM;
	if (!status)
		status = finish(&reader);
	if (status == -ENOMEM)
		complain(&reader, "out of memory");
	if (reader.tokener)
		json_tokener_free(reader.tokener);
	free(reader.scan.piece);
	gzclose(file);
	if (status)
		gpu_free(gpu);
	return status;
}

void gpu_free(struct gpu *gpu)
{
	free(gpu->intervals);
	*gpu = (struct gpu) { 0 };
}
