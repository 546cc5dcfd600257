/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CPU time per event and memory of a report, for two sizes of the same job: two CPUs, eight
 * processes of two threads, a thousand files read by calls and through mappings, opens, failed
 * lookups, occasional slow operations; then the same with half of the events span begins and ends,
 * most of them nested. Needs no BPF.
 *
 *   bench_report [EVENTS [DIRECTORY]]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/report/report.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"
#include "tests/random.h"

#define LANES 2
#define PROCESSES 8
#define FILES 1000
#define GROWTH 8 /* size of the larger job relative to the smaller one */

enum { OP_READ, OP_OPENAT, OP_FAULT, OPS };

static const struct trace_operation operations[OPS] = {
	[OP_READ] = { "syscall", "pread64", TRACE_READ },
	[OP_OPENAT] = { "syscall", "openat", TRACE_METADATA },
	[OP_FAULT] = { "fault", "fault", TRACE_FILEFAULT },
};

static const struct trace_layer layers[] = {
	{ "task", true, "tp_btf", NULL }, { "syscall", true, "tp_btf", NULL },
	{ "fault", true, "perf", NULL },  { "pagecache", true, "tp_btf", NULL },
	{ "span", true, "uprobe", NULL }, { "block", true, "tp_btf", NULL },
};

static bool with_spans;

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_u64(void)
{
	return next_random(&random_state);
}

static int append_read(struct trace_writer *writer, unsigned int lane, const uint64_t *common,
		       uint64_t file)
{
	const uint64_t values[SYSCALL_COLUMNS] = {
		[SYSCALL_TIME] = common[0],
		[SYSCALL_DUR] = common[1],
		[SYSCALL_PID] = common[2],
		[SYSCALL_TID] = common[3],
		[SYSCALL_OP] = OP_READ,
		[SYSCALL_FILE] = file,
		[SYSCALL_OFFSET] = random_u64() % 100000 * 4096,
		[SYSCALL_ASKED] = 4096,
		[SYSCALL_RESULT] = 4096,
		[SYSCALL_FETCHED] = random_u64() % 8 ? 0 : 4096,
	};

	return trace_writer_append(writer, TRACE_SYSCALL, lane, values);
}

static int append_fault(struct trace_writer *writer, unsigned int lane, const uint64_t *common,
			uint64_t file)
{
	const uint64_t values[FAULT_COLUMNS] = {
		[FAULT_TIME] = common[0],
		[FAULT_DUR] = common[1],
		[FAULT_PID] = common[2],
		[FAULT_TID] = common[3],
		[FAULT_FILE] = file,
		[FAULT_OFFSET] = random_u64() % 100000 * 4096,
		[FAULT_FLAGS] = TRACE_FAULT_FILEMAP,
	};

	return trace_writer_append(writer, TRACE_FAULT, lane, values);
}

static int append_open(struct trace_writer *writer, unsigned int lane, const uint64_t *common)
{
	char path[64];
	int length = snprintf(path, sizeof(path), "/usr/lib/python3/dir%d/module%d.py",
			      (int)(random_u64() % 20), (int)(random_u64() % 500));
	const uint64_t values[SYSCALL_PATH_COLUMNS] = {
		[SYSCALL_TIME] = common[0],
		[SYSCALL_DUR] = common[1],
		[SYSCALL_PID] = common[2],
		[SYSCALL_TID] = common[3],
		[SYSCALL_OP] = OP_OPENAT,
		[SYSCALL_OFFSET] = -1,
		[SYSCALL_RESULT] = -ENOENT,
		[SYSCALL_PATH_PATH] = trace_writer_string(writer, path, length),
	};

	return trace_writer_append(writer, TRACE_SYSCALL_PATH, lane, values);
}

/* A span that stays open during some of its thread's next operations. */
static int append_span(struct trace_writer *writer, unsigned int lane, const uint64_t *common)
{
	static const char *const names[] = { "step", "forward", "fetch", "save" };
	static const char *const categories[] = { "train", "compute", "data", "checkpoint" };
	static uint64_t id;
	unsigned int which = random_u64() % 4;
	const uint64_t begin[SPAN_BEGIN_COLUMNS] = {
		[SPAN_BEGIN_TIME] = common[0],
		[SPAN_BEGIN_PID] = common[2],
		[SPAN_BEGIN_TID] = common[3],
		[SPAN_BEGIN_ID] = ++id,
		[SPAN_BEGIN_NAME] = trace_writer_string(writer, names[which], strlen(names[which])),
		[SPAN_BEGIN_CATEGORY] =
			trace_writer_string(writer, categories[which], strlen(categories[which])),
	};
	const uint64_t end[SPAN_END_COLUMNS] = { [SPAN_END_TIME] = common[0] + 20 * common[1],
						 [SPAN_END_PID] = common[2],
						 [SPAN_END_TID] = common[3],
						 [SPAN_END_ID] = id };
	int status = trace_writer_append(writer, TRACE_SPAN_BEGIN, lane, begin);

	return status ? status : trace_writer_append(writer, TRACE_SPAN_END, lane, end);
}

/* Of 20 events, one is a failed open, six are faults, the rest reads; one in 4096 is slow. */
static int append_event(struct trace_writer *writer, unsigned int lane, uint64_t *now)
{
	uint64_t process = random_u64() % PROCESSES, kind = random_u64() % 20;
	uint64_t file = 1 + process * (FILES / PROCESSES) + random_u64() % 20;
	const uint64_t common[] = { *now, random_u64() % 4096 ? 200 + random_u64() % 1000 : 2000000,
				    1000 + process, 1000 + process + (random_u64() & 8) };

	*now = common[0] + common[1] + random_u64() % 1000;
	if (kind == 0)
		return append_open(writer, lane, common);
	if (kind < 7)
		return append_fault(writer, lane, common, file);
	return append_read(writer, lane, common, file);
}

static int append_all(struct trace_writer *writer, size_t events)
{
	uint64_t now[LANES];
	int status = 0;

	for (uint64_t i = 0; i < LANES; i++)
		now[i] = 1000000000;
	for (uint64_t i = 0; i < FILES && !status; i++) {
		char path[64];
		int length = snprintf(path, sizeof(path), "/data/shard-%05d.bin", (int)i);
		const uint64_t values[FILE_COLUMNS] = {
			[FILE_TIME] = 1000000000,
			[FILE_ID] = 1 + i,
			[FILE_DEV] = 8 << 20,
			[FILE_INO] = 1 + i,
			[FILE_SIZE] = 409600000,
			[FILE_PATH] = trace_writer_string(writer, path, length),
		};

		status = trace_writer_append(writer, TRACE_FILE, 0, values);
	}
	for (size_t i = 0; i < events && !status; i++) {
		unsigned int lane = now[0] > now[1];

		if (with_spans && i % 4 == 0) {
			const uint64_t process = 1000 + random_u64() % PROCESSES;
			const uint64_t common[] = { now[lane], 200 + random_u64() % 1000, process,
						    process + (random_u64() & 8) };

			status = append_span(writer, lane, common);
			i++; /* its begin and its end */
			continue;
		}
		status = append_event(writer, lane, &now[lane]);
		if (i % 1024 == 0 && !status)
			status = trace_writer_tick(writer, now[lane]);
	}
	return status;
}

static int make_trace(const char *path, size_t events)
{
	const struct trace_writer_options options = { .lanes = LANES };
	const struct trace_header header = {
		.version = TRACE_VERSION,
		.tool = "bench",
		.host = "host",
		.boot_id = "boot",
		.kernel = "6.1",
		.machine = "x86_64",
		.page_bytes = 4096,
		.cpus = LANES,
		.clock_monotonic_ns = 1000000000,
		.clock_realtime_ns = 1700000000000000000,
		.mode = "trace",
		.layers = layers,
		.layer_count = sizeof(layers) / sizeof(layers[0]),
		.operations = operations,
		.operation_count = OPS,
	};
	static const struct trace_operation_total counts[OPS];
	const struct trace_totals totals = { .start_ns = 1000000000,
					     .end_ns = 2000000000,
					     .operations = counts,
					     .operation_count = OPS };
	struct trace_writer *writer;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int status = fd < 0 ? -errno : trace_writer_open(&writer, fd, &header, &options);

	if (status)
		return status;
	status = append_all(writer, events);
	if (!status)
		status = trace_writer_finish(writer, &totals);
	trace_writer_close(writer);
	close(fd);
	return status;
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static int report(const char *path, size_t events)
{
	struct trace_error error = { "" };
	struct trace_reader *reader;
	struct report *result;
	struct rusage usage;
	double start = cpu_seconds(), seconds;
	int status = trace_reader_open(&reader, path, &error);

	if (!status) {
		status = report_make(&result, &reader, &path, 1, NULL, &error);
		seconds = cpu_seconds() - start;
		if (!status)
			report_free(result);
		trace_reader_close(reader);
	}
	if (status) {
		fprintf(stderr, "%s: %s\n", error.text, strerror(-status));
		return status;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%9zu events  %6.1f ns an event  %5.1f M events/s and core  peak memory %5.1f MiB\n",
	       events, seconds * 1e9 / events, events / seconds / 1e6, usage.ru_maxrss / 1024.0);
	return 0;
}

/* In a separate process, to measure only its memory. */
static int in_child(int (*run)(const char *, size_t), const char *path, size_t events)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		status = run(path, events);
		fflush(stdout);
		_exit(status ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return status ? -EIO : 0;
}

int main(int argc, char **argv)
{
	size_t events = argc > 1 ? strtoull(argv[1], NULL, 0) : 16000000;
	const char *directory = argc > 2 ? argv[2] : "/tmp";
	int status = 0;

	for (size_t i = 0; i < 4 && !status; i++) {
		size_t some = i % 2 ? events : events / GROWTH;
		char path[4096];

		with_spans = i >= 2;
		if (i == 2)
			puts("half of them of spans:");
		snprintf(path, sizeof(path), "%s/bench-report-%d.flt", directory, (int)getpid());
		status = in_child(make_trace, path, some);
		if (!status)
			status = in_child(report, path, some);
		unlink(path);
	}
	if (status)
		fprintf(stderr, "bench_report: %s\n", strerror(-status));
	return status ? 1 : 0;
}
