/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that both sides have mapped, in which operations are summed up in place of records.
 */
#ifndef FAULTLINE_EVENT_PROFILE_H
#define FAULTLINE_EVENT_PROFILE_H

#include "event_base.h"

/*
 * Mode profile: operations are summed up by process, file and operation in slots of memory that
 * both sides have mapped. Slots count up and are never set back: the reader takes differences. Each
 * is of one CPU, so that nobody else writes to its cache lines; the reader adds up what is alike.
 */
enum profile_mode {
	PROFILE_OFF,  /* a record for each operation */
	PROFILE_ON,   /* none */
	PROFILE_AUTO, /* none of processes that do more than so many a second */
};

#define PROFILE_START_SHIFT 16 /* 65 us, the same again after three days */
struct profile_key {
	__u32 pid;
	__u32 file;
	__u32 file2; /* that a transfer writes */
	__u16 op;
	__u16 cpu;
	__u32 flags; /* TRACE_PROFILE_* */
	/* Of when the process began, PROFILE_START_SHIFT on: one that gets the id of another has
	 * slots of its own. 0: another task ended what the process had begun. */
	__u32 start;
} __attribute__((aligned(8))); /* compared by eight bytes at a time */

enum profile_state {
	PROFILE_FREE,
	PROFILE_TAKING, /* its key is being written */
	PROFILE_USED,
	PROFILE_RETIRED, /* set by the reader, which gives it back once nobody adds to it any more
			  */
};

/* Classes of durations: below 64 ns, below 128, and so on by powers of two; the last is open. Those
 * of sizes: up to 1 KiB, 2 KiB, ... 4 GiB, above. */
#define PROFILE_LATENCIES 32
#define PROFILE_LATENCY_SHIFT 6
#define PROFILE_SIZES 24
#define PROFILE_SIZE_SHIFT 10

/* Everything that counts up. */
struct profile_sums {
	__u64 count;
	__u64 time_ns;
	__u64 bytes;
	__u64 errors;
	__u64 fetched_pages;
	__u64 fault_fetched_pages;
	__u64 created_pages;
	__u64 dirtied_pages;
	__u32 major_faults;	      /* these two go round: what matters is what was added */
	__u32 read_for_write_sectors; /* between two readings */
	__u32 latencies[PROFILE_LATENCIES];
	__u32 sizes[PROFILE_SIZES]; /* of what was asked for */
};

/* Who took a slot: the task that it was taken by, where that was one of the key's process. */
struct profile_who {
	__u64 started_ns;	     /* the process; CLOCK_MONOTONIC; 0: somebody else took it */
	__u64 cgroup_id;	     /* of the second version's hierarchy */
	char comm[EVENT_COMM_BYTES]; /* of the process */
	__u32 uid;
	__u32 pad;
};

/* What each operation looks at or adds to stands in the first 64 bytes. */
struct profile_slot {
	__u64 state; /* enum profile_state */
	struct profile_key key;
	__u64 last_ns; /* start of the last operation under this key */
	struct profile_sums sums;
	__u64 first_ns; /* ... of the first one */
	struct profile_who who;
};

/*
 * The slots: first those that any key may take, then those for keys of TRACE_FILE_OTHER, last one
 * for each operation and variant of it, for what found no slot among either: of nobody's process.
 * How many of the first there are is a setting, a power of two.
 */
#define PROFILE_OTHERS 4096 /* for TRACE_FILE_OTHER, a power of two */
#define PROFILE_VARIANTS 4
#define PROFILE_RESTS (OP_TABLE_SIZE * PROFILE_VARIANTS)
#define PROFILE_PROBES 8 /* places next to each other that a key may be at */

/* Processes that are watched for how much they do (PROFILE_AUTO), by the low bits of their ids. */
#define PROFILE_RATES 4096
struct profile_rate {
	__u64 leader; /* address of the process's first task, compared only */
	__u64 since_ns;
	__u32 count; /* since then */
	__u32 summed;
};

EVENT_SIZE(profile_key, 24);
_Static_assert(_Alignof(struct profile_key) == 8, "no access may lie across eight bytes");
EVENT_SIZE(profile_who, 40);
EVENT_SIZE(profile_slot, 384);
_Static_assert(__builtin_offsetof(struct profile_slot, sums.errors) == 64, "the first line");
EVENT_SIZE(profile_rate, 24);

#endif
