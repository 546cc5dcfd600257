/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the Python stacks of blocked threads, in a child process. */
#include "capture/python/live.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/records/event.h"
#include "capture/host/helper.h"
#include "capture/host/privileges.h"
#include "trace/format/flags.h"

#define RECORDS_BYTES (32u << 20)
#define THREADS_MAX 4096      /* of a process; new ones come first */
#define CODES_KNOWN (1 << 14) /* a power of two */

/* The question and the results, in memory that the tracer and the child share. */
struct shared {
	struct live_thread threads[LIVE_THREADS_MAX];
	uint32_t count, generation;
	_Atomic uint32_t used; /* bytes of records, each of which begins with its header */
	_Alignas(65536) uint8_t records[RECORDS_BYTES]; /* whole pages */
};

struct python_live {
	struct shared *shared;
	int files, processes; /* maps */
	int socket;	      /* to the child */
	pid_t pid;
	int status; /* of the last question, see request_answer; a late answer makes it 0 */
};

struct walker {
	struct shared *shared;
	const struct live_thread *thread;
	struct python_layout layout;
	uint64_t runtime;
	uint32_t generation;
	uint64_t known[CODES_KNOWN]; /* code objects that have a record, by hash */
};

/* --- memory of the process --- */

static bool read_at(const struct walker *walker, uint64_t address, void *to, size_t bytes)
{
	const struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)address, bytes };

	return process_vm_readv(walker->thread->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static bool read_word(const struct walker *walker, uint64_t address, uint64_t *word)
{
	return read_at(walker, address, word, sizeof(*word));
}

static uint64_t word_at(const uint8_t *bytes, uint16_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Whether the thread has not been on a CPU since the kernel side saw it. */
static bool is_still_blocked(const struct live_thread *thread)
{
	unsigned long long runs;
	char path[64], text[128];
	ssize_t length;
	int fd, got;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/schedstat", thread->pid, thread->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = 0;
	got = sscanf(text, "%*u %*u %llu", &runs);
	return got == 1 && thread->runs != SAMPLE_RUNS_UNKNOWN && (uint32_t)runs == thread->runs;
}

/* --- records --- */

/* Returns room for a record at the end of the others, or NULL. */
static void *record_begin(const struct walker *walker, size_t bytes)
{
	const uint32_t used = atomic_load(&walker->shared->used);

	return bytes <= RECORDS_BYTES - used ? walker->shared->records + used : NULL;
}

static void record_end(const struct walker *walker, struct event_header *header, uint16_t kind,
		       size_t bytes)
{
	header->kind = kind;
	header->size = bytes;
	header->pid = walker->thread->pid;
	header->tid = walker->thread->tid;
	atomic_fetch_add(&walker->shared->used, (bytes + 7) & ~(size_t)7);
}

/* --- code objects --- */

/* Copies the characters of a string as they are, `*width` bytes each (0: ASCII). Returns how many
 * bytes; negative: unreadable. */
static int read_text(const struct walker *walker, uint64_t string, void *to, size_t max,
		     uint8_t *width)
{
	const struct python_layout *layout = &walker->layout;
	struct {
		uint64_t length, hash;
		uint32_t state;
	} head;
	uint64_t bytes;

	if (!read_at(walker, string + layout->object_bytes, &head, sizeof(head)))
		return -1;
	*width = PYTHON_TEXT_IS_ASCII(layout, head.state) ? 0
							  : PYTHON_TEXT_WIDTH(layout, head.state);
	bytes = head.length > max ? max : head.length;
	bytes *= *width ? *width : 1;
	if (bytes > max)
		bytes = max;
	string += *width ? layout->text_other : layout->text_ascii;
	return read_at(walker, string, to, bytes) ? (int)bytes : -1;
}

/* Names a code object for the records: no address that the kernel side uses, and unique among
 * processes. */
static struct python_frame name_code(const struct walker *walker, uint64_t code)
{
	return (struct python_frame) { .code = code | 1ull << 63, .check = walker->thread->pid };
}

/* Returns whether a record has the code object already; it is noted. */
static bool is_known(struct walker *walker, uint64_t code)
{
	const uint64_t mark = code ^ (uint64_t)walker->thread->pid << 48;
	uint64_t *known = &walker->known[mark * 0x9e3779b97f4a7c15ull >> 50 & (CODES_KNOWN - 1)];

	if (*known == mark)
		return true;
	*known = mark;
	return false;
}

static bool describe_code(struct walker *walker, uint64_t code)
{
	const struct python_layout *layout = &walker->layout;
	const struct python_frame name = name_code(walker, code);
	struct event_frame *event;
	uint8_t object[PYTHON_CODE_BYTES];
	uint64_t table, bytes;
	int path, function;

	if (is_known(walker, code))
		return true;
	event = record_begin(walker, sizeof(*event) + EVENT_FRAME_TABLE_BYTES);
	if (!event || !read_at(walker, code, object, sizeof(object)))
		return false;
	path = read_text(walker, word_at(object, layout->code_path), event->path,
			 sizeof(event->path), &event->path_width);
	function = read_text(walker, word_at(object, layout->code_function), event->function,
			     sizeof(event->function), &event->function_width);
	table = word_at(object, layout->code_table);
	if (path < 0 || function < 0 || !read_word(walker, table + layout->object_bytes, &bytes))
		return false;
	if (bytes > EVENT_FRAME_TABLE_BYTES)
		bytes = EVENT_FRAME_TABLE_BYTES;
	if (!read_at(walker, table + PYTHON_BYTES_CONTENT(layout), event->table, bytes))
		return false;
	event->code = name.code;
	event->check = name.check;
	event->generation = walker->generation;
	event->first_line = word_at(object, layout->code_line);
	event->table_bytes = bytes;
	event->version = layout->version;
	event->path_bytes = path;
	event->function_bytes = function;
	record_end(walker, &event->header, RECORD_FRAME, sizeof(*event) + bytes);
	return true;
}

/* --- frames --- */

static bool read_frame_of(const struct walker *walker, uint64_t state, uint64_t *frame)
{
	const struct python_layout *layout = &walker->layout;

	return read_word(walker, state + layout->thread_frame, frame) &&
	       (layout->cframe_frame == PYTHON_NOWHERE ||
		read_word(walker, *frame + layout->cframe_frame, frame));
}

/* Finds the innermost frame of the thread: see python_find_thread. Returns TRACE_SAMPLE_*. */
static uint32_t find_frame(const struct walker *walker, uint64_t *frame)
{
	const struct python_layout *layout = &walker->layout;
	const bool by_pointer = layout->flags & PYTHON_BY_THREAD_POINTER;
	const uint64_t wanted =
		by_pointer ? walker->thread->thread_pointer : walker->thread->tid_inside;
	uint64_t interpreter, state = 0, number;
	uint32_t flags = TRACE_SAMPLE_NO_THREAD;

	if (!wanted)
		return flags;
	if (!read_word(walker, walker->runtime + layout->runtime_interpreters, &interpreter))
		return TRACE_SAMPLE_UNREAD;
	if (interpreter && !read_word(walker, interpreter + layout->interpreter_threads, &state))
		return TRACE_SAMPLE_UNREAD;
	for (unsigned int i = 0; interpreter && i < THREADS_MAX; i++) {
		if (!state) {
			if (!read_word(walker, interpreter + layout->interpreter_next,
				       &interpreter) ||
			    (interpreter &&
			     !read_word(walker, interpreter + layout->interpreter_threads, &state)))
				return TRACE_SAMPLE_UNREAD;
			continue;
		}
		if (!read_word(walker, state + layout->thread_id, &number))
			return TRACE_SAMPLE_UNREAD;
		if (number == wanted) {
			if (!read_frame_of(walker, state, frame))
				return TRACE_SAMPLE_UNREAD;
			if (*frame)
				return 0;
			flags = TRACE_SAMPLE_NO_FRAME;
		}
		if (!read_word(walker, state + layout->thread_next, &state))
			return TRACE_SAMPLE_UNREAD;
	}
	return interpreter && flags == TRACE_SAMPLE_NO_THREAD ? TRACE_SAMPLE_MANY_THREADS : flags;
}

static bool is_of_python(const struct python_layout *layout, const uint8_t *frame)
{
	return layout->frame_owner == PYTHON_NOWHERE ||
	       frame[layout->frame_owner] < layout->frame_owner_c;
}

/* Finds where the instructions of a frame are. */
static bool find_code_start(const struct walker *walker, const uint8_t *frame, uint64_t code,
			    uint64_t *start)
{
	const struct python_layout *layout = &walker->layout;
	uint32_t copy = 0;
	uint64_t copies;

	*start = code + layout->code_start;
	if (layout->frame_copy != PYTHON_NOWHERE)
		memcpy(&copy, frame + layout->frame_copy, sizeof(copy));
	return !copy || (read_word(walker, code + layout->code_copies, &copies) &&
			 read_word(walker, copies + sizeof(uint64_t) * (1ull + copy), start));
}

static bool take_frame(const struct walker *walker, const uint8_t *frame, uint64_t *code,
		       int32_t *instruction)
{
	const struct python_layout *layout = &walker->layout;
	uint64_t at = word_at(frame, layout->frame_instruction), start;

	*code = word_at(frame, layout->frame_code) & ~PYTHON_CODE_TAGS;
	if (!(layout->flags & PYTHON_FRAME_HAS_INDEX)) {
		if (!find_code_start(walker, frame, *code, &start))
			return false;
		at -= start;
	} else if (layout->version == 0x30a) { /* in units of two bytes */
		at = (int32_t)at * 2;
	}
	*instruction = at;
	return true;
}

/* Reads the frames of a thread, each with its code object. Returns TRACE_SAMPLE_*. */
static uint32_t read_frames(struct walker *walker, struct python_frame *frames, uint32_t *count)
{
	const size_t bytes = walker->layout.flags & PYTHON_FRAME_HAS_INDEX ? PYTHON_FRAME_BYTES
									   : PYTHON_FRAME_BYTES_NEW;
	uint8_t content[PYTHON_FRAME_BYTES + sizeof(uint64_t)] = { 0 };
	uint64_t frame = 0, code;
	int32_t instruction;
	uint32_t flags = find_frame(walker, &frame);

	*count = 0;
	/* Twice as many: frames of C are passed over. */
	for (int i = 0; !flags && frame && i < 2 * PYTHON_FRAMES_MAX; i++) {
		if (*count == PYTHON_FRAMES_MAX)
			return TRACE_SAMPLE_CUT;
		if (!read_at(walker, frame, content, bytes))
			return *count ? TRACE_SAMPLE_CUT : TRACE_SAMPLE_UNREAD;
		if (is_of_python(&walker->layout, content)) {
			if (!take_frame(walker, content, &code, &instruction) ||
			    !describe_code(walker, code))
				return *count ? TRACE_SAMPLE_CUT : TRACE_SAMPLE_UNREAD;
			frames[*count] = name_code(walker, code);
			frames[(*count)++].instruction = instruction;
		}
		frame = word_at(content, walker->layout.frame_caller);
	}
	return flags;
}

static uint32_t read_stack(struct walker *walker)
{
	struct python_frame frames[PYTHON_FRAMES_MAX];
	struct event_stack *event;
	uint32_t count, flags;
	size_t bytes;

	if (!is_still_blocked(walker->thread))
		return TRACE_SAMPLE_UNREAD;
	flags = read_frames(walker, frames, &count);
	if (!count)
		return flags ? flags : TRACE_SAMPLE_NO_FRAME;
	bytes = sizeof(*event) + count * sizeof(*frames);
	event = record_begin(walker, bytes);
	if (!event)
		return TRACE_SAMPLE_LOST;
	if (!is_still_blocked(walker->thread))
		return TRACE_SAMPLE_UNREAD;
	event->id = walker->thread->stack;
	event->generation = walker->generation;
	event->count = count;
	event->pad = 0;
	event->entries[0] = event->entries[1] = 0;
	memcpy(event->frames, frames, count * sizeof(*frames));
	record_end(walker, &event->header, RECORD_STACK, bytes);
	return flags;
}

/* --- the child --- */

/* Gets the layout of a process's interpreter: see python_layout_here. */
static bool find_layout(const struct python_live *live, uint32_t pid, struct walker *walker)
{
	struct python_process process;

	if (bpf_map_lookup_elem(live->processes, &pid, &process))
		return false;
	walker->runtime = process.program.address;
	if (bpf_map_lookup_elem(live->files, &process.program.file, &walker->layout) ||
	    !walker->layout.version) {
		walker->runtime = process.library.address;
		if (bpf_map_lookup_elem(live->files, &process.library.file, &walker->layout) ||
		    !walker->layout.version)
			return false;
	}
	walker->runtime += walker->layout.runtime;
	return true;
}

static void read_all(const struct python_live *live, struct walker *walker)
{
	struct shared *shared = live->shared;

	walker->generation = shared->generation;
	memset(walker->known, 0, sizeof(walker->known));
	for (uint32_t i = 0; i < shared->count; i++) {
		struct live_thread *thread = &shared->threads[i];

		walker->thread = thread;
		thread->flags = find_layout(live, thread->pid, walker) ? read_stack(walker)
								       : TRACE_SAMPLE_NO_PYTHON;
	}
}

/* Waits for requests, until the tracer ends. */
static void __attribute__((noreturn)) run_child(struct python_live *live, int socket)
{
	const int kept[] = { socket, live->files, live->processes };
	struct walker *walker = calloc(1, sizeof(*walker));
	char byte;

	prctl(PR_SET_NAME, "faultline-stack");
	helper_keep_descriptors(kept, sizeof(kept) / sizeof(kept[0]));
	privileges_keep_reading();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* only now: a change of user clears it */
	while (walker && read(socket, &byte, 1) == 1) {
		walker->shared = live->shared;
		read_all(live, walker);
		if (write(socket, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

/* --- the tracer's side --- */

struct python_live *python_live_start(int files, int processes)
{
	struct python_live *live = calloc(1, sizeof(*live));
	int ends[2] = { -1, -1 };

	if (!live)
		return NULL;
	live->files = files;
	live->processes = processes;
	live->socket = -1;
	live->shared = mmap(NULL, sizeof(*live->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (live->shared == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		python_live_close(live);
		return NULL;
	}
	live->pid = helper_fork();
	if (!live->pid)
		run_child(live, ends[1]);
	close(ends[1]);
	live->socket = ends[0];
	if (live->pid > 0)
		return live;
	python_live_close(live);
	return NULL;
}

/* Waits for the child's answer. Returns 0, -ETIMEDOUT, or -EPIPE if the child has ended. */
static int request_answer(const struct python_live *live, int within_ms)
{
	struct pollfd answer = { .fd = live->socket, .events = POLLIN };
	char byte = 0;

	if (send(live->socket, &byte, 1, MSG_NOSIGNAL) != 1)
		return -EPIPE;
	if (poll(&answer, 1, within_ms) <= 0)
		return -ETIMEDOUT;
	return read(live->socket, &byte, 1) == 1 ? 0 : -EPIPE;
}

static void pass_on(const struct shared *shared, live_record_fn take, void *context)
{
	const uint32_t used = atomic_load(&shared->used);

	for (uint32_t at = 0; at < used;) {
		const struct event_header *header = (const void *)(shared->records + at);

		take(context, header, header->size);
		at += (header->size + 7) & ~7u;
	}
}

/* Gives back their memory. */
static void forget_records(struct shared *shared)
{
	atomic_store(&shared->used, 0);
	madvise(shared->records, RECORDS_BYTES, MADV_REMOVE);
}

/* Returns 0 if the child takes questions; it may have answered the last one too late. */
static int make_ready(struct python_live *live)
{
	struct pollfd late = { .fd = live->socket, .events = POLLIN };
	char byte;

	if (live->status && poll(&late, 1, 0) > 0 && read(live->socket, &byte, 1) == 1) {
		forget_records(live->shared);
		live->status = 0;
	}
	return live->status;
}

int python_live_read(struct python_live *live, int within_ms, uint32_t generation,
		     struct live_thread *threads, uint32_t count, live_record_fn take,
		     void *context)
{
	for (uint32_t i = 0; i < count; i++)
		threads[i].flags |= TRACE_SAMPLE_UNREAD;
	if (!live || !count)
		return 0;
	if (make_ready(live))
		return -EAGAIN;
	if (count > LIVE_THREADS_MAX)
		count = LIVE_THREADS_MAX;
	memcpy(live->shared->threads, threads, count * sizeof(*threads));
	live->shared->generation = generation;
	live->shared->count = count;
	live->status = request_answer(live, within_ms);
	memcpy(threads, live->shared->threads, count * sizeof(*threads));
	pass_on(live->shared, take, context);
	if (!live->status)
		forget_records(live->shared);
	return live->status;
}

/* A child that hangs in the kernel is left to init. */
void python_live_close(struct python_live *live)
{
	if (!live)
		return;
	if (live->socket >= 0)
		close(live->socket);
	if (live->pid > 0 && !waitpid(live->pid, NULL, WNOHANG | __WALL))
		kill(live->pid, SIGKILL);
	if (live->shared != MAP_FAILED)
		munmap(live->shared, sizeof(*live->shared));
	free(live);
}
