/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "device_users": the requests of a device by the programs of the run that made them.
 * Knows nothing of who waited for them.
 */
#include "analysis/device_users.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/devices.h"
#include "grow.h"
#include "units.h"

#define USERS_MOST 64 /* of a device; further ones count for the last */
#define GENERATIONS_MOST 4096

struct used_device {
	struct device_users_view view;
	struct device_user users[USERS_MOST];
	struct interval_union shared;
};

struct device_users {
	const struct job *job;
	struct used_device **all;
	size_t count, room;
	uint32_t *roots; /* of each process that was asked for; PROCESS_NONE: not yet */
	size_t root_room;
};

static int begin(const struct job *job, void **state)
{
	struct device_users *users = calloc(1, sizeof(*users));

	if (!users)
		return -ENOMEM;
	users->job = job;
	*state = users;
	return 0;
}

static void end(void *state)
{
	struct device_users *users = state;

	for (size_t i = 0; i < users->count; i++)
		free(users->all[i]);
	free(users->all);
	free(users->roots);
	free(users);
}

/* --- whose --- */

/* The program below the run's command that a process belongs to, or the command. */
static uint32_t find_root(const struct job *job, uint32_t process)
{
	const struct process *processes = job->processes.processes;
	uint32_t below = process;

	for (int i = 0; i < GENERATIONS_MOST; i++) {
		uint32_t parent = processes[process].parent;

		if (parent == PROCESS_NONE || parent == PROCESS_UNKNOWN)
			break;
		below = process;
		process = processes[process].parent;
	}
	return processes[below].executed ? below : process;
}

static int root_of(struct device_users *users, uint32_t process, uint32_t *root)
{
	size_t known = users->root_room;

	if (process >= known) {
		if (!GROW(users->roots, users->root_room, (size_t)process + 1))
			return -ENOMEM;
		for (size_t i = known; i < users->root_room; i++)
			users->roots[i] = PROCESS_NONE;
	}
	if (users->roots[process] == PROCESS_NONE)
		users->roots[process] = find_root(users->job, process);
	*root = users->roots[process];
	return 0;
}

/* *found is NULL when there are too many. */
static int find_device(struct device_users *users, uint32_t host, uint32_t dev,
		       struct used_device **found)
{
	*found = NULL;
	for (size_t i = 0; i < users->count; i++)
		if (users->all[i]->view.dev == dev && users->all[i]->view.host == host) {
			*found = users->all[i];
			return 0;
		}
	if (users->count == DEVICES_MOST)
		return 0;
	if (!GROW(users->all, users->room, users->count + 1))
		return -ENOMEM;
	*found = calloc(1, sizeof(**found));
	if (!*found)
		return -ENOMEM;
	(*found)->view =
		(struct device_users_view) { .host = host, .dev = dev, .users = (*found)->users };
	users->all[users->count++] = *found;
	return 0;
}

/* --- in passing --- */

/*
 * Two requests of different programs meet from the start of the later one to the first end: what
 * comes later starts later, so that the measure of all such stretches is exact (interval.h).
 */
static void add_time(struct used_device *device, struct device_user *user,
		     const struct event *event)
{
	uint64_t others_end = 0;

	for (size_t i = 0; i < device->view.count; i++) {
		const struct device_user *other = &device->users[i];

		if (other != user && other->process != PROCESS_UNKNOWN &&
		    other->time.end > others_end)
			others_end = other->time.end;
	}
	if (user->process != PROCESS_UNKNOWN)
		interval_add(&device->shared, event->start,
			     event->end < others_end ? event->end : others_end);
	interval_add(&user->time, event->start, event->end);
}

static int add_request(struct device_users *users, const struct event *event)
{
	uint32_t host = users->job->traces[event->block->trace].host, root;
	struct used_device *device;
	struct device_user *user;
	size_t i = 0;

	if (find_device(users, host, event_value(event, REQUEST_DEV), &device) ||
	    root_of(users, event->process, &root))
		return -ENOMEM;
	if (!device)
		return 0;
	while (i < device->view.count && device->users[i].process != root)
		i++;
	if (i == USERS_MOST)
		i--;
	user = &device->users[i];
	if (i == device->view.count) {
		user->process = root;
		device->view.count++;
	}
	user->bytes += event->bytes;
	user->requests += event->flags & EVENT_SECOND ? 0 : 1;
	add_time(device, user, event);
	return 0;
}

static void add_name(struct device_users *users, const struct event *event)
{
	const struct job_trace *trace = &users->job->traces[event->block->trace];
	uint32_t dev = event_value(event, DEVICE_DEV);

	for (size_t i = 0; i < users->count; i++)
		if (users->all[i]->view.dev == dev && users->all[i]->view.host == trace->host)
			users->all[i]->view.name =
				trace_reader_string(trace->reader, event_value(event, DEVICE_NAME));
}

static int add_events(void *state, const struct event *events, size_t count)
{
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++) {
		if (event->flags & EVENT_REQUEST)
			status = add_request(state, event);
		else if (event->flags & EVENT_DEVICE)
			add_name(state, event);
	}
	return status;
}

/* --- the table --- */

struct line {
	struct table_text name, comm;
	char dev[UNITS_TEXT];
	uint64_t pid, requests, bytes, time_ns, shared_ns;
};

static int get_dev(struct table *table, struct cell *cell, const void *row,
		   const struct table_column *column)
{
	(void)column;
	return table_set_literal(table, cell, ((const struct line *)row)->dev);
}

static const struct table_column columns[] = {
	{ "name", "device", UNIT_NONE, "as /sys/block has it", TABLE_TEXT(struct line, name), 0 },
	{ "dev", NULL, UNIT_NONE, "major:minor of the whole device", get_dev, 0, 0 },
	{ "pid", "pid", UNIT_NONE,
	  "the program that the run's command started, or the command; null: the kernel",
	  TABLE_UINT(struct line, pid), 0 },
	{ "comm", "program", UNIT_NONE, "its name", TABLE_TEXT(struct line, comm), 0 },
	{ "requests", "requests", UNIT_COUNT,
	  "whose first part it queued, with all that it has started",
	  TABLE_UINT(struct line, requests), 0 },
	{ "bytes", "bytes", UNIT_BYTES, "bytes of the run in them", TABLE_UINT(struct line, bytes),
	  0 },
	{ "time_ns", "time", UNIT_NS, "time with at least one of them under way",
	  TABLE_UINT(struct line, time_ns), 0 },
	{ "shared_ns", "with others", UNIT_NS,
	  "of the device: time with requests of two programs of the run under way, the kernel's "
	  "left out",
	  TABLE_UINT(struct line, shared_ns), 0 },
};

static int add_line(const struct device_users *users, struct table *table,
		    const struct used_device *device, const struct device_user *user)
{
	const struct job *job = users->job;
	const struct process *process = &job->processes.processes[user->process];
	struct trace_string comm = { NULL, 0 };
	struct line line = {
		.name = { device->view.name.bytes, device->view.name.length },
		.pid = TABLE_NO_UINT,
		.requests = user->requests,
		.bytes = user->bytes,
		.time_ns = user->time.measure,
		.shared_ns = device->shared.measure,
	};

	units_device(line.dev, device->view.dev);
	if (user->process != PROCESS_UNKNOWN) {
		line.pid = process->pid;
		comm = trace_reader_string(job->traces[process->trace].reader, process->comm);
	} else {
		comm = (struct trace_string) { "kernel", 6 };
	}
	line.comm = (struct table_text) { comm.length ? comm.bytes : NULL, comm.length };
	return table_add(table, &line);
}

static int fill(void *state, struct table *table)
{
	struct device_users *users = state;
	int status;

	if (!(users->job->layers & JOB_BLOCK)) {
		table->absent = true;
		return table_set_note(table, "requests to block devices were not recorded");
	}
	status = table_add_columns(table, TABLE_COLUMNS(columns));
	for (size_t i = 0; i < users->count; i++)
		for (size_t j = 0; j < users->all[i]->view.count && !status; j++)
			status = add_line(users, table, users->all[i], &users->all[i]->users[j]);
	return status;
}

bool device_users_of(const struct measured *measured, size_t number, struct device_users_view *view)
{
	const struct device_users *users = measured_state(measured, &analysis_device_users);

	if (number >= users->count)
		return false;
	*view = users->all[number]->view;
	view->shared_ns = users->all[number]->shared.measure;
	return true;
}

const struct analysis analysis_device_users = {
	.name = "device_users",
	.title = "Who used devices",
	.meaning = "requests to devices by the programs of the run, and whether they met there",
	.shown = "name,pid,comm,time_ns,requests,bytes,shared_ns",
	.by = "time_ns",
	.share = "of all",
	.shape = TABLE_LIST,
	.begin = begin,
	.passing.events = add_events,
	.columns = {
		[TRACE_REQUEST] = 1ull << REQUEST_DEV,
		[TRACE_DEVICE] = 1ull << DEVICE_DEV | 1ull << DEVICE_NAME,
	},
	.fill = fill,
	.end = end,
};
