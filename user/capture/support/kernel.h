/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Features that the kernel and the privileges allow, found by a trial where nothing else tells. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;
struct kernel;

/*
 * Opens the kernel's type information. On failure returns a negative errno and writes one line to
 * `reason`: what is missing and how to fix it.
 */
int kernel_open(struct kernel **kernel, char *reason, size_t size);
void kernel_close(struct kernel *kernel); /* NULL is fine */

enum hook {
	HOOK_TP_BTF,	/* a tracepoint, with typed arguments */
	HOOK_RAW_TP,	/* ... with plain ones: one program may serve several */
	HOOK_TP,	/* a classic tracepoint, "category/name" */
	HOOK_FENTRY,	/* a function's entry */
	HOOK_FEXIT,	/* ... and exit */
	HOOK_KPROBE,	/* a function's entry, by a breakpoint */
	HOOK_KRETPROBE, /* ... and its return */
	HOOK_ITER,	/* an iterator over kernel objects; run on demand */
	HOOK_PERF,	/* a software perf event, on every CPU */
	HOOK_USDT,	/* a marker in programs and libraries, found while they run */
	HOOK_RUN,	/* nothing: run once; needs the helper of that name */
	HOOK_RUN_FOUND, /* ... with addresses that are found in this file */
};

/*
 * Whether a program can be attached to `target`. Tries it where that is cheap, with a program that
 * does nothing. Returns 0, -ENOENT if the kernel has no such target, otherwise the errno of the
 * refusal. Caches the answer.
 */
int kernel_allows(struct kernel *kernel, enum hook hook, const char *target);

/*
 * Returns the id of the type that a typed tracepoint, iterator, fentry or fexit program is loaded
 * for, and the descriptor of the types of the module that has it (0: the kernel proper), which the
 * kernel owns. -ENOENT: there is no such target; -EPERM: types of modules need CAP_SYS_ADMIN.
 */
int kernel_attach_id(struct kernel *kernel, enum hook hook, const char *target, int *module_fd);

/* Writes the kernel types that an object needs to a file; see types_write(). */
int kernel_write_types(const struct kernel *kernel, const struct btf *object, int fd);

/* Returns the number of arguments that a tracepoint passes to a program; -1: no such tracepoint. */
int kernel_tracepoint_arguments(struct kernel *kernel, const char *target);

/*
 * Whether a function, or a typed tracepoint, takes these arguments: names of types with a star per
 * pointer, separated by ", ", e.g. "file*, loff_t*". Qualifiers and the words struct and enum are
 * omitted. For a classic tracepoint: whether its record has a field of this name. Also false if the
 * kernel has no such target.
 */
bool kernel_has_signature(struct kernel *kernel, enum hook hook, const char *target,
			  const char *arguments);

/*
 * Whether a program attached there may be preempted while it runs: until it finishes, the kernel
 * skips it for all other tasks on that CPU.
 */
bool kernel_preempts(const struct kernel *kernel, enum hook hook);

/* Whether a kernel struct has that member. */
bool kernel_has_member(struct kernel *kernel, const char *name, const char *member);

/* Returns the value of an enumerator, which must be unique in the kernel; -1: none. Unnamed enums
 * cannot be resolved when programs are loaded. */
int kernel_enum_value(struct kernel *kernel, const char *name);

/* Returns the id of a kernel function that BPF programs may call; not positive: none. */
int kernel_function_id(const struct kernel *kernel, const char *name);
bool kernel_has_kfunc(struct kernel *kernel, const char *name);

/* Whether the kernel has the helper bpf_loop. */
bool kernel_has_loop(const struct kernel *kernel);

/* Whether the kernel has what the faster build of the BPF programs needs: see bpf/core/kernel.h. */
bool kernel_reads_plainly(struct kernel *kernel);

/* Forgets types of modules and cached answers, because modules were loaded or unloaded. */
void kernel_forget_modules(struct kernel *kernel);

/* Returns the length of a kernel tick in ns. */
uint32_t kernel_tick_ns(void);
