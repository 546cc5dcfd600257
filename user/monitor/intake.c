/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who did what: from records and slots to bookings. Knows nothing of what the ledger makes of them.
 */
#include "monitor/intake.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/calls.h"
#include "capture/cgroups.h"
#include "capture/decode.h"
#include "capture/environments.h"
#include "capture/host.h"
#include "capture/names.h"
#include "capture/proc.h"
#include "grow.h"
#include "monitor/classes.h"
#include "monitor/process_facts.h"
#include "monitor/span_times.h"

#define ENVIRONMENTS_MORE 16	     /* than there are rings */
#define LOOK_EVERY_NS 10000000000ull /* at the cgroup of a process that does something */
#define LATE_NS 1000000000ull	     /* a pid may have come again since then */
/* Words of records that are kept while the ledger is read; with more it is waited for. Of them
 * those that are never given back. */
#define KEPT_MOST (2u << 20)
#define KEPT_ALWAYS (32u << 10)
#define SLOTS_ALWAYS 2048 /* the same of slots, whose room a busy second needs once */
#define BOOK_WITHIN_NS 10000000ull

struct intake {
	struct ledger *ledger;
	/* Records that came while somebody read the ledger, or the cgroup of one was looked up, in
	 * their order: words, of which the first says how many there are of a record with it. */
	uint64_t *kept;
	size_t kept_words, kept_room;
	bool look_again;
	uint64_t look_since_ns;
	struct environments *environments;
	struct classes *classes;
	unsigned int page_bytes;
	bool one_hierarchy; /* of cgroups: the second version's alone */
	struct cgroups *cgroups;
	struct profile_slot *slots; /* to be booked */
	size_t slot_count, slot_room;
	uint64_t lost;
	unsigned int ended; /* processes, since the last booking */
	struct span_times *spans;
	decoder_code_fn tell_code; /* NULL: nobody looks for markers */
	void *code_context;
};

/* --- from the opening to the close --- */

static bool has_one_hierarchy(void)
{
	size_t bytes;
	char *text = proc_read(1, "cgroup", 16384, &bytes);
	bool one = text && bytes > 3 && !memcmp(text, "0::", 3) && !memchr(text, '\n', bytes - 1);

	free(text);
	return one;
}

int intake_open(struct intake **out, struct ledger *ledger, unsigned int rings,
		unsigned int page_bytes)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	const struct trace_operation *operations;
	size_t count;

	if (!intake)
		return -ENOMEM;
	operations = calls_operations(&count);
	intake->classes = classes_open(operations, count);
	intake->environments = environments_open(rings + ENVIRONMENTS_MORE);
	if (!intake->classes || !intake->environments || span_times_open(&intake->spans) ||
	    cgroups_open(&intake->cgroups, NULL)) {
		intake_close(intake);
		return -ENOMEM;
	}
	intake->ledger = ledger;
	intake->page_bytes = page_bytes;
	intake->one_hierarchy = has_one_hierarchy();
	*out = intake;
	return 0;
}

void intake_close(struct intake *intake)
{
	if (!intake)
		return;
	cgroups_close(intake->cgroups);
	environments_close(intake->environments);
	classes_close(intake->classes);
	span_times_close(intake->spans);
	free(intake->slots);
	free(intake->kept);
	free(intake);
}

uint64_t intake_lost(const struct intake *intake)
{
	return intake->lost;
}

uint64_t intake_lost_spans(const struct intake *intake)
{
	return span_times_lost(intake->spans);
}

void intake_forget_spans(struct intake *intake)
{
	span_times_forget(intake->spans);
}

void intake_tell_code(struct intake *intake, decoder_code_fn tell, void *context)
{
	intake->tell_code = tell;
	intake->code_context = context;
}

/* --- who --- */

/* Whether the process of that pid is still the one that began then. */
static bool is_same(uint32_t pid, uint64_t start_ns)
{
	uint64_t now_ns = process_start_ns(pid);

	return now_ns && now_ns < start_ns + LEDGER_START_WITHIN_NS &&
	       start_ns < now_ns + LEDGER_START_WITHIN_NS;
}

/* What a cgroup of the second version's hierarchy is called; LEDGER_UNKNOWN, where it is gone, or
 * where it is everybody's because another hierarchy tells them apart. False while it is being
 * looked up, unless it is to wait. */
static bool name_cgroup(struct intake *intake, uint64_t id, bool wait, char path[PATH_MAX])
{
	if (!cgroups_path(intake->cgroups, id, wait, path))
		return false;
	if (!path[0] || (!strcmp(path, "/") && !intake->one_hierarchy))
		strcpy(path, LEDGER_UNKNOWN);
	return true;
}

/*
 * Where a process is that has just been told of. Most are where their parents were, which were
 * looked at. One that has moved and is gone already is where the second version's hierarchy has it,
 * if it is not everybody's there; else nobody knows. False while that is being looked up, unless it
 * is to wait.
 */
static bool find_cgroup(struct intake *intake, const struct event_exec *event, bool wait,
			char path[PATH_MAX])
{
	const struct ledger_process *process = ledger_process(intake->ledger, event->header.pid);
	bool late = host_now_ns() - event->header.time_ns > LATE_NS;

	if (process && process->cgroup_set && process->cgroup_set == event->cgroup_set) {
		snprintf(path, PATH_MAX, "%s", process->job->labels.cgroup);
		return true;
	}
	if ((!late || is_same(event->header.pid, event->started_ns)) &&
	    process_cgroup(event->header.pid, path, PATH_MAX))
		return true;
	return name_cgroup(intake, event->cgroup_id, wait, path);
}

static void tell_exec(struct intake *intake, const struct event_exec *event, const char *cgroup)
{
	char comm[EVENT_COMM_BYTES + 1] = { 0 };
	char *asked = NULL;
	size_t environ_bytes;
	const char *environment =
		environments_take(intake->environments, event->header.tid, &environ_bytes);
	struct ledger_who who = {
		.pid = event->header.pid,
		.uid = event->uid,
		.start_ns = event->started_ns,
		.cgroup = cgroup,
		.cgroup_set = event->cgroup_set,
		.program = comm,
		.command = event->command,
		.command_bytes = event->command_bytes,
		.rank = environment ? names_rank(environment, environ_bytes) : -1,
	};

	memcpy(comm, event->comm, sizeof(event->comm));
	if (!who.command_bytes && event->flags & TRACE_EXEC_JOINED && proc_is_of_kernel_side()) {
		asked = proc_read(who.pid, "cmdline", EVENT_COMMAND_BYTES, &who.command_bytes);
		who.command = asked ? asked : "";
	}
	ledger_exec(intake->ledger, &who, event->header.time_ns);
	free(asked);
}

static bool take_exec(struct intake *intake, const struct event_exec *event, bool wait)
{
	char cgroup[PATH_MAX];

	if (!find_cgroup(intake, event, wait, cgroup))
		return false;
	tell_exec(intake, event, cgroup);
	return true;
}

/* Somebody does something whose beginning was not told. */
static void adopt(struct intake *intake, uint32_t pid, uint64_t last_ns)
{
	struct process_facts facts;
	size_t bytes = 0;
	char *command;
	struct ledger_who who = { .pid = pid, .rank = -1 };

	if (!process_look(pid, &facts) || facts.start_ns > last_ns)
		return;
	command = proc_read(pid, "cmdline", EVENT_COMMAND_BYTES, &bytes);
	who.uid = facts.uid;
	who.start_ns = facts.start_ns;
	who.cgroup = facts.cgroup;
	who.program = facts.comm;
	who.command = command ? command : "";
	who.command_bytes = bytes;
	ledger_exec(intake->ledger, &who, facts.start_ns);
	free(command);
}

static void take_file(struct intake *intake, const struct event_file *event)
{
	char path[NAMES_PATH_BYTES];
	const struct ledger_file_name name = {
		.id = event->id,
		.ino = event->ino,
		.dev = event->dev,
		.generation = event->generation,
		.filesystem = event->filesystem,
		.path = path,
		.path_bytes = names_path(event, path),
	};

	ledger_name_file(intake->ledger, &name);
}

static void take_device(struct intake *intake, const struct event_device *event)
{
	struct ledger_device device = { .dev = event->dev };

	memcpy(device.name, event->name.text, sizeof(device.name) - 1);
	for (unsigned int i = 0; i < DEVICE_CLASSES; i++) {
		const struct device_counts *of = &event->total.of[i];

		device.of[i] = (struct ledger_counts) { .count = of->requests,
							.errors = of->errors,
							.bytes = of->bytes,
							.time_ns = of->time_ns };
	}
	ledger_tell_device(intake->ledger, &device);
}

static void tell_code(const struct intake *intake, const struct event_header *header,
		      uint64_t address, uint64_t bytes)
{
	if (intake->tell_code)
		intake->tell_code(intake->code_context, header->pid, address, bytes,
				  header->time_ns);
}

/* Tells the ledger, which is locked. False: it is not known yet what; never with `wait`. */
static bool tell_ledger(struct intake *intake, const void *record, bool wait)
{
	const struct event_header *header = record;
	const struct event_fork *fork = record;
	const struct event_exit *end = record;

	switch (header->kind) {
	case RECORD_FORK:
		if (fork->child_pid == fork->child_tid)
			ledger_fork(intake->ledger, header->pid, fork->child_pid, header->time_ns);
		break;
	case RECORD_ENVIRON:
		environments_add(intake->environments, record);
		break;
	case RECORD_EXEC:
		return take_exec(intake, record, wait);
	case RECORD_EXIT:
		if (end->process_ends)
			ledger_exit(intake->ledger, header->pid, header->time_ns);
		break;
	case RECORD_FILE:
		take_file(intake, record);
		break;
	case RECORD_DEVICE:
		take_device(intake, record);
		break;
	}
	return true;
}

/* Of the records that are kept tells those that can be told, whether all: the ledger is locked. */
static bool catch_up(struct intake *intake, bool wait)
{
	size_t at = 0;

	while (at < intake->kept_words && tell_ledger(intake, &intake->kept[at + 1], wait))
		at += intake->kept[at];
	intake->kept_words -= at;
	if (intake->kept_words) {
		memmove(intake->kept, intake->kept + at,
			intake->kept_words * sizeof(*intake->kept));
	} else if (intake->kept_room > KEPT_ALWAYS) {
		free(intake->kept);
		intake->kept = NULL;
		intake->kept_room = 0;
	}
	return !intake->kept_words;
}

/* False: there is no room for it. */
static bool keep(struct intake *intake, const void *record, size_t size)
{
	size_t words = 1 + (size + sizeof(*intake->kept) - 1) / sizeof(*intake->kept);

	if (intake->kept_words + words > KEPT_MOST ||
	    !GROW(intake->kept, intake->kept_room, intake->kept_words + words))
		return false;
	intake->kept[intake->kept_words] = words;
	memcpy(&intake->kept[intake->kept_words + 1], record, size);
	intake->kept_words += words;
	return true;
}

/* What does not wait for who reads the ledger. */
static void take_at_once(struct intake *intake, const struct event_header *header)
{
	const struct event_exec *exec = (const struct event_exec *)header;
	const struct event_code *code = (const struct event_code *)header;
	const struct event_exit *end = (const struct event_exit *)header;
	char path[PATH_MAX];

	span_times_take(intake->spans, header);
	if (header->kind == RECORD_EXEC) {
		cgroups_path(intake->cgroups, exec->cgroup_id, false, path); /* ahead of its turn */
		if (!(exec->flags & (TRACE_EXEC_NOT_FOLLOWED | TRACE_EXEC_PRESENT)))
			tell_code(intake, header, 0, 0);
	} else if (header->kind == RECORD_CODE)
		tell_code(intake, header, code->address, code->bytes);
	else if (header->kind == RECORD_EXIT)
		intake->ended += end->process_ends;
}

/* False: somebody reads the ledger, or what came before is not told yet. */
static bool tell_at_once(struct intake *intake, const void *record)
{
	bool told;

	if (intake->kept_words || !ledger_lock_within(intake->ledger, 0))
		return false;
	told = tell_ledger(intake, record, false);
	ledger_unlock(intake->ledger);
	return told;
}

void intake_take(void *context, unsigned int ring, const void *record, size_t size)
{
	struct intake *intake = context;

	if (!decoder_is_whole(record, size))
		return;
	take_at_once(intake, record);
	if (tell_at_once(intake, record) || keep(intake, record, size))
		return;
	ledger_lock(intake->ledger);
	catch_up(intake, true);
	tell_ledger(intake, record, true);
	ledger_unlock(intake->ledger);
}

bool intake_is_over(void *context, uint32_t pid)
{
	struct intake *intake = context;

	return !ledger_process(intake->ledger, pid);
}

unsigned int intake_ended(const struct intake *intake)
{
	return intake->ended;
}

struct look {
	struct intake *intake;
	uint64_t now_ns;
};

static void look_at(void *context, struct ledger_process *process)
{
	const struct look *look = context;

	if (!is_same(process->pid, process->start_ns))
		ledger_vanish(look->intake->ledger, process, look->intake->look_since_ns);
	else if (process->forked)
		adopt(look->intake, process->pid, look->now_ns);
}

void intake_look_again(struct intake *intake, uint64_t since_ns)
{
	if (!intake->look_again)
		intake->look_since_ns = since_ns;
	intake->look_again = true;
}

/* The ledger is locked. */
static void look_again(struct intake *intake, uint64_t now_ns)
{
	struct look look = { intake, now_ns };

	if (intake->look_again && proc_is_of_kernel_side())
		ledger_each_process(intake->ledger, look_at, &look);
}

/* --- what --- */

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
 * Who took a slot whose process nobody has told of, or another of that process: records are lost
 * where somebody is stopped for long, slots are not.
 */
static const struct profile_who *find_taker(const struct intake *intake,
					    const struct profile_slot *slot)
{
	if (slot->who.started_ns || !slot->key.pid)
		return slot->who.started_ns ? &slot->who : NULL;
	for (size_t i = 0; i < intake->slot_count; i++)
		if (intake->slots[i].key.pid == slot->key.pid && intake->slots[i].who.started_ns)
			return &intake->slots[i].who;
	return NULL;
}

/* Nobody has told who does what is in a slot, or not all that there was to tell. */
static bool wants_taker(const struct intake *intake, const struct profile_slot *slot)
{
	return intake->look_again || !ledger_knows(intake->ledger, slot->key.pid, slot->last_ns);
}

/* The strings of `who` are in the other two; false: nobody knows. */
static bool tell_taker(struct intake *intake, const struct profile_slot *slot,
		       struct ledger_who *who, char comm[EVENT_COMM_BYTES + 1], char path[PATH_MAX])
{
	const struct profile_who *taker = find_taker(intake, slot);

	if (!taker)
		return false;
	name_cgroup(intake, taker->cgroup_id, true, path); /* it has been looked up */
	memcpy(comm, taker->comm, EVENT_COMM_BYTES);
	comm[EVENT_COMM_BYTES] = 0;
	*who = (struct ledger_who) {
		.pid = slot->key.pid,
		.uid = taker->uid,
		.start_ns = taker->started_ns,
		.cgroup = path,
		.program = comm,
		.rank = -1,
	};
	return true;
}

/* Has the cgroups looked up of those whom nothing but their slots tell of; whether all are known.
 */
static bool look_up_takers(struct intake *intake)
{
	char path[PATH_MAX];
	bool all = true;

	for (size_t i = 0; i < intake->slot_count; i++) {
		const struct profile_slot *slot = &intake->slots[i];

		if (slot->who.started_ns && wants_taker(intake, slot))
			all &= cgroups_path(intake->cgroups, slot->who.cgroup_id, false, path);
	}
	return all;
}

/* A process that is not known yet, or has not been looked at for a while. */
static void look_at_doer(struct intake *intake, const struct ledger_added *added, uint64_t now_ns)
{
	struct ledger_process *process;
	char cgroup[JOB_CGROUP_BYTES * 8];

	if (!added->pid)
		return;
	if (!ledger_knows(intake->ledger, added->pid, added->last_ns)) {
		adopt(intake, added->pid, added->last_ns);
		return;
	}
	process = ledger_process(intake->ledger, added->pid);
	if (!process || now_ns < process->looked_ns + LOOK_EVERY_NS)
		return;
	process->looked_ns = now_ns;
	if (process_cgroup(process->pid, cgroup, sizeof(cgroup)))
		ledger_move(intake->ledger, process, cgroup);
}

/* What a transfer wrote: it took its time once, on the side that reads, if there is one. */
static void book_written(struct intake *intake, const struct profile_slot *slot,
			 const struct ledger_added *read)
{
	struct ledger_added written = *read;

	written.op = LEDGER_WRITE;
	written.file = slot->key.file2;
	written.counts.fetched_bytes = 0;
	written.counts.created_bytes = slot->sums.created_pages * (uint64_t)intake->page_bytes;
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
	added->door = class->door;
	if (class->door == DOOR_MMAP)
		added->counts.bytes =
			class->op == LEDGER_READ
				? added->counts.fetched_bytes
				: (uint64_t)slot->sums.dirtied_pages * intake->page_bytes;
	if (class->transfer && slot->key.file2) {
		added->counts.created_bytes = 0;
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
	char comm[EVENT_COMM_BYTES + 1], cgroup[PATH_MAX];
	struct ledger_who taker;
	struct ledger_added added = {
		.pid = slot->key.pid,
		.file = slot->key.file,
		.first_ns = slot->first_ns,
		.last_ns = slot->last_ns,
		.counts = { .count = class.counted ? sums->count : 0,
			    .errors = class.counted ? sums->errors : 0,
			    .bytes = sums->bytes,
			    .fetched_bytes = sums->fetched_pages * page,
			    .created_bytes = sums->created_pages * page,
			    .time_ns = class.timed ? sums->time_ns : 0,
			    .major_faults = class.counted ? sums->major_faults : 0,
			    .call_major_faults = class.counted ? 0 : sums->major_faults },
		/* Of what ended without a word nobody knows when. */
		.latencies = class.counted && class.timed ? sums->latencies : NULL,
	};

	if (class.what == CLASS_NONE)
		return;
	if (class.what == CLASS_ASIDE) {
		ledger_add_unattributed(intake->ledger, added.file, added.counts.fetched_bytes,
					added.counts.created_bytes);
		return;
	}
	look_at_doer(intake, &added, now_ns);
	if (wants_taker(intake, slot) && tell_taker(intake, slot, &taker, comm, cgroup))
		added.who = &taker;
	if (class.what == CLASS_THROTTLED)
		ledger_add_throttled(intake->ledger, &added);
	else
		book_io(intake, slot, &class, &added);
}

bool intake_book(struct intake *intake, uint64_t until_ns, uint64_t now_ns)
{
	if (!ledger_lock_within(intake->ledger, BOOK_WITHIN_NS))
		return false;
	if (!catch_up(intake, false) || !look_up_takers(intake)) {
		ledger_unlock(intake->ledger);
		return false;
	}
	look_again(intake, now_ns);
	for (size_t i = 0; i < intake->slot_count; i++)
		book(intake, &intake->slots[i], now_ns);
	span_times_settle(intake->spans, intake->ledger, until_ns, true);
	intake->look_again = false;
	intake->slot_count = 0;
	if (intake->slot_room > SLOTS_ALWAYS) {
		free(intake->slots);
		intake->slots = NULL;
		intake->slot_room = 0;
	}
	intake->ended = 0;
	ledger_settle(intake->ledger, until_ns, now_ns);
	ledger_unlock(intake->ledger);
	return true;
}

void intake_settle(struct intake *intake, uint64_t until_ns)
{
	if (!ledger_lock_within(intake->ledger, 0))
		return;
	if (catch_up(intake, false))
		span_times_settle(intake->spans, intake->ledger, until_ns, false);
	ledger_unlock(intake->ledger);
}
