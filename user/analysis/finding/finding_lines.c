/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the lines whose samples are of a finding's files and operations. */
#include "analysis/finding/finding_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/path.h"
#include "analysis/files/reopens.h"
#include "analysis/finding/finding_files.h"
#include "analysis/processes/critical_path.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/trace_text.h"
#include "analysis/stacks/lines.h"
#include "analysis/totals/totals.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#define LINES_NAMED 2	   /* at most, each with at least */
#define NAME_MAX_BYTES 120 /* of a location; longer ones are cut */
#define SHARE_MIN 0.1	   /* of the time */
#define SHARE_MAX 0.75	   /* with it, a line is enough */
#define DRAG_SAMPLES_MIN 5 /* of CPU time: the error of fewer is above 45% */
#define ENTRY_NS_MAX 2000  /* measured: 1.3 us an operation, with page table isolation */
#define ERROR_MAX 0.3	   /* of a share: one or two samples name no line */

/* The evidence's column "path"; empty if it has none. */
static struct table_text path_of(const struct finding *finding)
{
	struct table_text path = { NULL, 0 };

	finding_get_evidence(finding->rule, finding->evidence, "path", table_get_text, &path,
			     sizeof(path));
	return path;
}

/* Whether the samples are of all files but programs: also if the evidence's path, one of many, has
 * less than half of the time. */
static bool takes_all(const struct finding *finding)
{
	double of_file = NAN;

	finding_get_evidence(finding->rule, finding->evidence, "of_file", table_get_real, &of_file,
			     sizeof(of_file));
	return finding->rule->lines_of_all || isfinite(of_file);
}

/* Verdicts on files, which are the same for all lines. */
enum verdict { UNKNOWN, YES, NO };

static bool takes_file(struct findings *findings, const struct finding *finding, uint32_t number)
{
	const struct finding_rule *rule = finding->rule;
	struct table_text path = path_of(finding);
	struct file_view file;

	if (rule->files.takes)
		return number != FILE_NONE && file_group_takes(findings, rule, number);
	if (rule->lines_of_pattern)
		return io_patterns_has(findings->results, rule->io_pattern, number);
	if (number == FILE_NONE || !files_used(findings->results, number, &file))
		return takes_all(finding);
	if (takes_all(finding))
		return !file_group_is_program(&file);
	return path.bytes && file.path.length == path.length &&
	       !memcmp(file.path.bytes, path.bytes, path.length);
}

/* Sums of a finding's samples by site. */
struct located {
	struct line_sums *sites, all;
	size_t count;
};

static void add_sums(struct located *located, uint32_t site, const struct line_sums *sums)
{
	line_sums_add(&located->all, sums);
	if (site != SITE_NONE)
		line_sums_add(&located->sites[site], sums);
}

/* Sums up the rows that a rule takes. */
static int sum_up_rows(struct findings *findings, const struct finding *finding,
		       struct located *located)
{
	size_t count;
	struct lines_row *rows = lines_rows(findings->results, &count);

	for (size_t i = 0; rows && i < count; i++)
		if (finding->rule->lines_row(finding->evidence, &rows[i]))
			add_sums(located, rows[i].site, &rows[i].sums);
	free(rows);
	return rows ? 0 : -ENOMEM;
}

/* Returns, by process, the line that starts processes for the longest time, to be freed; NULL if
 * out of memory. */
static uint32_t *find_starts(const struct results *results, const struct finding *finding)
{
	const struct process_table *processes = &results->job->processes;
	uint64_t *most_ns = calloc(processes->count + 1, sizeof(*most_ns));
	uint32_t *starts = calloc(processes->count + 1, sizeof(*starts));
	size_t count;
	const struct path_stack *stacks = critical_path_stacks(results, THREAD_CPU, &count);

	for (size_t i = 0; starts && i < processes->count; i++)
		starts[i] = SITE_NONE;
	for (; starts && most_ns && count; count--, stacks++)
		if (stacks->time_ns > most_ns[stacks->process] &&
		    finding->rule->lines_start(results->job, stacks)) {
			most_ns[stacks->process] = stacks->time_ns;
			starts[stacks->process] =
				lines_site(results, stacks->trace, stacks->stack, stacks->cut);
		}
	free(most_ns);
	return starts;
}

/* Returns the line that started a process, if its own is only of generated code, as in one that
 * Python spawns ("<string>:1"). */
static uint32_t site_of_start(const struct results *results, const uint32_t *starts,
			      uint32_t process, uint32_t site)
{
	const struct process_table *processes = &results->job->processes;
	char location[LOCATION_BYTES];

	if (site == SITE_NONE)
		return site;
	lines_locate(results, site, location);
	if (location[0] != '<')
		return site;
	for (process = processes->processes[process].parent; process < processes->count;
	     process = processes->processes[process].parent)
		if (starts[process] != SITE_NONE)
			return starts[process];
	return site;
}

/* Adds the time of stacks; with a finding, only of those that its rule takes. */
static void add_stacks(const struct results *results, const struct finding *finding,
		       const struct path_stack *stacks, size_t count, struct located *located)
{
	uint32_t *starts =
		finding && finding->rule->lines_start ? find_starts(results, finding) : NULL;
	const bool exact = finding && finding->rule->state != THREAD_CPU;

	for (; count; count--, stacks++) {
		const struct line_sums sums = {
			.time_ns = stacks->time_ns,
			.samples = stacks->samples,
			.estimated_ns = exact ? 0 : stacks->time_ns,
			.estimated_samples = exact ? 0 : stacks->samples,
		};
		uint32_t site = lines_site(results, stacks->trace, stacks->stack, stacks->cut);

		if (starts)
			site = site_of_start(results, starts, stacks->process, site);
		if (!finding || finding->rule->lines_path(results->job, finding->evidence, stacks))
			add_sums(located, site < located->count ? site : SITE_NONE, &sums);
	}
	free(starts);
}

/* Adds time on the critical path: with a finding, in its rule's state, otherwise on a CPU. */
static void add_path(const struct results *results, const struct finding *finding,
		     struct located *located)
{
	size_t count;
	const struct path_stack *stacks =
		critical_path_stacks(results, finding ? finding->rule->state : THREAD_CPU, &count);

	add_stacks(results, finding, stacks, count, located);
}

/* Sums up the operations of these uses on files that a rule takes. */
static int sum_up_uses(struct findings *findings, const struct finding *finding, unsigned int uses,
		       struct located *located)
{
	const struct finding_rule *rule = finding->rule;
	const size_t files = findings->results->job->files.count;
	size_t count, sites;
	const struct line_use *use = lines_uses(findings->results, &count, &sites);
	uint8_t *verdicts = calloc(files + 1, 1); /* the last one is that of no file */

	for (; verdicts && count; count--, use++) {
		uint8_t *verdict = &verdicts[use->file < files ? use->file : files];

		if (!(uses >> files_use_of(use->class) & 1))
			continue;
		if (rule->lines_take)
			*verdict = rule->lines_take(findings, finding->evidence, use) ? YES : NO;
		else if (*verdict == UNKNOWN)
			*verdict = takes_file(findings, finding, use->file) ? YES : NO;
		if (*verdict == YES)
			add_sums(located, use->site, &use->sums);
	}
	free(verdicts);
	return verdicts ? 0 : -ENOMEM;
}

static int sum_up(struct findings *findings, const struct finding *finding, unsigned int uses,
		  struct located *located)
{
	size_t use_count;

	lines_uses(findings->results, &use_count, &located->count);
	located->sites = calloc(located->count + 1, sizeof(*located->sites));
	if (!located->sites)
		return -ENOMEM;
	if (finding->rule->lines_path)
		add_path(findings->results, finding, located);
	if (finding->rule->lines_path && (located->all.time_ns || !finding->rule->lines_row))
		return 0;
	return finding->rule->lines_row ? sum_up_rows(findings, finding, located)
					: sum_up_uses(findings, finding, uses, located);
}

/* Sums up the operations that the change saves. If a file is opened again and again, that leaves a
 * read of each open that leads to new data. */
static int sum_up_saved(struct findings *findings, const struct finding *finding,
			struct located *located)
{
	const struct finding_rule *rule = finding->rule;
	const struct file_group *file_group = finding->evidence;
	struct located opens = { .sites = NULL };
	int status = sum_up(findings, finding, finding_uses(rule), located);
	double kept;

	if (status || !rule->files.reopens || !file_group->reads)
		return status;
	kept = fmin(reopens_fresh_share(findings->results) * file_group->opens / file_group->reads,
		    1);
	status = sum_up(findings, finding, 1u << rule->files.use, &opens);
	for (size_t i = 0; i < located->count && !status; i++)
		located->sites[i].time_ns = finding_limited(kept * opens.sites[i].time_ns +
							    (1 - kept) * located->sites[i].time_ns);
	free(opens.sites);
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
static double sharing(const struct results *results, const struct located *own)
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

/* Adds the CPU time on the path in such modules. */
static void add_of_files(const struct results *results, struct located *located)
{
	size_t count;
	const struct path_stack *stacks = critical_path_stacks(results, THREAD_CPU, &count);

	for (; count; count--, stacks++)
		if (is_of_files(results->job, stacks))
			add_stacks(results, NULL, stacks, 1, located);
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

int finding_drag(struct findings *findings, const struct finding *finding,
		 struct finding_dragged *dragged)
{
	const struct results *results = findings->results;
	struct located own = { .sites = NULL }, all = { .sites = NULL }, cpu = { .sites = NULL },
		       of_files = { .sites = NULL };
	const struct path_parts parts = parts_of(results);
	double io_cpu = threads_cpu_of_io(results);
	size_t uses;
	const struct line_use *use = lines_uses(results, &uses, &all.count);
	const double each_ns = entry_ns_of(results);
	double time_ns = 0, files_ns = 0, entry_ns = 0, samples = 0, scale;
	int status = sum_up_saved(findings, finding, &own);

	*dragged = (struct finding_dragged) { 0 };
	all.sites = calloc(all.count + 1, sizeof(*all.sites));
	cpu.sites = calloc(all.count + 1, sizeof(*cpu.sites));
	of_files.sites = calloc(all.count + 1, sizeof(*of_files.sites));
	cpu.count = of_files.count = all.count;
	if (!all.sites || !cpu.sites || !of_files.sites)
		status = -ENOMEM;
	if (!status) {
		for (; uses; uses--, use++)
			if (!is_of_memory(use))
				add_sums(&all, use->site, &use->sums);
		add_path(results, NULL, &cpu);
		add_of_files(results, &of_files);
	}
	/* The I/O is that of all threads, the CPU time only that on the path. */
	if (all.all.time_ns > parts.io_ns)
		io_cpu *= parts.io_ns / all.all.time_ns;
	for (size_t i = 0; i < all.count && !status; i++)
		if (own.sites[i].time_ns) {
			const double io_ns = all.sites[i].time_ns;
			const double own_ns = fmin(own.sites[i].time_ns, io_ns);
			const double outside_ns =
				fmax(cpu.sites[i].time_ns - io_cpu * io_ns, 0) * (own_ns / io_ns);

			time_ns += outside_ns;
			entry_ns += fmin(own.sites[i].count * each_ns, outside_ns);
			samples += cpu.sites[i].estimated_samples * (own_ns / io_ns);
			if (cpu.sites[i].time_ns)
				files_ns += outside_ns * of_files.sites[i].time_ns /
					    cpu.sites[i].time_ns;
		}
	scale = parts.roots && own.sites ? crowding(&parts) / sharing(results, &own) : 1;
	free(own.sites);
	free(all.sites);
	free(cpu.sites);
	free(of_files.sites);
	if (samples < DRAG_SAMPLES_MIN)
		return status;
	dragged->time_ns = number_min(finding_limited(time_ns * scale), findings->duration_ns);
	dragged->files_ns = number_min(finding_limited(files_ns * scale), dragged->time_ns);
	dragged->entry_ns = number_min(finding_limited(entry_ns * scale), dragged->time_ns);
	dragged->waits = 1 - 1 / crowding(&parts);
	return status;
}

/* Returns the site with the most time; the number of sites if none has any. */
static size_t find_worst(const struct located *located)
{
	size_t worst = located->count;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < located->count; i++)
		if (located->sites[i].time_ns > most_ns) {
			most_ns = located->sites[i].time_ns;
			worst = i;
		}
	return worst;
}

int finding_held_at(struct findings *findings, struct table_text *at)
{
	size_t count;
	const struct path_stack *stacks = critical_path_holders(findings->results, &count);
	struct located located = { .sites = NULL };
	char location[LOCATION_BYTES];
	size_t worst;
	int status = 0;

	*at = (struct table_text) { NULL, 0 };
	if (!count)
		return 0;
	lines_uses(findings->results, &worst, &located.count);
	located.sites = calloc(located.count + 1, sizeof(*located.sites));
	if (!located.sites)
		return -ENOMEM;
	add_stacks(findings->results, NULL, stacks, count, &located);
	worst = find_worst(&located);
	if (worst < located.count) {
		lines_locate(findings->results, worst, location);
		at->length = strlen(location);
		at->bytes = arena_text(findings->arena, location, at->length);
		status = at->bytes ? 0 : -ENOMEM;
	}
	free(located.sites);
	return status;
}

/* The standard error of a part's share, by that of the part and that of the rest. Even if all of n
 * samples are of the part, one in n + 1 may not be. */
static double share_error(const struct line_sums *part, const struct line_sums *all, double share)
{
	const struct line_sums rest = {
		.estimated_ns = all->estimated_ns - part->estimated_ns,
		.estimated_samples = all->estimated_samples - part->estimated_samples,
	};
	const double rest_ns = rest.estimated_samples
				       ? line_sums_error(&rest)
				       : part->estimated_ns / (part->estimated_samples + 1.0);

	return hypot((1 - share) * line_sums_error(part), share * rest_ns) / all->time_ns;
}

/* Adds a name, cut at a character. */
static void add_name(struct strbuf *text, const char *name, size_t length)
{
	const size_t shown = utf8_cut(name, length, NAME_MAX_BYTES);

	strbuf_add(text, "%.*s%s", (int)shown, name, shown < length ? "…" : "");
}

/* "of it"; "of the time on FILE", or on several files, if the samples are also of other operations
 * or other files than the finding is about; "of its I/O" */
static void add_whole(struct strbuf *text, const struct finding *finding)
{
	const struct finding_rule *rule = finding->rule;
	const struct table_text path = path_of(finding);
	uint64_t files = TABLE_NO_UINT;
	size_t base;

	finding_get_evidence(finding->rule, finding->evidence, "files", table_get_uint, &files,
			     sizeof(files));
	if (rule->lines_whole) {
		strbuf_add(text, " of %s", rule->lines_whole);
	} else if (rule->lines_of_pattern && files != 1) {
		strbuf_add(text, " of the time on these files");
	} else if (rule->files.takes || rule->lines_of_all || !path.length) {
		strbuf_add(text, " of it");
	} else if (takes_all(finding)) {
		strbuf_add(text, " of the time on all files");
	} else {
		base = path_base(path.bytes, path.length);
		strbuf_add(text, " of the time on ");
		add_name(text, path.bytes + base, path.length - base);
	}
}

/* "loader.py:42 in TokenDataset.__getitem__, 61% ± 2% of it; train.py:7 in main, 30% ± 2%" */
int finding_locate(struct findings *findings, struct finding *finding)
{
	struct located located = { .sites = NULL };
	struct strbuf text = { .used = 0 };
	double named = 0;
	int status = 0;

	if (!finding_uses(finding->rule) && !finding->rule->lines_row && !finding->rule->lines_path)
		return 0;
	status = sum_up(findings, finding, finding_uses(finding->rule), &located);
	for (int i = 0; i < LINES_NAMED && !status && named < SHARE_MAX; i++) {
		const size_t worst = find_worst(&located);
		char location[LOCATION_BYTES];
		double share, error;

		if (worst == located.count)
			break;
		share = finding_share(located.sites[worst].time_ns, located.all.time_ns);
		error = share_error(&located.sites[worst], &located.all, share);
		if (share < SHARE_MIN || error >= ERROR_MAX)
			break;
		lines_locate(findings->results, worst, location);
		strbuf_clause(&text, "%s", "");
		add_name(&text, location, strlen(location));
		strbuf_add(&text, ", %.0f%%", 100 * share);
		if (error >= 0.005)
			strbuf_add(&text, " ± %.0f%%", 100 * error);
		if (!i)
			add_whole(&text, finding);
		named += share;
		located.sites[worst].time_ns = 0;
	}
	if (!status && text.used) {
		finding->where = arena_text(findings->arena, text.bytes, text.used);
		status = finding->where ? 0 : -ENOMEM;
	}
	free(located.sites);
	return status;
}
