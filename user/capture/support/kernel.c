/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Probes the kernel. */
#include "capture/support/kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "capture/support/perf.h"
#include "capture/support/modules.h"
#include "capture/support/type_names.h"
#include "capture/support/types.h"

#define ANSWERS_MAX 128

struct answer {
	enum hook hook;
	const char *target;
	int status;
};

struct kernel {
	struct btf *btf;
	struct type_names *names;
	struct modules *modules;
	bool has_loop;		   /* the helper bpf_loop */
	bool preempts_tracing;	   /* fentry and fexit programs */
	bool preempts_tracepoints; /* typed tracepoint programs, too */
	struct answer answers[ANSWERS_MAX];
	size_t answer_count;
};

/* --- requirements --- */

static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[capability / 32].effective & (1u << (capability % 32));
}

/* The initial user namespace: PROC_USER_INIT_INO. */
#define FIRST_USER_NAMESPACE 0xeffffffdu

static bool has_namespace_of_its_own(void)
{
	struct stat status;

	return !stat("/proc/self/ns/user", &status) && status.st_ino != FIRST_USER_NAMESPACE;
}

static int check_privileges(char *reason, size_t size)
{
	static const struct {
		unsigned int number;
		const char *name;
	} needed[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	};
	char missing[96] = "";

	if (has_namespace_of_its_own()) {
		snprintf(reason, size,
			 "not enough privileges: capabilities in a user namespace (rootless "
			 "container, unshare) are not enough to trace; run as root outside it");
		return -EPERM;
	}
	if (has_capability(CAP_SYS_ADMIN))
		return 0;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (has_capability(needed[i].number))
			continue;
		if (missing[0])
			strcat(missing, ", ");
		strcat(missing, needed[i].name);
	}
	if (!missing[0])
		return 0;
	snprintf(reason, size,
		 "not enough privileges: missing %s; run as root (sudo), or with CAP_BPF, "
		 "CAP_PERFMON and CAP_SYS_PTRACE",
		 missing);
	return -EPERM;
}

/* Paths and trees are walked by bpf_loop (5.17) or bpf_for_each_map_elem (5.13). */
static int check_helpers(struct kernel *kernel, char *reason, size_t size)
{
	struct utsname name;
	int status = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, NULL);

	kernel->has_loop = status > 0;
	if (status == 0)
		status = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT,
						 BPF_FUNC_for_each_map_elem, NULL);
	if (status > 0)
		return 0;
	uname(&name);
	if (status == 0) {
		snprintf(reason, size,
			 "Linux %s is too old: bpf_for_each_map_elem is missing; recording "
			 "requires Linux 5.14 or later",
			 name.release);
		return -ENOTSUP;
	}
	snprintf(reason, size,
		 "cannot load BPF programs (%s); check for kernel lockdown, a seccomp filter, or a "
		 "container without CAP_BPF and CAP_PERFMON",
		 strerror(-status));
	return status;
}

/* --- optional features --- */

static int try_program(enum bpf_attach_type type, int btf_id, int module_fd)
{
	struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = type,
		    .attach_btf_id = btf_id, .attach_btf_obj_fd = module_fd);
	int program, link, err;

	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "fl_probe", "GPL", nothing,
				sizeof(nothing) / sizeof(nothing[0]), &options);
	if (program < 0)
		return -errno;
	link = bpf_raw_tracepoint_open(NULL, program);
	err = link < 0 ? -errno : 0;
	if (link >= 0)
		close(link);
	close(program);
	return err;
}

void kernel_forget_modules(struct kernel *kernel)
{
	modules_forget(kernel->modules);
	kernel->answer_count = 0;
}

/* Finds a type of the kernel proper or of a module. Returns its id in `btf`, or -ENOENT; the number
 * of the module, or -1, in `module` unless that is NULL. */
static int find_type(struct kernel *kernel, const char *name, unsigned int kind,
		     const struct btf **btf, int *module)
{
	int id = type_names_find(kernel->names, name, kind);

	*btf = kernel->btf;
	if (module)
		*module = -1;
	return id < 0 ? modules_find(kernel->modules, name, kind, btf, module) : id;
}

int kernel_attach_id(struct kernel *kernel, enum hook hook, const char *target, int *fd)
{
	static const struct {
		const char *begins;
		unsigned int kind;
	} types[] = {
		[HOOK_TP_BTF] = { "btf_trace_", BTF_KIND_TYPEDEF },
		[HOOK_ITER] = { "bpf_iter_", BTF_KIND_FUNC },
		[HOOK_FENTRY] = { "", BTF_KIND_FUNC },
		[HOOK_FEXIT] = { "", BTF_KIND_FUNC },
	};
	const struct btf *btf;
	char name[128];
	int id, module;

	snprintf(name, sizeof(name), "%s%s", types[hook].begins, target);
	id = find_type(kernel, name, types[hook].kind, &btf, &module);
	*fd = id < 0 || module < 0 ? 0 : modules_fd(kernel->modules, module);
	return *fd < 0 ? *fd : id;
}

/* Returns the prototype of a tracepoint's program, whose first argument is internal; NULL: none. */
static const struct btf_type *tracepoint_type(struct kernel *kernel, const char *target,
					      const struct btf **btf)
{
	const struct btf_type *type;
	char name[128];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", target);
	id = find_type(kernel, name, BTF_KIND_TYPEDEF, btf, NULL);
	type = id > 0 ? btf__type_by_id(*btf, id) : NULL;
	if (type) /* a pointer to a function */
		type = btf__type_by_id(*btf, type->type);
	if (type)
		type = btf__type_by_id(*btf, type->type);
	return type && btf_is_func_proto(type) ? type : NULL;
}

static int try_hook(struct kernel *kernel, enum hook hook, const char *target)
{
	const struct btf *btf;
	int id, fd, module_fd;

	switch (hook) {
	case HOOK_RAW_TP:
		return tracepoint_type(kernel, target, &btf) ? 0 : -ENOENT;
	case HOOK_TP_BTF: /* not tried: takes as long as attaching, which shows a refusal */
	case HOOK_ITER:
		id = kernel_attach_id(kernel, hook, target, &module_fd);
		return id < 0 ? id : 0;
	case HOOK_FENTRY:
	case HOOK_FEXIT:
		id = kernel_attach_id(kernel, hook, target, &module_fd);
		if (id < 0)
			return id;
		return try_program(hook == HOOK_FENTRY ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT, id,
				   module_fd);
	case HOOK_TP: /* not tried: closing takes two grace periods */
		return perf_has_tracepoint(target);
	case HOOK_KPROBE:
	case HOOK_KRETPROBE:
	case HOOK_PERF:
		fd = hook == HOOK_PERF ? perf_open(target, 0)
				       : perf_open_kprobe(target, hook == HOOK_KRETPROBE);
		if (fd < 0)
			return fd;
		close(fd);
		return 0;
	case HOOK_RUN:
		return libbpf_probe_bpf_helper(BPF_PROG_TYPE_SYSCALL, BPF_FUNC_kallsyms_lookup_name,
					       NULL) > 0
			       ? 0
			       : -ENOENT;
	case HOOK_RUN_FOUND:
		return access(target, R_OK) ? -errno : 0;
	case HOOK_USDT:
		/* CAP_PERFMON is not enough for a uprobe in all processes. */
		if (!has_capability(CAP_SYS_ADMIN))
			return -EPERM;
		return access("/sys/bus/event_source/devices/uprobe/type", R_OK) ? -ENOENT : 0;
	}
	return -EINVAL;
}

int kernel_allows(struct kernel *kernel, enum hook hook, const char *target)
{
	int status;

	for (size_t i = 0; i < kernel->answer_count; i++)
		if (kernel->answers[i].hook == hook && !strcmp(kernel->answers[i].target, target))
			return kernel->answers[i].status;
	status = try_hook(kernel, hook, target);
	if (kernel->answer_count < ANSWERS_MAX)
		kernel->answers[kernel->answer_count++] = (struct answer) { hook, target, status };
	return status;
}

static const struct btf_type *function_type(struct kernel *kernel, const char *name,
					    const struct btf **btf)
{
	int id = find_type(kernel, name, BTF_KIND_FUNC, btf, NULL);
	const struct btf_type *type = id > 0 ? btf__type_by_id(*btf, id) : NULL;

	type = type ? btf__type_by_id(*btf, type->type) : NULL;
	return type && btf_is_func_proto(type) ? type : NULL;
}

int kernel_tracepoint_arguments(struct kernel *kernel, const char *target)
{
	const struct btf *btf;
	const struct btf_type *type = tracepoint_type(kernel, target, &btf);

	return type ? btf_vlen(type) - 1 : -1;
}

/* Appends the name of a type. */
static void append_type(const struct btf *btf, int id, struct strbuf *text)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const char *name = "void";
	size_t stars = 0;

	for (; type && (btf_is_mod(type) || btf_is_ptr(type));
	     type = btf__type_by_id(btf, type->type))
		stars += btf_is_ptr(type);
	if (type && type->name_off)
		name = btf__name_by_offset(btf, type->name_off);
	strbuf_join(text, ", ", "%s%.*s", name, (int)stars, "****");
}

static bool arguments_are(struct kernel *kernel, bool tracepoint, const char *target,
			  const char *arguments)
{
	const struct btf *btf;
	const struct btf_type *type = tracepoint ? tracepoint_type(kernel, target, &btf)
						 : function_type(kernel, target, &btf);
	struct strbuf text = { .used = 0 };

	if (!type)
		return false;
	for (unsigned int i = tracepoint; i < btf_vlen(type); i++)
		append_type(btf, btf_params(type)[i].type, &text);
	return !strcmp(text.bytes, arguments);
}

/* Whether a struct or union, or an unnamed one inside it, has the member. */
static bool type_has(const struct btf *btf, int id, const char *member)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	bool found = false;

	if (!type || !btf_is_composite(type))
		return false;
	for (unsigned int i = 0; i < btf_vlen(type) && !found; i++) {
		const struct btf_member *row = &btf_members(type)[i];

		if (row->name_off)
			found = !strcmp(btf__name_by_offset(btf, row->name_off), member);
		else
			found = type_has(btf, row->type, member);
	}
	return found;
}

bool kernel_has_member(struct kernel *kernel, const char *name, const char *member)
{
	const struct btf *btf;
	int id = find_type(kernel, name, BTF_KIND_STRUCT, &btf, NULL);

	return id > 0 && type_has(btf, id, member);
}

/* Whether the record of a classic tracepoint has the field. */
static bool record_has(struct kernel *kernel, const char *target, const char *field)
{
	char name[128];

	snprintf(name, sizeof(name), "trace_event_raw_%s", strchr(target, '/') + 1);
	return kernel_has_member(kernel, name, field);
}

bool kernel_has_signature(struct kernel *kernel, enum hook hook, const char *target,
			  const char *arguments)
{
	if (hook == HOOK_TP)
		return record_has(kernel, target, arguments);
	return arguments_are(kernel, hook == HOOK_TP_BTF, target, arguments);
}

int kernel_enum_value(struct kernel *kernel, const char *name)
{
	uint32_t end = btf__type_cnt(kernel->btf);

	for (uint32_t id = 1; id < end; id++) {
		const struct btf_type *type = btf__type_by_id(kernel->btf, id);

		for (unsigned int i = 0; btf_is_enum(type) && i < btf_vlen(type); i++) {
			const struct btf_enum *value = &btf_enum(type)[i];

			if (!strcmp(btf__name_by_offset(kernel->btf, value->name_off), name))
				return value->val;
		}
	}
	return -1;
}

/*
 * The kernel counts a task's RCU read sections only if they can be preempted. Tracepoints ran
 * without preemption until they moved to SRCU's fast flavour (a46023d5616e). Such kernels have both
 * SRCU flavours and an SRCU for tracepoints (older ones had that for idle CPUs only, before there
 * were flavours).
 */
static void find_preemption(struct kernel *kernel)
{
	kernel->preempts_tracing =
		kernel_has_member(kernel, "task_struct", "rcu_read_lock_nesting");
	kernel->preempts_tracepoints =
		kernel->preempts_tracing &&
		kernel_has_member(kernel, "srcu_struct", "srcu_reader_flavor") &&
		type_names_find(kernel->names, "tracepoint_srcu_srcu_data", BTF_KIND_VAR) > 0;
}

bool kernel_preempts(const struct kernel *kernel, enum hook hook)
{
	switch (hook) {
	case HOOK_TP_BTF:
	case HOOK_RAW_TP:
		return kernel->preempts_tracepoints;
	case HOOK_FENTRY:
	case HOOK_FEXIT:
		return kernel->preempts_tracing;
	default:
		return false;
	}
}

int kernel_write_types(const struct kernel *kernel, const struct btf *object, int fd)
{
	return types_write(fd, kernel->btf, kernel->names, object);
}

int kernel_function_id(const struct kernel *kernel, const char *name)
{
	return type_names_find(kernel->names, name, BTF_KIND_FUNC);
}

bool kernel_has_kfunc(struct kernel *kernel, const char *name)
{
	return kernel_function_id(kernel, name) > 0;
}

bool kernel_has_loop(const struct kernel *kernel)
{
	return kernel->has_loop;
}

bool kernel_reads_plainly(struct kernel *kernel)
{
	return kernel->has_loop && kernel_has_kfunc(kernel, "bpf_rdonly_cast");
}

uint32_t kernel_tick_ns(void)
{
	struct timespec tick = { .tv_nsec = 4000000 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tick.tv_nsec;
}

/* --- opening --- */

/* Loads the kernel's types. Mapping them is faster than reading, but only possible since 6.16. */
static struct btf *load_types(void)
{
	struct btf *btf = NULL;
	struct stat status;
	void *map = MAP_FAILED;
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return btf__load_vmlinux_btf();
	if (!fstat(fd, &status))
		map = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map != MAP_FAILED) {
		btf = btf__new(map, status.st_size); /* copies it */
		munmap(map, status.st_size);
	}
	return btf ? btf : btf__load_vmlinux_btf();
}

/* Minimal containers may lack these file systems. */
static int check_mounts(char *reason, size_t size)
{
	static const struct {
		const char *there, *mount;
	} mounts[] = {
		{ "/proc/self", "/proc is not mounted (mount -t proc proc /proc)" },
		{ "/sys/kernel", "/sys is not mounted (mount -t sysfs sysfs /sys)" },
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		if (!access(mounts[i].there, F_OK))
			continue;
		snprintf(reason, size, "%s; recording requires it", mounts[i].mount);
		return -ENOTSUP;
	}
	return 0;
}

int kernel_open(struct kernel **out, char *reason, size_t size)
{
	struct kernel *kernel = NULL;
	int err;

	err = check_privileges(reason, size);
	if (err)
		return err;
	kernel = calloc(1, sizeof(*kernel));
	if (!kernel) {
		snprintf(reason, size, "out of memory");
		return -ENOMEM;
	}
	err = check_mounts(reason, size);
	if (err)
		goto fail;
	kernel->btf = load_types();
	if (!kernel->btf) {
		err = -ENOTSUP;
		snprintf(reason, size,
			 "the kernel has no type information (/sys/kernel/btf/vmlinux); use a "
			 "kernel built with CONFIG_DEBUG_INFO_BTF");
		goto fail;
	}
	err = type_names_open(&kernel->names, kernel->btf, 1);
	if (!err)
		err = modules_open(&kernel->modules, kernel->btf);
	if (err) {
		snprintf(reason, size, "out of memory");
		goto fail;
	}
	err = check_helpers(kernel, reason, size);
	if (err)
		goto fail;
	find_preemption(kernel);
	*out = kernel;
	return 0;
fail:
	kernel_close(kernel);
	return err;
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	modules_close(kernel->modules);
	type_names_close(kernel->names);
	btf__free(kernel->btf);
	free(kernel);
}
