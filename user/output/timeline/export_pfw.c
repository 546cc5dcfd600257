/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a timeline in DFTracer's format (.pfw, with gzip .pfw.gz), for DFAnalyzer and
 * dftracer-utils of 1.x and 2.x: one JSON object per line, without enclosing brackets or separating
 * commas.
 *
 *   X  calls (cat POSIX, by DFTracer's names), io_uring and libaio operations (ASYNC), VFS
 *      operations (VFS), page faults (MMAP_FAULT, which readers do not count as reads); waits of
 *      threads (WAIT); spans with the program's name and category; "start" (dftracer) for each
 *      process
 *   M  HH, FH, SH: meanings of the hashes of hosts, files and command lines, before their first
 *      use; PR: rank and program of a process
 *
 * Times are whole us since 1970, rounded. The format has no tracks: processes keep their pids.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collections/map.h"
#include "output/base/args.h"
#include "output/base/json.h"
#include "output/timeline/timeline.h"

struct pfw {
	struct map reported; /* hashes already announced */
	uint64_t *hosts;     /* by trace: hash of the host; 0: not announced */
};

/* The names of arguments that readers know. */
static const char *const arg_names[TIMELINE_ARG_COUNT] = {
	[TIMELINE_BYTES] = "ret",
	[TIMELINE_OFFSET] = "offset",
	[TIMELINE_ERROR] = "errno",
	[TIMELINE_FETCHED] = "fetched_bytes",
	[TIMELINE_CALL] = "call",
	[TIMELINE_OBJECT] = "object",
	[TIMELINE_WAKER_PID] = "waker_pid",
	[TIMELINE_WAKER_TID] = "waker_tid",
	[TIMELINE_OWNER_PID] = "owner_pid",
	[TIMELINE_OWNER_TID] = "owner_tid",
	[TIMELINE_AT] = "at",
};

/* --- names --- */

/* DFTracer's name for the C library function that makes the call, where names differ. */
static const struct {
	const char *op, *name;
} renamed[] = {
	{ "open", "open64" },	    { "openat", "open64" },	 { "openat2", "open64" },
	{ "creat", "creat64" },	    { "pread64", "pread" },	 { "pwrite64", "pwrite" },
	{ "preadv2", "preadv" },    { "pwritev2", "pwritev" },	 { "lseek", "lseek64" },
	{ "newfstatat", "stat" },   { "statx", "stat" },	 { "newlstat", "lstat" },
	{ "newstat", "stat" },	    { "newfstat", "fstat" },	 { "mmap", "mmap64" },
	{ "getdents", "readdir" },  { "getdents64", "readdir" }, { "faccessat", "access" },
	{ "faccessat2", "access" }, { "mkdirat", "mkdir" },	 { "unlinkat", "unlink" },
	{ "renameat", "rename" },   { "renameat2", "rename" },	 { "readlinkat", "readlink" },
	{ "linkat", "link" },	    { "symlinkat", "symlink" },	 { "fchmodat", "chmod" },
	{ "fchownat", "chown" },
};

static struct trace_string call_name(const struct timeline_item *item)
{
	const char *name = item->name.text.bytes;
	bool paths = item->kind == TRACE_SYSCALL_PATH || item->kind == TRACE_ASYNC;

	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (!strcmp(renamed[i].op, name)) {
			name = renamed[i].name;
			break;
		}
	/* Current C libraries implement fstat with a call that names no path. */
	if (!strcmp(name, "stat") && (!paths || !event_value(item->event, SYSCALL_PATH_PATH)))
		name = "fstat";
	return timeline_literal(name);
}

/* --- lines --- */

struct line {
	struct trace_string name, category;
	uint64_t pid, tid, host;
};

static void open_line(struct sink *out, const struct line *line, char phase)
{
	sink_text(out, "{\"name\":");
	json_text(out, line->name.bytes, line->name.length);
	sink_text(out, ",\"cat\":");
	json_text(out, line->category.bytes, line->category.length);
	sink_text(out, ",\"pid\":");
	sink_uint(out, line->pid);
	sink_text(out, ",\"tid\":");
	sink_uint(out, line->tid);
	sink_text(out, ",\"ph\":\"");
	sink_char(out, phase);
	sink_char(out, '"');
}

static void write_hash(struct sink *out, const char *before, uint64_t hash)
{
	sink_text(out, before);
	sink_format(out, "\"%016" PRIx64 "\"", hash);
}

static uint64_t rounded_us(uint64_t ns)
{
	return ns / 1000 + (ns % 1000 >= 500);
}

/* Writes an event up to its arguments, of which the host is the first. */
static void open_event(struct sink *out, const struct line *line, uint64_t start_ns,
		       uint64_t duration_ns)
{
	open_line(out, line, 'X');
	sink_text(out, ",\"ts\":");
	sink_uint(out, rounded_us(start_ns));
	sink_text(out, ",\"dur\":");
	sink_uint(out, rounded_us(duration_ns));
	write_hash(out, ",\"args\":{\"hhash\":", line->host);
}

static void write_meta(struct sink *out, const struct line *of, const char *kind,
		       struct trace_string name, struct trace_string value)
{
	struct line line = *of;

	line.name = timeline_literal(kind);
	line.category = timeline_literal("dftracer");
	open_line(out, &line, 'M');
	write_hash(out, ",\"args\":{\"hhash\":", line.host);
	sink_text(out, ",\"name\":");
	json_text(out, name.bytes, name.length);
	sink_text(out, ",\"value\":");
	json_text(out, value.bytes, value.length);
	sink_text(out, "}}\n");
}

/* --- hashes --- */

/* FNV-1a with a final mix. Never 0. Equal names hash equally everywhere. */
static uint64_t hash_of(struct trace_string text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < text.length; i++)
		hash = (hash ^ (unsigned char)text.bytes[i]) * 0x100000001b3;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

/* Returns the hash of a name, and writes its meaning once per host; kinds do not share hashes. */
static uint64_t find_hash(struct timeline *timeline, const struct line *of, const char *kind,
			  struct trace_string name)
{
	struct pfw *pfw = timeline->state;
	uint64_t hash = hash_of(name);
	const uint64_t key[] = { hash, (uint64_t)kind[0] << 32 | of->host >> 32 };
	char digits[17];
	bool added = false;

	if (!map_add(&pfw->reported, key, &added))
		timeline_fail(timeline, -ENOMEM);
	snprintf(digits, sizeof(digits), "%016" PRIx64, hash);
	if (added)
		write_meta(timeline->out, of, kind, name, timeline_literal(digits));
	return hash;
}

static void set_host(struct timeline *timeline, struct line *line, uint32_t trace)
{
	struct pfw *pfw = timeline->state;
	struct trace_string host = timeline_literal(timeline->job.traces[trace].header->host);

	if (!pfw->hosts[trace]) {
		line->host = pfw->hosts[trace] = hash_of(host);
		find_hash(timeline, line, "HH", host);
	}
	line->host = pfw->hosts[trace];
}

/* --- processes --- */

/* Joins arguments with spaces. */
static void join_command(struct sink *joined, struct trace_string command)
{
	for (size_t i = 0; i < command.length; i++)
		if (command.bytes[i] || i + 1 < command.length)
			sink_char(joined, command.bytes[i] ? command.bytes[i] : ' ');
}

/* Writes the metadata of a process before its first line. */
static void write_track(struct timeline *timeline, const struct timeline_track *track)
{
	const struct process *process = &timeline->job.processes.processes[track->process];
	const struct trace_reader *reader = timeline->job.traces[process->trace].reader;
	struct line line = { .pid = process->pid, .tid = process->pid };
	struct trace_string comm = trace_reader_string(reader, process->comm);
	uint64_t comm_hash = 0, command_hash = 0;
	struct sink joined, *out = timeline->out;
	char rank[24];

	if (track->kind != TIMELINE_PROCESS || track->process == PROCESS_UNKNOWN)
		return;
	set_host(timeline, &line, process->trace);
	sink_open_memory(&joined);
	join_command(&joined, trace_reader_string(reader, process->command));
	timeline_fail(timeline, joined.error);
	if (joined.used)
		command_hash = find_hash(timeline, &line, "SH",
					 (struct trace_string) { joined.buffer, joined.used });
	sink_close(&joined);
	if (comm.length)
		comm_hash = find_hash(timeline, &line, "SH", comm);
	if (process->rank >= 0) {
		snprintf(rank, sizeof(rank), "%" PRId64, process->rank);
		write_meta(out, &line, "PR", timeline_literal("rank"), timeline_literal(rank));
	}
	if (comm.length)
		write_meta(out, &line, "PR", timeline_literal("comm"), comm);
	line.name = timeline_literal("start");
	line.category = timeline_literal("dftracer");
	open_event(out, &line, process->start_ns, 0);
	sink_format(out, ",\"ppid\":%" PRIu32, process->ppid);
	if (comm_hash)
		write_hash(out, ",\"exec_hash\":", comm_hash);
	if (command_hash)
		write_hash(out, ",\"cmd_hash\":", command_hash);
	sink_text(out, "}}\n");
}

/* --- slices --- */

/* Of rows; spans have their own. */
static const char *const categories[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = "POSIX", [TRACE_SYSCALL_PATH] = "POSIX", [TRACE_ASYNC] = "ASYNC",
	[TRACE_VFS] = "VFS",	   [TRACE_FAULT] = "MMAP_FAULT",   [TRACE_WAIT] = "WAIT",
};

static void write_slice(struct timeline *timeline, struct sink *out,
			const struct timeline_item *item)
{
	/* Readers expect these members on calls only. */
	static const char *const taken[] = { "hhash", "fhash", "ret", "offset", "size_sum", NULL };
	bool any = true, call = item->kind != TRACE_SPAN_BEGIN && item->kind != TRACE_FAULT &&
				item->kind != TRACE_WAIT;
	struct line line = {
		.name = call ? call_name(item) : item->name.text,
		.category = categories[item->kind] ? timeline_literal(categories[item->kind])
						   : item->category.text,
		.pid = timeline->job.processes.processes[item->process].pid,
		.tid = item->tid,
	};
	const struct timeline_arg *file = timeline_find_arg(item, TIMELINE_FILE);
	struct trace_string path = { 0 };
	uint64_t hash = 0;

	set_host(timeline, &line, item->trace);
	if (file)
		path = timeline_text(timeline, file);
	if (path.length)
		hash = find_hash(timeline, &line, "FH", path);
	open_event(out, &line, timeline->base_ns + item->start_ns, item->end_ns - item->start_ns);
	if (hash)
		write_hash(out, ",\"fhash\":", hash);
	for (const struct timeline_arg *arg = item->args; arg < item->args + item->arg_count;
	     arg++) {
		if (arg->type == TIMELINE_MSGPACK)
			args_json_members(out, arg->text, taken, &any);
		if (!arg_names[arg->id])
			continue;
		sink_text(out, ",\"");
		sink_text(out, arg_names[arg->id]);
		sink_text(out, "\":");
		if (arg->type == TIMELINE_TEXT)
			json_text(out, arg->text.bytes, arg->text.length);
		else
			sink_uint(out, arg->value);
	}
	if (item->kind == TRACE_FAULT)
		sink_text(out, event_value(item->event, FAULT_FLAGS) & TRACE_FAULT_MAJOR
				       ? ",\"major\":1"
				       : ",\"major\":0");
	sink_text(out, "}}\n");
}

static int begin_lines(struct timeline *timeline)
{
	struct pfw *pfw = timeline->state;

	map_init(&pfw->reported, 2, 1);
	pfw->hosts = calloc(timeline->job.trace_count, sizeof(*pfw->hosts));
	return pfw->hosts ? 0 : -ENOMEM;
}

static void close_lines(struct timeline *timeline)
{
	struct pfw *pfw = timeline->state;

	map_free(&pfw->reported);
	free(pfw->hosts);
}

static const struct timeline_encoder pfw = {
	.kinds = 1ull << TRACE_SYSCALL | 1ull << TRACE_SYSCALL_PATH | 1ull << TRACE_ASYNC |
		 1ull << TRACE_FAULT | 1ull << TRACE_VFS | 1ull << TRACE_WAIT |
		 1ull << TRACE_SAMPLE,
	.all_processes = true,
	.state_bytes = sizeof(struct pfw),
	.begin = begin_lines,
	.track = write_track,
	.slice = write_slice,
	.close = close_lines,
};

const struct export_format export_pfw = {
	.name = "pfw",
	.stream = timeline_export,
	.timeline = &pfw,
	.about =
		"One JSON object per line, in DFTracer's format; compressed if FILE ends in .gz.\n"
		"ts and dur are whole us, ts since 1970; hashes are 16 hexadecimal digits.\n\n"
		"  ph X  name, cat, pid, tid, ts, dur, args {hhash}:\n"
		"        cat POSIX       system calls, by DFTracer's names (open64, pread,\n"
		"                        fstat): fhash, ret (bytes moved, unless the call\n"
		"                        failed), offset, errno, fetched_bytes (from storage)\n"
		"        cat ASYNC, VFS  io_uring and libaio operations, VFS operations: the same\n"
		"        cat MMAP_FAULT  page faults: fhash, offset, fetched_bytes, major\n"
		"        cat WAIT        waits of threads, by their states: call, object, "
		"waker_pid,\n"
		"                        waker_tid, owner_pid, owner_tid\n"
		"        at              of any of these with a sample: the line, \"FILE:LINE in\n"
		"                        FUNCTION\"\n"
		"        cat dftracer    \"start\", one per process: ppid, exec_hash, cmd_hash\n"
		"        others          spans, with the program's name, category and arguments\n"
		"  ph M  HH, FH, SH: args {name, value}: host, file or text of a hash\n"
		"        PR: args {name, value}: rank and comm of a process\n",
};
