/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From what a session hands on to the ledger: records that say who and what numbers stand for, and
 * sums of slots. Knows their layout (bpf/event.h), nothing of how they come, nor of who reads the
 * ledger.
 */
#ifndef FAULTLINE_MONITOR_INTAKE_H
#define FAULTLINE_MONITOR_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "capture/decode.h"
#include "capture/in_flight.h"
#include "monitor/ledger.h"

struct intake;

/* The ledger stays the caller's; `rings` as for decoder_open. Returns 0 or a negative errno. */
int intake_open(struct intake **intake, struct ledger *ledger, unsigned int rings,
		unsigned int page_bytes);
/* See cgroups_keep. */
int intake_keep_cgroups(struct intake *intake, int fd);
void intake_close(struct intake *intake); /* NULL is fine */

/* Has it told what code processes map; a decoder_code_fn. Spans are not looked for without it. */
void intake_tell_code(struct intake *intake, decoder_code_fn tell, void *context);

/* Takes a record; a ring_record_fn whose context is the intake. Nobody is waited for who reads the
 * ledger or looks up a cgroup, unless that takes very long: records are kept meanwhile. */
void intake_take(void *intake, unsigned int ring, const void *record, size_t size);

/*
 * Keeps what was added to a slot until intake_book; a profile_take_fn whose context is the intake.
 * Who did it may only be told of by records that come later: those are to be taken in between.
 */
void intake_take_slot(void *intake, const struct profile_slot *added);
/* Operations in flight, for the next intake_book; the caller keeps the list until then. */
void intake_tell_in_flight(struct intake *intake, const struct in_flight_list *list);
/* How many moves between cgroups there were when all that is kept had been read: who did something
 * is looked at again when that is another number than before. */
void intake_tell_moves(struct intake *intake, uint64_t moves);
/* Books what was kept, all that was done before `until_ns`. False: the ledger is being read, or a
 * cgroup looked up, and nothing is booked; what comes meanwhile is to be taken, and then to try
 * again. */
bool intake_book(struct intake *intake, uint64_t until_ns, uint64_t now_ns);
/* All records of what was before `until_ns` have been taken; those that are kept are told, unless
 * they still have to wait. To be called often. */
void intake_settle(struct intake *intake, uint64_t until_ns);
/* Whether nobody is known to live under that pid; a profile_over_fn whose context is the intake.
 * For the thread that takes. */
bool intake_is_over(void *intake, uint32_t pid);
/* Processes that have ended since the last booking. */
unsigned int intake_ended(const struct intake *intake);
/* Slots without room to keep them, whose sums are lost; records of spans without. */
uint64_t intake_lost(const struct intake *intake);
uint64_t intake_lost_spans(const struct intake *intake);
/* Records of spans were lost: what is open is not told of any more. */
void intake_forget_spans(struct intake *intake);

/* Records about processes were lost: looks which of those that are known still live, as far as
 * anything was done after `since_ns`. Done with the next booking. */
void intake_look_again(struct intake *intake, uint64_t since_ns);

#endif
