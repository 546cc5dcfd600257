/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads sums that only grow, and reports differences. A slot keeps its sums when it gets another
 * key: the previous reading is the baseline, so nothing is reset while programs add to it.
 *
 * A slot is retired before it is freed, so that programs no longer find it. By the next reading no
 * program can still be adding to it; what was added in between is reported under the old key, and
 * the slot becomes free.
 */
#include "capture/drain/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collections/compare.h"
#include "base/number.h"
#include "capture/drain/quiesce.h"
#include "capture/host/shared.h"

#define SLOTS_EACH 16384u /* default: 6 MiB for 2 CPUs; each further one adds SLOTS_PER_CPU */
#define SLOTS_PER_CPU 4096u
#define SLOTS_DEFAULT_MAX 131072u
#define SLOTS_MIN 16u

/* Above FULL_SLOTS in use, the least used are freed until KEPT_SLOTS are left. */
#define FULL_SLOTS(slots) ((slots) / 4 * 3)
#define KEPT_SLOTS(slots) ((slots) / 2)

#define SAMPLES 128u /* slots checked to estimate how many are taken */

struct base {
	uint64_t recent;	  /* operations added at the last reading */
	struct profile_sums sums; /* as last reported */
};

struct idle {
	uint64_t recent, last_ns;
	unsigned int slot;
};

struct profile {
	struct profile_slot *slots;
	unsigned int slot_count, entries;
	size_t bytes;
	struct base *bases;
	struct idle *idle;	      /* space to sort the slots in use */
	uint64_t read_ns;	      /* time of the last reading */
	unsigned int sampled;	      /* where the next sample begins */
	profile_exited_fn has_exited; /* NULL: not known */
	void *exited_context;
	struct profile_use use;
};

unsigned int profile_round_slots(uint64_t slots)
{
	unsigned int power = SLOTS_MIN;

	while (power < slots && power < PROFILE_SLOTS_MAX)
		power *= 2;
	return power;
}

unsigned int profile_default_slots(unsigned int cpus)
{
	uint64_t slots = SLOTS_EACH + (uint64_t)SLOTS_PER_CPU * number_sub(cpus, 2);

	return profile_round_slots(number_min(slots, SLOTS_DEFAULT_MAX));
}

size_t profile_memory(unsigned int slots)
{
	return (size_t)profile_map_entries(slots) *
		       (sizeof(struct profile_slot) + sizeof(struct base)) +
	       (size_t)slots * sizeof(struct idle);
}

unsigned int profile_node_slots(unsigned int cpus)
{
	unsigned int slots = 2 * profile_default_slots(cpus);

	while (profile_memory(slots) > PROFILE_NODE_BYTES_MAX)
		slots /= 2;
	return slots;
}

unsigned int profile_map_entries(unsigned int slots)
{
	return slots + PROFILE_OTHERS + PROFILE_RESTS;
}

/* Fills the last-resort slots: one per operation and variant, in use from the start. */
static void fill_last_resort(struct profile *profile)
{
	static const uint32_t flags[PROFILE_VARIANTS] = {
		0,
		TRACE_PROFILE_DIRECT | TRACE_PROFILE_STORES,
		TRACE_PROFILE_DIRTIES | TRACE_PROFILE_NOWAIT | TRACE_PROFILE_DROPS,
		TRACE_PROFILE_BRINGS | TRACE_PROFILE_KEEPS,
	};

	for (unsigned int i = 0; i < PROFILE_RESTS; i++) {
		struct profile_slot *slot = &profile->slots[profile->entries - PROFILE_RESTS + i];

		slot->key = (struct profile_key) {
			.file = TRACE_FILE_OTHER,
			.file2 = TRACE_FILE_OTHER,
			.op = i / PROFILE_VARIANTS,
			.flags = flags[i % PROFILE_VARIANTS],
		};
		slot->state = PROFILE_USED;
	}
}

int profile_open(struct profile **out, int fd, unsigned int slots)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	int err = -ENOMEM;

	if (!profile)
		return -ENOMEM;
	profile->slot_count = slots;
	profile->entries = profile_map_entries(slots);
	profile->bytes = shared_pages(profile->entries * sizeof(*profile->slots));
	profile->bases = calloc(profile->entries, sizeof(*profile->bases));
	profile->idle =
		calloc(slots > PROFILE_OTHERS ? slots : PROFILE_OTHERS, sizeof(*profile->idle));
	if (!profile->bases || !profile->idle)
		goto fail;
	profile->slots = shared_map(fd, profile->bytes, true, 0);
	if (!profile->slots) {
		err = -errno;
		goto fail;
	}
	fill_last_resort(profile);
	*out = profile;
	return 0;
fail:
	profile_close(profile);
	return err;
}

void profile_close(struct profile *profile)
{
	if (!profile)
		return;
	if (profile->slots)
		munmap(profile->slots, profile->bytes);
	free(profile->bases);
	free(profile->idle);
	free(profile);
}

/* Copies the current sums of a slot. Each is read once, so that the values reported are the values
 * kept. */
static void read_sums(const struct profile_slot *slot, struct profile_sums *now)
{
	memcpy(now, &slot->sums, sizeof(*now));
	asm volatile("" ::: "memory");
}

static void subtract(const struct profile_sums *now, const struct profile_sums *before,
		     struct profile_sums *added)
{
#define SUBTRACT(sum) added->sum = now->sum - before->sum
	SUBTRACT(count);
	SUBTRACT(errors);
	SUBTRACT(bytes);
	SUBTRACT(time_ns);
	SUBTRACT(fetched_pages);
	SUBTRACT(fault_fetched_pages);
	SUBTRACT(created_pages);
	SUBTRACT(dirtied_pages);
	SUBTRACT(major_faults);
	SUBTRACT(read_for_write_sectors);
	for (size_t i = 0; i < PROFILE_LATENCIES; i++)
		SUBTRACT(latencies[i]);
	for (size_t i = 0; i < PROFILE_SIZES; i++)
		SUBTRACT(sizes[i]);
#undef SUBTRACT
}

/*
 * Returns whether nothing was added since the last reading. Programs raise the count first, except
 * for the time of operations still in flight. What they add after the count may have missed the
 * last reading, but not this one. Most slots of a node are at rest at any time, and this reads one
 * cache line of each.
 */
static bool is_at_rest(const struct profile_slot *slot, const struct base *base)
{
	return !base->recent &&
	       __atomic_load_n(&slot->sums.count, __ATOMIC_RELAXED) == base->sums.count &&
	       __atomic_load_n(&slot->sums.time_ns, __ATOMIC_RELAXED) == base->sums.time_ns;
}

/* Reports what was added to a slot. Returns whether anything was. */
static bool emit(struct profile *profile, unsigned int number, profile_take_fn take, void *context)
{
	const struct profile_slot *slot = &profile->slots[number];
	struct base *base = &profile->bases[number];
	struct profile_slot added;
	struct profile_sums now;

	read_sums(slot, &now);
	base->recent = now.count - base->sums.count;
	if (!memcmp(&now, &base->sums, sizeof(now)))
		return false;
	added = (struct profile_slot) { .key = slot->key, .who = slot->who };
	subtract(&now, &base->sums, &added.sums);
	added.last_ns = slot->last_ns;
	added.first_ns = number_max(slot->first_ns, profile->read_ns);
	if (!added.first_ns || added.first_ns > added.last_ns)
		added.first_ns = added.last_ns;
	base->sums = now;
	profile->use.operations += added.sums.count;
	if (added.key.file == TRACE_FILE_OTHER)
		profile->use.other += added.sums.count;
	take(context, &added);
	return true;
}

COMPARE_BY(compare_idle, struct idle,
	   COMPARE(a->recent, b->recent) ?: COMPARE(a->last_ns, b->last_ns))

static void retire(struct profile *profile, unsigned int number)
{
	__atomic_store_n(&profile->slots[number].state, PROFILE_RETIRED, __ATOMIC_RELEASE);
}

/* If too many of `count` slots from `first` on are in use (`used`), retires the least used. */
static void make_room(struct profile *profile, unsigned int first, unsigned int count,
		      unsigned int used)
{
	size_t candidates = 0;

	if (used <= FULL_SLOTS(count))
		return;
	for (unsigned int i = first; i < first + count; i++)
		if (profile->slots[i].state == PROFILE_USED)
			profile->idle[candidates++] =
				(struct idle) { profile->bases[i].recent, profile->slots[i].last_ns,
						i };
	qsort(profile->idle, candidates, sizeof(*profile->idle), compare_idle);
	for (size_t i = 0; i < candidates && used > KEPT_SLOTS(count); i++, used--) {
		retire(profile, profile->idle[i].slot);
		profile->use.given_back++;
	}
}

void profile_set_exited(struct profile *profile, profile_exited_fn has_exited, void *context)
{
	profile->has_exited = has_exited;
	profile->exited_context = context;
}

bool profile_is_full(struct profile *profile)
{
	unsigned int taken = 0, step;

	if (!profile)
		return false;
	step = profile->slot_count > SAMPLES ? profile->slot_count / SAMPLES : 1;
	for (unsigned int i = 0; i < SAMPLES; i++) {
		const struct profile_slot *slot =
			&profile->slots[(profile->sampled + i * step) & (profile->slot_count - 1)];

		taken += __atomic_load_n(&slot->state, __ATOMIC_RELAXED) != PROFILE_FREE;
	}
	profile->sampled++;
	return taken > FULL_SLOTS(SAMPLES);
}

/* Retires the slot of a process that has ended. Last-resort slots belong to no process. */
static bool retire_ended(struct profile *profile, unsigned int number)
{
	uint32_t pid = profile->slots[number].key.pid;

	if (!profile->has_exited || !pid || !profile->has_exited(profile->exited_context, pid))
		return false;
	retire(profile, number);
	return true;
}

static void free_slot(struct profile *profile, unsigned int number)
{
	__atomic_store_n(&profile->slots[number].state, PROFILE_FREE, __ATOMIC_RELEASE);
}

size_t profile_read(struct profile *profile, uint64_t now_ns, bool last, profile_take_fn take,
		    void *context)
{
	const unsigned int last_resort = profile->entries - PROFILE_RESTS;
	unsigned int used[2] = { 0 }, ended[2] = { 0 }; /* any key, other files */
	bool waited = last;
	size_t reported = 0;

	for (unsigned int i = 0; i < profile->entries; i++) {
		uint64_t state = __atomic_load_n(&profile->slots[i].state, __ATOMIC_ACQUIRE);
		bool others = i >= profile->slot_count;

		if (state != PROFILE_USED && state != PROFILE_RETIRED)
			continue;
		if (state == PROFILE_RETIRED && !waited) {
			/* Retired at the last reading: hardly any program still uses them. */
			quiesce_slowly();
			waited = true;
		}
		/* The last reading, overall or of a slot, must not miss anything. */
		if (last || state == PROFILE_RETIRED ||
		    !is_at_rest(&profile->slots[i], &profile->bases[i]))
			reported += emit(profile, i, take, context);
		if (i >= last_resort)
			continue;
		if (state == PROFILE_RETIRED) {
			free_slot(profile, i);
			continue;
		}
		used[others]++;
		if (!last)
			ended[others] += retire_ended(profile, i);
	}
	profile->read_ns = now_ns;
	if (used[0] > profile->use.most_used)
		profile->use.most_used = used[0];
	if (!last) {
		make_room(profile, 0, profile->slot_count, used[0] - ended[0]);
		make_room(profile, profile->slot_count, PROFILE_OTHERS, used[1] - ended[1]);
	}
	return reported;
}

struct profile_use profile_use(const struct profile *profile)
{
	return profile ? profile->use : (struct profile_use) { 0 };
}
