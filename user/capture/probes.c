/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The probe table, and choosing from it. Knows nothing of what the programs record.
 */
#include "capture/probes.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const layer_names[LAYER_COUNT] = {
	[LAYER_TASK] = "task",		 [LAYER_SYSCALL] = "syscall", [LAYER_FAULT] = "fault",
	[LAYER_PAGECACHE] = "pagecache", [LAYER_SPAN] = "span",	      [LAYER_BLOCK] = "block",
	[LAYER_ASYNC] = "async",	 [LAYER_VFS] = "vfs",
};

/* Entry and exit of a function, by one mechanism or the other. */
#define BY_FENTRY(name, target, of)                                                                \
	{ "fl_" name "_in", HOOK_FENTRY, target, .signature = of },                                \
	{                                                                                          \
		"fl_" name "_out", HOOK_FEXIT, target, .signature = of                             \
	}
#define BY_KPROBE(name, target, of)                                                                \
	{ "fl_" name "_kp", HOOK_KPROBE, target, .signature = of },                                \
	{                                                                                          \
		"fl_" name "_kr", HOOK_KRETPROBE, target, .signature = of                          \
	}
#define BUFFER "file*, char*, size_t, loff_t*"
#define KERNEL_BUFFER "file*, void*, size_t, loff_t*"
#define KERNEL_ITER "file*, iov_iter*, loff_t*"
#define VECTOR "file*, iovec*, long unsigned int, loff_t*, rwf_t"
#define ITER "file*, iov_iter*, loff_t*, rwf_t"
#define IOCB "file*, kiocb*, iov_iter*"
#define TO_PIPE "file*, loff_t*, pipe_inode_info*, size_t, unsigned int"
#define FROM_PIPE "pipe_inode_info*, file*, loff_t*, size_t, unsigned int"
#define FD_SYNC "unsigned int, int"
#define FILE_SYNC "file*, int"
#define RANGE "file*, loff_t, loff_t, int"

const struct part parts[] = {
	{
		.layer = LAYER_TASK,
		.required = true,
		.variants = { { "tp_btf",
				.probes = { { "fl_fork", HOOK_TP_BTF, "sched_process_fork" },
					    { "fl_exec", HOOK_TP_BTF, "sched_process_exec" },
					    { "fl_exit", HOOK_TP_BTF, "sched_process_exit" } } },
			      { "tp_btf*3", .copies = true,
				.probes = { { "fl_fork", HOOK_TP_BTF, "sched_process_fork" },
					    { "fl_fork_2", HOOK_TP_BTF, "sched_process_fork" },
					    { "fl_fork_3", HOOK_TP_BTF, "sched_process_fork" },
					    { "fl_exec", HOOK_TP_BTF, "sched_process_exec" },
					    { "fl_exec_2", HOOK_TP_BTF, "sched_process_exec" },
					    { "fl_exec_3", HOOK_TP_BTF, "sched_process_exec" },
					    { "fl_exit", HOOK_TP_BTF, "sched_process_exit" },
					    { "fl_exit_2", HOOK_TP_BTF, "sched_process_exit" },
					    { "fl_exit_3", HOOK_TP_BTF,
					      "sched_process_exit" } } } },
	},
	{
		.layer = LAYER_TASK,
		.without = "what workers of io_uring do is not recorded",
		.variants = { { "tp_btf",
				.probes = { { "fl_worker", HOOK_TP_BTF, "task_newtask" } } },
			      { "tp_btf*3", .copies = true,
				.probes = { { "fl_worker", HOOK_TP_BTF, "task_newtask" },
					    { "fl_worker_2", HOOK_TP_BTF, "task_newtask" },
					    { "fl_worker_3", HOOK_TP_BTF, "task_newtask" } } } },
	},
	{
		.layer = LAYER_TASK,
		.attaching = true,
		.without = "what runs already cannot be attached to",
		.variants = { { "iter", .probes = { { "fl_arm", HOOK_ITER, "task" } } } },
	},
	{
		.layer = LAYER_TASK,
		.attaching = true,
		.without = "who moves into a cgroup is not noticed",
		.variants = { { "tp_btf",
				.probes = { { "fl_join", HOOK_TP_BTF, "cgroup_attach_task" } } },
			      { "tp_btf*3", .copies = true,
				.probes = { { "fl_join", HOOK_TP_BTF, "cgroup_attach_task" },
					    { "fl_join_2", HOOK_TP_BTF, "cgroup_attach_task" },
					    { "fl_join_3", HOOK_TP_BTF,
					      "cgroup_attach_task" } } } },
	},
	{
		.layer = LAYER_SYSCALL,
		.required = true,
		.variants = { { "tp_btf",
				.probes = { { "fl_sys_enter", HOOK_TP_BTF, "sys_enter" },
					    { "fl_sys_exit", HOOK_TP_BTF, "sys_exit" } } },
			      { "tp",
				.probes = { { "fl_enter_tp", HOOK_TP, "raw_syscalls/sys_enter" },
					    { "fl_exit_tp", HOOK_TP,
					      "raw_syscalls/sys_exit" } } } },
	},
	{
		.layer = LAYER_SYSCALL,
		.without = "calls that end with their thread are not recorded",
		.variants = { { "tp_btf", .probes = { { "fl_call_cut", HOOK_TP_BTF,
							"sched_process_exit" } } } },
	},
	{
		.layer = LAYER_FAULT,
		.required = true,
		.variants = { { "fentry",
				.probes = { { "fl_fault_enter", HOOK_FENTRY, "handle_mm_fault" },
					    { "fl_fault_leave", HOOK_FEXIT, "handle_mm_fault" } } },
			      { "raw_tp+perf", .walks = true,
				.probes = { { "fl_fault_start", HOOK_RAW_TP, "page_fault_user" },
					    { "fl_fault_start", HOOK_RAW_TP, "page_fault_kernel" },
					    { "fl_fault_end", HOOK_PERF, "page-faults-maj" },
					    { "fl_fault_end", HOOK_PERF, "page-faults-min" } } },
			      { "tp+perf", .walks = true,
				.probes = { { "fl_fault_tp", HOOK_TP,
					      "exceptions/page_fault_user" },
					    { "fl_fault_tp", HOOK_TP,
					      "exceptions/page_fault_kernel" },
					    { "fl_fault_end", HOOK_PERF, "page-faults-maj" },
					    { "fl_fault_end", HOOK_PERF, "page-faults-min" } } },
			      { "kprobe+perf", .walks = true,
				.probes = { { "fl_fault_kprobe", HOOK_KPROBE, "handle_mm_fault" },
					    { "fl_fault_end", HOOK_PERF, "page-faults-maj" },
					    { "fl_fault_end", HOOK_PERF, "page-faults-min" } } } },
	},
	{
		.layer = LAYER_FAULT,
		.without = "whether filemap_fault was reached is not known",
		.variants = { { "tp_btf",
				.probes = { { "fl_filemap", HOOK_TP_BTF, "mm_filemap_fault" } } },
			      { "tp_btf*3", .copies = true,
				.probes = { { "fl_filemap", HOOK_TP_BTF, "mm_filemap_fault" },
					    { "fl_filemap_2", HOOK_TP_BTF, "mm_filemap_fault" },
					    { "fl_filemap_3", HOOK_TP_BTF, "mm_filemap_fault" } } },
			      { "fentry",
				.probes = { { "fl_filemap_fn", HOOK_FENTRY, "filemap_fault" } } },
			      { "kprobe",
				.probes = { { "fl_filemap_kp", HOOK_KPROBE, "filemap_fault" } } } },
	},
	{
		.layer = LAYER_FAULT,
		.without = "what stores through mappings dirty is not known",
		.variants = { { "tp_btf", .probes = { { "fl_dirtied", HOOK_TP_BTF,
							"writeback_dirty_folio" } } },
			      { "tp_btf*3", .copies = true,
				.probes = { { "fl_dirtied", HOOK_TP_BTF, "writeback_dirty_folio" },
					    { "fl_dirtied_2", HOOK_TP_BTF,
					      "writeback_dirty_folio" },
					    { "fl_dirtied_3", HOOK_TP_BTF,
					      "writeback_dirty_folio" } } } },
	},
	{
		.layer = LAYER_FAULT,
		.without = "a fault that SIGBUS or the end of its thread cuts off is not told",
		.variants = { { "tp_btf",
				.probes = { { "fl_fault_cut", HOOK_TP_BTF, "sched_process_exit" },
					    { "fl_fault_signal", HOOK_TP_BTF,
					      "signal_generate" } } },
			      { "tp", .probes = { { "fl_fault_cut_tp", HOOK_TP,
						    "sched/sched_process_exit" },
						  { "fl_fault_sig_tp", HOOK_TP,
						    "signal/signal_generate" } } } },
	},
	{
		.layer = LAYER_PAGECACHE,
		.required = true,
		.variants = { { "tp_btf", .probes = { { "fl_page_add", HOOK_TP_BTF,
							"mm_filemap_add_to_page_cache" } } },
			      { "tp_btf*3", .copies = true,
				.probes = { { "fl_page_add", HOOK_TP_BTF,
					      "mm_filemap_add_to_page_cache" },
					    { "fl_page_add_2", HOOK_TP_BTF,
					      "mm_filemap_add_to_page_cache" },
					    { "fl_page_add_3", HOOK_TP_BTF,
					      "mm_filemap_add_to_page_cache" } } } },
	},
	{
		.layer = LAYER_PAGECACHE,
		.without = "how long writers are made to wait for writeback is not known",
		.variants = { { "tp_btf", .probes = { { "fl_throttled", HOOK_TP_BTF,
							"balance_dirty_pages", 8 } } },
			      { "tp_btf", .probes = { { "fl_throttled_12", HOOK_TP_BTF,
							"balance_dirty_pages", 12 } } },
			      { "tp", .probes = { { "fl_throttled_tp", HOOK_TP,
						    "writeback/balance_dirty_pages" } } } },
	},
	{
		.layer = LAYER_SPAN,
		.required = true,
		.variants = { { "usdt", .probes = { { "fl_marker", HOOK_USDT, "faultline:*" } } } },
	},
	{
		.layer = LAYER_SPAN,
		.without = "libraries that are loaded after the start are not noticed",
		.unless = 1u << LAYER_SYSCALL,
		.variants = { { "tp_btf", .probes = { { "fl_code", HOOK_TP_BTF, "sys_exit" } } },
			      { "tp", .probes = { { "fl_code_tp", HOOK_TP,
						    "raw_syscalls/sys_exit" } } } },
	},
	{
		.layer = LAYER_BLOCK,
		.required = true,
		.variants = { { "tp_btf",
				.probes = { { "fl_bio_queue", HOOK_TP_BTF, "block_bio_queue" },
					    { "fl_bio_split", HOOK_TP_BTF, "block_split" },
					    { "fl_bio_done", HOOK_TP_BTF, "block_bio_complete" },
					    { "fl_rq_issue", HOOK_TP_BTF, "block_rq_issue" },
					    { "fl_rq_done", HOOK_TP_BTF, "block_rq_complete" },
					    { "fl_rq_done_2", HOOK_TP_BTF, "block_rq_complete" },
					    { "fl_rq_done_3", HOOK_TP_BTF,
					      "block_rq_complete" } } },
			      { "tp_btf*3", .copies = true,
				.probes = { { "fl_bio_queue", HOOK_TP_BTF, "block_bio_queue" },
					    { "fl_bio_queue_2", HOOK_TP_BTF, "block_bio_queue" },
					    { "fl_bio_queue_3", HOOK_TP_BTF, "block_bio_queue" },
					    { "fl_bio_split", HOOK_TP_BTF, "block_split" },
					    { "fl_bio_split_2", HOOK_TP_BTF, "block_split" },
					    { "fl_bio_split_3", HOOK_TP_BTF, "block_split" },
					    { "fl_bio_done", HOOK_TP_BTF, "block_bio_complete" },
					    { "fl_rq_issue", HOOK_TP_BTF, "block_rq_issue" },
					    { "fl_rq_issue_2", HOOK_TP_BTF, "block_rq_issue" },
					    { "fl_rq_issue_3", HOOK_TP_BTF, "block_rq_issue" },
					    { "fl_rq_done", HOOK_TP_BTF, "block_rq_complete" },
					    { "fl_rq_done_2", HOOK_TP_BTF, "block_rq_complete" },
					    { "fl_rq_done_3", HOOK_TP_BTF,
					      "block_rq_complete" } } } },
	},
	{
		.layer = LAYER_BLOCK,
		.without = "merges and requeues are not counted",
		.variants = { { "tp_btf",
				.probes = { { "fl_bio_back", HOOK_TP_BTF, "block_bio_backmerge" },
					    { "fl_bio_front", HOOK_TP_BTF, "block_bio_frontmerge" },
					    { "fl_rq_merge", HOOK_TP_BTF, "block_rq_merge" },
					    { "fl_rq_requeue", HOOK_TP_BTF,
					      "block_rq_requeue" } } } },
	},
	{
		.layer = LAYER_BLOCK,
		.without =
			"what O_DIRECT moves in no call of its own (io_uring, libaio) has no file",
		.variants = { { "kallsyms", .probes = { { "fl_block_names", HOOK_RUN,
							  "bpf_kallsyms_lookup_name" } } } },
	},
	{
		.layer = LAYER_ASYNC,
		.required = true,
		.variants = { { "tp_btf", .probes = { { "fl_uring_begin", HOOK_TP_BTF,
							"io_uring_submit_req" } } },
			      { "tp_btf", .probes = { { "fl_uring_begin6", HOOK_TP_BTF,
							"io_uring_submit_sqe", 2 } } },
			      { "tp", .probes = { { "fl_uring_b_tp", HOOK_TP,
						    "io_uring/io_uring_submit_req" } } },
			      { "tp", .probes = { { "fl_uring_b6_tp", HOOK_TP,
						    "io_uring/io_uring_submit_sqe" } } } },
	},
	{
		.layer = LAYER_ASYNC,
		.required = true,
		.variants = { { "tp_btf", .probes = { { "fl_uring_end", HOOK_TP_BTF,
							"io_uring_complete", 3 } } },
			      { "tp_btf", .probes = { { "fl_uring_end6", HOOK_TP_BTF,
							"io_uring_complete", 7 } } },
			      { "tp", .probes = { { "fl_uring_e_tp", HOOK_TP,
						    "io_uring/io_uring_complete" } } } },
	},
	{
		.layer = LAYER_ASYNC,
		.required = true,
		.unless = 1u << LAYER_SYSCALL,
		.variants = { { "tp_btf",
				.probes = { { "fl_aio_enter", HOOK_TP_BTF, "sys_enter" },
					    { "fl_aio_exit", HOOK_TP_BTF, "sys_exit" } } },
			      { "tp", .probes = { { "fl_aio_enter_tp", HOOK_TP,
						    "raw_syscalls/sys_enter" },
						  { "fl_aio_exit_tp", HOOK_TP,
						    "raw_syscalls/sys_exit" } } } },
	},
	{
		.layer = LAYER_ASYNC,
		.without = "operations that end with their process are not recorded",
		.variants = { { "tp_btf", .probes = { { "fl_async_cut", HOOK_TP_BTF,
							"sched_process_exit" } } },
			      { "tp", .probes = { { "fl_async_cut_tp", HOOK_TP,
						    "sched/sched_process_exit" } } } },
	},
	{
		.layer = LAYER_VFS,
		.required = true,
		.variants = { { "fentry",
				.probes = { BY_FENTRY("kread", "__kernel_read", KERNEL_BUFFER),
					    BY_FENTRY("kwrite", "__kernel_write_iter", KERNEL_ITER),
					    BY_FENTRY("iread", "vfs_iter_read", ITER),
					    BY_FENTRY("iwrite", "vfs_iter_write", ITER) } },
			      { "kprobe",
				.probes = { BY_KPROBE("kread", "__kernel_read", KERNEL_BUFFER),
					    BY_KPROBE("kwrite", "__kernel_write_iter", KERNEL_ITER),
					    BY_KPROBE("iread", "vfs_iter_read", ITER),
					    BY_KPROBE("iwrite", "vfs_iter_write", ITER) } } },
	},
	{
		.layer = LAYER_VFS,
		.without = "reads and writes by system calls are not told",
		.unless = 1u << LAYER_SYSCALL,
		.variants = { { "fentry", .probes = { BY_FENTRY("vread", "vfs_read", BUFFER),
						      BY_FENTRY("vwrite", "vfs_write", BUFFER) } },
			      { "kprobe",
				.probes = { BY_KPROBE("vread", "vfs_read", BUFFER),
					    BY_KPROBE("vwrite", "vfs_write", BUFFER) } } },
	},
	{
		.layer = LAYER_VFS,
		.without = "vectored reads and writes by system calls are not told",
		.unless = 1u << LAYER_SYSCALL,
		.variants = { { "fentry",
				.probes = { BY_FENTRY("vreadv", "vfs_readv", VECTOR),
					    BY_FENTRY("vwritev", "vfs_writev", VECTOR) } },
			      { "kprobe",
				.probes = { BY_KPROBE("vreadv", "vfs_readv", VECTOR),
					    BY_KPROBE("vwritev", "vfs_writev", VECTOR) } } },
	},
	{
		.layer = LAYER_VFS,
		.without = "what stacked file systems and servers do asynchronously is not told",
		.variants = { { "fentry",
				.probes = { BY_FENTRY("cread", "vfs_iocb_iter_read", IOCB),
					    BY_FENTRY("cwrite", "vfs_iocb_iter_write", IOCB) } },
			      { "kprobe",
				.probes = { BY_KPROBE("cread", "vfs_iocb_iter_read", IOCB),
					    BY_KPROBE("cwrite", "vfs_iocb_iter_write", IOCB) } } },
	},
	{
		.layer = LAYER_VFS,
		.without = "what splice reads from files is not told",
		.variants = { { "fentry",
				.probes = { BY_FENTRY("sread", "filemap_splice_read", TO_PIPE),
					    BY_FENTRY("sreadc", "copy_splice_read", TO_PIPE) } },
			      { "fentry",
				.probes = { BY_FENTRY("osread", "generic_file_splice_read",
						      TO_PIPE) } },
			      { "kprobe", .probes = { BY_KPROBE("sread", "filemap_splice_read",
								TO_PIPE),
						      BY_KPROBE("sreadc", "copy_splice_read",
								TO_PIPE) } },
			      { "kprobe",
				.probes = { BY_KPROBE(
					"osread", "generic_file_splice_read", TO_PIPE) } } },
	},
	{
		.layer = LAYER_VFS,
		.without = "what splice writes to files is not told",
		.variants = { { "fentry", .probes = { BY_FENTRY("swrite", "iter_file_splice_write",
								FROM_PIPE) } },
			      { "kprobe", .probes = { BY_KPROBE("swrite", "iter_file_splice_write",
								FROM_PIPE) } } },
	},
	{
		.layer = LAYER_VFS,
		.without = "what the kernel syncs by itself is not told",
		.variants = { { "fentry",
				.probes = { BY_FENTRY("dsync", "do_fsync", FD_SYNC),
					    BY_FENTRY("fsync", "vfs_fsync", FILE_SYNC),
					    BY_FENTRY("vsync", "vfs_fsync_range", RANGE) } },
			      { "fentry",
				.probes = { BY_FENTRY("fsync", "vfs_fsync", FILE_SYNC),
					    BY_FENTRY("vsync", "vfs_fsync_range", RANGE) } },
			      { "kprobe", .probes = { BY_KPROBE("dsync", "do_fsync", FD_SYNC),
						      BY_KPROBE("fsync", "vfs_fsync", FILE_SYNC),
						      BY_KPROBE("vsync", "vfs_fsync_range",
								RANGE) } },
			      { "kprobe", .probes = { BY_KPROBE("fsync", "vfs_fsync", FILE_SYNC),
						      BY_KPROBE("vsync", "vfs_fsync_range",
								RANGE) } } },
	},
	{
		.layer = LAYER_VFS,
		.without = "an operation whose end was not seen may be missing in what is lost",
		.variants = { { "tp_btf", .probes = { { "fl_vfs_cut", HOOK_TP_BTF,
							"sched_process_exit" } } } },
	},
};
const size_t part_count = sizeof(parts) / sizeof(parts[0]);

static_assert(sizeof(parts) / sizeof(parts[0]) <= PARTS_MAX, "raise PARTS_MAX");

static const char *status_text(int status)
{
	if (status == -ENOENT)
		return "does not exist in this kernel";
	if (status == -EPROTO)
		return "has other arguments in this kernel";
	if (status == -EPERM)
		return "may not be attached to here (EPERM)";
	return strerror(-status);
}

/* `target` stands in a list of words. */
static bool is_listed(const char *list, const char *target)
{
	size_t length = strlen(target);

	for (const char *word = list; word; word = strchr(word, ','), word += word ? 1 : 0)
		if (!strncmp(word, target, length) && (!word[length] || word[length] == ','))
			return true;
	return false;
}

static int probe_status(struct kernel *kernel, const struct probe *probe, const char *changed)
{
	int status = kernel_allows(kernel, probe->hook, probe->target);

	if (status)
		return status;
	if (is_listed(changed, probe->target) ||
	    (probe->arguments &&
	     kernel_tracepoint_arguments(kernel, probe->target) != probe->arguments) ||
	    (probe->signature && !kernel_has_signature(kernel, probe->target, probe->signature)))
		return -EPROTO;
	return 0;
}

static bool variant_works(struct kernel *kernel, const struct variant *variant, const char *changed,
			  const struct refusals *refused, char *why, size_t size)
{
	static const char *const kinds[] = {
		[HOOK_TP_BTF] = "tracepoint",  [HOOK_TP] = "tracepoint",
		[HOOK_FENTRY] = "entry of",    [HOOK_FEXIT] = "exit of",
		[HOOK_KPROBE] = "kprobe",      [HOOK_KRETPROBE] = "kretprobe",
		[HOOK_PERF] = "perf event",    [HOOK_USDT] = "uprobe for",
		[HOOK_RUN] = "helper",	       [HOOK_RAW_TP] = "tracepoint",
		[HOOK_ITER] = "iterator over",
	};

	if (variant->walks && !kernel_has_member(kernel, "mm_struct", "mm_mt")) {
		snprintf(why + strlen(why), size - strlen(why),
			 "%s%s: the maple tree of mappings does not exist in this kernel",
			 why[0] ? "; " : "", variant->name);
		return false;
	}
	for (size_t i = 0; i < VARIANT_PROBES_MAX && variant->probes[i].program; i++) {
		const struct probe *probe = &variant->probes[i];
		size_t used = strlen(why);
		int status = probe_status(kernel, probe, changed);
		const char *refusal = refusals_find(refused, probe->program);

		if (!status && !refusal)
			continue;
		if (status)
			snprintf(why + used, size - used, "%s%s: %s %s %s", used ? "; " : "",
				 variant->name, kinds[probe->hook], probe->target,
				 status_text(status));
		else
			snprintf(why + used, size - used,
				 "%s%s: the kernel refuses the program %s: %s", used ? "; " : "",
				 variant->name, probe->program, refusal);
		return false;
	}
	return true;
}

bool probes_preempted(const struct kernel *kernel, const struct variant *variant)
{
	for (size_t i = 0; variant && i < VARIANT_PROBES_MAX && variant->probes[i].program; i++)
		if (kernel_preempts(kernel, variant->probes[i].hook))
			return true;
	return false;
}

/* While one of the variant's programs is preempted, others go without it. */
static bool variant_passed_over(const struct kernel *kernel, const struct variant *variant)
{
	return !variant->copies && probes_preempted(kernel, variant);
}

/* A part that has the forced variant takes no other; one that has not takes what comes nearest:
 * with fault=kprobe+perf a kprobe. */
static bool variant_forced(const struct variant *variant, const char *forced)
{
	size_t length = strcspn(forced, "+");

	return !strcmp(variant->name, forced) ||
	       (!strncmp(variant->name, forced, length) && !variant->name[length]);
}

static const struct variant *choose_variant(struct kernel *kernel, const struct part *part,
					    const struct forced_variants *all,
					    const struct refusals *refused, char *why, size_t size)
{
	const char *forced = all->names[part->layer];
	const struct variant *best = NULL;
	bool must = false;

	for (size_t v = 0; v < PART_VARIANTS_MAX && part->variants[v].name && forced[0]; v++)
		must |= variant_forced(&part->variants[v], forced);
	for (size_t v = 0; v < PART_VARIANTS_MAX && part->variants[v].name; v++) {
		const struct variant *variant = &part->variants[v];

		if (must && !variant_forced(variant, forced))
			continue;
		if (best && variant_passed_over(kernel, variant))
			continue;
		if (!variant_works(kernel, variant, all->changed, refused, why, size))
			continue;
		if (must || !variant_passed_over(kernel, variant))
			return variant;
		best = variant;
	}
	return best;
}

static unsigned int on_mask(const struct choice *choice)
{
	unsigned int mask = 0;

	for (size_t l = 0; l < LAYER_COUNT; l++)
		mask |= choice->on[l] ? 1u << l : 0;
	return mask;
}

void probes_choose(struct kernel *kernel, unsigned int layers, bool attaching,
		   const struct forced_variants *forced, const struct refusals *refused,
		   struct choice *choice)
{
	memset(choice, 0, sizeof(*choice));
	for (size_t l = 0; l < LAYER_COUNT; l++) {
		choice->on[l] = layers & (1u << l);
		if (!choice->on[l])
			snprintf(choice->reason[l], sizeof(choice->reason[l]), "not asked for");
	}
	for (size_t p = 0; p < part_count; p++) {
		const struct part *part = &parts[p];
		char *reason = choice->reason[part->layer], why[400] = "";
		char *attach = choice->attach[part->layer];
		size_t size = sizeof(choice->reason[0]);

		if (!choice->on[part->layer] || part->unless & on_mask(choice) ||
		    (part->attaching && !attaching))
			continue;
		choice->variants[p] =
			choose_variant(kernel, part, forced, refused, why, sizeof(why));
		if (choice->variants[p]) {
			if (part->required)
				snprintf(attach, sizeof(choice->attach[0]), "%s",
					 choice->variants[p]->name);
			continue;
		}
		if (part->required) {
			choice->on[part->layer] = false;
			attach[0] = 0;
			snprintf(reason, size, "%s", why);
		} else {
			snprintf(reason, size, "%s (%s)", part->without, why);
		}
	}
	for (size_t p = 0; p < part_count; p++)
		if (!choice->on[parts[p].layer])
			choice->variants[p] = NULL;
}

unsigned int probes_missing(const struct choice *choice, unsigned int layers)
{
	return layers & ~on_mask(choice);
}

static bool chosen(const struct choice *choice, const char *program, size_t length)
{
	for (size_t p = 0; p < part_count; p++) {
		if (!choice->variants[p])
			continue;
		for (size_t i = 0; i < VARIANT_PROBES_MAX; i++) {
			const char *name = choice->variants[p]->probes[i].program;

			if (name && !strncmp(name, program, length))
				return true;
		}
	}
	return false;
}

bool probes_chosen(const struct choice *choice, const char *program)
{
	return chosen(choice, program, strlen(program) + 1);
}

bool probes_chosen_like(const struct choice *choice, const char *begins)
{
	return chosen(choice, begins, strlen(begins));
}
