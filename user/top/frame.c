/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Differences of sums, divided by the time between them. */
#include "top/frame.h"
#include "collections/compare.h"
#include "base/strbuf.h"
#include "capture/calls/wait_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
	struct table_text name, job, user, labels[TOP_LABELS];
	uint64_t pid;
	double busy, cpu, fetched_by_asked;
	uint64_t operations, errors, read_bytes, written_bytes, fetched_bytes;
	uint64_t faults, major, mmap_bytes, direct_bytes, uring_bytes, libaio_bytes, splice_bytes;
	uint64_t metadata, syncs;
	uint64_t mean_ns, p99_ns;
	uint64_t interval_ns;
	uint64_t waits_ns;
	size_t number; /* in the sample */
	struct table_text waits_in, waits_for, at;
};

static const struct table_column rate_columns[] = {
	COLUMN(row, busy, "in I/O", SHARE, FACT,
	       "share of time in an operation or a fault on a file, summed over threads: three "
	       "threads that always wait make 300%"),
	COLUMN(row, cpu, "cpu", SHARE, FACT,
	       "share of time on a CPU, summed over threads; not for files"),
	COLUMN(row, operations, "ops/s", COUNT, FACT,
	       "operations and page faults on files, per second"),
	COLUMN(row, read_bytes, "read/s", BYTES, FACT,
	       "bytes read by calls and asynchronous operations, per second"),
	COLUMN(row, written_bytes, "written/s", BYTES, FACT,
	       "bytes written by calls and asynchronous operations, per second"),
	COLUMN(row, faults, "faults/s", COUNT, FACT, "page faults on files, per second"),
	COLUMN(row, mmap_bytes, "mmap/s", BYTES, FACT,
	       "bytes brought into the page cache by page faults, per second"),
	COLUMN(row, fetched_bytes, "fetched/s", BYTES, FACT,
	       "bytes brought into the page cache by reads and faults, per second"),
	COLUMN(row, fetched_by_asked, "of reads", SHARE, FACT,
	       "bytes brought in by reads through the page cache, as a share of the bytes they "
	       "read; above 100 %: readahead not yet read"),
	COLUMN(row, mean_ns, "mean", NS, FACT, "mean duration of an operation"),
	COLUMN(row, p99_ns, "p99", NS, FACT,
	       "99th percentile of operation durations, to a power of two; jobs only"),
	COLUMN(row, major, "major/s", COUNT, FACT,
	       "page faults that waited for storage, per second"),
	COLUMN(row, direct_bytes, "direct/s", BYTES, FACT,
	       "bytes moved by O_DIRECT calls, per second"),
	COLUMN(row, uring_bytes, "io_uring/s", BYTES, FACT, "bytes moved by io_uring, per second"),
	COLUMN(row, libaio_bytes, "libaio/s", BYTES, FACT, "bytes moved by libaio, per second"),
	COLUMN(row, splice_bytes, "splice/s", BYTES, FACT,
	       "bytes moved by sendfile, splice and copy_file_range, per second"),
	COLUMN(row, metadata, "meta/s", COUNT, FACT, "metadata operations, per second"),
	COLUMN(row, syncs, "syncs/s", COUNT, FACT, "syncs to storage, per second"),
	COLUMN(row, errors, "failed/s", COUNT, FACT, "failed operations, per second"),
};
#define RATE_COLUMNS (sizeof(rate_columns) / sizeof(rate_columns[0]))

/* Columns for jobs and processes. */
static const struct table_column waits_columns[] = {
	COLUMN(row, waits_ns, "waits", NS, FACT, "age of the oldest call or page fault in flight"),
	COLUMN(row, waits_in, "in", PATH, FACT, "the oldest operation in flight, and its file"),
};
#define WAITS_SHOWN_NS 1000000000ull /* columns are shown when anything has waited this long */

/* The columns for processes. */
static const struct table_column state_columns[] = {
	COLUMN(row, waits_for, "waits for", NONE, FACT,
	       "the state off CPU in which its threads were longest, summed over threads; cpu or "
	       "runnable if they computed, or waited to, for at least half of the interval"),
	COLUMN(row, at, "at", NONE, FACT,
	       "the application's line of Python at which its threads were longest in that state "
	       "or, if they have not left it, in another one"),
};

#define NAME_COLUMNS 4
#define USER_COLUMN                                                                                \
	{                                                                                          \
		"user", "user", UNIT_NONE, KIND_FACT, "owner of these processes",                  \
			TABLE_TEXT(struct row, user), 0                                            \
	}

static const struct table_column name_columns[TOP_SUBJECTS][NAME_COLUMNS] = {
	[TOP_JOBS] = { COLUMN_AS("job", row, name, "job", NONE, FACT,
				 "Slurm job, container or cgroup"),
		       USER_COLUMN },
	[TOP_PROCESSES] = { COLUMN(row, pid, "pid", NONE, FACT, "process"),
			    COLUMN_AS("command", row, name, "command", NONE, FACT,
				      "beginning of its command line"),
			    COLUMN(row, job, "job", NONE, FACT, "job of the process"),
			    USER_COLUMN },
	[TOP_FILES] = { COLUMN_AS("path", row, name, "path", PATH, FACT, "path of the file"),
			COLUMN(row, job, "job", NONE, FACT, "job that uses the file"),
			USER_COLUMN },
};

#define LABEL(name, title, meaning, label)                                                         \
	[label] = { name,      title,	UNIT_NONE,                                                 \
		    KIND_FACT, meaning, TABLE_TEXT(struct row, labels[label]),                     \
		    0 }

/* Labels of the job, in each row. */
static const struct table_column label_columns[TOP_LABELS] = {
	LABEL("cgroup", "cgroup", "cgroup of the job", TOP_CGROUP),
	LABEL("namespace", "namespace", "Kubernetes namespace", TOP_NAMESPACE),
	LABEL("pod", "pod", "name of the Kubernetes pod", TOP_POD),
	LABEL("pod_uid", "pod uid", "UID of the Kubernetes pod", TOP_POD_UID),
	LABEL("container", "container", "name of the container", TOP_CONTAINER),
	LABEL("container_id", "container id", "container ID", TOP_CONTAINER_ID),
	LABEL("image", "image", "image of the container", TOP_IMAGE),
	LABEL("slurm_job", "slurm job", "Slurm job ID", TOP_SLURM_JOB),
	LABEL("slurm_step", "step", "Slurm step", TOP_SLURM_STEP),
	LABEL("slurm_name", "job name", "name of the Slurm job", TOP_SLURM_NAME),
	LABEL("slurm_user", "job user", "user of the Slurm job", TOP_SLURM_USER),
};

/* Columns shown, the most important first: names, then the sort column, then these. */
static const struct {
	const char *who, *what;
} shown[TOP_SUBJECTS] = {
	[TOP_JOBS] = { "job",
		       "busy,cpu,operations,read_bytes,mmap_bytes,written_bytes,faults,"
		       "fetched_bytes,p99_ns,fetched_by_asked,major,direct_bytes,uring_bytes,"
		       "libaio_bytes,splice_bytes,metadata,syncs,errors" },
	[TOP_PROCESSES] = { "pid,command",
			    "busy,cpu,operations,read_bytes,mmap_bytes,"
			    "written_bytes,faults,mean_ns,fetched_bytes,fetched_by_asked,major,"
			    "direct_bytes,uring_bytes,libaio_bytes,metadata,syncs,user,job" },
	[TOP_FILES] = { "path",
			"busy,operations,read_bytes,mmap_bytes,written_bytes,faults,mean_ns,"
			"fetched_by_asked,major,direct_bytes,uring_bytes,libaio_bytes,"
			"metadata,syncs,user,job" },
};

const struct table_column *top_sort_column(size_t number)
{
	return number < RATE_COLUMNS ? &rate_columns[number] : NULL;
}

/* --- rows --- */

static void add_latencies(uint64_t *latencies, const struct ledger_cell *before,
			  const struct ledger_cell *after)
{
	for (int i = 0; after->latencies && i < LEDGER_LATENCIES; i++)
		latencies[i] += sums_grown(before && before->latencies ? before->latencies[i] : 0,
					   after->latencies[i]);
}

/* Where a method adds its bytes; the others have no column. */
static const size_t moved_by[METHOD_NONE + 1] = {
	[METHOD_DIRECT] = offsetof(struct row, direct_bytes),
	[METHOD_URING] = offsetof(struct row, uring_bytes),
	[METHOD_LIBAIO] = offsetof(struct row, libaio_bytes),
	[METHOD_SPLICE] = offsetof(struct row, splice_bytes),
};

static uint64_t *number_at(struct row *row, size_t offset)
{
	return (uint64_t *)((char *)row + offset);
}

/* Adds one cell to the sums of a row, which are divided by the time at the end. */
static void add_cell(struct row *row, const struct ledger_cell *cell,
		     const struct ledger_counts *done, uint64_t *asked_bytes)
{
	row->operations += done->count;
	row->errors += done->errors;
	row->fetched_bytes += done->fetched_bytes;
	if (cell->op == LEDGER_METADATA)
		row->metadata += done->count;
	if (cell->op == LEDGER_SYNC)
		row->syncs += done->count;
	if (cell->method == METHOD_MMAP) {
		row->faults += done->count;
		row->major += done->major_faults;
		row->mmap_bytes += done->fetched_bytes;
		return;
	}
	if (moved_by[cell->method])
		*number_at(row, moved_by[cell->method]) += done->bytes;
	if (cell->op == LEDGER_READ)
		row->read_bytes += done->bytes;
	if (cell->op == LEDGER_WRITE)
		row->written_bytes += done->bytes;
	if (cell->op == LEDGER_READ && cell->method != METHOD_DIRECT)
		*asked_bytes += done->bytes;
}

static const size_t rates[] = {
	offsetof(struct row, operations),    offsetof(struct row, errors),
	offsetof(struct row, read_bytes),    offsetof(struct row, written_bytes),
	offsetof(struct row, fetched_bytes), offsetof(struct row, faults),
	offsetof(struct row, major),	     offsetof(struct row, mmap_bytes),
	offsetof(struct row, direct_bytes),  offsetof(struct row, uring_bytes),
	offsetof(struct row, libaio_bytes),  offsetof(struct row, splice_bytes),
	offsetof(struct row, metadata),	     offsetof(struct row, syncs),
};

#define BUSY_STEPS                                                                                 \
	1000 /* as printed: with less I/O than that, rows are sorted by what they ran              \
	      */

static uint64_t a_second(uint64_t sum, uint64_t interval_ns)
{
	return llround((double)sum * 1e9 / interval_ns);
}

/* Fills the rates of a row; returns whether anything was done. */
static bool fill_row(struct row *row, const struct ledger_sums *before,
		     const struct ledger_sums *after, uint64_t interval_ns)
{
	uint64_t latencies[LEDGER_LATENCIES] = { 0 }, asked_bytes = 0, time_ns = 0, count;

	for (unsigned int i = 0; i < after->count; i++) {
		const struct ledger_cell *cell = &after->cells[i];
		const struct ledger_cell *from =
			before ? sums_find(before, cell->op, cell->method) : NULL;
		struct ledger_counts done = sums_since(from ? &from->counts : NULL, &cell->counts);

		add_cell(row, cell, &done, &asked_bytes);
		add_latencies(latencies, from, cell);
		time_ns += done.time_ns;
	}
	count = row->operations;
	row->busy = round(BUSY_STEPS * (double)time_ns / interval_ns) / BUSY_STEPS;
	row->mean_ns = count ? time_ns / count : TABLE_NO_UINT;
	row->p99_ns = sums_percentile(latencies, 99);
	row->fetched_by_asked =
		asked_bytes ? (double)(row->fetched_bytes - row->mmap_bytes) / asked_bytes : NAN;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		*number_at(row, rates[i]) = a_second(*number_at(row, rates[i]), interval_ns);
	return count || time_ns;
}

static bool is_wanted(const struct top_thing *thing, const char *filter)
{
	return !filter[0] || strcasestr(thing->name, filter) ||
	       (thing->job && strcasestr(thing->job, filter)) ||
	       (thing->user && strcasestr(thing->user, filter));
}

static struct table_text text_of(const char *text)
{
	return (struct table_text) { text, text ? strlen(text) : 0 };
}

/* Returns the state that says best what the threads did in an interval. */
static unsigned int main_state(const uint64_t in_ns[THREAD_STATE_COUNT], uint64_t interval_ns)
{
	unsigned int state, first = THREAD_CPU + 1, end = THREAD_STATE_COUNT, longest;

	if (in_ns[THREAD_CPU] + in_ns[THREAD_RUNNABLE] >= interval_ns / 2) {
		first = THREAD_CPU;
		end = THREAD_RUNNABLE + 1;
	}
	for (longest = state = first; state < end; state++)
		if (in_ns[state] > in_ns[longest])
			longest = state;
	return longest;
}

/* Returns the line that says best where the threads were in a state; NULL: unknown. */
static const char *main_line(const struct top_thing *thing, unsigned int state)
{
	const struct top_line *longest = &thing->lines[SAMPLE_IO];

	if (state == THREAD_RUNNABLE)
		state = THREAD_CPU;
	if (state == THREAD_STORAGE && longest->at)
		return longest->at;
	if (thing->lines[state].at)
		return thing->lines[state].at;
	for (state = THREAD_CPU + 1; state < SAMPLE_IO; state++)
		if (thing->lines[state].time_ns > longest->time_ns)
			longest = &thing->lines[state];
	return longest->at ? longest->at : thing->lines[THREAD_CPU].at;
}

/* Returns whether an interval's times of threads are known. */
static bool times_since(const struct top_thing *was, const struct top_thing *thing,
			uint64_t in_ns[THREAD_STATE_COUNT])
{
	uint64_t all_ns = 0;

	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++) {
		in_ns[state] = sums_grown(was ? was->thread_ns[state] : 0, thing->thread_ns[state]);
		all_ns += in_ns[state];
	}
	return all_ns;
}

#define ACTIVE_PART 10000 /* of the interval; what wakes up once a second takes about that */

/* Fills what depends on threads. Returns whether they ran, or waited for a CPU, storage or memory.
 */
static bool fill_threads(struct row *row, const struct top_thing *was,
			 const struct top_thing *thing, uint64_t interval_ns)
{
	uint64_t in_ns[THREAD_STATE_COUNT];
	unsigned int state;

	row->cpu = NAN;
	if (!times_since(was, thing, in_ns))
		return false;
	row->cpu = (double)in_ns[THREAD_CPU] / interval_ns;
	state = main_state(in_ns, interval_ns);
	row->waits_for = text_of(in_ns[state] ? thread_state_name(state) : NULL);
	row->at = text_of(main_line(thing, state));
	return in_ns[THREAD_CPU] + in_ns[THREAD_RUNNABLE] + in_ns[THREAD_STORAGE] +
		       in_ns[THREAD_MEMORY] >
	       interval_ns / ACTIVE_PART;
}

/* Fills a row; returns whether the thing was active. */
static bool fill_from(struct row *row, const struct top_thing *was, const struct top_thing *thing,
		      uint64_t interval_ns)
{
	bool ran;

	*row = (struct row) { .name = text_of(thing->name),
			      .job = text_of(thing->job),
			      .user = text_of(thing->user),
			      .pid = thing->pid ? thing->pid : TABLE_NO_UINT,
			      .waits_ns = thing->waits_in ? thing->waits_ns : TABLE_NO_UINT,
			      .waits_in = text_of(thing->waits_in) };
	for (int label = 0; label < TOP_LABELS; label++)
		row->labels[label] = text_of(thing->labels[label]);
	ran = fill_threads(row, was, thing, interval_ns);
	return fill_row(row, was ? &was->sums : NULL, &thing->sums, interval_ns) ||
	       thing->waits_in || ran;
}

static double known(double share)
{
	return isnan(share) ? -1 : share;
}

COMPARE_BY(compare_rows, struct row,
	   COMPARE(b->busy, a->busy) ?:
	   COMPARE(known(b->cpu), known(a->cpu)) ?:
	   COMPARE(b->operations, a->operations) ?:
	   COMPARE(a->number, b->number))

static uint64_t interval_of(const struct top_sample *before, const struct top_sample *after)
{
	return after->time_ns - before->time_ns;
}

static void add_rows(struct table *table, const struct top_sample *before,
		     const struct top_sample *after, const struct top_view *view, uint64_t *idle)
{
	const struct top_things *things = &after->of[view->subject];
	struct row *rows = calloc(things->count + 1, sizeof(*rows));
	uint64_t interval_ns = interval_of(before, after);
	size_t count = 0;

	if (!rows)
		table_fail(table, -ENOMEM);
	for (size_t i = 0; rows && i < things->count; i++) {
		const struct top_thing *thing = &things->all[i];
		const struct top_thing *was = top_sample_find(before, view->subject, thing->key);

		if (!is_wanted(thing, view->filter))
			continue;
		if (fill_from(&rows[count], was, thing, interval_ns) || view->idle)
			rows[count++].number = i;
		else if (view->subject != TOP_FILES)
			++*idle;
	}
	if (rows)
		qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count; i++)
		table_add(table, &rows[i]);
	free(rows);
}

/* With several users, a name is not enough to distinguish jobs. */
static bool has_several_users(const struct top_things *jobs)
{
	const char *first = NULL;

	for (size_t i = 0; i < jobs->count; i++) {
		const char *user = jobs->all[i].user;

		if (user && first && strcmp(user, first) != 0)
			return true;
		first = first ? first : user;
	}
	return false;
}

static bool has_hung(const struct top_things *things)
{
	for (size_t i = 0; i < things->count; i++)
		if (things->all[i].waits_in && things->all[i].waits_ns >= WAITS_SHOWN_NS)
			return true;
	return false;
}

/* Chooses the columns shown; the sort column always has room. */
static int show_columns(struct table *table, const struct top_sample *sample,
			const struct top_view *view)
{
	bool user = view->subject == TOP_JOBS && has_several_users(&sample->of[TOP_JOBS]);
	const char *what = shown[view->subject].what;
	size_t length = strlen(view->sort);
	struct strbuf list = { .used = 0 };
	bool hung = has_hung(&sample->of[view->subject]);

	strbuf_add(&list, "%s%s,%s%s%s%s", shown[view->subject].who, user ? ",user" : "",
		   view->sort, hung ? ",waits_ns,waits_in" : "",
		   view->subject == TOP_PROCESSES ? ",waits_for" : "",
		   view->subject == TOP_PROCESSES && sample->lines ? ",at" : "");
	while (*what) {
		size_t name = strcspn(what, ",");

		if (name != length || strncmp(what, view->sort, length) != 0)
			strbuf_add(&list, ",%.*s", (int)name, what);
		what += name + (what[name] == ',');
	}
	return table_show(table, list.bytes, view->sort, NULL, NULL);
}

int top_frame(struct table **table, const struct top_sample *before, const struct top_sample *after,
	      const struct top_view *view, uint64_t *idle)
{
	int status;

	*idle = 0;
	*table = table_new(top_subject_names[view->subject], NULL, TABLE_LIST);
	for (int i = 0; i < NAME_COLUMNS && name_columns[view->subject][i].name; i++)
		table_add_column(*table, &name_columns[view->subject][i]);
	table_add_columns(*table, rate_columns, RATE_COLUMNS);
	if (view->subject != TOP_FILES)
		table_add_columns(*table, waits_columns, 2);
	if (view->subject == TOP_PROCESSES)
		table_add_columns(*table, state_columns, 2);
	table_add_columns(*table, label_columns, TOP_LABELS);
	add_rows(*table, before, after, view, idle);
	status = table_status(*table);
	if (!status)
		status = show_columns(*table, after, view);
	if (status) {
		table_free(*table);
		*table = NULL;
	}
	return status;
}

static const struct table_column node_columns[] = {
	COLUMN(row, interval_ns, NULL, NS, FACT, "time between the two samples"),
};

int top_frame_node(struct table **table, const struct top_sample *before,
		   const struct top_sample *after)
{
	struct row row = { .cpu = NAN, .interval_ns = interval_of(before, after) };
	int status;

	*table = table_new("node", NULL, TABLE_RECORD);
	fill_row(&row, &before->node, &after->node, row.interval_ns);
	table_add_columns(*table, node_columns, 1);
	table_add_columns(*table, rate_columns, RATE_COLUMNS);
	table_add(*table, &row);
	status = table_status(*table);
	if (status) {
		table_free(*table);
		*table = NULL;
	}
	return status;
}
