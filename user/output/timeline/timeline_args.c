/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names and arguments of slices and instants, by kind of row. */
#include "output/timeline/timeline_model.h"

#include <sys/wait.h>

#define ARG_NAME(id, name) name,
const char *const timeline_arg_names[TIMELINE_ARG_COUNT] = { TIMELINE_ARGS(ARG_NAME) };

#define VALUE(column) event_value(item->event, column)
/* Faster for columns that are 0 in most blocks. */
#define RARE(column) (loaded_block_is_zero(item->event->block, column) ? 0 : VALUE(column))

/* Returns NULL if there are too many. */
static struct timeline_arg *next_arg(struct timeline_item *item, enum timeline_arg_id id,
				     enum timeline_type type)
{
	struct timeline_arg *arg = &item->args[item->arg_count];

	if (item->arg_count == TIMELINE_ITEM_ARGS)
		return NULL;
	item->arg_count++;
	arg->id = id;
	arg->type = type;
	return arg;
}

void item_add(struct timeline_item *item, enum timeline_arg_id id, enum timeline_type type,
	      uint64_t value)
{
	struct timeline_arg *arg = next_arg(item, id, type);

	if (arg)
		arg->value = value;
}

void item_add_text(struct timeline_item *item, enum timeline_arg_id id, enum timeline_type type,
		   struct trace_string text)
{
	struct timeline_arg *arg = next_arg(item, id, type);

	if (arg)
		arg->text = text;
}

static void add_uint(struct timeline_item *item, enum timeline_arg_id id, uint64_t value)
{
	item_add(item, id, TIMELINE_UINT, value);
}

/* For values that are usually 0. */
static void add_unless_zero(struct timeline_item *item, enum timeline_arg_id id, uint64_t value)
{
	if (value)
		add_uint(item, id, value);
}

static void add_flags(struct timeline_item *item, uint64_t flags)
{
	if (flags)
		item_add(item, TIMELINE_FLAGS, TIMELINE_BITS, flags);
}

static void add_file(struct timeline_item *item, enum timeline_arg_id id, uint32_t file)
{
	if (file != FILE_NONE)
		item_add(item, id, TIMELINE_PATH, file);
}

static void add_string(const struct model *model, struct timeline_item *item,
		       enum timeline_arg_id id, enum timeline_type type, uint64_t string)
{
	item_add_text(item, id, type,
		      trace_reader_args(model->timeline.job.traces[item->trace].reader, string));
}

const struct timeline_arg *timeline_find_arg(const struct timeline_item *item,
					     enum timeline_arg_id id)
{
	for (size_t i = 0; i < item->arg_count; i++)
		if (item->args[i].id == id)
			return &item->args[i];
	return NULL;
}

struct trace_string timeline_text(const struct timeline *timeline, const struct timeline_arg *arg)
{
	return arg->type == TIMELINE_PATH ? file_table_name(&timeline->job.files, arg->value)
					  : arg->text;
}

/* --- names --- */

static struct timeline_name literal(const char *text)
{
	return (struct timeline_name) { timeline_literal(text), (uintptr_t)text };
}

struct timeline_name name_string(const struct model *model, uint32_t trace, uint64_t string,
				 const char *none)
{
	struct trace_string text =
		trace_reader_string(model->timeline.job.traces[trace].reader, string);

	/* No pointer has the highest bit. */
	return text.length ? (struct timeline_name) { text, (1ull << 63 | (uint64_t)trace << 40) ^
								    string }
			   : literal(none);
}

/* --- calls and faults --- */

static void add_result(const struct model *model, struct timeline_item *item, uint64_t result)
{
	const struct operation *operation = &model->timeline.job.operations[item->event->operation];

	if (event_moves_bytes(operation->family) && !result_is_error(result))
		add_uint(item, TIMELINE_BYTES, item->event->bytes);
	item_add(item, TIMELINE_RESULT, TIMELINE_INT, result);
	if (result_is_error(result))
		item_add(item, TIMELINE_ERROR, TIMELINE_ERRNO, -result);
}

/* Paths that the row itself has, else its files. */
static void add_paths(struct model *model, struct timeline_item *item)
{
	struct resolved_row row;

	if (item->kind == TRACE_SYSCALL ||
	    !(VALUE(SYSCALL_PATH_DIR) | VALUE(SYSCALL_PATH_PATH) | VALUE(SYSCALL_PATH_FILE2) |
	      VALUE(SYSCALL_PATH_DIR2) | VALUE(SYSCALL_PATH_PATH2))) {
		add_file(item, TIMELINE_FILE, item->event->file);
		return;
	}
	row_resolve(model->resolver, item->event, &row);
	if (row.path.length)
		item_add_text(item, TIMELINE_FILE, TIMELINE_TEXT, row.path);
	if (row.path2.length)
		item_add_text(item, TIMELINE_FILE2, TIMELINE_TEXT, row.path2);
}

static void add_call(struct model *model, struct timeline_item *item)
{
	const struct event *event = item->event;

	add_paths(model, item);
	if (event->offset >= 0)
		add_uint(item, TIMELINE_OFFSET, event->offset);
	add_unless_zero(item, TIMELINE_ASKED, event->asked_bytes);
	add_result(model, item, VALUE(SYSCALL_RESULT));
	add_uint(item, TIMELINE_FETCHED, RARE(SYSCALL_FETCHED));
	add_unless_zero(item, TIMELINE_CREATED, RARE(SYSCALL_CREATED));
	add_unless_zero(item, TIMELINE_READ_FOR_WRITE, RARE(SYSCALL_READ_FOR_WRITE));
	add_unless_zero(item, TIMELINE_FAULT_FETCHED, RARE(SYSCALL_FAULT_FETCHED));
	add_unless_zero(item, TIMELINE_MAJOR, RARE(SYSCALL_MAJOR));
	add_flags(item, RARE(SYSCALL_FLAGS));
}

static void add_vfs(struct model *model, struct timeline_item *item)
{
	add_file(item, TIMELINE_FILE, item->event->file);
	if ((int64_t)VALUE(VFS_OFFSET) >= 0)
		add_uint(item, TIMELINE_OFFSET, VALUE(VFS_OFFSET));
	add_unless_zero(item, TIMELINE_ASKED, VALUE(VFS_ASKED));
	add_result(model, item, VALUE(VFS_RESULT));
	add_flags(item, RARE(VFS_FLAGS));
}

static void add_fault(struct model *model, struct timeline_item *item)
{
	add_file(item, TIMELINE_FILE, item->event->file);
	add_uint(item, TIMELINE_OFFSET, VALUE(FAULT_OFFSET));
	add_uint(item, TIMELINE_FETCHED, VALUE(FAULT_FETCHED));
	add_unless_zero(item, TIMELINE_MAJOR, item->event->major);
	add_flags(item, VALUE(FAULT_FLAGS));
}

static void add_throttle(struct model *model, struct timeline_item *item)
{
	add_file(item, TIMELINE_FILE, item->event->file);
	add_uint(item, TIMELINE_PAUSE, VALUE(THROTTLE_PAUSE));
}

static void add_wait(struct model *model, struct timeline_item *item)
{
	item->name = name_string(model, item->trace, VALUE(WAIT_STATE), "wait");
	item->category = literal("wait");
	if (VALUE(WAIT_CALL))
		add_string(model, item, TIMELINE_CALL, TIMELINE_TEXT, VALUE(WAIT_CALL));
	add_unless_zero(item, TIMELINE_OBJECT, VALUE(WAIT_OBJECT));
	add_unless_zero(item, TIMELINE_WAKER_PID, VALUE(WAIT_WAKER_PID));
	add_unless_zero(item, TIMELINE_WAKER_TID, VALUE(WAIT_WAKER_TID));
	add_unless_zero(item, TIMELINE_OWNER_PID, VALUE(WAIT_OWNER_PID));
	add_unless_zero(item, TIMELINE_OWNER_TID, VALUE(WAIT_OWNER_TID));
	add_flags(item, VALUE(WAIT_FLAGS));
}

/* Time on a CPU gets the name of its line. */
static void add_sample(struct model *model, struct timeline_item *item)
{
	const struct operation *operation = &model->timeline.job.operations[item->event->operation];
	const unsigned int state = event_sample_state(&model->timeline.job, item->event);

	item->name = name_string(model, item->trace, VALUE(SAMPLE_STATE), "wait");
	item->category = literal(state == THREAD_CPU ? "cpu" : "wait");
	if (state == SAMPLE_IO) {
		item->name = literal(operation->name);
		item->category = literal(trace_family_names[operation->family]);
	}
	add_file(item, TIMELINE_FILE, item->event->file);
	add_unless_zero(item, TIMELINE_FETCHED, VALUE(SAMPLE_FETCHED));
	add_uint(item, TIMELINE_WEIGHT, VALUE(SAMPLE_WEIGHT));
	add_flags(item, VALUE(SAMPLE_FLAGS));
}

/* --- storage --- */

/* For requests to devices and servers. */
static void add_queued_by(struct timeline_item *item)
{
	if (VALUE(REQUEST_PID)) {
		add_uint(item, TIMELINE_QUEUED_BY_PID, VALUE(REQUEST_PID));
		add_uint(item, TIMELINE_QUEUED_BY_TID, VALUE(REQUEST_TID));
	} else {
		item_add_text(item, TIMELINE_QUEUED_BY, TIMELINE_TEXT, timeline_literal("kernel"));
	}
}

static void add_request(struct model *model, struct timeline_item *item)
{
	uint64_t duration_ns = VALUE(REQUEST_DUR), queue_ns = VALUE(REQUEST_QUEUE);

	add_file(item, TIMELINE_FILE, item->event->file);
	add_uint(item, TIMELINE_REQUEST, VALUE(REQUEST_ID));
	add_uint(item, TIMELINE_SECTOR, VALUE(REQUEST_SECTOR));
	add_uint(item, TIMELINE_BYTES, VALUE(REQUEST_BYTES));
	if (VALUE(REQUEST_OWN_BYTES) != VALUE(REQUEST_BYTES))
		add_uint(item, TIMELINE_OWN_BYTES, VALUE(REQUEST_OWN_BYTES));
	add_uint(item, TIMELINE_BIOS, VALUE(REQUEST_BIOS));
	add_uint(item, TIMELINE_QUEUE, queue_ns);
	if (queue_ns <= duration_ns)
		add_uint(item, TIMELINE_SERVICE, duration_ns - queue_ns);
	add_queued_by(item);
	add_unless_zero(item, TIMELINE_STATUS, VALUE(REQUEST_STATUS));
	add_flags(item, VALUE(REQUEST_FLAGS));
}

static void add_remote(struct model *model, struct timeline_item *item)
{
	add_file(item, TIMELINE_FILE, item->event->file);
	if (item->event->offset >= 0)
		add_uint(item, TIMELINE_OFFSET, item->event->offset);
	add_unless_zero(item, TIMELINE_ASKED, VALUE(REMOTE_ASKED));
	add_unless_zero(item, TIMELINE_BYTES, VALUE(REMOTE_BYTES));
	add_queued_by(item);
	if (VALUE(REMOTE_ERROR))
		item_add(item, TIMELINE_ERROR, TIMELINE_ERRNO, VALUE(REMOTE_ERROR));
	add_flags(item, VALUE(REMOTE_FLAGS));
}

static void add_bio(struct model *model, struct timeline_item *item)
{
	add_uint(item, TIMELINE_BYTES, VALUE(BIO_BYTES));
}

/* --- instants --- */

static void add_pagecache(struct model *model, struct timeline_item *item)
{
	add_file(item, TIMELINE_FILE, item->event->file);
	add_uint(item, TIMELINE_OFFSET, VALUE(PAGECACHE_OFFSET));
	add_uint(item, TIMELINE_FETCHED, VALUE(PAGECACHE_BYTES));
	add_unless_zero(item, TIMELINE_CREATED, VALUE(PAGECACHE_CREATED));
}

static void add_fork(struct model *model, struct timeline_item *item)
{
	add_uint(item, TIMELINE_CHILD_PID, VALUE(FORK_CHILD_PID));
	add_uint(item, TIMELINE_CHILD_TID, VALUE(FORK_CHILD_TID));
}

static void add_exec(struct model *model, struct timeline_item *item)
{
	item->of_process = true;
	add_string(model, item, TIMELINE_COMM, TIMELINE_TEXT, VALUE(EXEC_COMM));
	add_string(model, item, TIMELINE_COMMAND, TIMELINE_WORDS, VALUE(EXEC_COMMAND));
	add_uint(item, TIMELINE_PPID, VALUE(EXEC_PPID));
	add_uint(item, TIMELINE_UID, VALUE(EXEC_UID));
	add_string(model, item, TIMELINE_CGROUP, TIMELINE_TEXT, VALUE(EXEC_CGROUP));
	if ((int64_t)VALUE(EXEC_RANK) >= 0)
		add_uint(item, TIMELINE_RANK, VALUE(EXEC_RANK));
}

static void add_exit(struct model *model, struct timeline_item *item)
{
	int code = VALUE(EXIT_CODE);

	item->of_process = VALUE(EXIT_PROCESS);
	add_string(model, item, TIMELINE_COMM, TIMELINE_TEXT, VALUE(EXIT_COMM));
	if (item->of_process && WIFSIGNALED(code))
		add_uint(item, TIMELINE_SIGNAL, WTERMSIG(code));
	else if (item->of_process)
		add_uint(item, TIMELINE_STATUS, WEXITSTATUS(code));
	add_uint(item, TIMELINE_MAJOR, VALUE(EXIT_MAJOR));
	add_uint(item, TIMELINE_MINOR, VALUE(EXIT_MINOR));
}

static void add_instant(struct model *model, struct timeline_item *item)
{
	item->name = name_string(model, item->trace, VALUE(INSTANT_NAME), "(no name)");
	item->category = name_string(model, item->trace, VALUE(INSTANT_CATEGORY), "instant");
	add_string(model, item, TIMELINE_GIVEN, TIMELINE_MSGPACK, VALUE(INSTANT_ARGS));
	add_flags(item, VALUE(INSTANT_FLAGS));
}

static void (*const describe[TRACE_KIND_COUNT])(struct model *, struct timeline_item *) = {
	[TRACE_SYSCALL] = add_call,	   [TRACE_SYSCALL_PATH] = add_call,
	[TRACE_ASYNC] = add_call,	   [TRACE_VFS] = add_vfs,
	[TRACE_FAULT] = add_fault,	   [TRACE_THROTTLE] = add_throttle,
	[TRACE_REQUEST] = add_request,	   [TRACE_BIO] = add_bio,
	[TRACE_PAGECACHE] = add_pagecache, [TRACE_FORK] = add_fork,
	[TRACE_EXEC] = add_exec,	   [TRACE_EXIT] = add_exit,
	[TRACE_INSTANT] = add_instant,	   [TRACE_WAIT] = add_wait,
	[TRACE_SAMPLE] = add_sample,	   [TRACE_REMOTE] = add_remote,
};

uint64_t timeline_kinds_described(void)
{
	uint64_t kinds = 0;

	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		kinds |= describe[i] ? 1ull << i : 0;
	return kinds;
}

void item_describe(struct model *model, struct timeline_item *item)
{
	const struct trace_schema *schema = &trace_schemas[item->kind];
	const struct operation *operation;

	switch (item->kind) {
	case TRACE_INSTANT:
	case TRACE_WAIT:
	case TRACE_SAMPLE:
		break;
	case TRACE_PAGECACHE:
	case TRACE_FORK:
	case TRACE_EXEC:
	case TRACE_EXIT:
		item->name = literal(schema->kind);
		item->category = literal(schema->layer);
		break;
	default:
		operation = &model->timeline.job.operations[item->event->operation];
		if (!model->operation.id || model->operation.id != (uintptr_t)operation->name) {
			model->operation = literal(operation->name);
			model->family = literal(trace_family_names[operation->family]);
		}
		item->name = model->operation;
		item->category = model->family;
		break;
	}
	describe[item->kind](model, item);
}
