/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libbpf loads one program after the other, and the verifier takes most of that time. So each
 * program is set aside, and libbpf loads a stand-in that does nothing. Afterwards all programs are
 * loaded on several CPUs at once, and each takes its stand-in's descriptor.
 */
#include "capture/support/load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collections/compare.h"
#include "bpf/records/event.h"
#include "collections/grow.h"
#include "base/thread.h"

#define THREADS_MAX 8

/* Kinds of programs. Stand-ins have types for which libbpf does not read all the kernel's types. */
static const struct section {
	const char *name;
	enum hook hook;
	enum bpf_prog_type type, stand_in;
	enum bpf_attach_type attach;
	const char *sleeps_for; /* may sleep if the kernel has this helper; NULL: never */
} sections[] = {
	{ "tp_btf+", HOOK_TP_BTF, BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT,
	  BPF_TRACE_RAW_TP, NULL },
	{ "fentry+", HOOK_FENTRY, BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT,
	  BPF_TRACE_FENTRY, NULL },
	{ "fexit+", HOOK_FEXIT, BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT,
	  BPF_TRACE_FEXIT, NULL },
	{ "iter+", HOOK_ITER, BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_ITER,
	  NULL },
	{ "iter.s+", HOOK_ITER, BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_ITER,
	  "BPF_FUNC_copy_from_user_task" },
	{ "raw_tp+", HOOK_RAW_TP, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_RAW_TRACEPOINT, 0,
	  NULL },
	{ "tp+", HOOK_TP, BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, 0, NULL },
	{ "kprobe+", HOOK_KPROBE, BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_KPROBE, 0, NULL },
	{ "kretprobe+", HOOK_KRETPROBE, BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_KPROBE, 0, NULL },
	{ "perf_event+", HOOK_PERF, BPF_PROG_TYPE_PERF_EVENT, BPF_PROG_TYPE_PERF_EVENT, 0, NULL },
	{ "uprobe+", HOOK_USDT, BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_KPROBE, 0, NULL },
};

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* A program that is set aside, as libbpf would have loaded it. */
struct loading {
	struct bpf_program *program;
	enum bpf_prog_type type;
	struct bpf_insn *insns;
	size_t count;
	void *functions;
	struct bpf_prog_load_opts options;
	int fd; /* or a negative errno */
};

struct handler {
	struct loader *loader;
	const struct section *section;
	int id;
};

struct loader {
	struct kernel *kernel;
	struct handler handlers[SECTIONS];
	char types_path[32];
	int types_fd;
	bool types_written;
	bool alone;
	struct loading *jobs;
	size_t count, room;
	atomic_size_t taken;
};

/* --- setting programs aside --- */

/* Turns placeholder calls into calls of the kernel's function, if it exists; otherwise none of them
 * is reached. */
static void name_functions(struct kernel *kernel, struct bpf_insn *insns, size_t count)
{
	int id = kernel_function_id(kernel, "bpf_rdonly_cast");

	for (size_t i = 0; i < count && id > 0; i++) {
		struct bpf_insn *insn = &insns[i];

		if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg ||
		    insn->imm != RDONLY_CAST_CALL)
			continue;
		insn->src_reg = BPF_PSEUDO_KFUNC_CALL;
		insn->imm = id;
	}
}

static struct bpf_insn *copy_insns(struct kernel *kernel, const struct bpf_program *program)
{
	size_t count = bpf_program__insn_cnt(program);
	struct bpf_insn *insns = malloc(count * sizeof(*insns));

	if (!insns)
		return NULL;
	memcpy(insns, bpf_program__insns(program), count * sizeof(*insns));
	name_functions(kernel, insns, count);
	return insns;
}

static const struct bpf_insn nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static __u32 load_flags(struct kernel *kernel, const struct section *section)
{
	if (section->sleeps_for && kernel_enum_value(kernel, section->sleeps_for) > 0)
		return BPF_F_SLEEPABLE;
	return 0;
}

static int put_aside(struct loader *loader, const struct section *section,
		     struct bpf_program *program, struct bpf_prog_load_opts *options)
{
	size_t functions_bytes = (size_t)options->func_info_cnt * options->func_info_rec_size;
	struct loading *job;

	if (!GROW(loader->jobs, loader->room, loader->count + 1))
		return -ENOMEM;
	job = &loader->jobs[loader->count];
	*job = (struct loading) { .program = program, .type = section->type, .options = *options };
	job->options.prog_flags |= load_flags(loader->kernel, section);
	job->count = bpf_program__insn_cnt(program);
	job->insns = copy_insns(loader->kernel, program);
	job->functions = malloc(functions_bytes + 1);
	if (!job->insns || !job->functions) {
		free(job->insns);
		free(job->functions);
		return -ENOMEM;
	}
	loader->count++;
	if (functions_bytes)
		memcpy(job->functions, options->func_info, functions_bytes);
	job->options.func_info = job->functions;
	job->options.line_info = options->line_info = NULL; /* no log is read here */
	job->options.line_info_cnt = options->line_info_cnt = 0;
	options->func_info = NULL;
	options->func_info_cnt = 0;
	options->expected_attach_type = 0;
	options->attach_btf_id = options->attach_btf_obj_fd = 0;
	return bpf_program__set_insns(program, (struct bpf_insn *)nothing,
				      sizeof(nothing) / sizeof(nothing[0]));
}

/* Leaves the program for libbpf to load. */
static int leave(struct loader *loader, const struct section *section, struct bpf_program *program)
{
	struct bpf_insn *insns = copy_insns(loader->kernel, program);
	int err = insns ? bpf_program__set_insns(program, insns, bpf_program__insn_cnt(program))
			: -ENOMEM;

	free(insns);
	if (!err && section->type != section->stand_in)
		err = bpf_program__set_type(program, section->type);
	return err;
}

/* libbpf calls this for each program that is ready to be loaded. */
static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	const struct handler *handler = (const void *)cookie;
	const struct section *section = handler->section;
	const char *target = strchr(bpf_program__section_name(program), '/');

	if (section->type == BPF_PROG_TYPE_TRACING) {
		int module_fd = 0,
		    id = target ? kernel_attach_id(handler->loader->kernel, section->hook,
						   target + 1, &module_fd)
				: -EINVAL;

		if (id < 0)
			return id;
		options->attach_btf_id = id;
		options->attach_btf_obj_fd = module_fd;
		options->expected_attach_type = section->attach;
	}
	if (!handler->loader->alone)
		return put_aside(handler->loader, section, program, options);
	options->prog_flags |= load_flags(handler->loader->kernel, section);
	return leave(handler->loader, section, program);
}

/* --- loading --- */

static void load_job(struct loading *job)
{
	job->fd = bpf_prog_load(job->type, bpf_program__name(job->program), "Dual BSD/GPL",
				job->insns, job->count, &job->options);
	if (job->fd < 0)
		job->fd = -errno;
}

static void *work(void *context)
{
	struct loader *loader = context;

	for (;;) {
		size_t next = atomic_fetch_add(&loader->taken, 1);

		if (next >= loader->count)
			return NULL;
		load_job(&loader->jobs[next]);
	}
}

/* Longest first, so that all CPUs finish at about the same time. */
COMPARE_BY(compare_jobs, struct loading, COMPARE(b->count, a->count))

static int load_together(struct loader *loader)
{
	pthread_t threads[THREADS_MAX];
	unsigned int count = 0, max = thread_cpus() - 1;
	int err = 0;

	qsort(loader->jobs, loader->count, sizeof(*loader->jobs), compare_jobs);
	atomic_store(&loader->taken, 0);
	while (count < max && count < THREADS_MAX && !thread_start(&threads[count], work, loader))
		count++;
	work(loader);
	while (count)
		pthread_join(threads[--count], NULL);
	for (size_t i = 0; i < loader->count; i++) {
		struct loading *job = &loader->jobs[i];

		if (job->fd < 0) {
			err = job->fd;
			continue;
		}
		if (dup3(job->fd, bpf_program__fd(job->program), O_CLOEXEC) < 0)
			err = -errno;
		close(job->fd);
	}
	return err;
}

static void drop_jobs(struct loader *loader)
{
	for (size_t i = 0; i < loader->count; i++) {
		free(loader->jobs[i].insns);
		free(loader->jobs[i].functions);
	}
	loader->count = 0;
}

int loader_load(struct loader *loader, struct bpf_object_skeleton *skeleton, bool alone)
{
	int err = 0;

	if (!loader->types_written) {
		if (ftruncate(loader->types_fd, 0) || lseek(loader->types_fd, 0, SEEK_SET))
			return -errno;
		err = kernel_write_types(loader->kernel, bpf_object__btf(*skeleton->obj),
					 loader->types_fd);
	}
	if (err)
		return err;
	loader->types_written = true;
	loader->alone = alone;
	err = bpf_object__load_skeleton(skeleton);
	if (!err && !alone)
		err = load_together(loader);
	drop_jobs(loader);
	return err;
}

void loader_forget_types(struct loader *loader)
{
	loader->types_written = false;
}

/* --- opening --- */

const char *loader_types(const struct loader *loader)
{
	return loader->types_path;
}

int loader_types_fd(const struct loader *loader)
{
	return loader->types_fd;
}

int loader_open(struct loader **out, struct kernel *kernel)
{
	struct loader *loader = calloc(1, sizeof(*loader));
	int err;

	if (!loader)
		return -ENOMEM;
	loader->kernel = kernel;
	for (size_t i = 0; i < SECTIONS; i++)
		loader->handlers[i].id = -1;
	loader->types_fd = memfd_create("types", MFD_CLOEXEC);
	if (loader->types_fd < 0) {
		err = -errno;
		goto fail;
	}
	snprintf(loader->types_path, sizeof(loader->types_path), "/proc/self/fd/%d",
		 loader->types_fd);
	for (size_t i = 0; i < SECTIONS; i++) {
		struct handler *handler = &loader->handlers[i];
		LIBBPF_OPTS(libbpf_prog_handler_opts, options, .cookie = (long)handler,
			    .prog_prepare_load_fn = prepare);

		handler->loader = loader;
		handler->section = &sections[i];
		handler->id = libbpf_register_prog_handler(sections[i].name, sections[i].stand_in,
							   sections[i].attach, &options);
		if (handler->id < 0) {
			err = handler->id;
			goto fail;
		}
	}
	*out = loader;
	return 0;
fail:
	loader_close(loader);
	return err;
}

void loader_close(struct loader *loader)
{
	if (!loader)
		return;
	for (size_t i = 0; i < SECTIONS; i++)
		if (loader->handlers[i].id >= 0)
			libbpf_unregister_prog_handler(loader->handlers[i].id);
	if (loader->types_fd >= 0)
		close(loader->types_fd);
	free(loader->jobs);
	free(loader);
}
