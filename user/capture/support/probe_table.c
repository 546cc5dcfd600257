/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The probe table: one row per program, grouped by layer, part and variant. */
#include "capture/support/probes.h"

#include <assert.h>

#define VARIANT(hook, ...)                                                                         \
	{                                                                                          \
		hook, .probes = { __VA_ARGS__ }                                                    \
	}

/* A group of VFS functions, by entry and exit; else by kprobe and kretprobe. The exits are attached
 * first and detached last: an entry whose exit is not seen counts as lost. */
#define BY_FENTRY(name, target, operation, shape)                                                  \
	VFS_SHAPE_##shape(FENTRY_ROWS, "fl_" #name, #target)
#define FENTRY_ROWS(program, target, of, ...)                                                      \
	{ program "_out", HOOK_FEXIT, target, .signature = of },                                   \
		{ program "_in", HOOK_FENTRY, target, .signature = of },
#define BY_KPROBE(name, target, operation, shape)                                                  \
	VFS_SHAPE_##shape(KPROBE_ROWS, "fl_" #name, #target)
#define KPROBE_ROWS(program, target, of, ...)                                                      \
	{ program "_kr", HOOK_KRETPROBE, target, .signature = of },                                \
		{ program "_kp", HOOK_KPROBE, target, .signature = of },
#define VFS_LADDER(functions)                                                                      \
	VARIANT("fentry", functions(BY_FENTRY)), VARIANT("kprobe", functions(BY_KPROBE))
/* In kernels that lack one of the functions, `older` takes their place. */
#define VFS_LADDER_OR(functions, older)                                                            \
	VARIANT("fentry", functions(BY_FENTRY)), VARIANT("fentry", older(BY_FENTRY)),              \
		VARIANT("kprobe", functions(BY_KPROBE)), VARIANT("kprobe", older(BY_KPROBE))
/* A tracepoint whose arguments have these types. */
#define TYPED(program, tracepoint, of, ...)                                                        \
	{                                                                                          \
		program, HOOK_TP_BTF, tracepoint, .signature = of, ##__VA_ARGS__                   \
	}
/* Typed tracepoints. Where the kernel skips a preempted program for other tasks, each of its
 * programs has three copies. */
#define COPIED(...)                                                                                \
	VARIANT("tp_btf", __VA_ARGS__),                                                            \
	{                                                                                          \
		"tp_btf*3", .copies = 3, .probes = { __VA_ARGS__ }                                 \
	}
/* A program at a tracepoint with typed arguments; else PROGRAM_tp at the classic one. */
#define EITHER(program, system, tracepoint)                                                        \
	VARIANT("tp_btf", { program, HOOK_TP_BTF, tracepoint }),                                   \
		VARIANT("tp", { program "_tp", HOOK_TP, system "/" tracepoint })

/* The functions in which the tracepoints of FUSE are, also before they were. */
#define FUSE_PROBES(hook, suffix)                                                                  \
	{ "fl_fuse_send" suffix, hook, "queue_request_and_unlock",                                 \
	  .signature = "fuse_iqueue*, fuse_req*" },                                                \
	{                                                                                          \
		"fl_fuse_end" suffix, hook, "fuse_request_end", .signature = "fuse_req*"           \
	}
#define FUSE_COPY_PROBE(hook, suffix)                                                              \
	{                                                                                          \
		"fl_fuse_sent" suffix, hook, "fuse_copy_args",                                     \
			.signature =                                                               \
				"fuse_copy_state*, unsigned int, unsigned int, fuse_arg*, int"     \
	}

#define NFS_PROBES                                                                                 \
	{ "fl_nfs_begin", HOOK_RAW_TP, "rpc_task_begin", 2 },                                      \
	{                                                                                          \
		"fl_nfs_count", HOOK_RAW_TP, "rpc_stats_latency", 4                                \
	}

/* Since 6.10, when CIFS began to use it, all its requests have a stream. */
#define NETFS_READS                                                                                \
	{                                                                                          \
		"netfs_io_subrequest", "stream_nr"                                                 \
	}
#define NETFS_PROBE TYPED("fl_netfs_sreq", "netfs_sreq", "netfs_io_subrequest*, netfs_sreq_trace")

const struct part parts[] = {
	{
		.layer = LAYER_TASK,
		.required = true,
		.variants = { COPIED({ "fl_fork", HOOK_TP_BTF, "sched_process_fork" },
				     { "fl_exec", HOOK_TP_BTF, "sched_process_exec" },
				     { "fl_exit", HOOK_TP_BTF, "sched_process_exit" }) },
	},
	{
		.layer = LAYER_TASK,
		.without = "the memory limits that killed processes are unknown",
		.variants = { VARIANT("tp_btf", { "fl_oom", HOOK_TP_BTF, "mark_victim", 2 }),
			      VARIANT("tp_btf", { "fl_oom_pid", HOOK_TP_BTF, "mark_victim", 1 }) },
	},
	{
		.layer = LAYER_TASK,
		.without = "io_uring worker threads are not recorded",
		.variants = { COPIED({ "fl_worker", HOOK_TP_BTF, "task_newtask" }) },
	},
	{
		.layer = LAYER_TASK,
		.use = 1 << USE_ATTACH,
		.without = "running processes cannot be attached to",
		.variants = { VARIANT("iter", { "fl_arm", HOOK_ITER, "task" }) },
	},
	{
		.layer = LAYER_TASK,
		.use = 1 << USE_ATTACH,
		.without = "processes that move into a cgroup are not detected",
		.variants = { COPIED({ "fl_join", HOOK_TP_BTF, "cgroup_attach_task" }) },
	},
	{
		.layer = LAYER_TASK,
		.use = 1 << USE_ATTACH,
		.without = "short-lived cgroups have no names",
		.variants = { VARIANT("tp_btf", { "fl_cgroup", HOOK_TP_BTF, "cgroup_mkdir" }) },
	},
	{
		.layer = LAYER_SYSCALL,
		.required = true,
		.variants = { VARIANT("tp_btf", { "fl_sys_enter", HOOK_TP_BTF, "sys_enter" },
				      { "fl_sys_exit", HOOK_TP_BTF, "sys_exit" }),
			      VARIANT("tp", { "fl_enter_tp", HOOK_TP, "raw_syscalls/sys_enter" },
				      { "fl_exit_tp", HOOK_TP, "raw_syscalls/sys_exit" }) },
	},
	{
		.layer = LAYER_SYSCALL,
		.without = "calls cut short by thread exit are not recorded",
		.variants = { EITHER("fl_call_cut", "sched", "sched_process_exit") },
	},
	{
		.layer = LAYER_SYSCALL,
		.without = "calls in flight at the end are not recorded",
		.variants = { VARIANT("iter", { "fl_waiting", HOOK_ITER, "task" }) },
	},
	{
		.layer = LAYER_ASYNC,
		.without = "operations in flight at the end are not recorded",
		.variants = { VARIANT("iter", { "fl_async_waits", HOOK_ITER, "task" }) },
	},
	{
		.layer = LAYER_SYSCALL,
		.use = 1 << USE_IN_FLIGHT,
		.without = "calls are counted only after they return",
		.variants = { VARIANT("iter", { "fl_in_flight", HOOK_ITER, "task" }) },
	},
	{
		.layer = LAYER_FAULT,
		.required = true,
		.variants = { VARIANT("fentry",
				      { "fl_fault_enter", HOOK_FENTRY, "handle_mm_fault" },
				      { "fl_fault_leave", HOOK_FEXIT, "handle_mm_fault" }),
			      VARIANT("raw_tp+perf",
				      { "fl_fault_start", HOOK_RAW_TP, "page_fault_user" },
				      { "fl_fault_start", HOOK_RAW_TP, "page_fault_kernel" },
				      { "fl_fault_major", HOOK_PERF, "page-faults-maj" },
				      { "fl_fault_minor", HOOK_PERF, "page-faults-min" }),
			      VARIANT("tp+perf",
				      { "fl_fault_tp", HOOK_TP, "exceptions/page_fault_user" },
				      { "fl_fault_tp", HOOK_TP, "exceptions/page_fault_kernel" },
				      { "fl_fault_major", HOOK_PERF, "page-faults-maj" },
				      { "fl_fault_minor", HOOK_PERF, "page-faults-min" }),
			      VARIANT("kprobe+perf",
				      { "fl_fault_kprobe", HOOK_KPROBE, "handle_mm_fault" },
				      { "fl_fault_major", HOOK_PERF, "page-faults-maj" },
				      { "fl_fault_minor", HOOK_PERF, "page-faults-min" }) },
	},
	{
		.layer = LAYER_FAULT,
		.without = "faults do not show whether they reached filemap_fault",
		.variants = { COPIED({ "fl_filemap", HOOK_TP_BTF, "mm_filemap_fault" }),
			      VARIANT("fentry", { "fl_filemap_fn", HOOK_FENTRY, "filemap_fault" }),
			      VARIANT("kprobe",
				      { "fl_filemap_kp", HOOK_KPROBE, "filemap_fault" }) },
	},
	{
		.layer = LAYER_FAULT,
		.without = "pages dirtied through mmap are not reported",
		.variants = { COPIED({ "fl_dirtied", HOOK_TP_BTF, "writeback_dirty_folio" }),
			      VARIANT("tp_btf",
				      { "fl_dirtied_page", HOOK_TP_BTF, "writeback_dirty_page" }) },
	},
	{
		.layer = LAYER_FAULT,
		.without = "faults cut short by SIGBUS or thread exit are not recorded",
		.variants = { VARIANT("tp_btf",
				      { "fl_fault_cut", HOOK_TP_BTF, "sched_process_exit" },
				      { "fl_fault_signal", HOOK_TP_BTF, "signal_generate" }),
			      VARIANT("tp",
				      { "fl_fault_cut_tp", HOOK_TP, "sched/sched_process_exit" },
				      { "fl_fault_sig_tp", HOOK_TP, "signal/signal_generate" }) },
	},
	{
		.layer = LAYER_PAGECACHE,
		.required = true,
		.variants = { COPIED(
			{ "fl_page_add", HOOK_TP_BTF, "mm_filemap_add_to_page_cache" }) },
	},
	{
		.layer = LAYER_PAGECACHE,
		.without = "dirty-page throttling of writers is not measured",
		.variants = { VARIANT("tp_btf",
				      { "fl_throttled", HOOK_TP_BTF, "balance_dirty_pages", 8 }),
			      VARIANT("tp_btf", { "fl_throttled_12", HOOK_TP_BTF,
						  "balance_dirty_pages", 12 }),
			      VARIANT("tp", { "fl_throttled_tp", HOOK_TP,
					      "writeback/balance_dirty_pages" }) },
	},
	{
		.layer = LAYER_SPAN,
		.required = true,
		.variants = { VARIANT("usdt", { "fl_marker", HOOK_USDT, "faultline:*" }) },
	},
	{
		.layer = LAYER_SPAN,
		.without = "libraries loaded after program start are not detected",
		.unless = 1u << LAYER_SYSCALL,
		.variants = { EITHER("fl_code", "raw_syscalls", "sys_exit") },
	},
	{
		.layer = LAYER_BLOCK,
		.required = true,
		.without = "classic tracepoints are no substitute: they do not identify requests",
		.variants = { COPIED(TYPED("fl_bio_queue", "block_bio_queue", "bio*"),
				     TYPED("fl_bio_split", "block_split", "bio*, unsigned int"),
				     TYPED("fl_bio_done", "block_bio_complete",
					   "request_queue*, bio*", .copies = 1),
				     TYPED("fl_rq_issue", "block_rq_issue", "request*"),
				     TYPED("fl_rq_done", "block_rq_complete",
					   "request*, blk_status_t, unsigned int", .copies = 3)),
			      COPIED(TYPED("fl_bio_queue", "block_bio_queue", "bio*"),
				     TYPED("fl_bio_split", "block_split", "bio*, unsigned int"),
				     TYPED("fl_bio_done", "block_bio_complete",
					   "request_queue*, bio*", .copies = 1),
				     TYPED("fl_rq_issue", "block_rq_issue", "request*"),
				     TYPED("fl_rq_errno", "block_rq_complete",
					   "request*, int, unsigned int", .copies = 3)) },
	},
	{
		.layer = LAYER_BLOCK,
		.without = "merges and requeues are not counted",
		.variants = { VARIANT("tp_btf", TYPED("fl_bio_back", "block_bio_backmerge", "bio*"),
				      TYPED("fl_bio_front", "block_bio_frontmerge", "bio*"),
				      TYPED("fl_rq_merge", "block_rq_merge", "request*"),
				      TYPED("fl_rq_requeue", "block_rq_requeue", "request*")) },
	},
	{
		.layer = LAYER_BLOCK,
		.without = "asynchronous O_DIRECT I/O (io_uring, libaio), and requests of NVMe "
			   "disks with several paths, are not attributed to files",
		.variants = { VARIANT("kallsyms",
				      { "fl_block_names", HOOK_RUN, "bpf_kallsyms_lookup_name" }),
			      VARIANT("kallsyms",
				      { "fl_block_found", HOOK_RUN_FOUND, "/proc/kallsyms" }) },
	},
	{
		.layer = LAYER_ASYNC,
		.required = true,
		.without = "requires Linux 5.15 or later",
		.variants = { VARIANT("tp_btf",
				      TYPED("fl_uring_begin", "io_uring_submit_req", "io_kiocb*")),
			      VARIANT("tp_btf", TYPED("fl_uring_begin6", "io_uring_submit_sqe",
						      "io_kiocb*, bool")),
			      VARIANT("tp", { "fl_uring_b_tp", HOOK_TP,
					      "io_uring/io_uring_submit_req", .signature = "req" }),
			      VARIANT("tp", { "fl_uring_b6_tp", HOOK_TP,
					      "io_uring/io_uring_submit_sqe",
					      .signature = "req" }) },
	},
	{
		.layer = LAYER_ASYNC,
		.required = true,
		.without = "requires Linux 5.15 or later",
		.variants = { VARIANT("tp_btf",
				      { "fl_uring_end", HOOK_TP_BTF, "io_uring_complete", 3 }),
			      VARIANT("tp_btf",
				      { "fl_uring_end6", HOOK_TP_BTF, "io_uring_complete", 7 }),
			      { "tp", .reads = { "io_splice", "splice_fd_in" },
				.probes = { { "fl_uring_e_tp", HOOK_TP,
					      "io_uring/io_uring_complete",
					      .signature = "user_data" } } } },
	},
	{
		.layer = LAYER_ASYNC,
		.required = true,
		.unless = 1u << LAYER_SYSCALL,
		.variants = { VARIANT("tp_btf", { "fl_aio_enter", HOOK_TP_BTF, "sys_enter" },
				      { "fl_aio_exit", HOOK_TP_BTF, "sys_exit" }),
			      VARIANT("tp",
				      { "fl_aio_enter_tp", HOOK_TP, "raw_syscalls/sys_enter" },
				      { "fl_aio_exit_tp", HOOK_TP, "raw_syscalls/sys_exit" }) },
	},
	{
		.layer = LAYER_ASYNC,
		.without = "operations cut short by process exit are not recorded",
		.variants = { EITHER("fl_async_cut", "sched", "sched_process_exit") },
	},
	{
		.layer = LAYER_VFS,
		.required = true,
		.variants = { VFS_LADDER_OR(VFS_KERNEL, VFS_KERNEL_OLD) },
	},
	{
		.layer = LAYER_VFS,
		.without = "reads and writes by system calls are not recorded",
		.unless = 1u << LAYER_SYSCALL,
		.variants = { VFS_LADDER(VFS_CALLS) },
	},
	{
		.layer = LAYER_VFS,
		.without = "vectored reads and writes by system calls are not recorded",
		.unless = 1u << LAYER_SYSCALL,
		.variants = { VFS_LADDER(VFS_VECTORS) },
	},
	{
		.layer = LAYER_VFS,
		.without = "asynchronous I/O by stacked file systems and servers is not recorded",
		.variants = { VFS_LADDER(VFS_IOCBS) },
	},
	{
		.layer = LAYER_VFS,
		.without = "splice reads from files are not recorded",
		.variants = { VFS_LADDER_OR(VFS_SPLICES_IN, VFS_SPLICES_IN_OLD) },
	},
	{
		.layer = LAYER_VFS,
		.without = "splice writes to files are not recorded",
		.variants = { VFS_LADDER(VFS_SPLICES_OUT) },
	},
	{
		.layer = LAYER_VFS,
		.without = "syncs by the kernel itself are not recorded",
		.variants = { VFS_LADDER_OR(VFS_SYNCS, VFS_SYNCS_OF_FILES) },
	},
	{
		.layer = LAYER_STACK,
		.required = true,
		.variants = { COPIED({ "fl_py_exec", HOOK_TP_BTF, "sched_process_exec" },
				     { "fl_py_fork", HOOK_TP_BTF, "sched_process_fork" },
				     { "fl_py_exit", HOOK_TP_BTF, "sched_process_exit" }) },
	},
	{
		.layer = LAYER_STACK,
		.without = "lines that compute are not recorded, only those that wait",
		.variants = { VARIANT("perf", { "fl_cpu_sample", HOOK_PERF, "cpu-clock" }) },
	},
	{
		.layer = LAYER_STACK,
		.without = "lines at which processes are killed are not recorded",
		.variants = { VARIANT("tp_btf",
				      { "fl_py_signal", HOOK_TP_BTF, "signal_deliver" }) },
	},
	{
		.layer = LAYER_STACK,
		.without = "interpreters in shared libraries are not detected",
		.unless = 1u << LAYER_SYSCALL,
		.variants = { EITHER("fl_py_map", "raw_syscalls", "sys_exit") },
	},
	{
		.layer = LAYER_VFS,
		.without = "operations without an observed end may be missing from the loss count",
		.variants = { EITHER("fl_vfs_cut", "sched", "sched_process_exit") },
	},
	{
		.layer = LAYER_FUSE,
		.required = true,
		.without = "requires Linux 6.11, fentry or kprobes, and the types of fuse if that "
			   "is a module (CONFIG_DEBUG_INFO_BTF_MODULES)",
		.variants = { COPIED(TYPED("fl_fuse_send", "fuse_request_send", "fuse_req*"),
				     TYPED("fl_fuse_end", "fuse_request_end", "fuse_req*")),
			      VARIANT("fentry", FUSE_PROBES(HOOK_FENTRY, "_in")),
			      VARIANT("kprobe", FUSE_PROBES(HOOK_KPROBE, "_kp")) },
	},
	{
		.layer = LAYER_FUSE,
		.without =
			"time in the queue and in the daemon are not distinguished, which requires "
			"Linux 7.2, fentry or kprobes",
		.variants = { COPIED(TYPED("fl_fuse_sent", "fuse_request_sent", "fuse_req*")),
			      VARIANT("fentry", FUSE_COPY_PROBE(HOOK_FENTRY, "_in")),
			      VARIANT("kprobe", FUSE_COPY_PROBE(HOOK_KPROBE, "_kp")) },
	},
	{
		.layer = LAYER_NFS,
		.required = true,
		.without = "requires the types of the modules sunrpc and nfs "
			   "(CONFIG_DEBUG_INFO_BTF_MODULES)",
		.variants = { { "raw_tp", .reads = { "nfs_inode", "fh" },
				.probes = { NFS_PROBES } },
			      { "raw_tp*3", .copies = 3, .reads = { "nfs_inode", "fh" },
				.probes = { NFS_PROBES } } },
	},
	{
		.layer = LAYER_P9,
		.required = true,
		.without = "requires the types of 9pnet if that is a module "
			   "(CONFIG_DEBUG_INFO_BTF_MODULES)",
		.variants = { COPIED({ "fl_p9_begin", HOOK_TP_BTF, "9p_client_req", 3 },
				     { "fl_p9_reply", HOOK_TP_BTF, "9p_client_res", 4 }) },
	},
	{
		.layer = LAYER_P9,
		.without = "requests without a reply are not recorded: this requires Linux 6.0 and "
			   "fentry or kprobes",
		.variants = { VARIANT("fentry", { "fl_p9_put_in", HOOK_FENTRY, "p9_req_put",
						  .signature = "p9_client*, p9_req_t*" }),
			      VARIANT("kprobe", { "fl_p9_put_kp", HOOK_KPROBE, "p9_req_put",
						  .signature = "p9_client*, p9_req_t*" }) },
	},
	{
		.layer = LAYER_NETFS,
		.required = true,
		.without = "requires Linux 6.10, and the types of netfs if that is a module "
			   "(CONFIG_DEBUG_INFO_BTF_MODULES)",
		.variants = { { "tp_btf", .reads = NETFS_READS, .probes = { NETFS_PROBE } },
			      { "tp_btf*3", .copies = 3, .reads = NETFS_READS,
				.probes = { NETFS_PROBE } } },
	},
	{
		.layer = LAYER_THREAD,
		.required = true,
		.variants = { VARIANT("tp_btf", { "fl_switch", HOOK_TP_BTF, "sched_switch" }) },
	},
	{
		.layer = LAYER_THREAD,
		.without = "who ended long waits is not recorded",
		.variants = { VARIANT("tp_btf", { "fl_waking", HOOK_TP_BTF, "sched_waking" }) },
	},
	{
		.layer = LAYER_THREAD,
		.without = "the last second of threads that outlive the recording is not accounted "
			   "for; monitor counts waits only after they end",
		.variants = { VARIANT("iter", { "fl_threads", HOOK_ITER, "task" }) },
	},
};
const size_t part_count = sizeof(parts) / sizeof(parts[0]);

static_assert(sizeof(parts) / sizeof(parts[0]) <= PARTS_MAX, "raise PARTS_MAX in probes.h");
