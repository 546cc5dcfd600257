/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A capture session: the programs chosen, loaded and attached, the CPU buffers and the totals. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/support/features.h"
#include "capture/session/in_flight.h"
#include "capture/drain/lane.h"
#include "capture/support/probes.h"
#include "capture/drain/profile.h"
#include "capture/drain/ring.h"
#include "trace/format/header.h"

struct bpf_program;
struct session;

/* Which running processes to record. */
struct session_attach {
	enum attach_to to;
	uint64_t cgroup_id;	/* ATTACH_CGROUP: inode number of its directory ... */
	unsigned int hierarchy; /* ... and its hierarchy as in /proc/cgroups; 0: cgroup v2 */
	unsigned int uid;	/* only this user's processes; ATTACH_ANYBODY: all */
	bool own_child;		/* the named process is a child of the caller */
};

struct session_options {
	unsigned int layers;	   /* mask of 1 << enum layer; LAYER_TASK is always on */
	unsigned int file_classes; /* FILE_CLASS_* */
	uint64_t buffer_bytes;	   /* per CPU; 0: by the number of CPUs */
	struct forced_variants forced;
	struct session_attach attach;
	enum profile_mode mode;	   /* sum up operations instead of recording each */
	uint64_t profile_slots;	   /* for the sums; 0: by the number of CPUs */
	uint64_t auto_rate;	   /* PROFILE_AUTO: threshold per process, in operations/s */
	uint64_t flight_bytes;	   /* flight recorder: memory for events; 0: none */
	uint64_t flight_slower_ns; /* flight recorder: report operations this slow; 0: none */
	bool flight_chooses;	   /* keep only processes of session_choose_for_flight */
	bool native_stacks;	   /* with layer stack: samples have copies of the user stack */
	bool in_flight;		/* session_read_in_flight and session_read_threads will be called */
	bool follow_privileged; /* also follow setuid programs */
	bool stacks_only;	/* no samples without a stack: of other programs than Python */
};

/*
 * Chooses, loads and attaches variants; followed tasks are then recorded. A layer that cannot work
 * is off, and session_choice gives the reason. Errors (no privileges, no BTF, kernel too old) are
 * logged.
 */
int session_open(struct session **session, const struct session_options *options);
/* What the listener needs to attach the span layer to markers of programs (see listener.h), to know
 * which tasks are followed, and to say where interpreters keep their frames; owned by the
 * session. */
struct session_markers {
	bool on; /* the span layer is */
	const struct bpf_program *program;
	int specs, tasks;		    /* maps: struct marker_spec, states of tasks */
	int rows;			    /* map: see uprobes.h; -1: none */
	bool multi;			    /* the program was loaded for uprobe_multi links */
	int python_files, python_processes; /* maps: see interpreters.h; -1: no stacks */
};
struct session_markers session_markers(const struct session *session);
/* Where the kernel side reads the generation of stacks that is remembered: see python/frames.h. */
volatile uint32_t *session_stack_generation(struct session *session);
/* Follows the task `pid` and everything that it creates, from its next exec on. */
int session_arm(struct session *session, pid_t pid);
/*
 * Follows what the options name from now on: the processes of `pidfds` with their descendants, a
 * cgroup, or everything; each thread once, and whatever it creates. The next session_drain passes
 * on their records; *processes and *threads receive how many there were. Needs the privileges to
 * inspect them. Returns 0 or a negative errno, logged; a named process that has ended is not an
 * error.
 */
int session_attach(struct session *session, const int *pidfds, size_t count, size_t *processes,
		   size_t *threads);
/* Returns whether the iterator over tasks has found that process; also false if it no longer
 * exists. */
bool session_found(const struct session *session, int pidfd);
/* Calls `take` for each process that session_attach found. */
void session_each_attached(const struct session *session, void (*take)(void *context, pid_t pid),
			   void *context);
/* Returns when session_attach began, or 0 if a command is run. */
uint64_t session_attached_ns(const struct session *session);
/* Returns whether the process `pid` is alive and followed. */
bool session_follows(struct session *session, pid_t pid);
/* Drops all privileges of the calling thread that draining does not need. Keeps CAP_PERFMON if the
 * recording depends on session_look_at_cpus. */
void session_drains_here(const struct session *session);
/* Attaches to CPUs that came online. Must be called often, from the thread that drains. */
void session_look_at_cpus(struct session *session, uint64_t now_ns);
/* Detaches, and waits for running programs; buffers keep their contents. May be called twice; NULL
 * is fine. */
void session_detach(struct session *session);
void session_close(struct session *session); /* NULL is fine */

const struct choice *session_choice(const struct session *session);
/* Returns the first feature from `*at` on that the kernel lacks, or NULL: see features_missing. */
const struct feature *session_lacks(const struct session *session, size_t *at);
/* Returns the mask of essential layers that were requested but are not available. */
unsigned int session_missing(const struct session *session);
/* Logs which requested layers are off (those of LAYERS_QUIET only if chosen), and why: those of
 * session_missing as errors, unless `best_effort` is set. Returns the mask of the errors. */
unsigned int session_judge_layers(const struct session *session, bool best_effort);
/* The layers as in a trace's header; LAYER_COUNT rows, owned by the session. */
const struct trace_layer *session_layers(const struct session *session);
/* Returns the number of CPU buffers: one per CPU, or per few CPUs on a large machine. */
unsigned int session_lane_count(const struct session *session);
/* Passes on the records and slots that have arrived, buffer by buffer; a record that defines an id
 * comes before those that use it. Returns their number. */
size_t session_drain(struct session *session, ring_record_fn take, lane_slots_fn take_slots,
		     void *context);
/* Waits until many records have arrived since the last drain, another thread calls session_wake, or
 * `most_ms` have passed. */
void session_wait(struct session *session, unsigned int max_ms);
void session_wake(struct session *session);

/* Reads the kernel's counters, summed over CPUs. Arrays have OP_TABLE_SIZE, RECORD_KIND_COUNT and
 * NOTE_COUNT entries; `operations`, the largest, may be NULL. Returns 0 or a negative errno. */
int session_totals(struct session *session, struct op_total *operations, struct kind_total *kinds,
		   uint64_t *notes);
/* The same for one operation. */
int session_op_total(struct session *session, unsigned int op, struct op_total *total);
/* Counts bios of the run that were queued and whose end has not been seen. Returns 0 or a negative
 * errno. */
int session_bios_under_way(const struct session *session, uint64_t *bios);
/* Converts the notes that are not zero to those of a trace, and returns their number. Some are
 * reported elsewhere. */
size_t session_name_notes(const uint64_t counts[NOTE_COUNT], struct trace_note notes[NOTE_COUNT]);

/* Both require options.in_flight: see in_flight_read, in_flight_read_threads. */
int session_read_in_flight(struct session *session, struct in_flight_list *list);
int session_read_threads(struct session *session, struct thread_list *list);
/* Makes the kernel side record the operations that were in flight at `end_ns`. Must run after
 * session_detach. */
void session_record_waiting(struct session *session, uint64_t end_ns);

/* Passes on a record for each block device that was active since the last call. Returns 0 or a
 * negative errno. */
int session_report_devices(struct session *session, ring_record_fn take, void *context);

/* Passes on what was added to the slots of mode profile: see profile_read. Does nothing in mode
 * trace. */
void session_read_profile(struct session *session, uint64_t now_ns, bool last, profile_take_fn take,
			  void *context);
/* See profile_set_exited. */
void session_set_exited(struct session *session, profile_exited_fn has_exited, void *context);
/* Returns the number of slots that any key may take; 0 in mode trace. */
unsigned int session_profile_slots(const struct session *session);
/* See profile_is_full. */
bool session_profile_is_full(const struct session *session);
struct profile_use session_profile_use(const struct session *session);

/* Takes the first operation since the last call that took at least flight_slower_ns. Returns false
 * if there was none. */
bool session_take_slow(struct session *session, struct flight_slow *slow);
/* Requires flight_chooses: adds or removes a process, and what it creates from now on. Returns 0 or
 * a negative errno. */
int session_choose_for_flight(struct session *session, uint32_t pid, bool chosen);
/* Passes on the ids that the kernel side has for files. Returns 0 or a negative errno. */
int session_each_file_id(const struct session *session, void (*take)(void *context, uint32_t file),
			 void *context);

/* Returns how often the kernel skipped a program of the layer because it was already running on
 * that CPU. What it would have recorded is counted nowhere else. */
uint64_t session_missed(const struct session *session, enum layer layer);

/* A counter, never 0, that increases after a process has moved to another cgroup. Constant if the
 * kernel does not report this. */
uint64_t session_moves(const struct session *session);
/* The descriptor of the map of struct cgroup_slot, used when attaching; owned by the session. */
int session_cgroup_slots(const struct session *session);
