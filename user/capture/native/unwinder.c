/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tracer's side of the process that unwinds. */
#include "capture/native/unwinder.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/host/helper.h"
#include "capture/host/host.h"
#include "capture/native/unwind_process.h"

/* Samples leave room for what explains them. */
#define SLOTS_FOR_NOTES 128

struct unwinder {
	struct unwind_queue *queue;
	pid_t pid;
	uint32_t given, taken;
	bool ended;  /* the process has */
	bool missed; /* a note that did not fit */
};

bool unwinder_is_built(void)
{
#ifdef HAVE_LIBDW
	return true;
#else
	return false;
#endif
}

/* Never returns. */
static void run_process(struct unwind_queue *queue)
{
#ifdef HAVE_LIBDW
	unwind_process_run(queue);
#else
	_exit(1);
#endif
}

int unwinder_start(struct unwinder **out)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	int err;

	if (!unwinder)
		return -ENOMEM;
	unwinder->queue = mmap(NULL, sizeof(*unwinder->queue), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (unwinder->queue == MAP_FAILED) {
		err = -errno;
		free(unwinder);
		return err;
	}
	unwinder->pid = helper_fork();
	if (!unwinder->pid)
		run_process(unwinder->queue);
	if (unwinder->pid < 0) {
		err = -errno;
		unwinder_stop(unwinder);
		return err;
	}
	*out = unwinder;
	return 0;
}

void unwinder_stop(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	if (unwinder->pid > 0 && !unwinder->ended) {
		kill(unwinder->pid, SIGKILL); /* not reaped yet: still ours */
		waitpid(unwinder->pid, NULL, __WCLONE);
	}
	munmap(unwinder->queue, sizeof(*unwinder->queue));
	free(unwinder);
}

/* --- requests --- */

bool unwinder_has_ended(struct unwinder *unwinder)
{
	if (!unwinder->ended)
		unwinder->ended = atomic_load(&unwinder->queue->over) ||
				  waitpid(unwinder->pid, NULL, WNOHANG | __WCLONE) == unwinder->pid;
	return unwinder->ended;
}

/* Returns NULL if fewer than `spare` slots would remain. */
static struct unwind_slot *next_slot(struct unwinder *unwinder, uint32_t spare)
{
	if (unwinder->ended || unwinder->given - unwinder->taken >= UNWIND_SLOTS - spare)
		return NULL;
	return &unwinder->queue->slots[unwinder->given % UNWIND_SLOTS];
}

static void give(struct unwinder *unwinder)
{
	atomic_store(&unwinder->queue->given, ++unwinder->given);
	syscall(SYS_futex, &unwinder->queue->given, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void unwinder_note(struct unwinder *unwinder, enum unwind_kind kind, uint32_t pid, uint32_t parent,
		   uint64_t time_ns)
{
	struct unwind_slot *slot = next_slot(unwinder, 0);

	if (!slot) {
		unwinder->missed = true;
		return;
	}
	slot->kind = kind;
	slot->pid = pid;
	slot->parent = parent;
	slot->time_ns = time_ns;
	give(unwinder);
}

bool unwinder_ask(struct unwinder *unwinder, uint32_t pid, uint32_t tid,
		  const struct native_copy *copy)
{
	struct unwind_slot *slot = next_slot(unwinder, SLOTS_FOR_NOTES);

	if (!slot)
		return false;
	if (unwinder->missed) {
		unwinder->missed = false;
		slot->kind = UNWIND_MISSED;
		give(unwinder);
		slot = next_slot(unwinder, 0);
	}
	slot->kind = UNWIND_STACK;
	slot->pid = pid;
	slot->tid = tid;
	slot->copy = *copy;
	give(unwinder);
	return true;
}

/* --- answers --- */

/* Passes over answers to what was only noted. Returns the slot of the next stack, or NULL. */
static struct unwind_slot *answered(struct unwinder *unwinder)
{
	const uint32_t done = atomic_load(&unwinder->queue->done);

	while (unwinder->taken != done && unwinder->taken != unwinder->given) {
		struct unwind_slot *slot = &unwinder->queue->slots[unwinder->taken % UNWIND_SLOTS];

		if (slot->kind == UNWIND_STACK)
			return slot;
		unwinder->taken++;
	}
	return NULL;
}

bool unwinder_take(struct unwinder *unwinder, struct unwound *unwound)
{
	const struct unwind_slot *slot = answered(unwinder);

	if (!slot)
		return false;
	/* Read once: the other side may change what has been checked. */
	unwound->status = *(volatile const uint32_t *)&slot->status;
	unwound->count = *(volatile const uint32_t *)&slot->count;
	if (unwound->status > UNWIND_FAILED)
		unwound->status = UNWIND_FAILED;
	if (unwound->count > UNWIND_FRAMES_MAX)
		unwound->count = UNWIND_FRAMES_MAX;
	memcpy(unwound->frames, slot->frames, unwound->count * sizeof(*unwound->frames));
	unwinder->taken++;
	return true;
}

bool unwinder_wait(struct unwinder *unwinder, uint64_t end_ns)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (!answered(unwinder)) {
		if (unwinder_has_ended(unwinder) || host_now_ns() > end_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static bool is_text(uint32_t at, uint32_t bytes)
{
	return at <= NATIVE_TEXT_BYTES && bytes <= NATIVE_TEXT_BYTES - at &&
	       bytes <= NATIVE_NAME_BYTES;
}

bool unwinder_name(const struct unwinder *unwinder, uint32_t frame, struct native_name *name)
{
	struct native_frame named;

	if (!frame || frame > NATIVE_FRAMES_MAX)
		return false;
	named = *(volatile struct native_frame *)&unwinder->queue->frames[frame - 1];
	if (!is_text(named.path, named.path_bytes) ||
	    !is_text(named.function, named.function_bytes))
		return false;
	*name = (struct native_name) {
		.path = unwinder->queue->text + named.path,
		.path_bytes = named.path_bytes,
		.function = unwinder->queue->text + named.function,
		.function_bytes = named.function_bytes,
		.flags = named.flags,
	};
	return true;
}
