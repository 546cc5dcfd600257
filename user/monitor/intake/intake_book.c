/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Books sums, and identifies processes that no record announced. */
#include "monitor/intake/intake_state.h"

#include <stdlib.h>
#include <string.h>

#include "capture/calls/calls.h"
#include "capture/host/proc.h"
#include "collections/grow.h"
#include "monitor/intake/process_facts.h"

/* How often the cgroup of an active process is checked where moves are not reported. */
#define CHECK_EVERY_NS 10000000000ull
#define SLOTS_ALWAYS 2048 /* slots whose memory is kept; a busy second may need more once */
#define BOOK_WITHIN_NS 10000000ull

/* --- unannounced processes --- */

/* Identifies an active process whose start was not reported. */
static void adopt(struct intake *intake, uint32_t pid, uint64_t start_ns, uint64_t last_ns)
{
	struct process_facts facts;
	size_t bytes = 0;
	char *command, user[USER_NAME_BYTES];
	struct ledger_who who = { .pid = pid, .user = user, .rank = -1 };

	if (!process_read_facts(pid, &facts) || facts.start_ns > last_ns ||
	    (start_ns && !intake_is_start(facts.start_ns, start_ns)))
		return;
	command = proc_read(pid, "cmdline", EVENT_COMMAND_BYTES, &bytes);
	who.uid = facts.uid;
	user_name(intake->users, who.uid, user);
	who.start_ns = facts.start_ns;
	who.cgroup = facts.cgroup;
	who.program = facts.comm;
	who.command = command ? command : "";
	who.command_bytes = bytes;
	ledger_exec(intake->ledger, &who, facts.start_ns);
	free(command);
}

struct recheck {
	struct intake *intake;
	uint64_t now_ns;
};

static void recheck_process(void *context, struct ledger_process *process)
{
	const struct recheck *recheck = context;

	if (!intake_is_same(process->pid, process->start_ns))
		ledger_vanish(recheck->intake->ledger, process, recheck->intake->recheck_since_ns);
	else if (process->forked)
		adopt(recheck->intake, process->pid, 0, recheck->now_ns);
}

void intake_recheck(struct intake *intake, uint64_t since_ns)
{
	if (!intake->recheck)
		intake->recheck_since_ns = since_ns;
	intake->recheck = true;
}

/* Caller holds the ledger's lock. */
static void recheck_all(struct intake *intake, uint64_t now_ns)
{
	struct recheck recheck = { intake, now_ns };

	if (intake->recheck && proc_is_of_kernel_side())
		ledger_each_process(intake->ledger, recheck_process, &recheck);
}

void intake_set_moves(struct intake *intake, uint64_t moves)
{
	intake->moves = moves;
}

void intake_take_slot(void *context, const struct profile_slot *added)
{
	struct intake *intake = context;

	if (!GROW(intake->slots, intake->slot_room, intake->slot_count + 1)) {
		intake->lost += added->sums.count;
		return;
	}
	intake->slots[intake->slot_count++] = *added;
}

/*
 * Finds who took a slot whose process was not reported: from the slot, or from other slots of the
 * pid if all are of one process. Records are lost when something stalls for long, slots are not.
 */
static const struct profile_who *find_owner(const struct intake *intake,
					    const struct profile_slot *slot)
{
	const struct profile_who *found = NULL;

	if (slot->who.started_ns || !slot->key.pid)
		return slot->who.started_ns ? &slot->who : NULL;
	for (size_t i = 0; i < intake->slot_count; i++) {
		const struct profile_who *who = &intake->slots[i].who;

		if (intake->slots[i].key.pid != slot->key.pid || !who->started_ns)
			continue;
		if (found && found->started_ns != who->started_ns)
			return NULL;
		found = who;
	}
	return found && found->started_ns <= slot->last_ns ? found : NULL;
}

/* Returns whether the slot's process is unknown or incompletely known. */
static bool lacks_owner(const struct intake *intake, const struct profile_slot *slot)
{
	return intake->recheck ||
	       !ledger_knows(intake->ledger, slot->key.pid, slot->who.started_ns, slot->last_ns);
}

static struct ledger_process *find_process(const struct intake *intake,
					   const struct profile_slot *slot)
{
	return ledger_find_owner(intake->ledger, slot->key.pid, slot->who.started_ns,
				 slot->first_ns, slot->last_ns)
		.process;
}

/* Returns whether any process changed its cgroup since this one was checked. */
static bool may_be_elsewhere(const struct intake *intake, const struct ledger_process *process)
{
	return process && process->checked_moves != intake->moves;
}

/* Once the process is gone, only its slot may show where it was. */
static bool needs_cgroup(const struct intake *intake, const struct profile_slot *slot)
{
	return intake->one_hierarchy && may_be_elsewhere(intake, find_process(intake, slot));
}

struct slot_owner {
	struct ledger_who who; /* points into the members below */
	char comm[EVENT_COMM_BYTES + 1], cgroup[PATH_MAX], user[USER_NAME_BYTES];
};

/* Returns false if unknown. */
static bool fill_owner(struct intake *intake, const struct profile_slot *slot,
		       struct slot_owner *reported)
{
	const struct profile_who *owner = find_owner(intake, slot);

	if (!owner)
		return false;
	/* Both have been looked up. */
	intake_name_cgroup(intake, owner->cgroup_id, true, reported->cgroup);
	user_name(intake->users, owner->uid, reported->user);
	memcpy(reported->comm, owner->comm, EVENT_COMM_BYTES);
	reported->comm[EVENT_COMM_BYTES] = 0;
	reported->who = (struct ledger_who) {
		.pid = slot->key.pid,
		.uid = owner->uid,
		.user = reported->user,
		.start_ns = owner->started_ns,
		.cgroup = reported->cgroup,
		.program = reported->comm,
		.rank = -1,
	};
	return true;
}

/* Looks up cgroups and users of processes known only from their slots; returns whether all are
 * known. */
static bool look_up_owners(struct intake *intake)
{
	char path[PATH_MAX], user[USER_NAME_BYTES];
	bool all = true;

	for (size_t i = 0; i < intake->slot_count; i++) {
		const struct profile_slot *slot = &intake->slots[i];

		if (!slot->who.started_ns ||
		    !(lacks_owner(intake, slot) || needs_cgroup(intake, slot)))
			continue;
		all &= cgroups_path(intake->cgroups, slot->who.cgroup_id, false, path);
		all &= user_name(intake->users, slot->who.uid, user);
	}
	return all;
}

/* Moves a process to where it was when it took the slot. With several hierarchies that is
 * unknown. */
static void take_cgroup(struct intake *intake, struct ledger_process *process,
			const struct profile_slot *slot)
{
	char cgroup[PATH_MAX];

	if (!intake->one_hierarchy || !slot->who.started_ns)
		return;
	/* It has been looked up. */
	intake_name_cgroup(intake, slot->who.cgroup_id, true, cgroup);
	if (strcmp(cgroup, LEDGER_UNKNOWN) != 0)
		ledger_move(intake->ledger, process, cgroup);
}

/* Returns whether the slot's pid still belongs to the process that took the slot. */
static bool is_still(const struct profile_slot *slot, const struct ledger_process *process)
{
	return slot->who.started_ns ? intake_has_begun(process->pid, slot->who.started_ns)
				    : intake_is_same(process->pid, process->start_ns);
}

/* Looks up a process that is unknown, was not checked for a while, or may have changed its
 * cgroup. */
static void check_owner(struct intake *intake, const struct profile_slot *slot, uint64_t now_ns)
{
	struct ledger_process *process;
	char cgroup[JOB_CGROUP_BYTES * 8];
	bool moved;

	if (!slot->key.pid)
		return;
	if (!ledger_knows(intake->ledger, slot->key.pid, slot->who.started_ns, slot->last_ns)) {
		adopt(intake, slot->key.pid, slot->who.started_ns, slot->last_ns);
		return;
	}
	process = find_process(intake, slot);
	moved = may_be_elsewhere(intake, process);
	if (!process || (!moved && now_ns < process->checked_ns + CHECK_EVERY_NS))
		return;
	if (!process->end_ns && process_cgroup(process->pid, cgroup, sizeof(cgroup)) &&
	    is_still(slot, process)) {
		process->checked_ns = now_ns;
		process->checked_moves = intake->moves;
		ledger_move(intake->ledger, process, cgroup);
	} else if (moved) {
		take_cgroup(intake, process, slot);
	}
}

/* Books what a transfer wrote. Its time is booked once, on the reading side if there is one. */
static void book_written(struct intake *intake, const struct profile_slot *slot,
			 const struct ledger_added *read)
{
	struct ledger_added written = *read;

	written.op = LEDGER_WRITE;
	written.file = slot->key.file2;
	written.counts.fetched_bytes = 0;
	written.counts.created_bytes = slot->sums.created_pages * (uint64_t)intake->page_bytes;
	written.counts.read_for_write_bytes =
		slot->sums.read_for_write_sectors * (uint64_t)TRACE_SECTOR_BYTES;
	if (slot->key.file) {
		written.counts.time_ns = 0;
		written.latencies = NULL;
	}
	ledger_add(intake->ledger, &written);
}

static void book_io(struct intake *intake, const struct profile_slot *slot,
		    const struct class *class, struct ledger_added *added)
{
	added->op = class->op;
	added->method = class->method;
	if (class->method == METHOD_MMAP)
		added->counts.bytes =
			class->op == LEDGER_READ
				? added->counts.fetched_bytes
				: (uint64_t)slot->sums.dirtied_pages * intake->page_bytes;
	if (class->transfer && slot->key.file2) {
		added->counts.created_bytes = 0;
		added->counts.read_for_write_bytes = 0;
		book_written(intake, slot, added);
		if (!slot->key.file)
			return;
	}
	ledger_add(intake->ledger, added);
}

static void book(struct intake *intake, const struct profile_slot *slot, uint64_t now_ns)
{
	const struct class class = classes_of(intake->classes, slot->key.op, slot->key.flags);
	const struct profile_sums *sums = &slot->sums;
	const uint64_t page = intake->page_bytes;
	struct slot_owner owner;
	struct ledger_added added = {
		.pid = slot->key.pid,
		.start_ns = slot->who.started_ns,
		.file = slot->key.file,
		.first_ns = slot->first_ns,
		.last_ns = slot->last_ns,
		.counts = { .count = class.counted ? sums->count : 0,
			    .errors = class.counted ? sums->errors : 0,
			    .bytes = sums->bytes,
			    .fetched_bytes = sums->fetched_pages * page,
			    .created_bytes = sums->created_pages * page,
			    .read_for_write_bytes =
				    sums->read_for_write_sectors * (uint64_t)TRACE_SECTOR_BYTES,
			    .time_ns = class.timed ? sums->time_ns : 0,
			    .major_faults = class.counted ? sums->major_faults : 0,
			    .call_major_faults = class.counted ? 0 : sums->major_faults },
		/* Operations whose ends were not seen have no known latency. */
		.latencies = class.counted && class.timed ? sums->latencies : NULL,
	};

	if (class.what == CLASS_NONE)
		return;
	if (class.what == CLASS_FILL) {
		ledger_add_unattributed(intake->ledger, added.counts.fetched_bytes,
					added.counts.created_bytes);
		return;
	}
	check_owner(intake, slot, now_ns);
	if (lacks_owner(intake, slot) && fill_owner(intake, slot, &owner))
		added.who = &owner.who;
	if (class.what == CLASS_THROTTLED)
		ledger_add_throttled(intake->ledger, &added);
	else
		book_io(intake, slot, &class, &added);
}

/* --- operations in flight --- */

void intake_set_in_flight(struct intake *intake, const struct in_flight_list *list)
{
	intake->in_flight = list;
}

static void book_in_flight(struct intake *intake)
{
	const struct in_flight_list *list = intake->in_flight;
	size_t count = list ? list->count : 0, operation_count;
	const struct trace_operation *names = calls_operations(&operation_count);
	struct ledger_in_flight *operations = calloc(count ? count : 1, sizeof(*operations));

	for (size_t i = 0; operations && i < count; i++) {
		struct event_in_flight *row = &list->rows[i];

		row->path[IN_FLIGHT_PATH_BYTES - 1] = 0;
		operations[i] = (struct ledger_in_flight) {
			.pid = row->pid,
			.tid = row->tid,
			.process_start_ns = row->process_start_ns,
			.since_ns = row->start_ns,
			.op = row->op < operation_count ? names[row->op].name : "?",
			.path = row->path[0] ? row->path : NULL,
			.file = row->file,
			.count = row->count,
			.before = row->flags & IN_FLIGHT_BEFORE,
		};
	}
	ledger_set_in_flight(intake->ledger, operations, operations ? count : 0);
	free(operations);
}

/* --- threads --- */

void intake_set_threads(struct intake *intake, const struct thread_list *list)
{
	intake->thread_list = list;
}

void intake_read_blocked(struct intake *intake, struct python_live *live, uint64_t since_ns)
{
	if (intake->lines && intake->thread_list)
		line_times_take_blocked(intake->lines, live, intake->thread_list, since_ns);
}

/* Looks up where processes are that may have changed their cgroup, and possibly do no I/O. */
static void check_threads(struct intake *intake, uint64_t now_ns)
{
	const struct thread_list *list = intake->thread_list;
	char cgroup[JOB_CGROUP_BYTES * 8];

	for (size_t i = 0; list && i < list->count; i++) {
		const struct event_thread_now *row = &list->rows[i];
		const uint32_t pid = row->time.header.pid;
		struct ledger_process *process = NULL;

		if (row->time.header.tid == pid)
			process = ledger_find_owner(intake->ledger, pid, row->process_start_ns,
						    row->now_ns, row->now_ns)
					  .process;
		if (!may_be_elsewhere(intake, process) || process->end_ns ||
		    now_ns < process->checked_ns + CHECK_EVERY_NS)
			continue;
		process->checked_ns = now_ns;
		if (!process_cgroup(pid, cgroup, sizeof(cgroup)) ||
		    !intake_has_begun(pid, row->process_start_ns))
			continue;
		process->checked_moves = intake->moves;
		ledger_move(intake->ledger, process, cgroup);
	}
}

bool intake_book(struct intake *intake, uint64_t until_ns, uint64_t now_ns)
{
	if (!ledger_lock_within(intake->ledger, BOOK_WITHIN_NS))
		return false;
	if (!intake_catch_up(intake, false) || !look_up_owners(intake)) {
		ledger_unlock(intake->ledger);
		return false;
	}
	recheck_all(intake, now_ns);
	for (size_t i = 0; i < intake->slot_count; i++)
		book(intake, &intake->slots[i], now_ns);
	span_times_settle(intake->spans, intake->ledger, until_ns, true);
	check_threads(intake, now_ns);
	thread_times_settle(intake->threads, intake->ledger, intake->thread_list);
	if (intake->lines)
		line_times_settle(intake->lines, intake->ledger);
	intake->recheck = false;
	intake->slot_count = 0;
	if (intake->slot_room > SLOTS_ALWAYS) {
		free(intake->slots);
		intake->slots = NULL;
		intake->slot_room = 0;
	}
	intake->ended = 0;
	book_in_flight(intake);
	ledger_settle(intake->ledger, until_ns);
	ledger_unlock(intake->ledger);
	return true;
}
