/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Mode profile: adds each completed operation to the slot of its process, file and operation,
 * instead of sending a record. See bpf/records/event_profile.h for the layout.
 *
 * A slot is found by hashing its key. A slot that the reader has retired is no longer found, so two
 * slots may have the same key; the reader adds them up.
 */
#pragma once

#include "core/flight.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the user side */
	__type(key, __u32);
	__type(value, struct profile_slot);
} profile_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the user side */
	__type(key, __u32);
	__type(value, struct profile_rate);
} profile_rates SEC(".maps");

extern const volatile __u32 profile_mode;	/* enum profile_mode */
extern const volatile __u32 profile_slot_count; /* usable by any key, a power of two */
extern const volatile __u32 profile_auto_rate;	/* operations per second */

/* --- which operations are aggregated --- */

#define PROFILE_WINDOW_NS 1000000000ull

/* Counts an operation of the process and returns whether the process exceeds the rate. Inexact if
 * it runs on several CPUs: the rate is a threshold and is never reported. */
__noinline int profile_is_fast(struct address *leader, __u32 pid, __u64 now_ns)
{
	__u32 key = pid & (PROFILE_RATES - 1);
	struct profile_rate *rate = bpf_map_lookup_elem(&profile_rates, &key);

	if (!rate || !leader)
		return 0;
	if (rate->leader != leader->at) {
		/* Two processes share a slot: the later one gets it once the other is idle. */
		if (rate->leader && now_ns - rate->since_ns < 2 * PROFILE_WINDOW_NS)
			return 0;
		rate->leader = leader->at;
		rate->since_ns = now_ns;
		rate->count = 0;
		rate->summed = 0;
	}
	if (now_ns - rate->since_ns >= PROFILE_WINDOW_NS) {
		rate->since_ns = now_ns;
		rate->count = 0;
	}
	if (!rate->summed && ++rate->count > profile_auto_rate)
		rate->summed = 1;
	return rate->summed;
}

/* Whether operations of the task are aggregated instead of recorded one by one. */
static __always_inline bool profile_aggregates(struct task_struct *task, __u64 now_ns)
{
	struct address leader;

	if (profile_mode != PROFILE_AUTO)
		return profile_mode == PROFILE_ON;
	leader.at = (__u64)TASK_POINTER(task, group_leader);
	return profile_is_fast(&leader, task->tgid, now_ns);
}

/* The same for operations of tasks other than the current one, which mode auto always records. */
static __always_inline bool profile_aggregates_others(void)
{
	return profile_mode == PROFILE_ON;
}

/* --- slots --- */

/* A key as 64-bit words, as stored in a slot. Built in registers: an 8-byte load right after 4-byte
 * stores to the same place stalls. */
struct profile_words {
	__u64 pid_file;
	__u64 file2_op_cpu;
	__u64 flags; /* and start */
};

_Static_assert(sizeof(struct profile_words) == sizeof(struct profile_key) &&
		       __builtin_offsetof(struct profile_key, file) == 4 &&
		       __builtin_offsetof(struct profile_key, file2) == 8 &&
		       __builtin_offsetof(struct profile_key, op) == 12 &&
		       __builtin_offsetof(struct profile_key, cpu) == 14 &&
		       __builtin_offsetof(struct profile_key, flags) == 16 &&
		       __builtin_offsetof(struct profile_key, start) == 20,
	       "words hold what their names say");

#define PROFILE_WORD_LOW 0xffffffffull
#define PROFILE_OP_SHIFT 32
#define PROFILE_CPU_SHIFT 48
#define PROFILE_KEY_START_SHIFT 32

static __always_inline struct profile_words profile_words(const struct profile_key *key)
{
	struct profile_words key_words = {
		.pid_file = key->pid | (__u64)key->file << 32,
		.file2_op_cpu = key->file2 | (__u64)key->op << PROFILE_OP_SHIFT |
				(__u64)key->cpu << PROFILE_CPU_SHIFT,
		.flags = key->flags,
	};

	return key_words;
}

/* The bits used are 32 and up. Only the low byte of the start, which is above the flags, affects
 * them. */
static __always_inline __u32 profile_hash(const struct profile_words *key)
{
	__u64 first = key->pid_file * 0x9e3779b97f4a7c15ull;
	__u64 second = (key->file2_op_cpu ^ key->flags << 24) * 0xff51afd7ed558ccdull;

	return ((first ^ first >> 29 ^ second ^ second >> 32) * 0xc4ceb9fe1a85ec53ull) >> 32;
}

static __always_inline bool profile_slot_matches(const struct profile_slot *slot,
						 const struct profile_words *key)
{
	const struct profile_words *key_words = (const struct profile_words *)&slot->key;

	return key_words->pid_file == key->pid_file &&
	       key_words->file2_op_cpu == key->file2_op_cpu && key_words->flags == key->flags &&
	       slot->state == PROFILE_USED;
}

/* Identifies the slot's process, once per slot, so that the process is known even if its own record
 * comes too late. Does nothing if a task of another process ends the operation. */
static __always_inline void profile_identify(struct profile_who *who, __u32 pid)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *leader = TASK_POINTER(task, group_leader);

	who->started_ns = 0;
	if ((__u32)task->tgid != pid)
		return;
	who->started_ns = TASK_POINTER(leader, start_time);
	who->cgroup_id = bpf_get_current_cgroup_id();
	who->uid = bpf_get_current_uid_gid();
	bpf_probe_read_kernel(who->comm, sizeof(who->comm), KFIELD(task_struct, leader, comm));
}

/* Initializes a free slot for this key. */
static __always_inline void profile_begin(struct profile_slot *slot,
					  const struct profile_words *key, __u64 now_ns)
{
	if (!slot)
		return;
	*(struct profile_words *)&slot->key = *key;
	slot->first_ns = now_ns;
	slot->last_ns = now_ns;
	profile_identify(&slot->who, key->pid_file);
	/* Publishes the key before the slot counts as used. */
	__sync_val_compare_and_swap(&slot->state, PROFILE_TAKING, PROFILE_USED);
}

/* Returns the index of a key's slot among `count` slots from `first` on. PROFILE_TAKEN: the slot
 * was free and must be initialized; PROFILE_NO_SLOT: all slots in reach belong to other keys. */
#define PROFILE_TAKEN (1u << 30)
#define PROFILE_NO_SLOT (~0u)
static __always_inline __u32 profile_find(const struct profile_words *key, __u32 first, __u32 count)
{
	__u32 hash = profile_hash(key);

	for (__u32 i = 0; i < PROFILE_PROBES; i++) {
		__u32 index = first + ((hash + i) & (count - 1));
		struct profile_slot *slot = bpf_map_lookup_elem(&profile_slots, &index);

		if (!slot)
			break;
		if (profile_slot_matches(slot, key))
			return index;
		if (slot->state == PROFILE_FREE &&
		    __sync_val_compare_and_swap(&slot->state, PROFILE_FREE, PROFILE_TAKING) ==
			    PROFILE_FREE)
			return index | PROFILE_TAKEN;
	}
	return PROFILE_NO_SLOT;
}

/* TRACE_PROFILE_* for the advice given to fadvise. */
static __always_inline __u32 profile_advice(__u32 flags)
{
	if (!(flags & TRACE_OP_ADVICE))
		return 0;
	return flags & TRACE_OP_DONTNEED ? TRACE_PROFILE_DROPS : TRACE_PROFILE_KEEPS;
}

/* Variant of an operation's fallback slots; operations that differ in class or path are kept
 * apart. */
static __always_inline __u32 profile_variant(__u32 flags)
{
	if (flags & (TRACE_PROFILE_DIRECT | TRACE_PROFILE_STORES))
		return 1;
	if (flags & (TRACE_PROFILE_DIRTIES | TRACE_PROFILE_NOWAIT | TRACE_PROFILE_DROPS))
		return 2;
	return flags & (TRACE_PROFILE_BRINGS | TRACE_PROFILE_KEEPS) ? 3 : 0;
}

/*
 * Finds or takes the slot of a key that is not at its home index. If there is none, the process's
 * remaining files share a slot per operation across all CPUs; if there is none either, all
 * processes share one per operation. PROFILE_SHARED: other CPUs may add to the slot at the same
 * time.
 */
#define PROFILE_SHARED (1u << 31)
__noinline __u32 profile_take_slot(struct profile_words *key, __u64 now_ns)
{
	__u32 index, shared = 0;

	if (!key)
		return PROFILE_SHARED;
	index = profile_find(key, 0, profile_slot_count);
	if (index == PROFILE_NO_SLOT) {
		shared = PROFILE_SHARED;
		key->file2_op_cpu &= (1ull << PROFILE_CPU_SHIFT) - 1;
		if (key->pid_file & ~PROFILE_WORD_LOW)
			key->pid_file = (key->pid_file & PROFILE_WORD_LOW) |
					((__u64)TRACE_FILE_OTHER << 32);
		if (key->file2_op_cpu & PROFILE_WORD_LOW)
			key->file2_op_cpu =
				(key->file2_op_cpu & ~PROFILE_WORD_LOW) | TRACE_FILE_OTHER;
		key->flags &= ~(__u64)TRACE_PROFILE_UNLINKED;
		index = profile_find(key, profile_slot_count, PROFILE_OTHERS);
	}
	if (index == PROFILE_NO_SLOT)
		index = profile_slot_count + PROFILE_OTHERS +
			(key->file2_op_cpu >> PROFILE_OP_SHIFT & (OP_PROFILED_SIZE - 1)) *
				PROFILE_VARIANTS +
			profile_variant(key->flags);
	if (index & PROFILE_TAKEN) {
		index &= ~PROFILE_TAKEN;
		profile_begin(bpf_map_lookup_elem(&profile_slots, &index), key, now_ns);
	}
	return index | shared;
}

/* What an operation adds to its slot. */
struct profile_done {
	struct profile_key key;
	const struct op_account *account; /* the source of page counts */
	__u64 start_ns;
	__u64 duration_ns;
	__u64 bytes;
	__u64 requested_bytes;
	__u64 summed_ns; /* part of duration_ns that was added while in flight */
	__u32 fault_fetched_pages;
	__u32 major_faults;
	__u8 failed;
	__u8 sized;  /* `requested_bytes` is valid */
	__u8 shared; /* the slot has other writers: see count_add */
	__u8 waits;  /* waits for operations that have their own records */
	__u8 pad[4];
};

/* Whether an aggregated operation of the process is also recorded, for the flight recorder. */
static __always_inline bool profile_also_records(__u32 pid)
{
	return flight_keeps(pid);
}

/* Bit length of a byte; bits_of() gives that of any number. */
static const __u8 bits_of_byte[256] = {
	[1] = 1,	 [2 ... 3] = 2,	  [4 ... 7] = 3,    [8 ... 15] = 4,
	[16 ... 31] = 5, [32 ... 63] = 6, [64 ... 127] = 7, [128 ... 255] = 8,
};

static __always_inline __u32 bits_of(__u64 value)
{
	__u32 bits = 0;

#define BITS_STEP(n)                                                                               \
	if (value >> n) {                                                                          \
		value >>= n;                                                                       \
		bits += n;                                                                         \
	}
	BITS_STEP(32)
	BITS_STEP(16)
	BITS_STEP(8)
#undef BITS_STEP
	return bits + bits_of_byte[value & 0xff];
}

static __always_inline void profile_count_class(__u32 *classes, __u32 count, __u32 shift,
						__u64 value, bool shared)
{
	__u32 bits = bits_of(value >> shift);

	if (bits >= count)
		bits = count - 1;
	BARRIER_VAR(bits);
	bits &= 31;
	if (bits >= count)
		return;
	if (shared)
		__sync_fetch_and_add(&classes[bits], 1);
	else
		classes[bits]++;
}

/* Counters that few operations change. */
static __always_inline void profile_put_rare(struct profile_sums *sums,
					     const struct profile_done *done, bool shared)
{
	const struct op_account *account = done->account;

	if (done->failed)
		count_add(&sums->errors, 1, shared);
	if (account->fetched_pages)
		count_add(&sums->fetched_pages, account->fetched_pages, shared);
	if (done->fault_fetched_pages)
		count_add(&sums->fault_fetched_pages, done->fault_fetched_pages, shared);
	if (account->created_pages)
		count_add(&sums->created_pages, account->created_pages, shared);
	if (account->dirtied_pages)
		count_add(&sums->dirtied_pages, account->dirtied_pages, shared);
	if (account->read_for_write_bytes)
		__sync_fetch_and_add(&sums->read_for_write_sectors,
				     account->read_for_write_bytes / TRACE_SECTOR_BYTES);
	if (done->major_faults)
		__sync_fetch_and_add(&sums->major_faults, done->major_faults);
}

static __always_inline void profile_put(struct profile_slot *slot, const struct profile_done *done,
					bool shared)
{
	const struct op_account *account = done->account;
	struct profile_sums *sums = &slot->sums;

	slot->last_ns = done->start_ns;
	count_add(&sums->count, 1, shared);
	count_add(&sums->time_ns, done->duration_ns - done->summed_ns, shared);
	if (done->bytes)
		count_add(&sums->bytes, done->bytes, shared);
	if (done->failed | done->fault_fetched_pages | done->major_faults | account->fetched_pages |
	    account->created_pages | account->dirtied_pages | account->read_for_write_bytes)
		profile_put_rare(sums, done, shared);
	profile_count_class(sums->latencies, PROFILE_LATENCIES, PROFILE_LATENCY_SHIFT,
			    done->duration_ns, shared);
	if (done->sized)
		profile_count_class(sums->sizes, PROFILE_SIZES, PROFILE_SIZE_SHIFT,
				    done->requested_bytes ? done->requested_bytes - 1 : 0, shared);
}

/* Reports a slow operation, unless the previous one has not been read yet. The reader polls often
 * enough to need no wake-up. */
static __always_inline void profile_report_slow(const struct profile_done *done)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *leader = TASK_POINTER(task, group_leader);
	struct flight_slow *slow = &flight_slow;

	if (done->waits || done->key.flags & TRACE_PROFILE_UNTIMED ||
	    __sync_val_compare_and_swap(&slow->state, FLIGHT_SLOW_NONE, FLIGHT_SLOW_FILLING) !=
		    FLIGHT_SLOW_NONE)
		return;
	slow->start_ns = done->start_ns;
	slow->duration_ns = done->duration_ns;
	slow->pid = done->key.pid;
	slow->file = done->key.file;
	slow->op = done->key.op;
	slow->comm[0] = 0;
	if ((__u32)task->tgid == done->key.pid)
		bpf_probe_read_kernel(slow->comm, sizeof(slow->comm),
				      KFIELD(task_struct, leader, comm));
	__sync_val_compare_and_swap(&slow->state, FLIGHT_SLOW_FILLING, FLIGHT_SLOW_READY);
}

/* The key's start time, if the task belongs to the key's process. */
static __always_inline __u64 profile_start(struct task_struct *task, __u32 pid)
{
	struct task_struct *leader;

	if ((__u32)task->tgid != pid)
		return 0;
	leader = TASK_POINTER(task, group_leader);
	return (__u32)(TASK_POINTER(leader, start_time) >> PROFILE_START_SHIFT) | 1;
}

/* Returns the slot of a key, or NULL. Sets *shared if other CPUs may add to it as well. */
static __always_inline struct profile_slot *
profile_slot(const struct profile_key *of, struct task_struct *task, __u64 start_ns, bool *shared)
{
	struct profile_words key = profile_words(of);
	struct profile_slot *slot;
	__u32 index;

	key.file2_op_cpu |= (__u64)bpf_get_smp_processor_id() << PROFILE_CPU_SHIFT;
	key.flags |= profile_start(task, of->pid) << PROFILE_KEY_START_SHIFT;
	index = profile_hash(&key) & (profile_slot_count - 1);
	slot = bpf_map_lookup_elem(&profile_slots, &index);
	if (!slot || !profile_slot_matches(slot, &key)) {
		__u32 found = profile_take_slot(&key, start_ns);

		index = found & ~PROFILE_SHARED;
		*shared |= found & PROFILE_SHARED ? 1 : 0;
		slot = bpf_map_lookup_elem(&profile_slots, &index);
	}
	return slot;
}

/* Adds time of an operation that the task still has in flight. */
static __always_inline void profile_add_time(const struct profile_key *key,
					     struct task_struct *task, __u64 start_ns,
					     __u64 time_ns)
{
	bool shared = true;
	struct profile_slot *slot = profile_slot(key, task, start_ns, &shared);

	if (!slot)
		return;
	slot->last_ns = start_ns;
	count_add(&slot->sums.time_ns, time_ns, true);
}

/* Adds a completed operation. */
static __always_inline int profile_add(const struct profile_done *done)
{
	bool shared = done->shared;
	struct profile_slot *slot;

	if (flight_slower_ns && done->duration_ns >= flight_slower_ns &&
	    flight_keeps(done->key.pid))
		profile_report_slow(done);
	slot = profile_slot(&done->key, bpf_get_current_task_btf(), done->start_ns, &shared);
	if (!slot)
		return 0;
	if (shared)
		profile_put(slot, done, true);
	else
		profile_put(slot, done, false);
	return 0;
}

/* Fills in what the account holds; the layer adds the rest. */
static __always_inline void profile_fill(struct profile_done *done,
					 const struct op_account *account, __u32 pid,
					 __u64 duration_ns, __s64 result, bool in_bytes)
{
	__builtin_memset(done, 0, sizeof(*done));
	done->key.pid = pid;
	done->key.file = account->file;
	done->key.op = account->op;
	done->account = account;
	done->start_ns = account->start_ns;
	done->duration_ns = duration_ns;
	if (result < 0 && result >= -4095)
		done->failed = account->flags & TRACE_OP_UNFINISHED ? 0 : 1;
	else if (in_bytes)
		done->bytes = result;
}
