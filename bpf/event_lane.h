/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that both sides have mapped, for the records that come by the million. Knows nothing of
 * those that go through the rings.
 */
#ifndef FAULTLINE_EVENT_LANE_H
#define FAULTLINE_EVENT_LANE_H

#include "event_base.h"

/*
 * Lanes: slots of one size for the records that come by the million. `ready` of a slot is its
 * number plus one once it holds the record of that number; the numbers of a lane count up from 0,
 * and number n stands in slot n modulo the number of slots.
 *
 * A slot is a cache line: it travels from the CPU that writes it to the one that reads it. `op`
 * says what stands in it. What has no room there (a long call, one that faulted) goes through the
 * ring as event_syscall.
 */
struct lane_call {
	__u64 time_ns;
	__s64 offset;
	__s64 result;
	__u32 asked_bytes;
	__u32 open_file;
	__u32 pid;
	__u32 tid;
	__u32 file;
	__u32 duration_ns;
	__u16 op;
	__u16 flags; /* TRACE_OP_* */
	__u16 fetched_pages;
	__u16 created_pages;
};

struct lane_fault {
	__u64 time_ns;
	__u64 offset;
	__u64 duration_ns;
	__u32 dirtied_pages;
	__u32 pad;
	__u32 pid;
	__u32 tid;
	__u32 file;
	__u32 flags; /* TRACE_FAULT_* */
	__u16 op;    /* OP_FAULT */
	__u16 pad2;
	__u32 fetched_pages;
};

struct lane_slot {
	__u64 ready;
	union {
		struct lane_call call;
		struct lane_fault fault;
	};
};

/* One cache line for each side to write. */
struct lane_control {
	__u64 given; /* by the kernel side: the next number */
	__u64 pad[7];
	__u64 taken; /* by the user side: the first number not taken yet */
	__u64 pad2[7];
};

/*
 * Flight recorder: the slots of all lanes are one memory that wraps. Numbers are taken from it in
 * chunks; a chunk is one lane's. `given` of a lane's control is then the next number of its chunk,
 * `taken` counts its records; one more control has the next chunk's number in `given`. `ready` of a
 * slot is its number plus one, with its lane; or says that it is being written.
 *
 * A lane leaves a chunk when the others have come a part of the memory farther: so what was written
 * since all but that part was given is there still.
 */
#define FLIGHT_CHUNK 64
#define FLIGHT_STALE_PART 16
#define FLIGHT_CHOSEN_MOST 65536 /* processes, where not all are kept */
#define FLIGHT_BUSY (1ull << 63)
#define FLIGHT_LANE_SHIFT 48
#define FLIGHT_NUMBER_MASK ((1ull << FLIGHT_LANE_SHIFT) - 1)
#define FLIGHT_SLOTS_LEAST(lanes) ((__u64)(lanes)*FLIGHT_CHUNK * FLIGHT_STALE_PART * 2)

/* An operation that took long: the first since the reader has looked. */
enum flight_slow_state { FLIGHT_SLOW_NONE, FLIGHT_SLOW_TELLING, FLIGHT_SLOW_TOLD };

struct flight_slow {
	__u64 state; /* enum flight_slow_state; the reader sets it back */
	__u64 start_ns;
	__u64 duration_ns;
	__u32 pid;
	__u32 file;
	__u32 op;
	__u32 pad;
	char comm[EVENT_COMM_BYTES]; /* of the process; "": another one ended the operation */
};

_Static_assert(__builtin_offsetof(struct lane_call, op) ==
		       __builtin_offsetof(struct lane_fault, op),
	       "op tells them apart");
EVENT_SIZE(lane_call, 56);
EVENT_SIZE(lane_fault, 56);
EVENT_SIZE(lane_slot, 64);
EVENT_SIZE(lane_control, 128);
EVENT_SIZE(flight_slow, 56);

#endif
