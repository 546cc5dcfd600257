/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Walks the frames of a thread of Python, and sends what the user side needs to name them: each
 * stack once, and each code object once.
 *
 * Texts are sent from here, because user space could not read the memory of processes that have
 * exited, or memory that was reused. A code object is identified by its address and a hash of its
 * contents. Only memory that is present is read. What a record describes is remembered as known
 * only once the ring has taken the record.
 */
#pragma once

#include "stack/python.h"

/* A stack under construction. Frames and code objects are read in one piece each: what a read costs
 * hardly depends on its length. */
struct stack_draft {
	__u64 busy;
	__u8 frame[128];
	__u8 code[256];
	struct event_sample sample;
	__u32 id; /* of the stack; 0: none */
	__u32 pad;
	__u8 stack[sizeof(struct event_stack) + PYTHON_FRAMES_MAX * sizeof(struct python_frame)];
	__u8 text[sizeof(struct event_frame) + EVENT_FRAME_TABLE_BYTES];
};

/* Shared by all CPUs: a CPU's own memory would not do where programs are preempted. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the user side */
	__type(key, __u32);
	__type(value, struct stack_draft);
} stack_drafts SEC(".maps");

#define STACK_DRAFT_TRIES 16

/* Returns a free draft, to be released by stack_draft_put, or NULL. */
static __always_inline struct stack_draft *stack_draft_get(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	for (__u32 i = 0; i < STACK_DRAFT_TRIES; i++) {
		__u32 key = (cpu + i) % stack_draft_count;
		struct stack_draft *draft = bpf_map_lookup_elem(&stack_drafts, &key);

		if (draft && !__sync_val_compare_and_swap(&draft->busy, 0, 1))
			return draft;
	}
	return NULL;
}

static __always_inline void stack_draft_put(struct stack_draft *draft)
{
	__sync_lock_test_and_set(&draft->busy, 0);
}

/* Code objects and stacks that the user side has, by generation: a new one begins when the user
 * side forgets them. */
struct code_key {
	__u64 code;
	__u32 check;
	__u32 generation;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct code_key);
	__type(value, __u8);
} stack_codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64); /* hash of the stack */
	__type(value, __u32);
} stack_ids SEC(".maps");

#define FIELD_8(bytes, offset) (*(__u64 *)((bytes) + ((offset)&0x78)))
#define FIELD_4(bytes, offset) (*(__u32 *)((bytes) + ((offset)&0x7c)))
#define CODE_8(bytes, offset) (*(__u64 *)((bytes) + ((offset)&0xf8)))
#define CODE_4(bytes, offset) (*(__u32 *)((bytes) + ((offset)&0xfc)))

#define HASH_STEP(hash, value) ((hash) = ((hash) ^ (hash) >> 29 ^ (value)) * 0x9e3779b97f4a7c15ull)

/* The first members of a Python string, after its type. */
struct text_head {
	__u64 length; /* in characters */
	__u64 hash;   /* of its content; TEXT_NOT_HASHED: Python has not made one yet */
	__u32 state;
	__u32 pad;
};

#define TEXT_NOT_HASHED (~0ull)

static __always_inline const struct text_head *text_head(const struct stack_draft *draft)
{
	return (const struct text_head *)draft->frame;
}

/* Reads a string's head over the draft's frame. A pointer that may be NULL would not do: 6.1 does
 * not know that it is not NULL if the read has succeeded. */
static __always_inline bool text_read_head(const struct python_layout *layout,
					   struct stack_draft *draft, __u64 string)
{
	return !bpf_probe_read_user(draft->frame, sizeof(struct text_head),
				    (void *)(string + layout->object_bytes));
}

/* Copies the characters of a string as they are, `*width` bytes each (0: ASCII). Returns how many
 * bytes, or a negative value. */
static __always_inline __s32 text_copy(const struct python_layout *layout, void *to,
				       const __u32 bytes_max, __u64 string,
				       const struct text_head *head, __u8 *width)
{
	/* 6.1 follows the limit of a 32-bit number no further. */
	__u64 bytes = head->length > bytes_max ? bytes_max : head->length;

	*width = PYTHON_TEXT_IS_ASCII(layout, head->state) ? 0
							   : PYTHON_TEXT_WIDTH(layout, head->state);
	bytes *= *width ? *width : 1;
	if (bytes > bytes_max)
		bytes = bytes_max;
	BARRIER_VAR(bytes);
	if (bytes > bytes_max)
		return -1;
	string += *width ? layout->text_other : layout->text_ascii;
	return read_user(to, bytes, (void *)string) ? -1 : (__s32)bytes;
}

/* --- identity of code objects --- */

#define HASH_BYTES 32	    /* of a step */
#define HASH_END_BYTES 2048 /* of the ends of a longer table: a sample may interrupt anything */

struct hash_walk {
	struct stack_draft *draft;
	__u64 hash;
};

static long hash_step(__u32 i, struct hash_walk *walk)
{
	const __u64 *words =
		(const __u64 *)(walk->draft->text +
				(i * HASH_BYTES & (EVENT_FRAME_TABLE_BYTES - HASH_BYTES)));

#pragma unroll
	for (int n = 0; n < HASH_BYTES / 8; n++)
		HASH_STEP(walk->hash, words[n]);
	return 0;
}
LOOP_STEP(hash_step)

/* Adds the first bytes of the draft's text to a hash. */
static __always_inline void hash_text(struct hash_walk *walk, __u64 bytes)
{
	const __u64 zeros[HASH_BYTES / 8] = {};

	BARRIER_VAR(bytes);
	if (bytes > EVENT_FRAME_TABLE_BYTES)
		return;
	/* At most HASH_BYTES beyond the longest table: still in the draft's text. */
	__builtin_memcpy(walk->draft->text + bytes, zeros, HASH_BYTES);
	LOOP((bytes + HASH_BYTES - 1) / HASH_BYTES, hash_step, walk);
}

/* Adds the part of a string that is recorded; or its hash, if Python has made one. Returns false
 * if it cannot be read. */
static __noinline bool hash_string(struct hash_walk *walk, const struct python_layout *layout,
				   __u64 string)
{
	const struct text_head *head = text_head(walk->draft);
	__s32 bytes;
	__u8 width;

	if (!text_read_head(layout, walk->draft, string))
		return false;
	if (head->hash != TEXT_NOT_HASHED) {
		HASH_STEP(walk->hash, head->hash);
		return true;
	}
	bytes = text_copy(layout, walk->draft->text, EVENT_FRAME_PATH_BYTES, string, head, &width);
	if (bytes < 0)
		return false;
	HASH_STEP(walk->hash, head->length);
	hash_text(walk, bytes);
	return true;
}

/* The same for a table of lines, which is a bytes object. */
static __noinline bool hash_table(struct hash_walk *walk, const struct python_layout *layout,
				  __u64 table)
{
	const struct text_head *head = text_head(walk->draft);
	__u64 length, bytes;

	if (!text_read_head(layout, walk->draft, table))
		return false;
	length = head->length;
	HASH_STEP(walk->hash, table);
	HASH_STEP(walk->hash, length);
	table += PYTHON_BYTES_CONTENT(layout);
	bytes = length > 2 * HASH_END_BYTES ? HASH_END_BYTES : length;
	BARRIER_VAR(bytes);
	if (bytes > 2 * HASH_END_BYTES || read_user(walk->draft->text, bytes, (void *)table))
		return false;
	hash_text(walk, bytes);
	if (length <= 2 * HASH_END_BYTES)
		return true;
	if (bpf_probe_read_user(walk->draft->text, HASH_END_BYTES,
				(void *)(table + length - HASH_END_BYTES)))
		return false;
	hash_text(walk, HASH_END_BYTES);
	return true;
}

/* Returns a hash of all that decides which lines a code object has, because another one may be at
 * the same address later, or in another process, and its parts, too. Of a table of more than 4 KiB,
 * the middle is left out. 0: it cannot be read. */
static __always_inline __u32 code_check(const struct python_layout *layout,
					struct stack_draft *draft)
{
	struct hash_walk walk = { draft, layout->version };

	HASH_STEP(walk.hash, CODE_4(draft->code, layout->code_line));
	if (!hash_string(&walk, layout, CODE_8(draft->code, layout->code_path)) ||
	    !hash_string(&walk, layout, CODE_8(draft->code, layout->code_function)) ||
	    !hash_table(&walk, layout, CODE_8(draft->code, layout->code_table)))
		return 0;
	walk.hash ^= walk.hash >> 32;
	return (__u32)walk.hash ? (__u32)walk.hash : 1;
}

/* Texts take at most half of the ring that they share with processes and files. */
static __always_inline bool identities_have_room(void)
{
	return bpf_ringbuf_query(&identities, BPF_RB_AVAIL_DATA) <= identities_bytes / 2;
}

/* --- texts --- */

/* Sends the code object in draft->code if it is new. Returns 0 or TRACE_SAMPLE_*. */
__noinline int code_describe(const struct python_layout *layout, struct stack_draft *draft,
			     __u64 code, __u32 check, __u32 generation)
{
	struct code_key key = { code, check, generation };
	__u64 path_at, function_at;
	const struct text_head *head;
	struct event_frame *event;
	__s32 path = -1, function = -1;
	__u64 table, bytes = 0;
	__u8 one = 1;

	if (!layout || !draft)
		return TRACE_SAMPLE_UNREAD;
	if (bpf_map_lookup_elem(&stack_codes, &key))
		return 0;
	if (!identities_have_room()) {
		ring_lose(RECORD_FRAME);
		return TRACE_SAMPLE_LOST;
	}
	head = text_head(draft);
	event = (struct event_frame *)draft->text;
	path_at = CODE_8(draft->code, layout->code_path);
	if (text_read_head(layout, draft, path_at))
		path = text_copy(layout, event->path, sizeof(event->path), path_at, head,
				 &event->path_width);
	function_at = CODE_8(draft->code, layout->code_function);
	if (text_read_head(layout, draft, function_at))
		function = text_copy(layout, event->function, sizeof(event->function), function_at,
				     head, &event->function_width);
	table = CODE_8(draft->code, layout->code_table);
	if (path < 0 || function < 0 || !python_read(&bytes, table + layout->object_bytes))
		return TRACE_SAMPLE_UNREAD;
	if (bytes > EVENT_FRAME_TABLE_BYTES)
		bytes = EVENT_FRAME_TABLE_BYTES; /* lines above have no number */
	BARRIER_VAR(bytes);
	if (bytes > EVENT_FRAME_TABLE_BYTES ||
	    bpf_probe_read_user(draft->text + sizeof(*event), bytes,
				(void *)(table + PYTHON_BYTES_CONTENT(layout))))
		return TRACE_SAMPLE_UNREAD;
	event->code = code;
	event->check = check;
	event->generation = generation;
	event->first_line = CODE_4(draft->code, layout->code_line);
	event->table_bytes = bytes;
	event->version = layout->version;
	event->path_bytes = path;
	event->function_bytes = function;
	if (ring_output(&event->header, RECORD_FRAME, bpf_ktime_get_ns(), sizeof(*event) + bytes,
			owner_of(bpf_get_current_task_btf())))
		return TRACE_SAMPLE_LOST;
	bpf_map_update_elem(&stack_codes, &key, &one, BPF_ANY);
	return 0;
}

/* --- frames --- */

struct frames_walk {
	const struct python_layout *layout;
	struct stack_draft *draft;
	__u64 frame; /* the next one; 0: none */
	__u64 hash;
	__u32 count;
	__u32 flags; /* TRACE_SAMPLE_* */
	__u32 generation;
	__u32 pad;
};

static __always_inline struct python_frame *draft_frame(struct stack_draft *draft, __u32 number)
{
	return (struct python_frame *)(draft->stack + sizeof(struct event_stack) +
				       (number & (PYTHON_FRAMES_MAX - 1)) *
					       sizeof(struct python_frame));
}

/* C has called the interpreter, which began with the last frame taken. */
static __always_inline void frames_mark_entry(struct frames_walk *walk)
{
	struct event_stack *event = (struct event_stack *)walk->draft->stack;
	__u32 last = walk->count - 1;

	if (walk->count)
		event->entries[last / 64 & 1] |= 1ull << (last & 63);
}

/* Returns where the instructions of a frame are; 0: that cannot be read. */
static __always_inline __u64 frame_code_start(const struct python_layout *layout,
					      const struct stack_draft *draft, __u64 code)
{
	__u64 start = code + layout->code_start, copies;
	__u32 copy = layout->frame_copy == PYTHON_NOWHERE
			     ? 0
			     : FIELD_4(draft->frame, layout->frame_copy);

	if (copy && (!python_read(&copies, code + layout->code_copies) ||
		     !python_read(&start, copies + sizeof(__u64) * (1ull + copy))))
		return 0;
	return start;
}

/* Takes a frame: its code object, by address, and its instruction. */
static long frames_step(__u32 i, struct frames_walk *walk)
{
	const struct python_layout *layout = walk->layout;
	struct stack_draft *draft = walk->draft;
	struct python_frame *frame;
	__u64 instruction, start;

	if (!walk->frame)
		return 1;
	if (walk->count >= PYTHON_FRAMES_MAX) {
		walk->flags |= TRACE_SAMPLE_CUT;
		return 1;
	}
	if (layout->flags & PYTHON_FRAME_HAS_INDEX
		    ? bpf_probe_read_user(draft->frame, PYTHON_FRAME_BYTES, (void *)walk->frame)
		    : bpf_probe_read_user(draft->frame, PYTHON_FRAME_BYTES_NEW,
					  (void *)walk->frame)) {
		walk->flags |= TRACE_SAMPLE_UNREAD;
		return 1;
	}
	walk->frame = FIELD_8(draft->frame, layout->frame_caller);
	if (layout->frame_owner != PYTHON_NOWHERE &&
	    draft->frame[layout->frame_owner & 0x7f] >= layout->frame_owner_c) {
		if (stacks_native)
			frames_mark_entry(walk);
		return 0;
	}
	frame = draft_frame(draft, walk->count);
	frame->code = FIELD_8(draft->frame, layout->frame_code) & ~PYTHON_CODE_TAGS;
	instruction = FIELD_8(draft->frame, layout->frame_instruction);
	if (!(layout->flags & PYTHON_FRAME_HAS_INDEX)) {
		start = frame_code_start(layout, draft, frame->code);
		if (!start) {
			walk->flags |= TRACE_SAMPLE_UNREAD;
			return 1;
		}
		instruction -= start;
	} else if (layout->version == 0x30a) { /* in units of two bytes */
		instruction = (__s32)instruction * 2;
	}
	frame->instruction = instruction;
	frame->check = 0;
	HASH_STEP(walk->hash, frame->code);
	HASH_STEP(walk->hash, (__u32)instruction);
	walk->count++;
	if (stacks_native &&
	    (layout->flags & PYTHON_FRAME_HAS_INDEX ||
	     (layout->frame_entry != PYTHON_NOWHERE && draft->frame[layout->frame_entry & 0x7f])))
		frames_mark_entry(walk);
	return 0;
}
LOOP_STEP(frames_step)

static __always_inline bool code_read(struct stack_draft *draft, __u64 code)
{
	return !bpf_probe_read_user(draft->code, PYTHON_CODE_BYTES, (void *)code);
}

/* Checks the code object of a frame: addresses are used again. */
static long checks_step(__u32 i, struct frames_walk *walk)
{
	struct stack_draft *draft = walk->draft;
	struct python_frame *frame, *called;

	if (i >= walk->count)
		return 1;
	frame = draft_frame(draft, i);
	called = draft_frame(draft, i - 1);
	if (i && called->code == frame->code) /* recursion */
		frame->check = called->check;
	else if (code_read(draft, frame->code))
		frame->check = code_check(walk->layout, draft);
	HASH_STEP(walk->hash, frame->check);
	return 0;
}
LOOP_STEP(checks_step)

/* Describes the code object of a frame. What lies outside of one that cannot be read is cut
 * off. */
static long codes_step(__u32 i, struct frames_walk *walk)
{
	struct stack_draft *draft = walk->draft;
	struct python_frame *frame;
	__u32 flags = TRACE_SAMPLE_UNREAD;

	if (i >= walk->count)
		return 1;
	frame = draft_frame(draft, i);
	if (frame->check && code_read(draft, frame->code)) {
		flags = code_describe(walk->layout, draft, frame->code, frame->check,
				      walk->generation);
		if (!flags)
			return 0;
	}
	walk->flags |= flags;
	walk->count = i;
	return 1;
}
LOOP_STEP(codes_step)

/* Sends a stack under a new id. Returns the id, or 0. */
static __always_inline __u32 stack_send(struct stack_draft *draft, __u32 count, __u32 generation)
{
	struct event_stack *event = (struct event_stack *)draft->stack;
	__u64 bytes = count;

	if (bytes > PYTHON_FRAMES_MAX)
		bytes = PYTHON_FRAMES_MAX;
	BARRIER_VAR(bytes);
	if (bytes > PYTHON_FRAMES_MAX)
		return 0;
	if (!identities_have_room())
		return ring_lose(RECORD_STACK);
	event->id = __sync_fetch_and_add(&stack_last_id, 1) + 1;
	event->generation = generation;
	event->count = bytes;
	event->pad = 0;
	bytes = sizeof(*event) + bytes * sizeof(struct python_frame);
	return ring_output(&event->header, RECORD_STACK, bpf_ktime_get_ns(), bytes,
			   owner_of(bpf_get_current_task_btf()))
		       ? 0
		       : event->id;
}

/* Names the frames in the draft. A stack that is known is not described again. */
static __always_inline void frames_name(struct frames_walk *walk)
{
	struct stack_draft *draft = walk->draft;
	const struct event_stack *event = (const struct event_stack *)draft->stack;
	__u32 *known, id; /* on the stack: 6.1 accepts no argument of a function as a map's value */
	__u64 hash;

	LOOP(PYTHON_FRAMES_MAX, checks_step, walk);
	HASH_STEP(walk->hash, walk->generation);
	if (stacks_native) {
		HASH_STEP(walk->hash, event->entries[0]);
		HASH_STEP(walk->hash, event->entries[1]);
	}
	hash = walk->hash;
	known = bpf_map_lookup_elem(&stack_ids, &hash);
	if (known) {
		draft->id = *known;
		return;
	}
	LOOP(PYTHON_FRAMES_MAX, codes_step, walk);
	if (!walk->count)
		return;
	if (walk->flags & TRACE_SAMPLE_LOST) /* it will be described the next time */
		return;
	draft->id = id = stack_send(draft, walk->count, walk->generation);
	if (!id)
		walk->flags |= TRACE_SAMPLE_LOST;
	else if (!(walk->flags & TRACE_SAMPLE_UNREAD))
		bpf_map_update_elem(&stack_ids, &hash, &id, BPF_ANY);
}

/* Walks the stack of the current thread, whose state of the interpreter is known. Returns
 * TRACE_SAMPLE_*, and sets draft->id. */
__noinline int frames_walk(struct stack_draft *draft, const struct python_layout *layout,
			   __u64 thread)
{
	struct frames_walk walk = {};
	struct event_stack *event;

	if (!draft || !layout)
		return TRACE_SAMPLE_NO_PYTHON;
	walk.layout = layout;
	walk.draft = draft;
	walk.generation = stack_generation;
	if (!python_read_frame(layout, thread, &walk.frame))
		return TRACE_SAMPLE_UNREAD;
	if (!walk.frame)
		return TRACE_SAMPLE_NO_FRAME;
	event = (struct event_stack *)draft->stack;
	event->entries[0] = event->entries[1] = 0;
	/* Twice as many: frames of C are passed over. */
	LOOP(2 * PYTHON_FRAMES_MAX, frames_step, &walk);
	if (!walk.count)
		return walk.flags ? walk.flags : TRACE_SAMPLE_NO_FRAME;
	if (walk.frame && !walk.flags)
		walk.flags |= TRACE_SAMPLE_CUT;
	frames_name(&walk);
	/* Part of a stack is better than none. */
	if (draft->id && walk.flags & TRACE_SAMPLE_UNREAD)
		walk.flags = TRACE_SAMPLE_CUT;
	return walk.flags;
}
