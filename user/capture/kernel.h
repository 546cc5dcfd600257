/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What this kernel and these privileges allow. Asks, by trying where only trying tells.
 */
#ifndef FAULTLINE_KERNEL_H
#define FAULTLINE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;
struct kernel;

/*
 * Opens the kernel's type information. On failure returns a negative errno and puts one line into
 * `reason`: what is missing and what to do about it.
 */
int kernel_open(struct kernel **kernel, char *reason, size_t size);
void kernel_close(struct kernel *kernel); /* NULL is fine */

enum hook {
	HOOK_TP_BTF,	/* a tracepoint, with typed arguments */
	HOOK_RAW_TP,	/* ... with plain ones: one program may serve several */
	HOOK_TP,	/* a tracepoint by its record: "category/name" */
	HOOK_FENTRY,	/* a function's entry */
	HOOK_FEXIT,	/* ... and exit */
	HOOK_KPROBE,	/* a function's entry, by a breakpoint */
	HOOK_KRETPROBE, /* ... and its return */
	HOOK_ITER,	/* an iterator over what the kernel has; it is run when it is needed */
	HOOK_PERF,	/* a software perf event, on every CPU */
	HOOK_USDT,	/* a marker in programs and libraries, found while they run */
	HOOK_RUN,	/* nothing: it is run once, and needs the helper of that name */
};

/*
 * Whether a program can be attached to `target` there: loads and attaches one that does nothing.
 * Returns 0, -ENOENT when the kernel has no such thing, else the errno of the refusal. Remembers.
 */
int kernel_allows(struct kernel *kernel, enum hook hook, const char *target);

/* The number of the type that a typed tracepoint's program, or that of an iterator, fentry or
 * fexit, is loaded for; -ENOENT: the kernel has no such thing. */
int kernel_attach_id(struct kernel *kernel, enum hook hook, const char *target);

/* Writes those of its types that an object asks for into a file, see types_write(). */
int kernel_write_types(const struct kernel *kernel, const struct btf *object, int fd);

/* How many arguments a tracepoint hands to a program; -1: the kernel has none of that name. */
int kernel_tracepoint_arguments(struct kernel *kernel, const char *target);

/*
 * Whether a function, or a tracepoint whose program has typed arguments, hands these on: names of
 * types with a star for each pointer, separated by ", ", such as "file*, loff_t*". What only
 * qualifies a type is left out, as are the words struct and enum. False, too, for what the kernel
 * has not.
 */
bool kernel_has_signature(struct kernel *kernel, enum hook hook, const char *target,
			  const char *arguments);

/*
 * Whether a program attached there may be preempted while it runs: until it has gone on, the kernel
 * then passes over it for every other task of that CPU.
 */
bool kernel_preempts(const struct kernel *kernel, enum hook hook);

/* Whether a struct of the kernel has that member. */
bool kernel_has_member(struct kernel *kernel, const char *name, const char *member);

/* The value that the kernel's enums give that name, which it must have but once; -1: none does. An
 * enum without a name of its own cannot be asked for where programs are loaded. */
int kernel_enum_value(struct kernel *kernel, const char *name);

/* What the kernel calls a function of its own that it offers to BPF programs; not positive: it does
 * not offer it. */
int kernel_function_id(const struct kernel *kernel, const char *name);
bool kernel_has_kfunc(struct kernel *kernel, const char *name);

/* How long one of its ticks is, in ns. */
uint32_t kernel_tick_ns(void);

#endif
