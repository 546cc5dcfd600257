/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads kernel memory: by plain loads if the kernel supports them, else by probe reads.
 */
#pragma once

#include "vmlinux/types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "records/event.h"

/*
 * The object is built twice: for kernels with bpf_rdonly_cast (6.2) and bpf_loop, and with
 * FAULTLINE_PROBE_READ for those without. The cast turns any address into a typed pointer whose
 * fields are read by plain loads that fault to zero, at a tenth of the cost of a probe read. One
 * object with a branch at every read would take the verifier twice as long: it removes dead
 * branches one by one and moves the rest of the program each time.
 *
 * The loader replaces this call with the kernel's function; libbpf would first read all the
 * kernel's types.
 */
static void *(*const rdonly_cast)(const void *obj, __u32 btf_id) = (void *)RDONLY_CAST_CALL;

#ifdef FAULTLINE_PROBE_READ
#define KREAD_INTO(value, s, at, f) bpf_core_read(&(value), sizeof(value), &((struct s *)(at))->f)
#define TASK_UNTRUSTED(task) (task)
#else
#define KREAD_INTO(value, s, at, f)                                                                \
	((value) = ((struct s *)rdonly_cast((at), bpf_core_type_id_kernel(struct s)))->f)
#define TASK_UNTRUSTED(task) rdonly_cast((task), bpf_core_type_id_kernel(struct task_struct))
#endif

/* Field `f` (dots allowed) of the kernel's `struct s` at address `p`. */
#define KREAD(s, p, f)                                                                             \
	({                                                                                         \
		const void *__at = (const void *)(p);                                              \
		typeof(((struct s *)0)->f) __value;                                                \
		KREAD_INTO(__value, s, __at, f);                                                   \
		__value;                                                                           \
	})

/* The pointer at address `p`. */
#define KREAD_POINTER(p) ((void *)KREAD(hlist_head, p, first)) /* a struct that begins with one */

/* The same as KREAD for a struct that may be a module's: the cast knows only types of the kernel
 * proper. */
#define KREAD_MODULE(s, p, f)                                                                      \
	({                                                                                         \
		typeof(((struct s *)0)->f) __field = 0;                                            \
		__u64 __at = (__u64)(p);                                                           \
		bpf_core_read(&__field, sizeof(__field), &((struct s *)__at)->f);                  \
		__field;                                                                           \
	})

/*
 * Pointer `f` of a task. For each pointer loaded from a trusted one, the verifier searches all the
 * kernel's types by name, several times, so the trust is cast away first.
 */
#define TASK_POINTER(task, f)                                                                      \
	({                                                                                         \
		struct task_struct *__task = TASK_UNTRUSTED(task);                                 \
		__task->f;                                                                         \
	})

/* A register of a task, whose address is a plain number before 5.15: see task_regs. */
#ifdef FAULTLINE_PROBE_READ
static __noinline __u64 register_at(const void *at)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), at);
	return value;
}

#define REG(regs, name)                                                                            \
	(bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)                       \
		 ? (regs)->name                                                                    \
		 : register_at(KFIELD(pt_regs, regs, name)))
#else
#define REG(regs, name) ((regs)->name)
#endif

/* A task, given only its address. */
#define KTASK(address)                                                                             \
	((struct task_struct *)rdonly_cast((const void *)(address),                                \
					   bpf_core_type_id_kernel(struct task_struct)))

/* Address of field `f` inside the kernel's `struct s` at `p`; reads nothing. */
#define KFIELD(s, p, f) ((void *)(p) + bpf_core_field_offset(struct s, f))

/*
 * Code that runs once per file rather than once per call is in global functions: each is verified
 * once per program, not for every use, and the programs that run at every call stay short. Such
 * functions take numbers and memory but no kernel pointers, which are passed as numbers in memory.
 */
struct address {
	__u64 at;
};

/* An address as a plain number to the verifier, usable in any arithmetic. */
__noinline __u64 address_number(const struct address *address)
{
	return address ? address->at : 0;
}

/* Returns the lower half of a pointer, as a number. */
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

/* Field `f`, by KREAD or KNUMBER, of what the page cache holds: a folio, or a page before 5.16. */
#define KFOLIO(READ, p, f)                                                                         \
	(bpf_core_type_exists(struct folio) ? READ(folio, p, f) : READ(page___cache, p, f))

/* These helpers with a size of 64 bits, for one that is not constant: in a move of 32 bits, 5.14
 * loses its bounds. */
static long (*const read_user)(void *to, __u64 bytes, const void *from) = (void *)112;
static long (*const read_kernel)(void *to, __u64 bytes, const void *from) = (void *)113;

/* Keeps the compiler from moving arithmetic on a checked value ahead of its check. */
#define BARRIER_VAR(v) asm volatile("" : "+r"(v))
