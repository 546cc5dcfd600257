/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cost of a row for the trace writer and reader: CPU time of the producer, of the thread that packs
 * and compresses, and of reading it back, and bytes in the file. Needs no BPF; the rows are those
 * of two threads that read 4 KiB at random offsets of a cached file.
 *
 *   bench_writer [ROWS [LEVEL [DIRECTORY]]]
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/read/reader.h"
#include "trace/write/writer.h"
#include "tests/random.h"

#define LANES 2
#define SAMPLES 65536 /* rows are generated in advance, to keep that out of the measurement */
#define FILE_BYTES (3ull << 30)

struct sample {
	uint32_t gap_ns, duration_ns;
	uint64_t offset;
};

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_u64(void)
{
	return next_random(&random_state);
}

/* Approximately normal: the sum of twelve uniform numbers. */
static uint32_t random_time(double mean, double deviation)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (random_u64() >> 11) * 0x1p-53;
	return fmax(100, mean + deviation * sum);
}

static void make_samples(struct sample *samples)
{
	for (size_t i = 0; i < SAMPLES; i++) {
		samples[i].gap_ns = random_time(800, 300);
		samples[i].duration_ns = random_time(400, 150);
		/* occasional delays by the scheduler or an interrupt */
		if (random_u64() % 4096 == 0) {
			samples[i].duration_ns += 100000;
			samples[i].gap_ns += 100000;
		}
		samples[i].offset = random_u64() % (FILE_BYTES / 4096) * 4096;
	}
}

static double cpu_seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static int produce(struct trace_writer *writer, const struct sample *samples, uint64_t rows)
{
	uint64_t row[SYSCALL_COLUMNS] = { [SYSCALL_PID] = 123456,
					  [SYSCALL_OP] = 1,
					  [SYSCALL_FILE] = 17,
					  [SYSCALL_ASKED] = 4096,
					  [SYSCALL_RESULT] = 4096 };
	uint64_t times[LANES] = { 1000000000000ull, 1000000000000ull };
	int err = 0;

	for (uint64_t i = 0; i < rows && !err; i++) {
		/* a different walk through the samples each time */
		const struct sample *sample = &samples[(i + i / SAMPLES * 7919) % SAMPLES];
		unsigned int lane = i / 512 % LANES; /* rings are drained in batches */

		row[SYSCALL_TIME] = times[lane] += sample->gap_ns;
		row[SYSCALL_DUR] = sample->duration_ns;
		row[SYSCALL_TID] = 123457 + lane;
		row[SYSCALL_OFFSET] = sample->offset ^ (i / SAMPLES * 4096 & 0xffff000);
		err = trace_writer_append(writer, TRACE_SYSCALL, lane, row);
		if (i % 4096 == 0)
			trace_writer_tick(writer, times[lane]);
	}
	return err ? err : trace_writer_flush(writer);
}

static int consume(const char *path, uint64_t *rows)
{
	const uint64_t columns = (1ull << SYSCALL_COLUMNS) - 1;
	struct trace_reader *reader;
	struct trace_error error;
	int err = trace_reader_open(&reader, path, &error);

	*rows = 0;
	if (err)
		return err;
	for (size_t i = 0; i < trace_reader_block_count(reader) && !err; i++) {
		err = trace_reader_read(reader, i, columns, &error);
		*rows += trace_reader_block_info(reader, i)->rows;
	}
	trace_reader_close(reader);
	return err;
}

static int run(const char *path, uint64_t rows, int level, const struct sample *samples)
{
	const struct trace_operation operations[] = { { "syscall", "read", TRACE_READ },
						      { "syscall", "pread64", TRACE_READ } };
	const struct trace_operation_total operation_totals[2] = { { .count = 0 } };
	const struct trace_header header = { .mode = "trace",
					     .operations = operations,
					     .operation_count = 2 };
	const struct trace_totals totals = { .operations = operation_totals, .operation_count = 2 };
	const struct trace_writer_options options = { .level = level, .lanes = LANES };
	double start, producer, thread, reader;
	struct trace_writer *writer = NULL;
	uint64_t bytes, read_rows;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : trace_writer_open(&writer, fd, &header, &options);

	if (err)
		goto out;
	producer = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	thread = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
	err = produce(writer, samples, rows);
	producer = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - producer;
	thread = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - thread - producer;
	bytes = trace_writer_bytes(writer);
	if (!err)
		err = trace_writer_finish(writer, &totals);
	start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	if (!err)
		err = consume(path, &read_rows);
	reader = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
	if (!err)
		printf("{\"rows\": %llu, \"level\": %d, \"append_ns\": %.1f, \"thread_ns\": %.1f, "
		       "\"read_ns\": %.1f, \"bytes_per_row\": %.2f}\n",
		       (unsigned long long)read_rows, level, producer * 1e9 / rows,
		       thread * 1e9 / rows, reader * 1e9 / rows, (double)bytes / rows);
out:
	trace_writer_close(writer);
	if (fd >= 0)
		close(fd);
	unlink(path);
	return err;
}

int main(int argc, char **argv)
{
	uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000;
	int level = argc > 2 ? atoi(argv[2]) : 0;
	struct sample *samples = calloc(SAMPLES, sizeof(*samples));
	char path[4096];
	int err = -ENOMEM;

	snprintf(path, sizeof(path), "%s/faultline-bench-%d.flt", argc > 3 ? argv[3] : "/tmp",
		 (int)getpid());
	if (samples) {
		make_samples(samples);
		err = run(path, rows, level, samples);
	}
	if (err)
		fprintf(stderr, "bench_writer: %s\n", strerror(-err));
	free(samples);
	return err ? 1 : 0;
}
