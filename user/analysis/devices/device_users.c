/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "device_users": a device's requests by the programs of the run that issued them. */
#include "analysis/devices/device_users.h"

#include <string.h>

#include "analysis/events/device_list.h"
#include "analysis/shared/trace_text.h"
#include "base/number.h"

#define USERS_MAX 64 /* per device; further users count as the last one */

struct used_device {
	struct device_user *users;
	size_t count, room;
	struct interval_union shared;
};

struct device_users {
	const struct job *job;
	struct arena *arena;
	struct device_list list;
	struct used_device *all; /* indexed as in `list` */
	size_t room;
	uint32_t *roots; /* per process, cached; PROCESS_NONE: not yet known */
	size_t root_room;
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct device_users *users = state;

	users->job = job;
	users->arena = arena;
	device_list_init(&users->list, job, arena);
}

/* --- owners --- */

/* Returns the program below the run's command that a process belongs to, or the command. */
static uint32_t find_root(const struct job *job, uint32_t process)
{
	const struct process *processes = job->processes.processes;
	uint32_t below = process;

	for (int i = 0; i < PROCESS_GENERATIONS_MAX; i++) {
		uint32_t parent = processes[process].parent;

		if (parent == PROCESS_NONE || parent == PROCESS_UNKNOWN)
			break;
		below = process;
		process = parent;
	}
	return processes[below].executed ? below : process;
}

static uint32_t root_of(struct device_users *users, uint32_t process)
{
	size_t known = users->root_room;

	if (!ARENA_GROW(users->arena, users->roots, users->root_room, (size_t)process + 1))
		return PROCESS_NONE;
	for (size_t i = known; i < users->root_room; i++)
		users->roots[i] = PROCESS_NONE;
	if (users->roots[process] == PROCESS_NONE)
		users->roots[process] = find_root(users->job, process);
	return users->roots[process];
}

/* Returns NULL if there are too many devices, or no memory. */
static struct used_device *find_device(struct device_users *users, const struct event *event)
{
	size_t number = device_list_add(&users->list, event);

	if (number == DEVICE_UNLISTED ||
	    !ARENA_GROW(users->arena, users->all, users->room, number + 1))
		return NULL;
	return &users->all[number];
}

/* --- during the walk --- */

/*
 * Requests of different programs overlap from the start of the later one to the earlier end. Later
 * overlaps start later, so the measure of their union is exact (see interval.h).
 */
static void add_time(struct used_device *device, struct device_user *user,
		     const struct event *event)
{
	uint64_t others_end = 0;

	for (size_t i = 0; i < device->count; i++) {
		const struct device_user *other = &device->users[i];

		if (other != user && other->process != PROCESS_UNKNOWN &&
		    other->time.end > others_end)
			others_end = other->time.end;
	}
	if (user->process != PROCESS_UNKNOWN)
		interval_add(&device->shared, event->start, number_min(event->end, others_end));
	interval_add(&user->time, event->start, event->end);
}

static void add_request(void *state, const struct event *event)
{
	struct device_users *users = state;
	struct used_device *device = find_device(users, event);
	uint32_t root = root_of(users, event->process);
	struct device_user *user;
	size_t i = 0;

	if (!device)
		return;
	while (i < device->count && device->users[i].process != root)
		i++;
	if (i == USERS_MAX)
		i--;
	if (!ARENA_GROW(users->arena, device->users, device->room, i + 1))
		return;
	user = &device->users[i];
	if (i == device->count) {
		user->process = root;
		device->count++;
	}
	user->bytes += event->bytes;
	if (!(event->flags & EVENT_SECOND)) {
		user->requests++;
		user->sizes[size_class(event_value(event, REQUEST_BYTES))]++;
	}
	add_time(device, user, event);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct device_users *users = state;

	device_list_each(&users->list, events, count, add_request, users);
	return arena_status(users->arena);
}

/* --- the table --- */

struct device_users_row {
	const char *host;
	struct table_text name, comm;
	uint32_t dev;
	uint64_t pid, requests, bytes, time_ns, shared_ns, sizes[SIZE_CLASSES];
};

static const struct table_column columns[] = {
	COLUMN(device_users_row, name, "device", NONE, KEY, "name of the device, as in /sys/block"),
	COLUMN(device_users_row, dev, NULL, NONE, KEY, "major:minor of the whole device"),
	COLUMN(device_users_row, host, NULL, NONE, KEY, "host of the device"),
	COLUMN(device_users_row, pid, "pid", NONE, KEY,
	       "process ID of a program started by the run's command, or of the command itself; "
	       "null: the kernel"),
	COLUMN(device_users_row, comm, "program", NONE, KEY, "name of the program"),
	COLUMN(device_users_row, requests, "requests", COUNT, SUM,
	       "requests whose first bio the program or one of its descendants queued"),
	COLUMN(device_users_row, bytes, "bytes", BYTES, SUM, "bytes of the run in these requests"),
	COLUMN(device_users_row, time_ns, "time", NS, COVERED,
	       "time with at least one of these requests in flight"),
	COLUMN(device_users_row, shared_ns, "shared", NS, SHARED,
	       "time during which the device had requests of two or more programs of the run in "
	       "flight, the kernel excluded"),
};

static void add_line(const struct device_users *users, struct table *table, size_t number,
		     const struct device_user *user)
{
	const struct job *job = users->job;
	const struct listed_device *device = &users->list.devices[number];
	struct device_users_row line = {
		.host = device_list_host(&users->list, device),
		.name = { device->name.bytes, device->name.length },
		.dev = device->dev,
		.comm = { "kernel", 6 },
		.pid = TABLE_NO_UINT,
		.requests = user->requests,
		.bytes = user->bytes,
		.time_ns = user->time.measure,
		.shared_ns = users->all[number].shared.measure,
	};

	memcpy(line.sizes, user->sizes, sizeof(line.sizes));
	if (user->process != PROCESS_UNKNOWN) {
		line.pid = job->processes.processes[user->process].pid;
		line.comm = trace_text(job_comm(job, user->process));
	}
	table_add(table, &line);
}

static void fill(void *state, struct table *table)
{
	struct device_users *users = state;

	if (table_absent_if(table, device_list_lacks(&users->list),
			    device_list_lacks(&users->list)))
		return;
	table_add_columns(table, TABLE_COLUMNS(columns));
	size_class_add_columns(table, "requests in this size class",
			       offsetof(struct device_users_row, sizes));
	for (size_t i = 0; i < users->list.count; i++)
		for (size_t j = 0; j < users->all[i].count; j++)
			add_line(users, table, i, &users->all[i].users[j]);
	device_list_note(&users->list, table);
}

bool device_users_of(const struct results *results, size_t number, struct device_users_view *view)
{
	const struct device_users *users = results_state(results, &analysis_device_users);
	const struct used_device *device;

	if (number >= users->list.count)
		return false;
	device = &users->all[number];
	*view = (struct device_users_view) {
		.name = users->list.devices[number].name,
		.dev = users->list.devices[number].dev,
		.users = device->users,
		.count = device->count,
		.shared_ns = device->shared.measure,
	};
	return true;
}

/* --- sampling --- */

#define NUMBER(device, user) ((uint64_t)(device) << 32 | (user))

/* A second pass finds devices and their users in the same order. */
static void numbers(const void *filled, uint64_t *numbers, size_t count)
{
	const struct device_users *users = filled;

	for (size_t i = 0; i < users->list.count; i++)
		for (size_t j = 0; j < users->all[i].count && count; j++, count--)
			*numbers++ = NUMBER(i, j);
}

/* Returns the measure of a union before `now_ns`; every interval in it must begin before then. */
static uint64_t time_until(const struct interval_union *time, uint64_t now_ns)
{
	return time->measure - number_sub(time->end, now_ns);
}

static void at(const void *filled, void *state, uint64_t number, uint64_t now_ns,
	       uint64_t values[SAMPLED_MAX])
{
	const struct device_users *users = state;
	size_t i = number >> 32, j = (uint32_t)number;
	const struct device_user *user;

	if (i >= users->list.count || j >= users->all[i].count)
		return;
	user = &users->all[i].users[j];
	values[0] = user->requests;
	values[1] = user->bytes;
	values[2] = time_until(&user->time, now_ns);
	values[3] = time_until(&users->all[i].shared, now_ns);
}

static const struct sampled sampled = {
	.columns = { "requests", "bytes", "time_ns", "shared_ns" },
	.state_bytes = sizeof(struct device_users),
	.begin = begin,
	.consumer = &analysis_device_users.consumer,
	.filled = &analysis_device_users,
	.numbers = numbers,
	.at = at,
};

const struct analysis analysis_device_users = {
	.name = "device_users",
	.title = "Device users",
	.meaning = "device requests by program of the run, and how long programs shared a device",
	.shown = "name,pid,comm,time_ns,requests,bytes,shared_ns",
	.by = "time_ns",
	.share = "of all",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct device_users),
	.begin = begin,
	.consumer = { .parallel = true, .events = add_events, .matters = EVENT_REQUEST | EVENT_DEVICE },
	.columns = {
		[TRACE_REQUEST] = DEVICE_OF_REQUEST | 1ull << REQUEST_BYTES,
		[TRACE_REMOTE] = DEVICE_OF_REMOTE | 1ull << REMOTE_BYTES,
		[TRACE_DEVICE] = DEVICE_OF_DEVICE | 1ull << DEVICE_NAME,
	},
	.fill = fill,
	.sampled = &sampled,
	.merging = { .sorted = "name",
		     .many = "users" },
};
