// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Metrics as text: ledger contents become samples, hostile names stay within their quotes,
 * histograms add up, unmeasured values are absent; output files are always complete.
 */
#include "unit_test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/service/openmetrics.h"
#include "monitor/intake/process_facts.h"
#include "monitor/service/textfile.h"

static void begin(struct ledger *ledger, uint32_t pid, const char *cgroup, const char *program)
{
	const struct ledger_who who = { .pid = pid,
					.user = "root",
					.start_ns = 100,
					.cgroup = cgroup,
					.program = program,
					.command = "",
					.rank = -1 };

	ledger_exec(ledger, &who, 100);
}

static void add(struct ledger *ledger, uint32_t pid, enum ledger_op op, enum io_method method,
		unsigned int class, uint64_t count)
{
	uint32_t latencies[LEDGER_LATENCIES] = { 0 };
	const struct ledger_added added = {
		.pid = pid,
		.first_ns = 110,
		.last_ns = 120,
		.op = op,
		.method = method,
		.counts = { .count = count,
			    .bytes = 4096 * count,
			    .time_ns = 1500000000 * count,
			    .major_faults = method == METHOD_MMAP ? 1 : 0 },
		.latencies = latencies,
	};

	latencies[class] = count;
	ledger_add(ledger, &added);
}

static void run(struct ledger *ledger, uint32_t pid, uint64_t cpu_ns, uint64_t sleep_ns)
{
	const uint64_t thread_ns[THREAD_STATE_COUNT] = {
		[THREAD_CPU] = cpu_ns, [THREAD_SLEEP] = sleep_ns
	};

	ledger_add_thread(ledger, pid, 0, 110, 120, thread_ns);
}

/* The caller frees it. */
static char *render(struct ledger *ledger, enum openmetrics_format format, unsigned int layers)
{
	struct metric_source source = { .node = ledger_node(ledger), .jobs = ledger_jobs(ledger) };
	struct sink out;

	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++)
		source.facts.layers[layer].on = layers & 1u << layer;
	source.facts.bios_unseen = 8;
	source.facts.start_unix_ns = 1700000000000000000;
	source.facts.start_ns = 40; /* 60 ns before the first job */
	sink_open_memory(&out);
	openmetrics_write(&source, format, &out);
	sink_char(&out, 0);
	assert_int_equal(out.error, 0);
	return out.buffer;
}

static struct ledger *open_ledger(uint64_t series)
{
	const struct ledger_options options = { .max_series = series,
						.costs = metric_costs,
						.retire_ns = 1000000000 };
	struct ledger *ledger;

	assert_int_equal(ledger_open(&ledger, &options), 0);
	return ledger;
}

#define HAS(text, line) assert_non_null(strstr(text, line))
#define HAS_NOT(text, line) assert_null(strstr(text, line))

TEST(test_samples)
{
	struct ledger *ledger = open_ledger(10000);
	char *text;

	begin(ledger, 7, "/slurm/uid_0/job_42/step_3", "train");
	add(ledger, 7, LEDGER_READ, METHOD_DIRECT, 6, 2);
	add(ledger, 7, LEDGER_METADATA, METHOD_SYSCALL, 0, 3);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
	HAS(text, "# TYPE faultline_io_operations_total counter\n");
	HAS(text, "faultline_io_operations_total{cgroup=\"/slurm/uid_0/job_42/step_3\","
		  "slurm_job=\"42\",slurm_step=\"3\",user=\"root\",command=\"train\","
		  "method=\"direct\",op=\"read\"} 2\n");
	HAS(text, "command=\"train\",method=\"direct\",op=\"read\"} 8192\n");
	HAS(text, "command=\"train\",method=\"direct\",op=\"read\"} 3.000000000\n");
	HAS_NOT(text, "faultline_io_bytes_total{cgroup=\"/slurm/uid_0/job_42/step_3\",slurm_job="
		      "\"42\",slurm_step=\"3\",user=\"root\",command=\"train\",method=\"syscall\"");
	HAS(text, "\nfaultline_storage_unseen_ends_total 8\n");
	HAS_NOT(text, "# EOF");
	HAS_NOT(text, "# UNIT");
	HAS_NOT(text, "_created{");
	free(text);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL & ~(1u << LAYER_BLOCK));
	HAS_NOT(text, "\nfaultline_storage_unseen_ends_total");
	free(text);
	text = render(ledger, FORMAT_OPENMETRICS, LAYERS_ALL);
	HAS(text, "# TYPE faultline_io_bytes counter\n# UNIT faultline_io_bytes bytes\n");
	HAS(text, "# TYPE faultline_build info\nfaultline_build_info{version=\"");
	HAS(text, "command=\"train\",method=\"direct\",op=\"read\"} 2\n"
		  "faultline_io_operations_created{cgroup=\"/slurm/uid_0/job_42/step_3\","
		  "slurm_job=\"42\",slurm_step=\"3\",user=\"root\",command=\"train\","
		  "method=\"direct\",op=\"read\"} 1700000000.000000060\n");
	HAS(text, "faultline_io_latency_seconds_created{");
	HAS(text, "\nfaultline_storage_unseen_ends_created 1700000000.000000000\n");
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	free(text);
	ledger_close(ledger);
}

/* Cumulative buckets with inclusive bounds; 100 ns fall into the one below 128 ns. */
TEST(test_histogram)
{
	struct ledger *ledger = open_ledger(10000);
	char *text;

	begin(ledger, 7, "/a", "x");
	add(ledger, 7, LEDGER_READ, METHOD_SYSCALL, 1, 5);
	add(ledger, 7, LEDGER_READ, METHOD_SYSCALL, 5, 7); /* 1024 to 2047 ns */
	add(ledger, 7, LEDGER_READ, METHOD_SYSCALL, LEDGER_LATENCIES - 1, 1);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
#define OF_JOB "{cgroup=\"/a\",user=\"root\",method=\"syscall\",op=\"read\""
	HAS(text, "faultline_io_latency_seconds_bucket" OF_JOB ",le=\"1.023e-06\"} 5\n");
	HAS(text, "faultline_io_latency_seconds_bucket" OF_JOB ",le=\"8.191e-06\"} 12\n");
	HAS(text, "faultline_io_latency_seconds_bucket" OF_JOB ",le=\"2.147483647\"} 12\n");
	HAS(text, "faultline_io_latency_seconds_bucket" OF_JOB ",le=\"+Inf\"} 13\n");
	HAS(text, "faultline_io_latency_seconds_sum" OF_JOB "} 19.500000000\n");
	HAS(text, "faultline_io_latency_seconds_count" OF_JOB "} 13\n");
	free(text);
	ledger_close(ledger);
}

/* A series for each state that threads have been in. */
TEST(test_thread_states)
{
	struct ledger *ledger = open_ledger(10000);
	char *text;

	begin(ledger, 7, "/a", "x");
	begin(ledger, 8, "/a", "y");
	begin(ledger, 9, "/b", "x");
	run(ledger, 7, 1500000000, 0);
	run(ledger, 8, 250000000, 2000000000);
	run(ledger, 9, 0, 3);
	text = render(ledger, FORMAT_OPENMETRICS, LAYERS_ALL);
	HAS(text, "# TYPE faultline_thread_seconds counter\n"
		  "# UNIT faultline_thread_seconds seconds\n");
	HAS(text, "\nfaultline_thread_seconds_total{cgroup=\"/a\",user=\"root\",state=\"cpu\"} "
		  "1.750000000\n");
	HAS(text, "\nfaultline_thread_seconds_total{cgroup=\"/a\",user=\"root\",state=\"sleep\"} "
		  "2.000000000\n");
	HAS(text, "\nfaultline_thread_seconds_total{cgroup=\"/b\",user=\"root\",state=\"sleep\"} "
		  "0.000000003\n");
	HAS_NOT(text,
		"\nfaultline_thread_seconds_total{cgroup=\"/b\",user=\"root\",state=\"cpu\"}");
	HAS_NOT(text, "state=\"lock\"");
	free(text);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL & ~(1u << LAYER_THREAD));
	HAS_NOT(text, "\nfaultline_thread_seconds_total{");
	free(text);
	ledger_close(ledger);
}

/* States of jobs beyond the limit are one job's, and those that go make room. */
TEST(test_thread_states_are_bounded)
{
	struct ledger *ledger = open_ledger(3);
	char *text;

	begin(ledger, 7, "/a", "x");
	begin(ledger, 8, "/b", "x");
	run(ledger, 7, 1, 2);
	run(ledger, 8, 3, 4);
	run(ledger, 8, 10, 20);
	assert_int_equal(ledger_node(ledger)->series_used, 3);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
	HAS(text, "{cgroup=\"/b\",user=\"root\",state=\"cpu\"} 0.000000013\n");
	HAS_NOT(text, "{cgroup=\"/b\",user=\"root\",state=\"sleep\"}");
	HAS(text, "{cgroup=\"(other)\",state=\"sleep\"} 0.000000024\n");
	HAS_NOT(text, "{cgroup=\"(other)\",state=\"cpu\"}");
	free(text);
	ledger_exit(ledger, 7, 130);
	ledger_exit(ledger, 8, 130);
	ledger_settle(ledger, 2000000000);
	assert_int_equal(ledger_node(ledger)->series_used, 0);
	ledger_close(ledger);
}

TEST(test_hostile_names)
{
	struct ledger *ledger = open_ledger(10000);
	char *text;

	begin(ledger, 7, "/a\"} 1\n# EOF\\\xff", "x\"\n");
	add(ledger, 7, LEDGER_READ, METHOD_SYSCALL, 1, 5);
	text = render(ledger, FORMAT_OPENMETRICS, LAYERS_ALL);
	HAS(text, "{cgroup=\"/a\\\"} 1\\n# EOF\\\\\\\\xff\",user=\"root\",command=\"x\\\"\\n\",");
	assert_ptr_equal(strstr(text, "\n# EOF"), text + strlen(text) - 7);
	free(text);
	ledger_close(ledger);
}

/* Whatever bytes names have, no two get the same label: a series would have two samples. */
TEST(test_names_stay_distinct)
{
	static const struct {
		const char *name, *label;
	} programs[] = {
		{ "\xff", "\\\\xff" },
		{ "\\xff", "\\\\x5cxff" },
		{ "\\x5cxff", "\\\\x5cx5cxff" },
		{ "\\\xff", "\\\\\\\\xff" },
		{ "\\\\xff", "\\\\\\\\x5cxff" },
		{ "a\\x2db\\", "a\\\\x2db\\\\" }, /* as systemd names units */
		{ "\\x7f", "\\\\x7f" },
		{ "\\x", "\\\\x" },
	};
	struct ledger *ledger = open_ledger(10000);
	char *text, expected[128];

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		begin(ledger, 7 + i, "/a", programs[i].name);
		add(ledger, 7 + i, LEDGER_READ, METHOD_SYSCALL, 1, 5);
	}
	text = render(ledger, FORMAT_OPENMETRICS, LAYERS_ALL);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		snprintf(expected, sizeof(expected),
			 "\nfaultline_io_operations_total{cgroup=\"/"
			 "a\",user=\"root\",command=\"%s\",",
			 programs[i].label);
		HAS(text, expected);
	}
	free(text);
	ledger_close(ledger);
}

/* A layer that is off was not measured, so it is not 0. */
TEST(test_layers_that_are_off)
{
	struct ledger *ledger = open_ledger(10000);
	char *text;

	begin(ledger, 7, "/a", "x");
	add(ledger, 7, LEDGER_READ, METHOD_MMAP, 1, 5);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
	HAS(text, "faultline_page_faults_total{cgroup=\"/a\",user=\"root\",command=\"x\","
		  "kind=\"minor\",op=\"read\"} 4\n");
	HAS(text, "kind=\"major\",op=\"read\"} 1\n");
	HAS(text, "\nfaultline_mmap_fetched_bytes_total{");
	free(text);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL & ~(1u << LAYER_PAGECACHE));
	HAS_NOT(text, "\nfaultline_mmap_fetched_bytes_total{");
	HAS_NOT(text, "\nfaultline_io_fetched_bytes_total{");
	HAS(text, "\nfaultline_page_faults_total{");
	HAS(text, "faultline_layer_enabled{layer=\"pagecache\"} 0\n");
	free(text);
	ledger_close(ledger);
}

/* Calls of NFS have series once there are any; mounts of one name are counted together. */
TEST(test_nfs_calls)
{
	struct ledger_device device = { .name = "server:/data (nfs4)", .dev = 50 };
	struct ledger *ledger = open_ledger(4 * LEDGER_DEVICE_USES * 2 + 3 * LEDGER_DEVICE_USES);
	char *text;

	ledger_set_device(ledger, &device, 1);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
	HAS(text, "\n# TYPE faultline_nfs_retransmits_total counter\n");
	HAS_NOT(text, "\nfaultline_nfs_calls_total{");
	free(text);
	device.calls[LEDGER_OTHER_CALLS] = (struct ledger_calls) { 7, 2, 1500000000 };
	ledger_set_device(ledger, &device, 1);
	ledger_set_device(ledger, &device, 1);
	device.calls[LEDGER_OTHER_CALLS] = (struct ledger_calls) { 1, 0, 500000000 };
	ledger_set_device(ledger, &device, 2);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
#define OF_MOUNT "{device=\"server:/data (nfs4)\",op=\"other\"} "
	HAS(text, "\nfaultline_nfs_calls_total" OF_MOUNT "8\n");
	HAS(text, "\nfaultline_nfs_retransmits_total" OF_MOUNT "2\n");
	HAS(text, "\nfaultline_nfs_round_trip_seconds_total" OF_MOUNT "2.000000000\n");
	HAS(text, "\nfaultline_nfs_calls_total{device=\"server:/data (nfs4)\",op=\"flush\"} 0\n");
	HAS_NOT(text, "\nfaultline_nfs_calls_total{device=\"server:/data (nfs4)\",op=\"discard\"}");
	free(text);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL & ~(1u << LAYER_NFS));
	HAS_NOT(text, "\nfaultline_nfs_calls_total{");
	free(text);
	/* There is no room for the series of another mount's calls. */
	strcpy(device.name, "server:/more (nfs4)");
	ledger_set_device(ledger, &device, 3);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
	HAS(text, "\nfaultline_storage_requests_total{device=\"server:/more (nfs4)\",op=\"read\"}");
	HAS_NOT(text, "\nfaultline_nfs_calls_total{device=\"server:/more (nfs4)\"");
	assert_int_equal(ledger_node(ledger)->series_folded, 3 * LEDGER_DEVICE_USES);
	free(text);
	ledger_close(ledger);
}

static unsigned int count_lines(const char *text, const char *with)
{
	unsigned int count = 0;

	for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n'))
		if (*text != '#' && memmem(text, strcspn(text, "\n"), with, strlen(with)))
			count++;
	return count;
}

/* Never more series than the limit, and every series counted is exported. */
TEST(test_series_cost_what_they_are)
{
	const uint64_t most = 500;
	struct ledger *ledger = open_ledger(most);
	char *text, cgroup[32];

	begin(ledger, 1, "/first", "x");
	for (unsigned int method = 0; method < METHOD_COUNT; method++)
		for (unsigned int op = 0; op < LEDGER_OPS; op++)
			if (op < LEDGER_METADATA || method == METHOD_SYSCALL)
				add(ledger, 1, op, method, 1, 1);
	run(ledger, 1, 1, 1);
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
	assert_int_equal(count_lines(text, "cgroup=\"/first\""), ledger_node(ledger)->series_used);
	free(text);
	for (uint32_t pid = 2; pid < 100; pid++) {
		snprintf(cgroup, sizeof(cgroup), "/job%u", pid);
		begin(ledger, pid, cgroup, "x");
		add(ledger, pid, LEDGER_READ, METHOD_SYSCALL, 1, 1);
	}
	text = render(ledger, FORMAT_PROMETHEUS, LAYERS_ALL);
	assert_int_equal(count_lines(text, "cgroup=\"/"), ledger_node(ledger)->series_used);
	assert_true(ledger_node(ledger)->series_used <= most);
	assert_true(count_lines(text, "cgroup=\"(other)\"") > 0);
	assert_true(count_lines(text, "") <= most + METRIC_SERIES_FIXED);
	free(text);
	ledger_close(ledger);
}

TEST(test_which_format)
{
	static const struct {
		const char *accept;
		enum openmetrics_format format;
	} rows[] = {
		{ NULL, FORMAT_PROMETHEUS },
		{ "", FORMAT_PROMETHEUS },
		{ "*/*", FORMAT_PROMETHEUS },
		{ "text/plain", FORMAT_PROMETHEUS },
		{ "application/openmetrics-text", FORMAT_OPENMETRICS },
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		  "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  FORMAT_OPENMETRICS },
		{ "text/plain;q=0.9,application/openmetrics-text;q=0.5", FORMAT_PROMETHEUS },
		{ "application/openmetrics-text;q=0", FORMAT_PROMETHEUS },
		{ "application/openmetrics-text;q=0.2,text/plain;q=1e300", FORMAT_PROMETHEUS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(openmetrics_choose(rows[i].accept), rows[i].format);
}

TEST(test_textfile)
{
	char directory[] = "/tmp/test_textfile_XXXXXX", path[64], temporary[64], other[64];
	char read_back[16];
	struct textfile *file;
	struct stat status;
	mode_t mask;
	FILE *back;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/a.prom", directory);
	snprintf(temporary, sizeof(temporary), "%s/.a.prom.tmp", directory);
	assert_int_equal(textfile_open(&file, path), 0);
	mask = umask(0077); /* another user's collector can still read it */
	assert_int_equal(textfile_write(file, "first\n", 6, 1), 0);
	umask(mask);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
	assert_int_equal(textfile_write(file, "second\n", 7, 2), 0);
	back = fopen(path, "r");
	assert_non_null(fgets(read_back, sizeof(read_back), back));
	fclose(back);
	assert_string_equal(read_back, "second\n");
	assert_int_equal(access(temporary, F_OK), -1);
	/* A failed write leaves the old file intact. */
	assert_int_equal(mkdir(temporary, 0755), 0);
	assert_true(textfile_write(file, "third\n", 6, 3) < 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(rmdir(temporary), 0);
	assert_int_equal(textfile_write(file, "fourth\n", 7, 4), 0);
	/* Whatever else exists at that name is neither waited for nor followed. */
	assert_int_equal(mkfifo(temporary, 0644), 0);
	alarm(20);
	assert_int_equal(textfile_write(file, "fifth\n", 6, 5), 0);
	alarm(0);
	snprintf(other, sizeof(other), "%s/other", directory);
	assert_int_equal(symlink(other, temporary), 0);
	assert_int_equal(textfile_write(file, "sixth\n", 6, 6), 0);
	assert_int_equal(access(other, F_OK), -1);
	textfile_close(file);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(textfile_open(&file, "/dev/null"), -EINVAL);
	assert_int_equal(textfile_open(&file, "/tmp/"), -EINVAL);
}

/* A program's name may look like the rest of the line. */
TEST(test_stat_of_a_process)
{
	char comm[16];
	uint64_t start;

	assert_true(process_parse_stat("17 (a) S 1) S 1 17 17 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 "
				       "1 0 4711 9000000 100 18446744073709551615",
				       comm, &start));
	assert_string_equal(comm, "a) S 1");
	assert_int_equal(start, 4711);
	assert_false(process_parse_stat("17 (a", comm, &start));
	assert_false(process_parse_stat("", comm, &start));
	assert_false(process_parse_stat("17 (a) S 1 17", comm, &start));
}

/* With cgroup v1, an exited process is in no cgroup: the kernel shows the root, which is not where
 * it was.
 */
TEST(test_cgroup_of_one_that_has_ended)
{
	char own[PATH_MAX], its[PATH_MAX] = "";
	siginfo_t info;
	pid_t child;

	if (!process_cgroup(getpid(), own, sizeof(own)))
		skip(); /* in a PID namespace */
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
	if (process_cgroup(child, its, sizeof(its)))
		assert_string_equal(its, own);
	assert_int_equal(waitpid(child, NULL, 0), child);
}
