/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared mapped memory in which operations are aggregated instead of recorded one by one.
 */
#pragma once

#include "bpf/records/event_base.h"

/*
 * Mode profile: operations are aggregated by process, file and operation, in slots of shared mapped
 * memory. The counters of a slot only grow and are never reset: the reader takes differences. Each
 * slot belongs to one CPU, so that no other CPU writes to its cache lines; the reader adds up slots
 * with the same process, file and operation.
 */
enum profile_mode {
	PROFILE_OFF,  /* one record per operation */
	PROFILE_ON,   /* no records */
	PROFILE_AUTO, /* no records of processes that exceed a rate of operations */
};

#define PROFILE_START_SHIFT 16 /* 65 us; wraps after three days */
struct profile_key {
	__u32 pid;
	__u32 file;
	__u32 file2; /* the file that a transfer writes */
	__u16 op;
	__u16 cpu;
	__u32 flags; /* TRACE_PROFILE_* */
	/* Low bits of the process start time >> PROFILE_START_SHIFT: a process with a reused PID
	 * gets its own slots. 0: another task ended the operation. */
	__u32 start;
} __attribute__((aligned(8))); /* compared eight bytes at a time */

enum profile_state {
	PROFILE_FREE,
	PROFILE_TAKING, /* the key is being written */
	PROFILE_USED,
	PROFILE_RETIRED, /* set by the reader, which frees the slot once it has no writers */
};

/* Duration classes: below 64 ns, below 128 ns, and so on by powers of two; the last one is open.
 * Size classes: up to 1 KiB, 2 KiB, ... 4 GiB, above. */
#define PROFILE_LATENCIES 32
#define PROFILE_LATENCY_SHIFT 6
#define PROFILE_SIZES 24
#define PROFILE_SIZE_SHIFT 10

/* Counters, which only grow. */
struct profile_sums {
	__u64 count;
	__u64 time_ns;
	__u64 bytes;
	__u64 errors;
	__u64 fetched_pages;
	__u64 fault_fetched_pages;
	__u64 created_pages;
	__u64 dirtied_pages;
	__u32 major_faults;	      /* these two wrap: only differences */
	__u32 read_for_write_sectors; /* between two readings matter */
	__u32 latencies[PROFILE_LATENCIES];
	__u32 sizes[PROFILE_SIZES]; /* requested sizes */
};

/* The process of a slot's key, filled in if the slot was taken by one of its tasks. */
struct profile_who {
	__u64 started_ns;	     /* CLOCK_MONOTONIC; 0: taken by a task of another process */
	__u64 cgroup_id;	     /* cgroup v2 */
	char comm[EVENT_COMM_BYTES]; /* name of the process */
	__u32 uid;
	__u32 pad;
};

/* The first 64 bytes hold what every operation reads or updates, except the histograms. */
struct profile_slot {
	__u64 state; /* enum profile_state */
	struct profile_key key;
	__u64 last_ns; /* start of the last operation with this key */
	struct profile_sums sums;
	__u64 first_ns; /* start of the first one */
	struct profile_who who;
};

/*
 * First the slots for any key, then those for keys with TRACE_FILE_OTHER, then one per operation
 * and variant, shared by all processes, for operations that found no slot in either. The number of
 * slots for any key is a setting, a power of two.
 */
#define PROFILE_OTHERS 4096 /* for TRACE_FILE_OTHER, a power of two */
#define PROFILE_VARIANTS 4
#define PROFILE_RESTS (OP_PROFILED_SIZE * PROFILE_VARIANTS)
#define PROFILE_PROBES 8 /* consecutive slots that may hold a key */

/* Operation rates of processes for PROFILE_AUTO, indexed by the low bits of the PID. */
#define PROFILE_RATES 4096
struct profile_rate {
	__u64 leader; /* address of the thread group leader, only compared */
	__u64 since_ns;
	__u32 count; /* since since_ns */
	__u32 summed;
};

EVENT_SIZE(profile_key, 24);
_Static_assert(_Alignof(struct profile_key) == 8, "no access may lie across eight bytes");
EVENT_SIZE(profile_who, 40);
EVENT_SIZE(profile_slot, 384);
_Static_assert(__builtin_offsetof(struct profile_slot, sums.errors) == 64, "the first line");
EVENT_SIZE(profile_rate, 24);
