/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Passes records about processes, files and devices on to the ledger. */
#include "monitor/intake/intake_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/calls/calls.h"
#include "capture/drain/decode.h"
#include "capture/names/names.h"
#include "capture/host/proc.h"
#include "collections/grow.h"
#include "monitor/ledger/job_labels.h"
#include "monitor/intake/process_facts.h"

#define PROC_SLACK_NS                                                                              \
	1000000ull /* tolerance of start times: the clocks are read one after the other */
/* Words of records kept while the ledger is being read; with more, the intake waits for it.
 * KEPT_ALWAYS words are never freed. */
#define KEPT_MAX (2u << 20)
#define KEPT_ALWAYS (32u << 10)

/* --- opening and closing --- */

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
	if (!intake->classes || span_times_open(&intake->spans) ||
	    thread_times_open(&intake->threads) || cgroups_open(&intake->cgroups, NULL) ||
	    user_names_open(&intake->users)) {
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
	user_names_close(intake->users);
	job_naming_close(intake->naming);
	classes_close(intake->classes);
	span_times_close(intake->spans);
	thread_times_close(intake->threads);
	line_times_close(intake->lines);
	free(intake->slots);
	free(intake->kept);
	free(intake);
}

int intake_keep_cgroups(struct intake *intake, int fd)
{
	return cgroups_keep(intake->cgroups, fd);
}

struct intake_losses intake_losses(const struct intake *intake)
{
	return (struct intake_losses) {
		.operations = intake->lost,
		.spans = span_times_lost(intake->spans),
		.span_ends = span_times_lost_ends(intake->spans),
		.threads = thread_times_lost(intake->threads),
		.lines = intake->lines ? line_times_lost(intake->lines) : 0,
	};
}

uint64_t intake_unnamed_lines(const struct intake *intake)
{
	return intake->lines ? line_times_unnamed(intake->lines) : 0;
}

int intake_name_jobs(struct intake *intake, const char *root, bool privileged)
{
	return job_naming_open(&intake->naming, root, privileged);
}

int intake_keep_lines(struct intake *intake, volatile uint32_t *generation_out)
{
	return line_times_open(&intake->lines, generation_out);
}

void intake_forget_spans(struct intake *intake)
{
	span_times_forget(intake->spans);
}

void intake_on_code(struct intake *intake, decoder_code_fn emit, void *context)
{
	intake->on_code = emit;
	intake->code_context = context;
}

/* --- identities --- */

bool intake_is_start(uint64_t proc_ns, uint64_t start_ns)
{
	return proc_ns <= start_ns + PROC_SLACK_NS &&
	       start_ns < proc_ns + 1000000000ull / sysconf(_SC_CLK_TCK) + PROC_SLACK_NS;
}

bool intake_is_same(uint32_t pid, uint64_t start_ns)
{
	uint64_t now_ns = process_start_ns(pid);

	return now_ns && now_ns < start_ns + LEDGER_START_WITHIN_NS &&
	       start_ns < now_ns + LEDGER_START_WITHIN_NS;
}

bool intake_has_begun(uint32_t pid, uint64_t start_ns)
{
	uint64_t now_ns = process_start_ns(pid);

	return now_ns && intake_is_start(now_ns, start_ns);
}

bool intake_name_cgroup(struct intake *intake, uint64_t id, bool wait, char path[PATH_MAX])
{
	if (!cgroups_path(intake->cgroups, id, wait, path))
		return false;
	if (!path[0] || (!strcmp(path, "/") && !intake->one_hierarchy))
		strcpy(path, LEDGER_UNKNOWN);
	return true;
}

/* Asks /proc for the cgroup of the process that started then. A path that names no job is worth
 * less than the cgroup v2 path that the kernel reported. */
static bool ask_proc(const struct event_exec *event, bool names_job, char path[PATH_MAX])
{
	struct job_labels labels;

	if (!process_cgroup(event->header.pid, path, PATH_MAX) ||
	    !intake_has_begun(event->header.pid, event->started_ns))
		return false;
	job_labels_of(path, &labels);
	return !names_job || job_labels_any(&labels);
}

/*
 * Finds the cgroup of a newly reported process. Most are in that of their parent, which was looked
 * up. Otherwise it is the kernel's cgroup v2 path or, where that does not distinguish jobs, the
 * path in /proc, unless the pid now belongs to another process. Returns false while a lookup is
 * pending, unless `wait`.
 */
static bool find_cgroup(struct intake *intake, const struct event_exec *event, bool wait,
			char path[PATH_MAX])
{
	const struct ledger_process *process = ledger_process(intake->ledger, event->header.pid);
	char asked[PATH_MAX];
	bool known;

	if (process && process->cgroup_set && process->cgroup_set == event->cgroup_set) {
		snprintf(path, PATH_MAX, "%s", process->job->labels.cgroup);
		return true;
	}
	if (!intake_name_cgroup(intake, event->cgroup_id, wait, path))
		return false;
	known = strcmp(path, LEDGER_UNKNOWN) != 0;
	if (!(known && intake->one_hierarchy) && ask_proc(event, known, asked))
		strcpy(path, asked);
	return true;
}

static void apply_exec(struct intake *intake, const struct event_exec *event, const char *cgroup,
		       const char *user)
{
	char comm[EVENT_COMM_BYTES + 1] = { 0 };
	char *asked = NULL;
	struct ledger_who who = {
		.pid = event->header.pid,
		.uid = event->uid,
		.user = user,
		.start_ns = event->started_ns,
		.cgroup = cgroup,
		.cgroup_set = event->cgroup_set,
		.program = comm,
		.command = event->command,
		.command_bytes = event->command_bytes,
		.rank = names_rank(&event->ranks),
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
	char cgroup[PATH_MAX], user[USER_NAME_BYTES];

	if ((!user_name(intake->users, event->uid, user) && !wait) ||
	    !find_cgroup(intake, event, wait, cgroup))
		return false;
	apply_exec(intake, event, cgroup, user);
	return true;
}

static void take_file(struct intake *intake, const struct event_file *event)
{
	char path[NAMES_PATH_BYTES];
	const struct ledger_file_name name = {
		.id = event->id,
		.ino = event->ino,
		.dev = event->dev,
		.generation = event->generation,
		.instance = event->instance,
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
		device.calls[i] = (struct ledger_calls) {
			.count = event->calls[i].calls,
			.retransmits = event->calls[i].retransmits,
			.round_trip_ns = event->calls[i].round_trip_ns,
		};
	}
	ledger_set_device(intake->ledger, &device, event->instance);
}

static void report_code(const struct intake *intake, const struct event_header *header)
{
	const struct code_mapping mapping = code_mapping_of(header);

	if (intake->on_code)
		intake->on_code(intake->code_context, &mapping);
}

/* Applies a record to the ledger, which is locked. Returns false while a lookup is pending; never
 * with `wait`. */
static bool apply(struct intake *intake, const void *record, bool wait)
{
	const struct event_header *header = record;
	const struct event_fork *fork = record;
	const struct event_exit *end = record;

	switch (header->kind) {
	case RECORD_FORK:
		if (fork->child_pid == fork->child_tid)
			ledger_fork(intake->ledger, header->pid, fork->child_pid, header->time_ns);
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

bool intake_catch_up(struct intake *intake, bool wait)
{
	size_t at = 0;

	while (at < intake->kept_words && apply(intake, &intake->kept[at + 1], wait))
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

/* Returns false if there is no room. */
static bool keep(struct intake *intake, const void *record, size_t size)
{
	size_t words = 1 + (size + sizeof(*intake->kept) - 1) / sizeof(*intake->kept);

	if (intake->kept_words + words > KEPT_MAX ||
	    !GROW(intake->kept, intake->kept_room, intake->kept_words + words))
		return false;
	intake->kept[intake->kept_words] = words;
	memcpy(&intake->kept[intake->kept_words + 1], record, size);
	intake->kept_words += words;
	return true;
}

/* Handles what need not wait for readers of the ledger. */
static void take_at_once(struct intake *intake, const struct event_header *header)
{
	const struct event_exec *exec = (const struct event_exec *)header;
	const struct event_exit *end = (const struct event_exit *)header;
	char path[PATH_MAX], user[USER_NAME_BYTES];

	span_times_take(intake->spans, header);
	thread_times_take(intake->threads, header);
	if (header->kind == RECORD_EXEC) {
		/* Starts the lookups early. */
		cgroups_path(intake->cgroups, exec->cgroup_id, false, path);
		user_name(intake->users, exec->uid, user);
		if (!(exec->flags & (TRACE_EXEC_NOT_FOLLOWED | TRACE_EXEC_PRESENT)))
			report_code(intake, header);
	} else if (header->kind == RECORD_CODE)
		report_code(intake, header);
	else if (header->kind == RECORD_EXIT)
		intake->ended += end->process_ends;
}

/* Returns false if the ledger is being read or earlier records are still kept. */
static bool apply_at_once(struct intake *intake, const void *record)
{
	bool reported;

	if (intake->kept_words || !ledger_lock_within(intake->ledger, 0))
		return false;
	reported = apply(intake, record, false);
	ledger_unlock(intake->ledger);
	return reported;
}

void intake_take(void *context, unsigned int ring, const void *record, size_t size)
{
	struct intake *intake = context;

	if (!decoder_is_whole(record, size) || line_times_take(intake->lines, record))
		return;
	take_at_once(intake, record);
	if (apply_at_once(intake, record) || keep(intake, record, size))
		return;
	ledger_lock(intake->ledger);
	intake_catch_up(intake, true);
	apply(intake, record, true);
	ledger_unlock(intake->ledger);
}

bool intake_has_exited(void *context, uint32_t pid)
{
	struct intake *intake = context;

	return !ledger_process(intake->ledger, pid);
}

unsigned int intake_ended(const struct intake *intake)
{
	return intake->ended;
}

void intake_settle(struct intake *intake, uint64_t until_ns)
{
	if (!ledger_lock_within(intake->ledger, 0))
		return;
	if (intake_catch_up(intake, false))
		span_times_settle(intake->spans, intake->ledger, until_ns, false);
	if (intake->naming)
		job_naming_settle(intake->naming, intake->ledger, until_ns);
	ledger_unlock(intake->ledger);
}
