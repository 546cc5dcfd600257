/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The span probes, provider "faultline", as notes that any USDT tracer can read. Must be safe in
 * signal handlers.
 */
#include "faultline.h"
#include "ask.h"
#include "tracer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * A tracer increments a probe's semaphore through the address in the probe's note, in the file that
 * holds the note. Semaphores are hidden, so that no copy of the variable in a program (a copy
 * relocation) is read instead of the one that is incremented.
 *
 * sdt.h's probe is a one-byte nop and must stay one: on 6.18 a uprobe on the five-byte form becomes
 * a call, which killed forked children.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define SEMAPHORE(name)                                                                            \
	__extension__ volatile unsigned short name                                                 \
		__attribute__((section(".probes"), visibility("hidden")))

SEMAPHORE(faultline_span_begin_semaphore);
SEMAPHORE(faultline_span_end_semaphore);
SEMAPHORE(faultline_span_record_semaphore);
SEMAPHORE(faultline_instant_semaphore);

#define LISTENED(name) __builtin_expect(faultline_##name##_semaphore != 0, 0)

/* Ids stay below 2^53, which JSON readers keep exact. The lower bits count spans. */
#define ID_COUNT_BITS 38
#define ID_SALT_MASK 0x7fffu

#define WAIT_STEP_NS 1000000ull /* between checks of the semaphores */

/* The data that a probe exposes. On the stack and just written, so it is resident: a tracer that
 * cannot sleep cannot read memory that would fault. */
struct shown {
	char name[FAULTLINE_NAME_BYTES + 1];
	char category[FAULTLINE_CATEGORY_BYTES + 1];
	unsigned char args[FAULTLINE_ARGS_BYTES];
};

/* Copies at most `limit` bytes of a string and a NUL; never cuts inside a UTF-8 character. */
static void copy_string(char *to, const char *from, size_t limit)
{
	size_t length, cut;

	length = from ? strnlen(from, limit + 1) : 0;
	if (length > limit) {
		length = limit;
		for (cut = limit; cut > limit - 4 && ((unsigned char)from[cut] & 0xc0) == 0x80;)
			cut--;
		/* four continuation bytes in a row are not UTF-8: there is no character to keep */
		if (((unsigned char)from[cut] & 0xc0) != 0x80)
			length = cut;
	}
	if (length)
		memcpy(to, from, length);
	to[length] = '\0';
}

/* Returns the address of the arguments for the probe; NULL, with the length unchanged, if they are
 * too long. */
static const void *show(struct shown *shown, const char *name, const char *category,
			const void *args, size_t *args_bytes)
{
	copy_string(shown->name, name, FAULTLINE_NAME_BYTES);
	copy_string(shown->category, category, FAULTLINE_CATEGORY_BYTES);
	if (!args)
		*args_bytes = 0;
	if (*args_bytes == 0 || *args_bytes > sizeof(shown->args))
		args = NULL;
	else
		args = memcpy(shown->args, args, *args_bytes);
	/* The probe takes addresses and declares no access to memory: without this the copies could
	 * be optimized away. */
	__asm__ volatile("" : : "r"(shown) : "memory");
	return args;
}

/*
 * The upper bits distinguish several copies of this library in one process (a program's and a
 * Python extension's) by their addresses. After fork both processes continue from the same number,
 * independently. Not thread-local: compared to a traced probe, a shared counter costs nothing, and
 * a signal handler may interrupt this.
 */
static uint64_t next_id(void)
{
	static uint64_t last;
	uint64_t salt = (uintptr_t)&last >> 12 & ID_SALT_MASK;

	return salt << ID_COUNT_BITS | __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) uint64_t fire_span_begin(const char *name, const char *category,
							  const void *args, size_t args_bytes)
{
	struct shown shown;
	const void *shown_args = show(&shown, name, category, args, &args_bytes);
	uint64_t id = next_id();

	STAP_PROBE5(faultline, span_begin, id, shown.name, shown.category, shown_args, args_bytes);
	return id;
}

static __attribute__((noinline)) void fire_span_end(uint64_t id)
{
	STAP_PROBE1(faultline, span_end, id);
}

static __attribute__((noinline)) void fire_span_record(const char *name, const char *category,
						       const void *args, size_t args_bytes,
						       uint64_t start_ns, uint64_t end_ns)
{
	struct shown shown;
	const void *shown_args = show(&shown, name, category, args, &args_bytes);
	uint64_t id = next_id();

	STAP_PROBE7(faultline, span_record, id, shown.name, shown.category, shown_args, args_bytes,
		    start_ns, end_ns);
}

static __attribute__((noinline)) void fire_instant(const char *name, const char *category,
						   const void *args, size_t args_bytes)
{
	struct shown shown;
	const void *shown_args = show(&shown, name, category, args, &args_bytes);

	STAP_PROBE4(faultline, instant, shown.name, shown.category, shown_args, args_bytes);
}

int faultline_enabled(void)
{
	return LISTENED(span_begin) || LISTENED(instant);
}

uint64_t faultline_span_begin(const char *name, const char *category, const void *args,
			      size_t args_bytes)
{
	return LISTENED(span_begin) ? fire_span_begin(name, category, args, args_bytes) : 0;
}

void faultline_span_end(uint64_t id)
{
	if (LISTENED(span_end) && id)
		fire_span_end(id);
}

void faultline_span_record(const char *name, const char *category, const void *args,
			   size_t args_bytes, uint64_t start_ns, uint64_t end_ns)
{
	if (LISTENED(span_record))
		fire_span_record(name, category, args, args_bytes, start_ns, end_ns);
}

void faultline_instant(const char *name, const char *category, const void *args, size_t args_bytes)
{
	if (LISTENED(instant))
		fire_instant(name, category, args, args_bytes);
}

static bool all_listened(void)
{
	return LISTENED(span_begin) && LISTENED(span_end) && LISTENED(span_record) &&
	       LISTENED(instant);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/*
 * Under `faultline run`, no span begins before the tracers listen. A tracer that cannot be asked
 * sees this library being mapped; this waits for it, for a bounded time, until it listens to all
 * probes, so that no span begins without an end. Runs before the program's own constructors, which
 * may mark spans.
 */
__attribute__((constructor(101))) static void wait_for_tracers(void)
{
	const struct timespec step = { .tv_nsec = WAIT_STEP_NS };
	uint64_t deadline;

	if (!secure_getenv(TRACER_VARIABLE) ||
	    !ask_tracers((const void *)(uintptr_t)fire_span_begin))
		return;
	deadline = now_ns() + TRACER_RAISE_MS * 1000000ull;
	/* Sleeps at least once: on a busy machine, the time may have passed already. */
	while (!all_listened()) {
		nanosleep(&step, NULL);
		if (now_ns() >= deadline)
			break;
	}
}
