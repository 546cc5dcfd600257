/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Feeds the ledger from a session: records that identify processes and files, and sums of slots
 * (bpf/records/event.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"
#include "capture/drain/decode.h"
#include "capture/session/in_flight.h"
#include "monitor/ledger/ledger.h"

struct intake;
struct python_live;

/* The caller keeps owning the ledger; `rings` as for decoder_open. Returns 0 or a negative
 * errno. */
int intake_open(struct intake **intake, struct ledger *ledger, unsigned int rings,
		unsigned int page_bytes);
/* See cgroups_keep. */
int intake_keep_cgroups(struct intake *intake, int fd);
void intake_close(struct intake *intake); /* NULL is fine */

/* Looks up names of jobs below the node's root directory; see job_naming_open. */
int intake_name_jobs(struct intake *intake, const char *root, bool privileged);

/* Sets a callback for code that processes map. Without it, spans are not looked for. */
void intake_on_code(struct intake *intake, decoder_code_fn emit, void *context);

/* Books lines of Python on the ledger, too; see line_times_open. */
int intake_keep_lines(struct intake *intake, volatile uint32_t *generation_out);

/* Takes a record; a ring_record_fn whose context is the intake. Records are kept while the ledger
 * is read or a cgroup is looked up; this waits only when too many are kept. */
void intake_take(void *intake, unsigned int ring, const void *record, size_t size);

/*
 * Keeps what was added to a slot until intake_book; a profile_take_fn whose context is the intake.
 * Its process may be identified only by later records, which must be taken in between.
 */
void intake_take_slot(void *intake, const struct profile_slot *added);
/* Sets the operations in flight for the next intake_book; the caller keeps the list until then. */
void intake_set_in_flight(struct intake *intake, const struct in_flight_list *list);
/* Likewise sets the threads; NULL: they were not read. */
void intake_set_threads(struct intake *intake, const struct thread_list *list);
/* Books lines at which these threads have waited since `since_ns`, too; see
 * line_times_take_blocked. */
void intake_read_blocked(struct intake *intake, struct python_live *live, uint64_t since_ns);
/* Sets the number of moves between cgroups as of when everything kept had been read. When it
 * changes, the cgroups of active processes are looked up again. */
void intake_set_moves(struct intake *intake, uint64_t moves);
/* Books what was kept, everything done before `until_ns`. Returns false, booking nothing, while the
 * ledger is being read or a cgroup looked up: take further records, then try again. */
bool intake_book(struct intake *intake, uint64_t until_ns, uint64_t now_ns);
/* All records from before `until_ns` have been taken: applies those that are kept, unless they
 * still have to wait. Call often. */
void intake_settle(struct intake *intake, uint64_t until_ns);
/* Returns whether no live process is known with that pid; a profile_exited_fn whose context is the
 * intake. Only for the thread that takes records. */
bool intake_has_exited(void *intake, uint32_t pid);
/* Returns how many processes have ended since the last booking. */
unsigned int intake_ended(const struct intake *intake);

struct intake_losses {
	uint64_t operations;		    /* whose slots could not be kept */
	uint64_t spans, span_ends, threads; /* records; span_ends: all spans but begins */
	uint64_t lines;			    /* samples */
};
struct intake_losses intake_losses(const struct intake *intake);
/* Returns the samples that were not booked, though not lost. */
uint64_t intake_unnamed_lines(const struct intake *intake);
/* Span records were lost: drops all open spans. */
void intake_forget_spans(struct intake *intake);

/* Records about processes were lost: the next booking checks which known processes still live.
 * Those that do not ended after `since_ns`. */
void intake_recheck(struct intake *intake, uint64_t since_ns);
