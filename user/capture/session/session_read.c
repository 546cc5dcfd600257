/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads a session: its choices, the records that have arrived, the kernel side's counters. */
#include "capture/session/session_state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/faultline.skel.h"
#include "capture/session/arming.h"
#include "capture/drain/device_stats.h"
#include "capture/support/features.h"
#include "capture/drain/lane.h"
#include "capture/session/late.h"
#include "capture/support/missed.h"
#include "capture/support/probes.h"
#include "capture/drain/profile.h"
#include "capture/drain/ring.h"
#include "capture/session/waiting.h"
#include "base/log.h"

size_t session_name_notes(const uint64_t counts[NOTE_COUNT], struct trace_note notes[NOTE_COUNT])
{
	static const struct {
		int note;
		const char *name;
	} rows[] = { { NOTE_UNFOLLOWED, TRACE_NOTE_UNFOLLOWED },
		     { NOTE_FAULT_UNTIMED, TRACE_NOTE_UNTIMED },
		     { NOTE_ASYNC_BEFORE, TRACE_NOTE_ASYNC_BEFORE },
		     { NOTE_BIO_END_UNSEEN, TRACE_NOTE_BIOS_UNSEEN },
#define UNSEEN(id, name, ...) { NOTE_##id##_UNSEEN_NS, TRACE_NOTE_UNSEEN_NS(name) },
		     TRACE_SERVER_LAYERS(UNSEEN) };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (counts[rows[i].note])
			notes[n++] = (struct trace_note) { rows[i].name, counts[rows[i].note] };
	return n;
}

const struct choice *session_choice(const struct session *session)
{
	return &session->choice;
}

const struct feature *session_lacks(const struct session *session, size_t *at)
{
	return features_missing(session->kernel, at);
}

unsigned int session_missing(const struct session *session)
{
	const unsigned int data = session->options.layers &
				  ~(1u << LAYER_TASK | 1u << LAYER_SPAN | 1u << LAYER_STACK);
	unsigned int missing = probes_missing(&session->choice, data);

	/* Other layers count as missing only if no layer is left. */
	return missing == data ? missing : missing & LAYERS_ESSENTIAL;
}

unsigned int session_judge_layers(const struct session *session, bool best_effort)
{
	unsigned int missing = best_effort ? 0 : session_missing(session);
	const struct trace_layer *layers = session->layers;
	unsigned int requested = session->options.layers;

	/* Stacks have an option of their own. */
	if (!(LAYERS_DEFAULT & ~requested & ~(1u << LAYER_STACK)))
		requested &= ~LAYERS_QUIET;
	for (size_t l = 0; l < LAYER_COUNT; l++)
		if (!layers[l].on && requested & (1u << l))
			log_line(missing & (1u << l) ? LOG_ERROR : LOG_WARNING,
				 "layer %s is off: %s", layers[l].name, layers[l].reason);
	return missing;
}

const struct trace_layer *session_layers(const struct session *session)
{
	return session->layers;
}

unsigned int session_lane_count(const struct session *session)
{
	return session->sizes.lane_count;
}

void session_wait(struct session *session, unsigned int max_ms)
{
	rings_wait(session->rings, max_ms);
}

void session_wake(struct session *session)
{
	rings_wake(session->rings);
}

size_t session_drain(struct session *session, ring_record_fn take, lane_slots_fn take_slots,
		     void *context)
{
	size_t records = 0;

	if (session->arming)
		records = arming_drain(session->arming, take, context);
	/* Marked in the reverse order of draining: records that define ids precede those that use
	 * them. */
	lanes_mark(session->lanes);
	rings_mark(session->rings);
	rings_mark(session->identities);
	records += rings_drain(session->identities, take, context);
	records += rings_drain(session->rings, take, context);
	return records + lanes_drain(session->lanes, take_slots, context);
}

/* Sums entries of a per-CPU array, from `first` on, whose values are `words` 64-bit words. */
static int sum_map(struct bpf_map *map, uint32_t first, uint32_t entries, size_t words, int cpus,
		   uint64_t *out)
{
	uint64_t *values = calloc(cpus, words * sizeof(*values));
	int err = 0;

	if (!values)
		return -ENOMEM;
	memset(out, 0, entries * words * sizeof(*out));
	for (uint32_t i = 0; i < entries && !err; i++) {
		uint32_t key = first + i;

		if (bpf_map_lookup_elem(bpf_map__fd(map), &key, values))
			err = -errno;
		for (size_t word = 0; !err && word < cpus * words; word++)
			out[i * words + word % words] += values[word];
	}
	free(values);
	return err;
}

/* Slots hold system calls, except for those counted as faults. What an overwritten slot held is
 * unknown. */
static void count_lanes(const struct session *session, struct kind_total *kinds)
{
	uint64_t faults = kinds[RECORD_FAULT].events - kinds[RECORD_FAULT].lost;

	kinds[RECORD_SYSCALL].events += lanes_given(session->lanes) - faults;
	kinds[RECORD_SYSCALL].lost += lanes_overrun(session->lanes);
}

int session_totals(struct session *session, struct op_total *operations, struct kind_total *kinds,
		   uint64_t *notes)
{
	struct faultline *skeleton = session->skeleton;
	int err = 0;

	if (operations)
		err = sum_map(skeleton->maps.op_totals, 0, OP_TABLE_SIZE, sizeof(*operations) / 8,
			      session->cpus, (uint64_t *)operations);
	if (!err)
		err = sum_map(skeleton->maps.kind_totals, 0, RECORD_KIND_COUNT, sizeof(*kinds) / 8,
			      session->cpus, (uint64_t *)kinds);
	if (!err)
		err = sum_map(skeleton->maps.notes, 0, NOTE_COUNT, 1, session->cpus, notes);
	if (err)
		return err;
	count_lanes(session, kinds);
	if (session->arming)
		arming_count(session->arming, kinds, notes);
	kinds[RECORD_DEVICE].events += device_stats_count(session->device_stats);
#define COUNT_UNSEEN(id, ...)                                                                      \
	notes[NOTE_##id##_UNSEEN_NS] = late_unseen_ns(session->late, LAYER_##id);
	TRACE_SERVER_LAYERS(COUNT_UNSEEN)
	return 0;
}

int session_op_total(struct session *session, unsigned int op, struct op_total *total)
{
	return sum_map(session->skeleton->maps.op_totals, op, 1, sizeof(*total) / 8, session->cpus,
		       (uint64_t *)total);
}

int session_read_in_flight(struct session *session, struct in_flight_list *list)
{
	return in_flight_read(session->in_flight, list);
}

int session_read_threads(struct session *session, struct thread_list *list)
{
	return in_flight_read_threads(session->in_flight, list);
}

void session_record_waiting(struct session *session, uint64_t end_ns)
{
	waiting_record(session->waiting, end_ns);
}

int session_report_devices(struct session *session, ring_record_fn take, void *context)
{
	return device_stats_emit(session->device_stats, take, context);
}

void session_read_profile(struct session *session, uint64_t now_ns, bool last, profile_take_fn take,
			  void *context)
{
	if (session->profile)
		profile_read(session->profile, now_ns, last, take, context);
}

void session_set_exited(struct session *session, profile_exited_fn has_exited, void *context)
{
	if (session->profile)
		profile_set_exited(session->profile, has_exited, context);
}

unsigned int session_profile_slots(const struct session *session)
{
	return session->profile ? session->profile_slots : 0;
}

bool session_profile_is_full(const struct session *session)
{
	return profile_is_full(session->profile);
}

struct profile_use session_profile_use(const struct session *session)
{
	return profile_use(session->profile);
}

uint64_t session_missed(const struct session *session, enum layer layer)
{
	return missed_by_layer(session->skeleton->obj, &session->choice, layer) +
	       late_missed(session->late, layer);
}

uint64_t session_moves(const struct session *session)
{
	return 1 + session->skeleton->bss->attach_moves;
}

int session_cgroup_slots(const struct session *session)
{
	return bpf_map__fd(session->skeleton->maps.cgroup_slots);
}

/* --- flight recorder --- */

int session_choose_for_flight(struct session *session, uint32_t pid, bool chosen)
{
	int fd = bpf_map__fd(session->skeleton->maps.flight_chosen), err;
	uint32_t one = 1;

	err = chosen ? bpf_map_update_elem(fd, &pid, &one, BPF_ANY) : bpf_map_delete_elem(fd, &pid);
	return !err || (!chosen && errno == ENOENT) ? 0 : -errno;
}

bool session_take_slow(struct session *session, struct flight_slow *slow)
{
	struct flight_slow *reported = &session->skeleton->bss->flight_slow;

	if (__atomic_load_n(&reported->state, __ATOMIC_ACQUIRE) != FLIGHT_SLOW_READY)
		return false;
	*slow = *reported;
	__atomic_store_n(&reported->state, FLIGHT_SLOW_NONE, __ATOMIC_RELEASE);
	return true;
}

#define BATCH_ENTRIES 4096

/* Calls `take` for each value of an array or a hash until it returns less than 0; returns that. */
static int each_value(const struct bpf_map *map, int (*take)(void *context, const void *value),
		      void *context)
{
	size_t value_bytes = bpf_map__value_size(map);
	uint8_t *values = calloc(BATCH_ENTRIES, value_bytes);
	void *keys = calloc(BATCH_ENTRIES, bpf_map__key_size(map));
	uint32_t at = 0, *next = NULL, count;
	int err = values && keys ? 0 : -ENOMEM;

	while (!err) {
		bool more;

		count = BATCH_ENTRIES;
		more = !bpf_map_lookup_batch(bpf_map__fd(map), next, &at, keys, values, &count,
					     NULL);
		if (!more && errno != ENOENT)
			err = -errno;
		for (uint32_t i = 0; i < count && !err; i++)
			err = take(context, values + i * value_bytes);
		if (!more)
			break;
		next = &at;
	}
	free(values);
	free(keys);
	return err;
}

struct file_taker {
	void (*take)(void *context, uint32_t file);
	void *context;
};

/* The value begins with a struct file_entry. */
static int take_file_id(void *context, const void *value)
{
	const struct file_taker *taker = context;
	const struct file_entry *entry = value;

	if (entry->id)
		taker->take(taker->context, entry->id & ~FILE_UNANNOUNCED);
	return 0;
}

int session_each_file_id(const struct session *session, void (*take)(void *context, uint32_t file),
			 void *context)
{
	const struct faultline *skeleton = session->skeleton;
	struct file_taker taker = { take, context };
	int err = each_value(skeleton->maps.file_slots, take_file_id, &taker);

	return err ? err : each_value(skeleton->maps.files, take_file_id, &taker);
}

/* The value is a bio's slot, which begins with its address. */
static int count_bio(void *context, const void *value)
{
	uint64_t bio;

	memcpy(&bio, value, sizeof(bio));
	*(uint64_t *)context += bio != 0;
	return 0;
}

int session_bios_under_way(const struct session *session, uint64_t *bios)
{
	*bios = session->skeleton->bss->bio_marks_count;
	return each_value(session->skeleton->maps.bio_slots, count_bio, bios);
}
