/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The monitoring service's HTTP side on a ledger fed from stdin: one command per line, each
 * answered by "ok". Texts are in hexadecimal. Prints its address first; exits at end of input.
 *
 *   exec PID UID RANK CGROUP PROGRAM COMMAND     exit PID
 *   file ID DEV INO PATH                         read        (a reading: books all additions)
 *   thread PID STATE NS                          line PID STATE NS FILE LINE FUNCTION
 *   name JOB NAMESPACE POD CONTAINER IMAGE SLURM_NAME SLURM_USER
 *   add PID FILE OP METHOD COUNT ERRORS BYTES FETCHED CREATED TIME_NS MAJOR CLASS
 *
 * usage: jobs_served LISTEN [--interval MS] [--token-file FILE] [--flight STATUS]
 *        [--lines on]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "monitor/service/metrics.h"
#include "monitor/service/pages.h"

static struct ledger *ledger;
static uint64_t readings_asked;

/* The next word of the line, as bytes; NUL-terminated. */
static size_t take_hex(char **line, char *out, size_t size)
{
	const char *word = strsep(line, " ");
	size_t length = 0;
	unsigned int byte;

	for (; word && length + 1 < size && sscanf(word, "%2x", &byte) == 1; word += 2)
		out[length++] = byte;
	out[length] = '\0';
	return length;
}

static long long take_number(char **line)
{
	const char *word = strsep(line, " ");

	return word ? strtoll(word, NULL, 10) : 0;
}

static void do_exec(char *line)
{
	char cgroup[1024], program[64], command[1024];
	struct ledger_who who = { .start_ns = clock_now_ns(CLOCK_MONOTONIC) };

	who.pid = take_number(&line);
	who.uid = take_number(&line);
	who.user = who.uid ? NULL : "root";
	who.rank = take_number(&line);
	take_hex(&line, cgroup, sizeof(cgroup));
	take_hex(&line, program, sizeof(program));
	who.command_bytes = take_hex(&line, command, sizeof(command)) + 1;
	who.cgroup = cgroup;
	who.program = program;
	who.command = command;
	ledger_exec(ledger, &who, clock_now_ns(CLOCK_MONOTONIC));
}

static void do_file(char *line)
{
	struct ledger_file_name name = { .filesystem = "ext4" };
	char path[1024];

	name.id = take_number(&line);
	name.dev = take_number(&line);
	name.ino = take_number(&line);
	name.path_bytes = take_hex(&line, path, sizeof(path));
	name.path = path;
	ledger_name_file(ledger, &name);
}

static void do_name(char *line)
{
	struct job_names names;
	uint64_t job = take_number(&line);

	for (int i = 0; i < JOB_NAMES; i++)
		take_hex(&line, names.text[i], JOB_NAME_BYTES);
	ledger_name_job(ledger, job, &names);
}

static void do_add(char *line)
{
	uint32_t latencies[LEDGER_LATENCIES] = { 0 };
	struct ledger_added added = { .first_ns = clock_now_ns(CLOCK_MONOTONIC),
				      .latencies = latencies };

	added.last_ns = added.first_ns;
	added.pid = take_number(&line);
	added.file = take_number(&line);
	added.op = take_number(&line);
	added.method = take_number(&line);
	added.counts.count = take_number(&line);
	added.counts.errors = take_number(&line);
	added.counts.bytes = take_number(&line);
	added.counts.fetched_bytes = take_number(&line);
	added.counts.created_bytes = take_number(&line);
	added.counts.time_ns = take_number(&line);
	added.counts.major_faults = take_number(&line);
	latencies[take_number(&line) % LEDGER_LATENCIES] = added.counts.count;
	ledger_add(ledger, &added);
}

static void do_thread(char *line)
{
	uint64_t thread_ns[THREAD_STATE_COUNT] = { 0 };
	uint32_t pid = take_number(&line);
	unsigned int state = take_number(&line);

	thread_ns[state % THREAD_STATE_COUNT] = take_number(&line);
	ledger_add_thread(ledger, pid, 0, clock_now_ns(CLOCK_MONOTONIC),
			  clock_now_ns(CLOCK_MONOTONIC), thread_ns);
}

/* A line of Python. */
static void do_python(char *line)
{
	struct ledger_line added = { .next = NULL };
	char file[1024], function[1024];
	uint32_t pid = take_number(&line);

	added.state = take_number(&line);
	added.time_ns = take_number(&line);
	take_hex(&line, file, sizeof(file));
	added.line = take_number(&line);
	take_hex(&line, function, sizeof(function));
	added.file = file;
	added.function = function;
	ledger_add_line(ledger, pid, clock_now_ns(CLOCK_MONOTONIC), &added);
}

static void do_line(char *line)
{
	const char *what = strsep(&line, " ");

	ledger_lock(ledger);
	if (!strcmp(what, "exec"))
		do_exec(line);
	else if (!strcmp(what, "exit"))
		ledger_exit(ledger, take_number(&line), clock_now_ns(CLOCK_MONOTONIC));
	else if (!strcmp(what, "file"))
		do_file(line);
	else if (!strcmp(what, "name"))
		do_name(line);
	else if (!strcmp(what, "add"))
		do_add(line);
	else if (!strcmp(what, "thread"))
		do_thread(line);
	else if (!strcmp(what, "line"))
		do_python(line);
	else if (!strcmp(what, "read"))
		ledger_settle(ledger, clock_now_ns(CLOCK_MONOTONIC));
	ledger_unlock(ledger);
}

static void refresh(void *context)
{
	readings_asked++;
}

static const char *render_metrics(void *context, const char *accept, struct sink *out)
{
	sink_format(out, "readings_asked_total %llu\n", (unsigned long long)readings_asked);
	return accept && strstr(accept, "openmetrics") ? "application/openmetrics-text"
						       : "text/plain; version=0.0.4";
}

static int flight_answer_status;

static int flight(void *context, char *said, size_t size)
{
	snprintf(said, size, flight_answer_status ? "not now" : "trace is being written");
	return flight_answer_status;
}

int main(int argc, char **argv)
{
	struct ledger_options how = { .max_series = 10000, .costs = metric_costs, .retire_ns = 1 };
	struct pages_options options = {
		.interval_ns = 1000000000,
		.refresh = refresh,
		.metrics = render_metrics,
	};
	struct token token = { 0 };
	struct pages *pages;
	char line[8192];

	for (int i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--interval"))
			options.interval_ns = strtoull(argv[i + 1], NULL, 10) * 1000000;
		else if (!strcmp(argv[i], "--lines"))
			how.lines = true;
		else if (!strcmp(argv[i], "--flight"))
			options.flight = flight, flight_answer_status = atoi(argv[i + 1]);
		else if (token_read(&token, argv[i + 1]))
			return 2;
	}
	if (argc < 2 || ledger_open(&ledger, &how))
		return 2;
	options.ledger = ledger;
	if (pages_open(&pages, argv[1], &token) || pages_start(pages, &options))
		return 2;
	printf("%s\n", pages_address(pages));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		do_line(line);
		puts("ok");
		fflush(stdout);
	}
	pages_close(pages);
	ledger_close(ledger);
	return 0;
}
