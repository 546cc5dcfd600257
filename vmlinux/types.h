/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The basic types and BPF constants that libbpf's headers and ours need, so that the kernel side
 * compiles without BTF and kernel headers.
 */
#pragma once

/* Makes libbpf's headers use the kernel's register names, as in ptrace.h. */
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* Helpers that some kernels lack. */
enum bpf_func_id {
	BPF_FUNC_get_attach_cookie = 174,
	BPF_FUNC_task_pt_regs = 175,
};

enum {
	BPF_MAP_TYPE_HASH = 1, /* libbpf's usdt.bpf.h */
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

#define BPF_F_NO_PREALLOC 1U
#define BPF_F_MMAPABLE 1024U
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1U
#define BPF_RB_NO_WAKEUP 1U
#define BPF_RB_FORCE_WAKEUP 2U
#define BPF_RB_AVAIL_DATA 0

/* The loader matches structs below this line to the running kernel's by name. */
#define CORE_STRUCT __attribute__((preserve_access_index))

struct list_head {
	struct list_head *next;
} CORE_STRUCT;
