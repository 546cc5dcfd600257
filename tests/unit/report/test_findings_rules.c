/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Runs each rule of the registry on a trace with its problem, and on a sound sibling that differs
 * only in what the rule is about.
 *
 *   test_findings_rules --make DIRECTORY   leaves the former there, ID.NUMBER.flt, for other tests
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/finding/finding.h"
#include "findings_of_jobs.h"
#include "findings_of_opens.h"
#include "findings_of_reads.h"
#include "findings_of_writes.h"

static const struct {
	const char *id;
	void (*make)(struct made_trace *made, bool sound);
} cases[] = {
	{ "small-reads-storage", small_reads_storage },
	{ "small-reads-storage", small_reads_shards },
	{ "held-back", held_back },
	{ "held-back", held_back_others },
	{ "held-back", held_back_files },
	{ "small-reads-cached", small_reads_cached },
	{ "small-reads-cached", small_reads_opens },
	{ "small-reads-cached", small_reads_direct },
	{ "small-reads-cached", small_reads_shared_memory },
	{ "random-reads", random_reads },
	{ "random-reads", random_reads_few },
	{ "random-reads", random_reads_direct },
	{ "random-reads", random_reads_holes },
	{ "random-reads", random_reads_appended },
	{ "read-again", read_again },
	{ "read-again", read_again_cold },
	{ "read-again", read_again_drawn },
	{ "read-by-several", read_by_several },
	{ "read-by-several", read_by_one_of_several },
	{ "fetched-again", fetched_again },
	{ "fetched-again", fetched_again_shards },
	{ "fetched-again", fetched_again_holes },
	{ "fetched-again", faulted_again },
	{ "load-waits", load_waits },
	{ "load-waits", load_from_memory },
	{ "load-waits", load_reported },
	{ "small-reads-cached", small_reads_failed },
	{ "cold-start", cold_start },
	{ "cold-start", cold_start_slow },
	{ "mmap-strided", mmap_strided },
	{ "mmap-in-order", mmap_in_order },
	{ "mmap-in-order", mmap_in_order_fast },
	{ "mmap-in-order", mmap_in_order_again },
	{ "mmap-in-order", mmap_in_order_copied },
	{ "mmap-in-order", mmap_in_order_holes },
	{ "mmap-random", mmap_random_threads },
	{ "random-reads", random_reads_threads },
	{ "mmap-single", mmap_single },
	{ "mmap-minor-faults", mmap_minor },
	{ "mmap-minor-faults", mmap_minor_read },
	{ "swapped", swapped },
	{ "many-small-files", many_small_files },
	{ "many-small-files", many_small_documents },
	{ "many-small-files", many_small_sources },
	{ "many-small-files", many_small_files_made },
	{ "many-small-files", some_small_checkpoints },
	{ "opened-again", opened_again },
	{ "opened-again", opened_again_few },
	{ "opened-again", opened_again_locked },
	{ "opened-again", opened_again_parsed },
	{ "opened-again", opened_some_times },
	{ "opened-again", opened_again_listed },
	{ "listed-again", listed_again },
	{ "listed-again", listed_again_few },
	{ "listed-again", listed_by_python },
	{ "metadata-heavy", metadata_heavy },
	{ "metadata-heavy", metadata_heavy_few },
	{ "metadata-heavy", metadata_beside_faults },
	{ "metadata-heavy", metadata_of_locks },
	{ "metadata-heavy", metadata_that_fails },
	{ "metadata-heavy", metadata_of_modules },
	{ "worker-start", worker_start },
	{ "imports", imports },
	{ "imports", imports_once },
	{ "imports", imports_of_directories },
	{ "metadata-heavy", metadata_of_directories },
	{ "metadata-cold", metadata_cold },
	{ "metadata-cold", metadata_cold_alone },
	{ "metadata-cold", metadata_cold_holes },
	{ "metadata-cold", metadata_cold_of_start },
	{ "failed-lookups", failed_lookups },
	{ "failed-lookups", failed_lookups_of_data },
	{ "fsync-often", fsync_often },
	{ "fsync-often", fsync_waited },
	{ "fsync-often", fsync_once },
	{ "fsync-often", fsync_of_saves },
	{ "fsync-often", fsync_beside },
	{ "fsync-often", fsync_of_ranks },
	{ "fsync-often", fsync_of_one_rank },
	{ "save-waits", save_waits },
	{ "save-waits", save_alone },
	{ "save-waits", save_forked },
	{ "save-waits", save_in_memory },
	{ "save-waits", save_of_files },
	{ "sync-writes", sync_writes },
	{ "partial-writes", partial_writes },
	{ "small-writes", small_writes },
	{ "small-writes", small_writes_few },
	{ "small-writes", small_writes_sync },
	{ "shared-writes", shared_writes },
	{ "shared-writes", shared_writes_direct },
	{ "write-bound", write_bound },
	{ "write-bound", write_bound_reported },
	{ "write-bound", write_bound_beside_reads },
	{ "read-bound", read_bound },
	{ "mmap-store-faults", mmap_stores },
	{ "mmap-copied", mmap_copied },
	{ "mmap-bound", mmap_bound },
	{ "mmap-bound", mmap_bound_data },
	{ "small-direct", small_direct },
	{ "lock-wait", lock_wait },
	{ "lock-wait", lock_few },
	{ "lock-wait", lock_free },
	{ "lock-wait", lock_asked },
	{ "failed-calls", failed_calls },
	{ "failed-calls", failed_nowait },
	{ "short-reads", short_reads },
	{ "short-reads", short_reads_of_modules },
	{ "writers-throttled", writers_throttled },
	{ "stores-amplified", stores_amplified },
	{ "killed", killed },
	{ "killed", killed_for_memory },
	{ "still-waiting", still_waiting },
	{ "async-not-traced", async_not_traced },
	{ "shallow-queue", shallow_queue },
	{ "readahead-unused", readahead_unused },
	{ "readahead-unused", readahead_of_library },
	{ "readahead-unused", readahead_mapped },
	{ "device-errors", device_errors },
	{ "device-slow", device_slow },
	{ "device-slow", device_slow_few },
	{ "device-overloaded", device_overloaded },
	{ "device-overloaded", device_overloaded_by_one },
	{ "device-overloaded", device_overloaded_async },
	{ "requests-small", requests_small },
	{ "flushes", flushes },
	{ "flushes", flushes_of_others },
	{ "device-shared", device_shared },
	{ "device-shared", device_shared_journal },
	{ "device-shared", device_shared_little },
	{ "tracer-cost", tracer_cost },
	{ "epoch-from-storage", epoch_from_storage },
	{ "epoch-from-memory", epoch_from_memory },
	{ "sync-checkpoint", sync_checkpoint },
	{ "loader-io", loader_io },
	{ "loader-preprocessing", loader_preprocessing },
	{ "loader-idle", loader_idle },
	{ "worker-slow", worker_slow },
	{ "accelerator-idle", accelerator_idle },
	{ "straggler", straggler },
	{ "ranks-uneven", ranks_uneven },
	{ "rank-slow", rank_slow },
	{ "ranks-uneven", ranks_uneven_mapped },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

static void make_case(struct made_trace *made, size_t i, bool sound)
{
	BEGIN(made, .spans = true, .block = true, .async = cases[i].make != async_not_traced,
	      .memory_bytes = 1ull << 30);
	EXEC(made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	cases[i].make(made, sound);
	made_finish(made, 10, END);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < CASES; i++) {
		for (int sound = 0; sound < 2; sound++) {
			struct made_trace made;
			struct report *report;

			make_case(&made, i, sound);
			report = made_report(&made.reader, 1);
			check_texts(report, cases[i].id);
			if ((row_of_finding(report, cases[i].id) >= 0) == sound)
				fail_msg("%s: %s", cases[i].id,
					 sound ? "reported for a sound trace" : "not reported");
			report_free(report);
			made_close(&made);
		}
	}
}

/* The first screen names the process that died, the cause and the file. */
static void test_killed(void **state)
{
	struct made_trace made;
	struct report *report;
	int row;

	BEGIN(&made, .block = true);
	EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	killed(&made, false);
	made_finish(&made, 10, END);
	report = made_report(&made.reader, 1);
	check_text(report, "caveats", find_row(report, "caveats", "id", "killed"), "text",
		   "1 of 2 processes died: SIGBUS, worker at 3.0 MiB of /dev/shm/torch_0; "
		   "the file system was full (see df), or the file is shorter than its mapping");
	row = find_row(report, "findings", "id", "killed");
	check_text(report, "findings", row, "title", "1 of 2 processes died: SIGBUS");
	check_text(report, "findings", row, "severity", "high");
	report_free(report);
	made_close(&made);
}

/* Every rule has a case, here or (loss, mmap-random) in test_findings.c. */
static void test_all_have_cases(void **state)
{
	for (size_t i = 0; i < finding_rule_count; i++) {
		const char *id = finding_rules[i]->id;
		/* test_analysis_profile.c covers findings that only totals show. */
		bool found = !strcmp(id, "loss") || !strcmp(id, "mmap-random") ||
			     !strcmp(id, "mmap-faults") || !strcmp(id, "shared-writes-ranks");

		for (size_t j = 0; j < CASES && !found; j++)
			found = !strcmp(id, cases[j].id);
		if (!found)
			fail_msg("%s has no case", id);
	}
}

static int leave_all(const char *directory)
{
	int status = 0;

	for (size_t i = 0; i < CASES && !status; i++) {
		struct made_trace made;
		char path[4096];

		make_case(&made, i, false);
		snprintf(path, sizeof(path), "%s/%s.%zu.flt", directory, cases[i].id, i);
		status = made_leave(&made, path);
		made_close(&made);
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_all_have_cases),
	};

	if (argc == 3 && !strcmp(argv[1], "--make"))
		return leave_all(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
