/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Settings made before loading, which are constants to the verifier. Defined once, in state.bpf.c.
 */
#pragma once

#include "core/kernel.h"
#include "records/event.h"

extern const volatile struct call_row calls[CALL_TABLE_SIZE];
extern const volatile struct call_request requests[CALL_REQUESTS];
extern const volatile __u32 file_classes;	  /* FILE_CLASS_* to record */
extern const volatile __u64 open_file_secrets[2]; /* see open_file_of; 0: none */
extern const volatile __u32 mmap_number;	  /* system call numbers */
extern const volatile __u32 exit_group_number;
extern const volatile __u32 sigreturn_number;
extern const volatile bool code_reported;    /* reports code mappings: may have markers */
extern const volatile __u64 stack_period_ns; /* see stack/sample.h; 0: no stacks */
extern const volatile __u32 stack_draft_count;
extern const volatile bool stack_required; /* samples without a stack are of no use */
extern const volatile bool stacks_native;  /* samples have copies of the user stack */
extern const volatile __u32 page_bytes;
extern const volatile bool follow_privileged;  /* follow setuid programs, too */
extern const volatile bool have_filemap_fault; /* entries of filemap_fault are traced */
#define PAGE_BYTES ((__u64)page_bytes)
extern const volatile __u32 tick_ns;	     /* the kernel's unit of long waits */
extern const volatile __u32 lane_mask;	     /* CPU buffers (a power of two) minus one */
extern const volatile __u32 lane_slot_count; /* slots per CPU buffer, a power of two */
extern const volatile __u32 ring_wake_bytes; /* bytes in a ring that wake its reader */
/* Several programs may fill slots of one CPU buffer at a time: on several CPUs, or on one CPU if
 * they can be preempted. */
extern const volatile bool lane_shared;
/* The kernel may preempt the programs that count system calls, or faults, so another program may
 * update the same counters on that CPU. */
extern const volatile bool calls_preempted;
extern const volatile bool calls_fast_path; /* see caller_find */
extern const volatile bool faults_preempted;
extern const volatile bool reads_other_tasks; /* bpf_copy_from_user_task exists */
extern const volatile bool bios_held_back;    /* cgroup v1 may throttle I/O */
extern const volatile bool in_flight_summed;  /* readings include operations in flight */

/* The recording's target: see attach.h. */
extern const volatile __u32 attach_to;	      /* enum attach_to */
extern const volatile __u32 attach_hierarchy; /* of the cgroup; 0: cgroup v2 */
extern const volatile __u64 attach_cgroup;    /* id of the cgroup */
extern const volatile bool attach_own_child;  /* our own child and its descendants */
extern const volatile __u32 attach_uid;	      /* only this user; ATTACH_ANYBODY: all */
extern volatile bool attach_arming;	      /* still searching for descendants */
/* Our own process, which is never recorded; 0 before the search, while nothing is followed. */
extern volatile __u32 attach_tracer;

/* What the user side has forgotten belongs to earlier generations: see stack/walk.h. */
extern volatile __u32 stack_generation;
extern __u32 stack_last_id;

/* Set when the recording ends, for programs that are detached later. */
extern volatile bool recording_ended;
