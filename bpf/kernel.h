/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading the kernel's memory, the fast way where the kernel has it and the portable way elsewhere.
 */
#ifndef FAULTLINE_BPF_KERNEL_H
#define FAULTLINE_BPF_KERNEL_H

#include "vmlinux/types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "event.h"

/*
 * bpf_rdonly_cast (since 6.2) turns any address into a typed pointer whose fields are read by plain
 * loads that fault to zero: a tenth of the price of a probe read. The user side sets
 * have_rdonly_cast before loading; the verifier then drops the branch not taken. It also makes the
 * call that of the kernel's function: libbpf would read all the kernel's types to find that.
 */
static void *(*const rdonly_cast)(const void *obj, __u32 btf_id) = (void *)RDONLY_CAST_CALL;
extern const volatile bool have_rdonly_cast;

/* Field `f` (dots allowed) of the kernel's `struct s` at address `p`. */
#define KREAD(s, p, f) KREAD_BY(false, s, p, f)

/* The same where that is known beforehand: a constant `quick` leaves no code for the other way. */
#define KREAD_BY(quick, s, p, f)                                                                   \
	({                                                                                         \
		const void *__at = (const void *)(p);                                              \
		typeof(((struct s *)0)->f) __value;                                                \
		if ((quick) || have_rdonly_cast)                                                   \
			__value =                                                                  \
				((struct s *)rdonly_cast(__at, bpf_core_type_id_kernel(struct s))) \
					->f;                                                       \
		else                                                                               \
			bpf_core_read(&__value, sizeof(__value), &((struct s *)__at)->f);          \
		__value;                                                                           \
	})

/*
 * Pointer `f` of a task. For each pointer that a program loads from what the verifier trusts, that
 * goes through all the kernel's types by name, several times, so the trust is cast away first.
 */
#define TASK_POINTER(task, f)                                                                      \
	({                                                                                         \
		struct task_struct *__task = (task);                                               \
		if (have_rdonly_cast)                                                              \
			__task = rdonly_cast(__task, bpf_core_type_id_kernel(struct task_struct)); \
		__task->f;                                                                         \
	})

/* A task by its address alone. */
#define KTASK(address)                                                                             \
	((struct task_struct *)rdonly_cast((const void *)(address),                                \
					   bpf_core_type_id_kernel(struct task_struct)))

/* Address of field `f` inside the kernel's `struct s` at `p`, without reading anything. */
#define KFIELD(s, p, f) ((void *)(p) + bpf_core_field_offset(struct s, f))

/*
 * What is needed once a file, rather than once a call, is in global functions: the verifier looks
 * at each once a program, not at every use, and the programs that run at every call stay short.
 * Such a function takes numbers and memory, no kernel pointers: those travel as a number in memory.
 */
struct address {
	__u64 at;
};

/* An address that the verifier takes for a number, with which anything may be done. */
__noinline __u64 address_number(const struct address *address)
{
	return address ? address->at : 0;
}

/* The lower half of a pointer is a number. */
static __always_inline __u32 lower_half(__u64 pointer)
{
	__u32 half;

	asm volatile("%0 = %1" : "=w"(half) : "w"((__u32)pointer));
	return half;
}

/* Pointer `f` of the kernel's `struct s` at `p`, as a number. */
#define KNUMBER(s, p, f)                                                                           \
	({                                                                                         \
		struct address __pointer = { (__u64)KREAD(s, p, f) };                              \
		address_number(&__pointer);                                                        \
	})

/* Keeps the compiler from moving arithmetic on a checked value ahead of its check. */
#define BARRIER_VAR(v) asm volatile("" : "+r"(v))

#endif
