/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding about block devices that several programs use. */
#include "analysis/devices/device_users.h"
#include "analysis/devices/devices.h"
#include "analysis/events/device_list.h"
#include "analysis/finding/finding.h"
#include "analysis/processes/processes.h"
#include "analysis/shared/trace_text.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

struct shared {
	struct table_text device, first, second;
	uint64_t first_bytes, second_bytes, shared_ns;
	uint64_t second_pid;
};

static const struct table_column shared_evidence[] = {
	FACT(shared, device, "device", NONE, "name in /sys/block"),
	FACT(shared, first, "first", NONE, "program that used it most"),
	FACT(shared, first_bytes, "bytes", BYTES, "bytes that this program moved"),
	FACT(shared, second, "second", NONE, "program with the second most use, or others"),
	FACT(shared, second_pid, NULL, NONE, "PID of the second program; null: outside the run"),
	FACT(shared, second_bytes, "bytes", BYTES, "bytes that this program moved"),
	FACT(shared, shared_ns, "with others", NS,
	     "time with requests of two programs of the run in flight; null: unknown for others"),
};

/* Ranks are one job. */
static bool are_two_jobs(const struct job *job, const struct device_user *a,
			 const struct device_user *b)
{
	const struct process *processes = job->processes.processes;

	return processes[a->process].rank < 0 || processes[b->process].rank < 0;
}

THRESHOLD_MIN(SHARED, 0.2, UNIT_SHARE,
	      "a device's use by its second user divided by that of its first",
	      "a choice: less is hardly noticeable");

/* Finds two programs of the run. Returns false if there are none. */
static bool find_programs(struct findings *findings, const struct device_users_view *view,
			  struct shared *shared)
{
	const struct job *job = findings->results->job;
	const struct device_user *first = NULL, *second = NULL;

	for (size_t i = 0; i < view->count; i++) {
		const struct device_user *user = &view->users[i];

		if (user->process == PROCESS_UNKNOWN)
			continue;
		if (!first || user->time.measure > first->time.measure) {
			second = first;
			first = user;
		} else if (!second || user->time.measure > second->time.measure) {
			second = user;
		}
	}
	if (!second || !are_two_jobs(job, first, second) ||
	    second->time.measure < threshold(THRESHOLD_SHARED) * first->time.measure ||
	    view->shared_ns < threshold(THRESHOLD_SHARED) * second->time.measure)
		return false;
	*shared = (struct shared) {
		.device = finding_device_name(findings, view->name, view->dev),
		.first = trace_text(job_comm(job, first->process)),
		.second = trace_text(job_comm(job, second->process)),
		.second_pid = job->processes.processes[second->process].pid,
		.first_bytes = first->bytes,
		.second_bytes = second->bytes,
		.shared_ns = view->shared_ns,
	};
	return true;
}

THRESHOLD_MIN(
	SHARED_TIME, 0.1, UNIT_SHARE,
	"share of the run spent waiting for the device, if its other users are not of the run",
	MLPERF_LIMIT);

/* Returns whether the run waits for the device for a good part of its time: otherwise others cannot
 * delay it for long. */
static bool is_in_use(const struct findings *findings, const struct device_view *view)
{
	uint64_t time_ns = 0;

	for (int use = 0; use < DEVICE_USES; use++)
		time_ns = number_max(time_ns, view->waits[use].time.measure);
	return finding_is_of_run(findings, time_ns, THRESHOLD_SHARED_TIME);
}

THRESHOLD_MIN(SHARED_BYTES, 16777216, UNIT_BYTES, "bytes moved by others",
	      "a choice: as for a large file");

/* Finds use by others outside the run. The kernel writes the journal, which may be all the
 * run's. */
static bool find_others(struct findings *findings, const struct device_view *view,
			struct shared *shared)
{
	uint64_t journal = processes_kernel_metadata(findings->results, view->host, view->device);
	uint64_t others = number_sub(view->all_bytes, view->own_bytes + journal);

	if (!view->all_known || others < threshold(THRESHOLD_SHARED_BYTES) ||
	    others < threshold(THRESHOLD_SHARED) * view->own_bytes ||
	    view->own_bytes < threshold(THRESHOLD_SHARED) * others || !is_in_use(findings, view))
		return false;
	*shared = (struct shared) {
		.device = finding_device_name(findings, view->name, view->dev),
		.first = { "the run", 7 },
		.second = { "others", 6 },
		.second_pid = TABLE_NO_UINT,
		.first_bytes = view->own_bytes,
		.second_bytes = others,
		.shared_ns = TABLE_NO_UINT,
	};
	return true;
}

/* Returns the part of a time that the run waited for, by the class of I/O that it waited for most:
 * which classes the requests were of is unknown. */
static uint64_t waited_ns(const struct findings *findings, uint64_t time_ns)
{
	uint64_t most_ns = 0;
	bool known = false;

	for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++) {
		if (!totals_class(findings->results, class).time.measure)
			continue;
		known = true;
		most_ns = number_max(most_ns, finding_unhidden(findings, class, time_ns));
	}
	return known ? most_ns : time_ns;
}

static int find_shared(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->results->job;
	struct finding_verdict others = { .cost_ns = TABLE_NO_UINT,
					  .cost_bytes = 0,
					  .confidence = FINDING_GUESS,
					  .severity = FINDING_BY_COST };
	struct device_users_view users;
	struct device_view view;
	struct shared shared;
	int status = 0;

	if (job->chosen) /* processes that the filter excludes are not others */
		return 0;
	for (size_t i = 0; !status && device_users_of(findings->results, i, &users); i++)
		if (!device_is_mount(users.dev) && find_programs(findings, &users, &shared))
			status = finding_add(findings, rule, &shared,
					     waited_ns(findings, shared.shared_ns), TABLE_NO_UINT);
	for (size_t i = 0; !status && devices_view(findings->results, i, &view); i++) {
		if (view.mount || !find_others(findings, &view, &shared))
			continue;
		others.cost_bytes = shared.second_bytes;
		status = finding_add_as(findings, rule, &shared, &others);
	}
	return status;
}

const struct finding_rule finding_device_shared = {
	.id = "device-shared",
	.order = 520,
	.exactness = FINDING_AT_MOST,
	.needs = JOB_BLOCK,
	.find = find_shared,
	.confidence = FINDING_LIKELY,
	FINDING_EVIDENCE(struct shared, shared_evidence),
	.thresholds = { &THRESHOLD_SHARED, &THRESHOLD_SHARED_BYTES, &THRESHOLD_SHARED_TIME },
	.title = "{device} serves {first} and {second}",
	.says = "{first} moved {first_bytes}, {second} {second_bytes}[; both had requests in "
		"flight for {shared_ns}]",
	.advice = "Keep their data on different devices or run one after the other; limit one of "
		  "them with ionice or cgroups (io.max, io.weight)",
	.more = "faultline report --table device_users TRACE",
	.pictures = "users",
	.rule = "Requests of two programs wait for each other at a device, and on a disk each "
		"turns the other's sequential reads into seeks. A program is what the run's "
		"command started: its own workers belong to it, ranks of one job are one program, "
		"and the kernel, which writes back later, does not count. For others outside the "
		"run, the device reports how much they moved but not when: then the run must wait "
		"for its own requests for a large part of its time, and the kernel's writes of "
		"file system metadata are excluded.",
};
