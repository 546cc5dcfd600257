/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums up totals by operation from records. */
#include "capture/calls/op_sums.h"

#include "capture/calls/calls.h"

static bool moves_bytes(uint32_t op)
{
	size_t count;
	const struct trace_operation *operations = calls_operations(&count);

	switch (op < count ? operations[op].family : TRACE_OTHER) {
	case TRACE_READ:
	case TRACE_WRITE:
	case TRACE_TRANSFER:
	case TRACE_KERNEL_READ:
	case TRACE_KERNEL_WRITE:
	case TRACE_SPLICE_READ:
	case TRACE_SPLICE_WRITE:
		return true;
	case TRACE_APART:
		return op != OP_VFS_APART + VFS_FSYNC_RANGE;
	default:
		return false;
	}
}

static struct trace_operation_total *total_of(struct op_sums *sums, uint32_t op)
{
	return &sums->totals[op < OP_TABLE_SIZE ? op : OP_NONE];
}

static void count_result(struct op_sums *sums, uint32_t op, int64_t result, uint64_t duration_ns,
			 uint32_t flags)
{
	struct trace_operation_total *total = total_of(sums, op);

	total->count++;
	total->thread_time_ns += duration_ns;
	if (result < 0 && result >= -4095)
		total->errors += !(flags & TRACE_OP_UNFINISHED);
	else if (result > 0 && moves_bytes(op))
		total->bytes += result;
	else if (result > 0 && calls_submits(op))
		total->submissions += result;
}

static void count_pages(struct op_sums *sums, uint32_t op, uint64_t fetched, uint64_t created)
{
	struct trace_operation_total *total = total_of(sums, op);

	total->fetched_bytes += fetched * sums->page_bytes;
	total->created_bytes += created * sums->page_bytes;
}

static void count_call(struct op_sums *sums, const struct event_syscall *call)
{
	count_result(sums, call->op, call->result, call->duration_ns, call->flags);
	count_pages(sums, call->op, call->fetched_pages, call->created_pages);
	total_of(sums, call->op)->read_for_write_bytes += call->read_for_write_bytes;
}

static void count_request(struct op_sums *sums, const struct event_request *request)
{
	struct trace_operation_total *total = total_of(sums, request->op);
	bool whole = !(request->flags & TRACE_BLOCK_PART);

	total->count += whole;
	total->errors += whole && request->status;
	total->bytes += request->own_bytes;
	total->thread_time_ns += request->duration_ns;
}

static void count_remote(struct op_sums *sums, uint32_t op, bool failed, uint64_t bytes,
			 uint64_t duration_ns)
{
	struct trace_operation_total *total = total_of(sums, op);

	total->count++;
	total->errors += failed;
	total->bytes += bytes;
	total->thread_time_ns += duration_ns;
}

void op_sums_add_record(struct op_sums *sums, const struct event_header *record)
{
	const struct event_pagecache *pages = (const void *)record;
	const struct event_vfs *vfs = (const void *)record;
	const struct event_remote *remote = (const void *)record;

	switch (record->kind) {
	case RECORD_SYSCALL:
	case RECORD_SYSCALL_PATH:
	case RECORD_ASYNC:
		count_call(sums, (const struct event_syscall *)record);
		break;
	case RECORD_VFS:
		count_result(sums, vfs->op, vfs->result, vfs->duration_ns, 0);
		break;
	case RECORD_PAGECACHE:
		count_result(sums, pages->op ? OP_INDIRECT : OP_PAGECACHE, 0, 0, 0);
		count_pages(sums, pages->op ? OP_INDIRECT : OP_PAGECACHE, pages->fetched_pages,
			    pages->created_pages);
		break;
	case RECORD_THROTTLE:
		count_result(sums, OP_THROTTLED, 0,
			     ((const struct event_throttle *)record)->pause_ns, 0);
		break;
	case RECORD_REQUEST:
		count_request(sums, (const struct event_request *)record);
		break;
#define CASE_OF_SERVER(id, ...) case RECORD_##id:
		TRACE_SERVER_LAYERS(CASE_OF_SERVER)
		count_remote(sums, remote->op, remote->error, remote->bytes, remote->duration_ns);
		break;
	default:
		break;
	}
}

void op_sums_add_slot(struct op_sums *sums, const struct lane_slot *slot)
{
	if (slot->call.op == OP_FAULT) {
		count_result(sums, OP_FAULT, 0, slot->fault.duration_ns, 0);
		count_pages(sums, OP_FAULT, slot->fault.fetched_pages, 0);
	} else {
		count_result(sums, slot->call.op, slot->call.result, slot->call.duration_ns,
			     slot->call.flags);
		count_pages(sums, slot->call.op, slot->call.fetched_pages,
			    slot->call.created_pages);
	}
}

static void count_bytes(struct op_sums *sums, uint32_t op, uint64_t fetched, uint64_t created)
{
	total_of(sums, op)->fetched_bytes += fetched;
	total_of(sums, op)->created_bytes += created;
}

static void count_request_row(struct op_sums *sums, const uint64_t *row)
{
	const struct event_request request = { .op = row[REQUEST_OP],
					       .flags = row[REQUEST_FLAGS],
					       .status = row[REQUEST_STATUS],
					       .own_bytes = row[REQUEST_OWN_BYTES],
					       .duration_ns = row[REQUEST_DUR] };

	count_request(sums, &request);
}

void op_sums_add_row(struct op_sums *sums, enum trace_kind kind, const uint64_t *row)
{
	uint32_t op;

	switch (kind) {
	case TRACE_SYSCALL:
	case TRACE_SYSCALL_PATH:
	case TRACE_ASYNC:
		op = row[SYSCALL_OP];
		count_result(sums, op, row[SYSCALL_RESULT], row[SYSCALL_DUR], row[SYSCALL_FLAGS]);
		count_bytes(sums, op, row[SYSCALL_FETCHED], row[SYSCALL_CREATED]);
		total_of(sums, op)->read_for_write_bytes += row[SYSCALL_READ_FOR_WRITE];
		break;
	case TRACE_FAULT:
		count_result(sums, OP_FAULT, 0, row[FAULT_DUR], 0);
		count_bytes(sums, OP_FAULT, row[FAULT_FETCHED], 0);
		break;
	case TRACE_VFS:
		count_result(sums, row[VFS_OP], row[VFS_RESULT], row[VFS_DUR], 0);
		break;
	case TRACE_PAGECACHE:
		op = row[PAGECACHE_CALL] ? OP_INDIRECT : OP_PAGECACHE;
		count_result(sums, op, 0, 0, 0);
		count_bytes(sums, op, row[PAGECACHE_BYTES], row[PAGECACHE_CREATED]);
		break;
	case TRACE_THROTTLE:
		count_result(sums, OP_THROTTLED, 0, row[THROTTLE_PAUSE], 0);
		break;
	case TRACE_REQUEST:
		count_request_row(sums, row);
		break;
	case TRACE_REMOTE:
		count_remote(sums, row[REMOTE_OP], row[REMOTE_ERROR], row[REMOTE_BYTES],
			     row[REMOTE_DUR]);
		break;
	default:
		break;
	}
}

void op_sums_add_profile(struct op_sums *sums, const struct profile_slot *added)
{
	struct trace_operation_total *total = total_of(sums, added->key.op);

	total->count += added->sums.count;
	total->errors += added->sums.errors;
	total->bytes += added->sums.bytes;
	total->thread_time_ns += added->sums.time_ns;
	total->read_for_write_bytes +=
		(uint64_t)added->sums.read_for_write_sectors * TRACE_SECTOR_BYTES;
	count_pages(sums, added->key.op, added->sums.fetched_pages, added->sums.created_pages);
}
