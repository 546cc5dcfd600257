/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of hand-made traces by column name, for tests of readers: BEGIN, rows in any order,
 * made_finish (see made_trace.h), made_close. Include after cmocka.h.
 */
#pragma once

#include "made_trace.h"
#include "trace/format/thread_states.h"

struct made_call {
	uint64_t time, dur, pid, tid, op, file;
	int64_t offset;
	uint64_t asked;
	int64_t result;
	uint64_t flags, fetched, created, fault_fetched, major, read_for_write, open_file;
	/* Any of these makes it a call that names a path. */
	uint64_t file2, dir;
	const char *path, *path2;
	unsigned int lane;
};

struct made_vfs {
	uint64_t time, dur, pid, tid, op, file, offset, asked;
	int64_t result;
	uint64_t flags;
};

struct made_fault {
	uint64_t time, dur, pid, tid, file, offset, flags, fetched, dirtied;
	unsigned int lane;
};

struct made_throttle {
	uint64_t time, pause, pid, tid, file;
};

struct made_wait {
	uint64_t time, dur, pid, tid, object, waker_pid, waker_tid, owner_pid, owner_tid, flags;
	const char *state, *call;
};

struct made_thread_time {
	uint64_t time, dur, pid, tid, io_wait, user, system, io;
	uint64_t states[THREAD_STATE_COUNT]; /* by enum thread_state; they add up to dur */
};

struct made_sample {
	uint64_t time, dur, pid, tid, file, fetched, stack, flags;
	uint64_t weight; /* 0: the duration */
	uint64_t op;	 /* without a state: what took the time; M_READ with one: none */
	const char *state;
};

/* An unattributed page-cache fill. */
struct made_fill {
	uint64_t time, pid, tid, file, offset, bytes;
};

/* A bio of a write request or of another; without a process it is the kernel's. */
struct made_bio {
	uint64_t time, dur, file, bytes, flags;
	int64_t offset;
	uint64_t pid, op, queue, request, dev, instance;
};

struct made_request {
	uint64_t time, dur, queue, pid, op, file, id, dev, part, sector, bytes, status;
	uint64_t bios; /* 0 means one */
	uint64_t instance, flags;
};

/* A request to the daemon of a FUSE mount; it moves all bytes if they are not given otherwise. */
struct made_remote {
	uint64_t time, dur, pid, op, file, node, dev, bytes, asked, server_pid, error, flags;
	uint64_t instance, retransmits;
	int64_t queue, rtt, offset; /* rtt: NFS only */
};

/* A device's totals. */
struct made_device {
	uint64_t time, dev, reads, read_bytes, writes, write_bytes, flushes, flush_ns;
	uint64_t kernel_metadata, unseen_reads, unseen_read_bytes, instance;
	const char *name;
};

struct made_file {
	uint64_t time, id, dev, ino, generation, size, flags, stripes, stripe_bytes;
	uint64_t mode; /* 0: a regular file's */
	uint64_t instance, readahead;
	const char *path, *filesystem;
};

struct made_exec {
	uint64_t time, pid, ppid, uid, flags;
	const char *comm, *command;
	size_t command_length; /* of a command that contains NULs; 0: up to the first NUL */
	int64_t rank;
};

struct made_exit {
	uint64_t time, pid, tid, thread_only, code, major, minor, stack, oom, oom_limit, peak_rss;
	const char *comm;
};

/* A time of 0 leaves out the begin or the end. */
struct made_span {
	uint64_t begin, end, pid, tid, id;
	const char *name, *category;
	const char *args; /* msgpack without zero bytes */
	unsigned int lane;
};

#define SPAN(made, ...) made_span(made, &(struct made_span) { __VA_ARGS__ })
#define CALL(made, ...) made_call(made, &(struct made_call) { __VA_ARGS__ })
#define FAULT(made, ...) made_fault(made, &(struct made_fault) { __VA_ARGS__ })
#define THROTTLE(made, ...) made_throttle(made, &(struct made_throttle) { __VA_ARGS__ })
#define WAIT(made, ...) made_wait(made, &(struct made_wait) { __VA_ARGS__ })
#define THREAD_TIME(made, ...) made_thread_time(made, &(struct made_thread_time) { __VA_ARGS__ })
#define SAMPLE(made, ...) made_sample(made, &(struct made_sample) { __VA_ARGS__ })
#define FILL(made, ...) made_fill(made, &(struct made_fill) { __VA_ARGS__ })
#define BIO(made, ...) made_bio(made, &(struct made_bio) { __VA_ARGS__ })
#define REQUEST(made, ...) made_request(made, &(struct made_request) { __VA_ARGS__ })
#define REMOTE(made, ...) made_remote(made, &(struct made_remote) { __VA_ARGS__ })
#define DEVICE(made, ...) made_device(made, &(struct made_device) { __VA_ARGS__ })
#define VFS(made, ...) made_vfs(made, &(struct made_vfs) { __VA_ARGS__ })
#define FILE_ROW(made, ...) made_file(made, &(struct made_file) { __VA_ARGS__ })
#define EXEC(made, ...) made_exec(made, &(struct made_exec) { __VA_ARGS__ })
#define EXIT(made, ...) made_exit(made, &(struct made_exit) { __VA_ARGS__ })

MADE void made_call(struct made_trace *made, const struct made_call *call)
{
	bool path = call->file2 || call->dir || call->path || call->path2;
	struct trace_operation_total *total = &made->operations[call->op];
	enum trace_family family = made_operations[call->op].family;
	uint64_t values[SYSCALL_PATH_COLUMNS] = {
		[SYSCALL_TIME] = call->time,
		[SYSCALL_DUR] = call->dur,
		[SYSCALL_PID] = call->pid,
		[SYSCALL_TID] = call->tid ? call->tid : call->pid,
		[SYSCALL_OP] = made_op(made, call->op),
		[SYSCALL_FILE] = call->file,
		[SYSCALL_OFFSET] = call->offset,
		[SYSCALL_ASKED] = call->asked,
		[SYSCALL_RESULT] = call->result,
		[SYSCALL_FLAGS] = call->flags,
		[SYSCALL_FETCHED] = call->fetched,
		[SYSCALL_CREATED] = call->created,
		[SYSCALL_READ_FOR_WRITE] = call->read_for_write,
		[SYSCALL_OPEN_FILE] = call->open_file,
		[SYSCALL_FAULT_FETCHED] = call->fault_fetched,
		[SYSCALL_MAJOR] = call->major,
		[SYSCALL_PATH_FILE2] = call->file2,
		[SYSCALL_PATH_DIR] = call->dir,
	};

	values[SYSCALL_PATH_PATH] = made_string(made, call->path);
	values[SYSCALL_PATH_PATH2] = made_string(made, call->path2);
	made_row(made,
		 call->op == M_URING_READ || call->op == M_URING_WRITE ? TRACE_ASYNC
		 : path						       ? TRACE_SYSCALL_PATH
								       : TRACE_SYSCALL,
		 call->lane ? call->lane : made->lane, values);
	total->count++;
	total->errors += call->result < 0 && !(call->flags & TRACE_OP_UNFINISHED);
	if (call->result > 0 &&
	    (family == TRACE_READ || family == TRACE_WRITE || family == TRACE_TRANSFER))
		total->bytes += call->result;
	total->thread_time_ns += call->dur;
	total->fetched_bytes += call->fetched;
	total->created_bytes += call->created;
	total->read_for_write_bytes += call->read_for_write;
}

MADE void made_fault(struct made_trace *made, const struct made_fault *fault)
{
	const uint64_t values[FAULT_COLUMNS] = {
		[FAULT_TIME] = fault->time,
		[FAULT_DUR] = fault->dur,
		[FAULT_PID] = fault->pid,
		[FAULT_TID] = fault->tid ? fault->tid : fault->pid,
		[FAULT_FILE] = fault->file,
		[FAULT_OFFSET] = fault->offset,
		[FAULT_FLAGS] = fault->flags,
		[FAULT_FETCHED] = fault->fetched,
		[FAULT_DIRTIED] = fault->dirtied,
	};

	made_row(made, TRACE_FAULT, fault->lane ? fault->lane : made->lane, values);
	made->operations[M_FAULT].count++;
	made->operations[M_FAULT].thread_time_ns += fault->dur;
	made->operations[M_FAULT].fetched_bytes += fault->fetched;
	made->operations[M_DIRTIED].count += fault->dirtied > 0;
	made->operations[M_DIRTIED].bytes += fault->dirtied;
}

MADE void made_throttle(struct made_trace *made, const struct made_throttle *throttle)
{
	const uint64_t values[THROTTLE_COLUMNS] = {
		[THROTTLE_TIME] = throttle->time,
		[THROTTLE_PAUSE] = throttle->pause,
		[THROTTLE_PID] = throttle->pid,
		[THROTTLE_TID] = throttle->tid ? throttle->tid : throttle->pid,
		[THROTTLE_FILE] = throttle->file,
	};

	made_row(made, TRACE_THROTTLE, made->lane, values);
	made->operations[M_THROTTLED].count++;
	made->operations[M_THROTTLED].thread_time_ns += throttle->pause;
}

MADE void made_wait(struct made_trace *made, const struct made_wait *wait)
{
	const uint64_t values[WAIT_COLUMNS] = {
		[WAIT_TIME] = wait->time,
		[WAIT_DUR] = wait->dur,
		[WAIT_PID] = wait->pid,
		[WAIT_TID] = wait->tid ? wait->tid : wait->pid,
		[WAIT_STATE] = made_string(made, wait->state),
		[WAIT_CALL] = made_string(made, wait->call),
		[WAIT_OBJECT] = wait->object,
		[WAIT_WAKER_PID] = wait->waker_pid,
		[WAIT_WAKER_TID] = wait->waker_tid ? wait->waker_tid : wait->waker_pid,
		[WAIT_OWNER_PID] = wait->owner_pid,
		[WAIT_OWNER_TID] = wait->owner_tid,
		[WAIT_FLAGS] = wait->flags,
	};

	made_row(made, TRACE_WAIT, made->lane, values);
}

MADE void made_thread_time(struct made_trace *made, const struct made_thread_time *thread)
{
	uint64_t values[THREAD_TIME_COLUMNS] = {
		[THREAD_TIME_TIME] = thread->time,
		[THREAD_TIME_DUR] = thread->dur,
		[THREAD_TIME_PID] = thread->pid,
		[THREAD_TIME_TID] = thread->tid ? thread->tid : thread->pid,
		[THREAD_TIME_IO_WAIT] = thread->io_wait,
		[THREAD_TIME_USER] = thread->user,
		[THREAD_TIME_SYSTEM] = thread->system,
		[THREAD_TIME_IO] = thread->io,
	};

	_Static_assert(THREAD_TIME_OTHER - THREAD_TIME_CPU + 1 == THREAD_STATE_COUNT,
		       "the columns are in the order of the states");
	memcpy(&values[THREAD_TIME_CPU], thread->states, sizeof(thread->states));
	made_row(made, TRACE_THREAD_TIME, made->lane, values);
}

MADE void made_frame(struct made_trace *made, uint64_t time, uint64_t id, const char *source,
		     uint64_t line, const char *function)
{
	const uint64_t values[FRAME_COLUMNS] = {
		time, id, made_string(made, source), line, made_string(made, function),
	};

	made_row(made, TRACE_FRAME, made->lane, values);
}

MADE void made_stack(struct made_trace *made, uint64_t time, uint64_t id, uint64_t caller,
		     uint64_t frame)
{
	const uint64_t values[STACK_COLUMNS] = { time, id, caller, frame };

	made_row(made, TRACE_STACK, made->lane, values);
}

/* Without a state, a sample of the operation. */
MADE void made_sample(struct made_trace *made, const struct made_sample *sample)
{
	const uint64_t values[SAMPLE_COLUMNS] = {
		[SAMPLE_TIME] = sample->time,
		[SAMPLE_DUR] = sample->dur,
		[SAMPLE_PID] = sample->pid,
		[SAMPLE_TID] = sample->tid ? sample->tid : sample->pid,
		[SAMPLE_WEIGHT] = sample->weight ? sample->weight : sample->dur,
		[SAMPLE_OFFSET] = -1,
		[SAMPLE_FILE] = sample->file,
		[SAMPLE_OP] = made_op(made, sample->state && !sample->op ? M_COMPAT : sample->op),
		[SAMPLE_FETCHED] = sample->fetched,
		[SAMPLE_STACK] = sample->stack,
		[SAMPLE_FLAGS] = sample->flags,
		[SAMPLE_STATE] = made_string(made, sample->state ? sample->state : "io"),
	};

	made_row(made, TRACE_SAMPLE, made->lane, values);
}

MADE void made_bio(struct made_trace *made, const struct made_bio *bio)
{
	const uint64_t values[BIO_COLUMNS] = {
		[BIO_TIME] = bio->time,
		[BIO_DUR] = bio->dur,
		[BIO_PID] = bio->pid,
		[BIO_TID] = bio->pid,
		[BIO_OP] = made_op(made, bio->op ? bio->op : M_REQUEST_WRITE),
		[BIO_FILE] = bio->file,
		[BIO_OFFSET] = bio->offset,
		[BIO_BYTES] = bio->bytes,
		[BIO_REQUEST] = bio->request,
		[BIO_DEV] = bio->dev,
		[BIO_INSTANCE] = bio->instance,
		[BIO_QUEUE] = bio->queue,
		[BIO_FLAGS] = bio->flags,
	};

	made_row(made, TRACE_BIO, made->lane, values);
}

MADE void made_request(struct made_trace *made, const struct made_request *request)
{
	const uint64_t values[REQUEST_COLUMNS] = {
		[REQUEST_TIME] = request->time,
		[REQUEST_DUR] = request->dur,
		[REQUEST_PID] = request->pid,
		[REQUEST_TID] = request->pid,
		[REQUEST_OP] = made_op(made, request->op),
		[REQUEST_FILE] = request->file,
		[REQUEST_ID] = request->id,
		[REQUEST_DEV] = request->dev,
		[REQUEST_INSTANCE] = request->instance,
		[REQUEST_PART] = request->part ? request->part : request->dev,
		[REQUEST_SECTOR] = request->sector,
		[REQUEST_BYTES] = request->bytes,
		[REQUEST_OWN_BYTES] = request->bytes,
		[REQUEST_BIOS] = request->bios ? request->bios : 1,
		[REQUEST_OWN_BIOS] = request->bios ? request->bios : 1,
		[REQUEST_QUEUE] = request->queue,
		[REQUEST_STATUS] = request->status,
		[REQUEST_FLAGS] = request->flags,
	};
	struct trace_operation_total *total = &made->operations[request->op];

	made_row(made, TRACE_REQUEST, made->lane, values);
	total->count++;
	total->errors += request->status > 0;
	total->bytes += request->bytes;
	total->thread_time_ns += request->dur;
}

MADE void made_remote(struct made_trace *made, const struct made_remote *remote)
{
	const uint64_t values[REMOTE_COLUMNS] = {
		[REMOTE_TIME] = remote->time,
		[REMOTE_DUR] = remote->dur,
		[REMOTE_PID] = remote->pid,
		[REMOTE_TID] = remote->pid,
		[REMOTE_OP] = made_op(made, remote->op),
		[REMOTE_FILE] = remote->file,
		[REMOTE_OFFSET] = remote->offset,
		[REMOTE_DEV] = remote->dev,
		[REMOTE_INSTANCE] = remote->instance,
		[REMOTE_NODE] = remote->node,
		[REMOTE_BYTES] = remote->bytes,
		[REMOTE_ASKED] = remote->asked ? remote->asked : remote->bytes,
		[REMOTE_SERVER] = remote->server_pid,
		[REMOTE_ERROR] = remote->error,
		[REMOTE_FLAGS] = remote->flags,
		[REMOTE_QUEUE] = remote->queue,
		[REMOTE_RTT] = strcmp(made_operations[remote->op].layer, "nfs") ? -1 : remote->rtt,
		[REMOTE_RETRANSMITS] = remote->retransmits,
	};
	struct trace_operation_total *total = &made->operations[remote->op];

	made_row(made, TRACE_REMOTE, made->lane, values);
	total->count++;
	total->errors += remote->error > 0;
	total->bytes += remote->bytes;
	total->thread_time_ns += remote->dur;
}

MADE void made_device(struct made_trace *made, const struct made_device *device)
{
	const uint64_t values[DEVICE_COLUMNS] = {
		[DEVICE_ROW_TIME] = device->time,
		[DEVICE_DEV] = device->dev,
		[DEVICE_INSTANCE] = device->instance,
		[DEVICE_NAME] = made_string(made, device->name),
		[DEVICE_READ_REQUESTS] = device->reads,
		[DEVICE_READ_BYTES] = device->read_bytes,
		[DEVICE_WRITE_REQUESTS] = device->writes,
		[DEVICE_WRITE_BYTES] = device->write_bytes,
		[DEVICE_FLUSH_REQUESTS] = device->flushes,
		[DEVICE_FLUSH_TIME] = device->flush_ns,
		[DEVICE_KERNEL_METADATA] = device->kernel_metadata,
		[DEVICE_UNSEEN_READS] = device->unseen_reads,
		[DEVICE_UNSEEN_READ_BYTES] = device->unseen_read_bytes,
	};

	made_row(made, TRACE_DEVICE, made->lane, values);
}

MADE void made_vfs(struct made_trace *made, const struct made_vfs *row)
{
	struct trace_operation_total *total = &made->operations[row->op];
	const uint64_t values[VFS_COLUMNS] = {
		[VFS_TIME] = row->time,
		[VFS_DUR] = row->dur,
		[VFS_PID] = row->pid,
		[VFS_TID] = row->tid ? row->tid : row->pid,
		[VFS_OP] = made_op(made, row->op),
		[VFS_FILE] = row->file,
		[VFS_OFFSET] = row->offset,
		[VFS_ASKED] = row->asked,
		[VFS_RESULT] = row->result,
		[VFS_FLAGS] = row->flags,
	};

	made_row(made, TRACE_VFS, made->lane, values);
	total->count++;
	total->errors += row->result < 0;
	total->bytes += row->result > 0 ? row->result : 0;
	total->thread_time_ns += row->dur;
}

/* Charged to a call on another file. */
MADE void made_indirect(struct made_trace *made, uint64_t time, uint64_t file, uint64_t fetched,
			uint64_t created, uint64_t op)
{
	const uint64_t values[PAGECACHE_COLUMNS] = {
		[PAGECACHE_TIME] = time,
		[PAGECACHE_FILE] = file,
		[PAGECACHE_BYTES] = fetched,
		[PAGECACHE_CREATED] = created,
		[PAGECACHE_CALL] = made_op(made, op) + 1,
	};

	made_row(made, TRACE_PAGECACHE, made->lane, values);
}

MADE void made_fill(struct made_trace *made, const struct made_fill *fill)
{
	const uint64_t values[PAGECACHE_COLUMNS] = {
		[PAGECACHE_TIME] = fill->time,
		[PAGECACHE_PID] = fill->pid,
		[PAGECACHE_TID] = fill->tid ? fill->tid : fill->pid,
		[PAGECACHE_FILE] = fill->file,
		[PAGECACHE_OFFSET] = fill->offset,
		[PAGECACHE_BYTES] = fill->bytes,
	};

	made_row(made, TRACE_PAGECACHE, made->lane, values);
	made->operations[M_PAGECACHE].count++;
	made->operations[M_PAGECACHE].fetched_bytes += fill->bytes;
}

MADE void made_cache(struct made_trace *made, uint64_t time, uint64_t file, uint64_t bytes)
{
	FILL(made, .time = time, .file = file, .bytes = bytes);
}

MADE void made_file(struct made_trace *made, const struct made_file *file)
{
	const uint64_t values[FILE_COLUMNS] = {
		[FILE_TIME] = file->time,
		[FILE_ID] = file->id,
		[FILE_DEV] = file->dev,
		[FILE_INO] = file->ino,
		[FILE_MODE] = file->mode ? file->mode : 0100644,
		[FILE_GENERATION] = file->generation,
		[FILE_INSTANCE] = file->instance,
		[FILE_SIZE] = file->size,
		[FILE_READAHEAD] = file->readahead,
		[FILE_FLAGS] = file->flags,
		[FILE_PATH] = made_string(made, file->path),
		[FILE_FILESYSTEM] = made_string(made, file->filesystem),
		[FILE_STRIPES] = file->stripes,
		[FILE_STRIPE_BYTES] = file->stripe_bytes,
	};

	made_row(made, TRACE_FILE, made->lane, values);
}

MADE void made_fork(struct made_trace *made, uint64_t time, uint64_t pid, uint64_t child)
{
	const uint64_t values[FORK_COLUMNS] = { time, pid, pid, child, child };

	made_row(made, TRACE_FORK, made->lane, values);
}

MADE void made_exec(struct made_trace *made, const struct made_exec *exec)
{
	size_t length = exec->command_length ? exec->command_length
			: exec->command	     ? strlen(exec->command)
					     : 0;
	const uint64_t values[EXEC_COLUMNS] = {
		[EXEC_TIME] = exec->time,
		[EXEC_PID] = exec->pid,
		[EXEC_TID] = exec->pid,
		[EXEC_PPID] = exec->ppid,
		[EXEC_UID] = exec->uid,
		[EXEC_COMM] = made_string(made, exec->comm),
		[EXEC_COMMAND] = made_text(made, exec->command, length),
		[EXEC_RANK] = exec->rank,
		[EXEC_FLAGS] = exec->flags,
	};

	made_row(made, TRACE_EXEC, made->lane, values);
}

MADE void made_exit(struct made_trace *made, const struct made_exit *row)
{
	const uint64_t values[EXIT_COLUMNS] = {
		[EXIT_TIME] = row->time,
		[EXIT_PID] = row->pid,
		[EXIT_TID] = row->tid ? row->tid : row->pid,
		[EXIT_PROCESS] = !row->thread_only,
		[EXIT_CODE] = row->code,
		[EXIT_COMM] = made_string(made, row->comm),
		[EXIT_MAJOR] = row->major,
		[EXIT_MINOR] = row->minor,
		[EXIT_OOM] = row->oom,
		[EXIT_OOM_LIMIT] = row->oom_limit,
		[EXIT_STACK] = row->stack,
		[EXIT_PEAK_RSS] = row->peak_rss,
	};

	made_row(made, TRACE_EXIT, made->lane, values);
}

MADE void made_span(struct made_trace *made, const struct made_span *span)
{
	unsigned int lane = span->lane ? span->lane : made->lane;
	const uint64_t begin[SPAN_BEGIN_COLUMNS] = {
		[SPAN_BEGIN_TIME] = span->begin,
		[SPAN_BEGIN_PID] = span->pid,
		[SPAN_BEGIN_TID] = span->tid ? span->tid : span->pid,
		[SPAN_BEGIN_ID] = span->id,
		[SPAN_BEGIN_NAME] = made_string(made, span->name),
		[SPAN_BEGIN_CATEGORY] = made_string(made, span->category),
		[SPAN_BEGIN_ARGS] =
			span->args ? trace_writer_args(made->writer, span->args, strlen(span->args))
				   : 0,
	};
	const uint64_t end[SPAN_END_COLUMNS] = {
		[SPAN_END_TIME] = span->end,
		[SPAN_END_PID] = span->pid,
		[SPAN_END_TID] = span->tid ? span->tid : span->pid,
		[SPAN_END_ID] = span->id,
	};

	if (span->begin)
		made_row(made, TRACE_SPAN_BEGIN, lane, begin);
	if (span->end)
		made_row(made, TRACE_SPAN_END, lane, end);
}

MADE void made_instant(struct made_trace *made, uint64_t time, uint64_t pid, const char *name,
		       const char *category)
{
	const uint64_t values[INSTANT_COLUMNS] = {
		[INSTANT_TIME] = time,
		[INSTANT_PID] = pid,
		[INSTANT_TID] = pid,
		[INSTANT_NAME] = made_string(made, name),
		[INSTANT_CATEGORY] = made_string(made, category),
	};

	made_row(made, TRACE_INSTANT, made->lane, values);
}
