/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "analysis/finding/finding_work.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/events/path.h"
#include "analysis/files/reopens.h"
#include "analysis/finding/file_group.h"
#include "analysis/finding/finding_samples.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/trace_text.h"
#include "analysis/stacks/lines.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

#define WORK_SAMPLES_MIN 5 /* of CPU time: the error of fewer is above 45% */
#define ENTRY_NS_MAX 2000  /* measured: 1.3 us an operation, with page table isolation */

/* Adds the operations that the change saves. If a file is opened again and again, that leaves a
 * read of each open that leads to new data. */
static int add_saved(struct findings *findings, const struct finding *finding,
		     struct finding_samples *samples)
{
	const struct finding_rule *rule = finding->rule;
	const struct file_group *file_group = finding->evidence;
	struct finding_samples opens;
	int status = finding_samples_add_finding(samples, findings, finding, finding_uses(rule));
	double kept;

	if (status || !rule->files.reopens || !file_group->reads)
		return status;
	kept = fmin(reopens_fresh_share(findings->results) * file_group->opens / file_group->reads,
		    1);
	status = finding_samples_init(&opens, findings->results);
	if (!status)
		status = finding_samples_add_finding(&opens, findings, finding,
						     1u << rule->files.use);
	for (size_t i = 0; i < samples->count && !status; i++)
		samples->sites[i].time_ns = finding_limited(kept * opens.sites[i].time_ns +
							    (1 - kept) * samples->sites[i].time_ns);
	finding_samples_free(&opens);
	return status;
}

/* Parts of the critical path, summed over main threads. */
struct path_parts {
	uint64_t roots;
	double cpu_ns, runnable_ns, io_ns;
};

static struct path_parts parts_of(const struct results *results)
{
	struct path_parts sum = { .cpu_ns = 0 };
	uint64_t whole_ns;
	size_t count;
	const struct path_share *shares =
		critical_path_threads(results, &count, &whole_ns, &sum.roots);

	for (size_t i = 0; i < count; i++) {
		sum.cpu_ns += shares[i].parts[THREAD_CPU];
		sum.runnable_ns += shares[i].parts[THREAD_RUNNABLE];
		sum.io_ns += shares[i].parts[PATH_IO];
	}
	return sum;
}

/* Returns how much longer computing took because the thread waited for CPUs. */
static double crowding(const struct path_parts *parts)
{
	return parts->cpu_ns > 0 ? 1 + parts->runnable_ns / parts->cpu_ns : 1;
}

/* Returns how many main threads share the CPU time at sites with time of `own`; less if others wait
 * for one of them. */
static double sharing(const struct results *results, const struct finding_samples *own)
{
	uint64_t *process_ns = calloc(results->job->processes.count + 1, sizeof(*process_ns));
	uint64_t all_ns = 0, saved_ns;
	size_t count;
	const struct path_stack *stacks = critical_path_stacks(results, THREAD_CPU, &count);

	if (!process_ns)
		return 1;
	for (; count; count--, stacks++) {
		const uint32_t site =
			lines_site(results, stacks->trace, stacks->stack, stacks->cut);

		if (site >= own->count || !own->sites[site].time_ns)
			continue;
		process_ns[stacks->process] += stacks->time_ns;
		all_ns += stacks->time_ns;
	}
	saved_ns = critical_path_saved_ns(results, process_ns);
	free(process_ns);
	return saved_ns ? fmax((double)all_ns / saved_ns, 1) : 1;
}

/* Whether a stack is in Python's own modules for paths, directories and containers of data, which
 * only prepare calls and look at their results. */
static bool is_of_files(const struct job *job, const struct path_stack *sampled)
{
	static const char *const sources[] = {
		"<frozen posixpath>",
		"<frozen genericpath>",
		"<frozen os>",
		"/posixpath.py",
		"/genericpath.py",
		"/pathlib.py",
		"/pathlib/__init__.py", /* 3.13 */
		"/pathlib/_local.py",
		"/os.py",
		"/glob.py",
		"/fnmatch.py",
		"/shutil.py",
		"/tempfile.py",
		"/zipfile.py",
		"/zipfile/__init__.py", /* 3.12 */
		"/lib/format.py",	/* NumPy */
		"/lib/_format_impl.py",
		"/lib/npyio.py",
		"/lib/_npyio_impl.py",
	};
	uint64_t stack = sampled->stack;
	struct stack_frame frame;

	if (!stack_table_next(&job->stacks, sampled->trace, &stack, &frame) ||
	    (frame.source.length && frame.source.bytes[0] == '/' &&
	     !loaded_is(trace_text(frame.source)))) /* the job's own */
		return false;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (path_ends(frame.source.bytes, frame.source.length, sources[i]))
			return true;
	return false;
}

/* Calls that map and unmap memory without a file belong to the work at a line. */
static bool is_of_memory(const struct line_use *use)
{
	return use->file == FILE_NONE && files_use_of(use->class) == USE_MMAP;
}

/* Returns the time in the kernel around an operation, on average. */
static double entry_ns_of(const struct results *results)
{
	uint64_t count = 0;

	for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++)
		count += totals_class(results, class).count;
	return count ? fmin((double)threads_kernel_ns(results) / count, ENTRY_NS_MAX) : 0;
}

/* The samples at the lines of a finding. */
struct work_samples {
	struct finding_samples own, all, cpu, of_files;
	struct finding_samples calls;  /* CPU time in calls */
	struct finding_samples faults; /* all time in faults */
};

static int work_samples_make(struct work_samples *samples, struct findings *findings,
			     const struct finding *finding)
{
	const struct results *results = findings->results;
	struct finding_samples *const each[] = { &samples->own,	  &samples->all,
						 &samples->cpu,	  &samples->of_files,
						 &samples->calls, &samples->faults };
	const struct path_stack *stacks;
	const struct line_use *use;
	size_t count, sites;
	int status = 0;

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		if (finding_samples_init(each[i], results))
			status = -ENOMEM;
	if (!status)
		status = add_saved(findings, finding, &samples->own);
	if (status)
		return status;
	use = lines_uses(results, &count, &sites);
	for (; count; count--, use++)
		if (!is_of_memory(use)) {
			finding_samples_add(&samples->all, use->site, use->kind, &use->sums);
			if (files_use_of(use->class) == USE_MMAP)
				finding_samples_add(&samples->faults, use->site, use->kind,
						    &use->sums);
		}
	stacks = critical_path_stacks(results, THREAD_CPU, &count);
	finding_samples_add_stacks(&samples->cpu, results, NULL, stacks, count);
	for (; count; count--, stacks++)
		if (is_of_files(results->job, stacks))
			finding_samples_add_stacks(&samples->of_files, results, NULL, stacks, 1);
	stacks = critical_path_stacks(results, PATH_IN_CALLS, &count);
	finding_samples_add_stacks(&samples->calls, results, NULL, stacks, count);
	return 0;
}

static void work_samples_free(struct work_samples *samples)
{
	finding_samples_free(&samples->own);
	finding_samples_free(&samples->all);
	finding_samples_free(&samples->cpu);
	finding_samples_free(&samples->of_files);
	finding_samples_free(&samples->calls);
	finding_samples_free(&samples->faults);
}

/* Work at all lines, in ns. */
struct work_sum {
	double time_ns, files_ns, entry_ns, samples;
};

static struct work_sum sum_up(const struct results *results, const struct path_parts *parts,
			      const struct work_samples *samples)
{
	const double each_ns = entry_ns_of(results);
	double io_cpu = threads_cpu_of_io(results);
	struct work_sum sum = { .time_ns = 0 };

	/* Samples do not say whether they are in a fault. The faults are those of all threads, the
	 * CPU time only that on the path. */
	if (samples->all.all.time_ns > parts->io_ns)
		io_cpu *= parts->io_ns / samples->all.all.time_ns;
	for (size_t i = 0; i < samples->all.count; i++) {
		const struct line_sums *own = &samples->own.sites[i];
		const struct line_sums *cpu = &samples->cpu.sites[i];
		const double io_ns = samples->all.sites[i].time_ns;
		const double share = finding_share(own->time_ns, io_ns);
		const double inside_ns =
			samples->calls.sites[i].time_ns + io_cpu * samples->faults.sites[i].time_ns;
		const double outside_ns = fmax(cpu->time_ns - inside_ns, 0) * fmin(share, 1);

		if (!own->time_ns)
			continue;
		sum.time_ns += outside_ns;
		sum.entry_ns += fmin(own->count * each_ns, outside_ns);
		sum.samples += cpu->estimated_samples * fmin(share, 1);
		sum.files_ns += outside_ns *
				finding_share(samples->of_files.sites[i].time_ns, cpu->time_ns);
	}
	return sum;
}

int finding_work_of(struct findings *findings, const struct finding *finding,
		    struct finding_work *work)
{
	const struct results *results = findings->results;
	const struct path_parts parts = parts_of(results);
	struct work_samples samples = { .own = { .sites = NULL } };
	int status = work_samples_make(&samples, findings, finding);

	*work = (struct finding_work) { 0 };
	if (!status) {
		const struct work_sum sum = sum_up(results, &parts, &samples);
		const double scale =
			parts.roots ? crowding(&parts) / sharing(results, &samples.own) : 1;

		if (sum.samples >= WORK_SAMPLES_MIN) {
			work->time_ns = number_min(finding_limited(sum.time_ns * scale),
						   findings->duration_ns);
			work->files_ns =
				number_min(finding_limited(sum.files_ns * scale), work->time_ns);
			work->entry_ns =
				number_min(finding_limited(sum.entry_ns * scale), work->time_ns);
			work->waits = 1 - 1 / crowding(&parts);
		}
	}
	work_samples_free(&samples);
	return status;
}
