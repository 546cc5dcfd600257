/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A capture session: the programs chosen, loaded and attached, the rings and the totals.
 * Knows nothing of the trace file.
 */
#ifndef FAULTLINE_SESSION_H
#define FAULTLINE_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/features.h"
#include "capture/flight_memory.h"
#include "capture/in_flight.h"
#include "capture/lane.h"
#include "capture/probes.h"
#include "capture/profile.h"
#include "capture/ring.h"
#include "trace/header.h"

struct bpf_program;
struct session;

/* What runs already and is to be recorded. */
struct session_attach {
	enum attach_to to;
	uint64_t cgroup_id;	/* of ATTACH_CGROUP: the inode number of its directory ... */
	unsigned int hierarchy; /* ... its hierarchy as in /proc/cgroups, 0: the second version's */
	unsigned int uid;	/* only what is this user's; ATTACH_ANYBODY: all */
	bool own_child;		/* the process that is named is a child of the caller */
};

struct session_options {
	unsigned int layers;	   /* mask of 1 << enum layer; LAYER_TASK is always on */
	unsigned int file_classes; /* FILE_CLASS_* */
	uint64_t buffer_bytes;	   /* of each CPU; 0: by the number of CPUs */
	struct forced_variants forced;
	struct session_attach attach;
	enum profile_mode mode;	   /* whether operations are summed up rather than told */
	uint64_t profile_slots;	   /* to sum them up in; 0: by the number of CPUs */
	uint64_t auto_rate;	   /* PROFILE_AUTO: operations of a process a second, above which */
	uint64_t flight_bytes;	   /* events go into memory that wraps, so much; 0: to the reader */
	uint64_t flight_slower_ns; /* then, operations that take so long are told; 0: none */
	bool flight_chooses;	   /* of those alone that session_choose_for_flight names */
	bool in_flight;		   /* session_read_in_flight is to be called */
	bool follow_privileged; /* also programs that gain rights at their exec: set-user-ID ones */
};

/*
 * Chooses variants, loads and attaches them: tasks that are followed are recorded. A layer that
 * cannot work is off, and session_choice says why. An error (no privileges, no BTF, kernel too old)
 * is logged.
 */
int session_open(struct session **session, const struct session_options *options);
/* What it takes to attach the span layer to the markers of programs (see listener.h), and to know
 * who is followed; owned by the session. */
struct session_markers {
	const struct bpf_program *program;
	int specs, tasks; /* maps: of struct marker_spec, of the states of tasks */
	bool multi;	  /* the program was loaded for links of many uprobes */
};
struct session_markers session_markers(const struct session *session);
/* Follows the task `pid` and all that it creates, from its next exec on. */
int session_arm(struct session *session, pid_t pid);
/*
 * Follows what the options say from now on: processes that are named by their descriptors (of
 * pidfd_open) with their descendants, or a cgroup, or all; each thread once, and whatever they
 * create. Who they are is handed on by the next session_drain; *processes and *threads receive how
 * many there were. Needs the privileges to look at them. Returns 0 or a negative errno, logged;
 * that a named process has ended is no error.
 */
int session_attach(struct session *session, const int *pidfds, size_t count, size_t *processes,
		   size_t *threads);
/* Whether the kernel has shown it that process; false, too, when nothing is left of it. */
bool session_met(const struct session *session, int pidfd);
/* Calls for each process that session_attach found. */
void session_each_attached(const struct session *session, void (*take)(void *context, pid_t pid),
			   void *context);
/* When it began, or 0: a command is run. */
uint64_t session_attached_ns(const struct session *session);
/* Whether the process of that pid is alive and followed. */
bool session_follows(struct session *session, pid_t pid);
/* Leaves the calling thread, the one that drains, no more privileges than that takes: CAP_PERFMON
 * is among them if what is recorded depends on session_look_at_cpus. */
void session_drains_here(const struct session *session);
/* Attaches to CPUs that came online; to be called often, from the thread that drains. */
void session_look_at_cpus(struct session *session, uint64_t now_ns);
/* Detaches, and waits for programs that run; what is in the buffers stays there. May be called
 * twice; NULL is fine. */
void session_detach(struct session *session);
void session_close(struct session *session); /* NULL is fine */

const struct choice *session_choice(const struct session *session);
/* The first feature from `*at` on that the kernel lacks, or NULL: see features_missing. */
const struct feature *session_lacks(const struct session *session, size_t *at);
/* The essential layers that were asked for and cannot be had, as a mask. */
unsigned int session_missing(const struct session *session);
/* Says which of the layers that were asked for are off, and why: as errors what session_missing
 * tells, unless `best_effort` does without. Returns those, as a mask. */
unsigned int session_judge_layers(const struct session *session, bool best_effort);
/* The layers as a trace's header tells them; LAYER_COUNT rows, owned by the session. */
const struct trace_layer *session_layers(const struct session *session);
/* Records come by lanes: one for each CPU, or each few where there are many. */
unsigned int session_lane_count(const struct session *session);
/* Hands on the records and slots that have come, lane by lane; a record that says what a number
 * stands for before those that use it. Returns how many. */
size_t session_drain(struct session *session, ring_record_fn take, lane_slots_fn take_slots,
		     void *context);
/* Waits until much has come since the last drain, or for `most_ms`, or for session_wake from
 * another thread. */
void session_wait(struct session *session, unsigned int most_ms);
void session_wake(struct session *session);

/* Reads the kernel's counters, summed over CPUs. Arrays have OP_TABLE_SIZE, RECORD_KIND_COUNT and
 * NOTE_COUNT entries; those of operations, the most, may be NULL. Returns 0 or a negative errno. */
int session_totals(struct session *session, struct op_total *operations, struct kind_total *kinds,
		   uint64_t *notes);
/* ... that of one operation alone. */
int session_op_total(struct session *session, unsigned int op, struct op_total *total);
/* How many bios of the run have been queued and have not ended, as far as was seen. Returns 0 or a
 * negative errno. */
int session_bios_under_way(const struct session *session, uint64_t *bios);
/* Notes as a trace tells them, those that are not zero: how many. Some are told otherwise. */
size_t session_name_notes(const uint64_t counts[NOTE_COUNT], struct trace_note notes[NOTE_COUNT]);

/* With options.in_flight: see in_flight_read. */
int session_read_in_flight(struct session *session, struct in_flight_list *list);
/* Has the kernel side record the calls that were in flight at `end_ns`, once it is detached. */
void session_record_waiting(struct session *session, uint64_t end_ns);

/* Hands on a record for each block device that has done something since the last time. Returns 0 or
 * a negative errno. */
int session_tell_devices(struct session *session, ring_record_fn take, void *context);

/* Hands on what was added to the slots of mode profile: see profile_read. Nothing in mode trace. */
void session_read_profile(struct session *session, uint64_t now_ns, bool last, profile_take_fn take,
			  void *context);
/* See profile_ask_over. */
void session_ask_over(struct session *session, profile_over_fn is_over, void *context);
/* How many slots any key may take; 0 in mode trace. */
unsigned int session_profile_slots(const struct session *session);
/* See profile_is_crowded. */
bool session_profile_is_crowded(const struct session *session);
struct profile_use session_profile_use(const struct session *session);

/* Where events go with flight_bytes; NULL without. Owned by the session. */
const struct flight_memory *session_flight(const struct session *session);
/* What is left of flight_bytes beside that memory, for what comes through the rings. */
uint64_t session_flight_left(const struct session *session);
/* The first operation since the last time that took flight_slower_ns; false: there was none. */
bool session_take_slow(struct session *session, struct flight_slow *slow);
/* With flight_chooses: whether the process is one of those, and what it creates from now on.
 * Returns 0 or a negative errno. */
int session_choose_for_flight(struct session *session, uint32_t pid, bool chosen);
/* Gives the ids that the kernel side has for files. Returns 0 or a negative errno. */
int session_each_file_id(const struct session *session, void (*take)(void *context, uint32_t file),
			 void *context);

/* How often the kernel passed over a program of the layer because it was running on that CPU
 * already: what it would have recorded is counted nowhere else. */
uint64_t session_missed(const struct session *session, enum layer layer);

/* Raised whenever a process comes to another cgroup, after it is there; never 0. Stays as it is
 * where the kernel does not tell. */
uint64_t session_moves(const struct session *session);
/* The descriptor, the session's, of the map of struct cgroup_place that who attaches has. */
int session_cgroup_places(const struct session *session);

#endif
