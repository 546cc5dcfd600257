/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The settings made before loading: constants to the verifier. Defined once, in state.bpf.c.
 */
#ifndef FAULTLINE_BPF_SETTINGS_H
#define FAULTLINE_BPF_SETTINGS_H

#include "kernel.h"
#include "event.h"

extern const volatile struct call_row calls[CALL_TABLE_SIZE];
extern const volatile struct call_request requests[CALL_REQUESTS];
extern const volatile __u32 file_classes;	  /* FILE_CLASS_* to record */
extern const volatile __u64 open_file_secrets[2]; /* see open_file_of; 0: none */
extern const volatile __u32 mmap_number;	  /* of the system call */
extern const volatile bool code_told;		  /* somebody looks for markers in it */
extern const volatile __u32 page_bytes;
extern const volatile bool follow_privileged;  /* programs that gain rights at their exec, too */
extern const volatile bool have_filemap_fault; /* filemap_fault is seen when it is reached */
#define PAGE_BYTES ((__u64)page_bytes)
extern const volatile __u32 tick_ns;	     /* the kernel's unit of long waits */
extern const volatile __u32 lane_mask;	     /* number of lanes less one, a power of two less one */
extern const volatile __u32 lane_slot_count; /* of one lane, a power of two */
extern const volatile __u32 ring_wake_bytes; /* in a ring that wake its reader */
/* Several programs may be filling slots of a lane at a time: of several CPUs, or of one when they
 * can be preempted. */
extern const volatile bool lane_shared;
/* The kernel may preempt the programs that count system calls, or faults: another one then counts
 * on the same CPU meanwhile. */
extern const volatile bool calls_preempted;
extern const volatile bool calls_quick; /* see caller_find */
extern const volatile bool faults_preempted;
extern const volatile bool reads_other_tasks; /* bpf_copy_from_user_task is there */
extern const volatile bool bios_held_back;    /* cgroups of version 1 may throttle I/O */
extern const volatile bool in_flight_summed;  /* what is in flight is summed up at each reading */

/* What the recording attaches to: see attach.h. */
extern const volatile __u32 attach_to;	      /* enum attach_to */
extern const volatile __u32 attach_hierarchy; /* of the cgroup; 0: of the second version */
extern const volatile __u64 attach_cgroup;    /* its id */
extern const volatile bool attach_own_child;  /* a child of ours, with what it has started */
extern const volatile __u32 attach_uid;	      /* whose tasks alone; ATTACH_ANYBODY: all */
extern volatile bool attach_arming; /* descendants of processes are still being looked for */
/* Our own process, which is never recorded; 0 until it looks for others: nobody is followed yet. */
extern volatile __u32 attach_tracer;

/* Set when the recording ends, for programs that are detached only later. */
extern volatile bool recording_ended;

#endif
