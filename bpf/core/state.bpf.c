// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Defines the settings and counters that the layers share.
 */
#include "async/async.h"

/* Tables whose rows are read as plain memory. Weak, so that no compiler folds the zero initialisers
 * when a reader casts volatile away. */
const volatile struct call_row calls[CALL_TABLE_SIZE] __weak = {};
const volatile struct call_request requests[CALL_REQUESTS] __weak = {};
const volatile struct async_row uring_rows[URING_TABLE_SIZE] __weak = {};
const volatile struct async_row aio_rows[AIO_TABLE_SIZE] __weak = {};

const volatile __u32 file_classes = 0;
const volatile __u64 open_file_secrets[2] __weak = {};
const volatile __u32 mmap_number = 0;
const volatile __u32 exit_group_number = 0;
const volatile __u32 sigreturn_number = 0;
const volatile bool code_reported = false;
const volatile __u64 stack_period_ns = 0;
const volatile __u32 stack_draft_count = 1;
const volatile bool stack_required = false;
const volatile bool stacks_native = false;
const volatile __u32 page_bytes = 4096;
const volatile __u32 tick_ns = 1000000;
const volatile bool follow_privileged = false;
const volatile bool have_filemap_fault = false;
const volatile __u32 lane_mask = 0;
const volatile __u32 identities_bytes = 4096;
const volatile __u32 lane_slot_count = 1;
const volatile __u32 ring_wake_bytes = 0;
const volatile bool lane_shared = true;
const volatile bool calls_preempted = true;
const volatile bool calls_fast_path = false;
const volatile bool faults_preempted = true;
const volatile bool reads_other_tasks = false;
const volatile bool bios_held_back = false;
const volatile bool in_flight_summed = false;
const volatile __u32 profile_mode = PROFILE_OFF;
const volatile __u32 profile_slot_count = 1;
const volatile __u32 profile_auto_rate = 0;
const volatile bool flight_on = false;
const volatile bool flight_chooses = false;
const volatile __u64 flight_slower_ns = 0;
const volatile __u32 uring_enter_number = 0;
const volatile bool async_recorded = false;
const volatile __u32 attach_to = ATTACH_NOTHING;
const volatile __u32 attach_hierarchy = 0;
const volatile __u64 attach_cgroup = 0;
const volatile bool attach_own_child = false;
const volatile __u32 attach_uid = ATTACH_ANYBODY;

struct flight_slow flight_slow = {};
bool async_overfull = false;
volatile __u64 async_flight_count = 0;
volatile __u32 stack_generation = 0;
__u32 stack_last_id = 0;
volatile bool recording_ended = false;
volatile bool attach_arming = false;
volatile __u32 attach_tracer = 0;
volatile bool overlays_met = false;
volatile bool files_overflowed = false;
volatile __u32 file_epoch = 0;
__u64 file_last_id = 0;
