/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which CPUs came online since one last looked. Knows nothing of what is done with them.
 */
#ifndef FAULTLINE_ONLINE_H
#define FAULTLINE_ONLINE_H

#include <stdbool.h>
#include <stdint.h>

struct online;

/* Looks for the first time; `cpus` are the possible ones. Returns NULL where the kernel does not
 * tell: then nothing ever comes. */
struct online *online_open(int cpus);
/* The same of a list at `path`, and of `events` of what went, which then belong to it; -1: none. */
struct online *online_open_from(const char *path, int events, int cpus);
void online_close(struct online *online); /* NULL is fine */

typedef void (*online_fn)(void *context, int cpu);
/* Tells each CPU that is online now and was not at the last look, or went since. Looks a hundred
 * times a second, however often it is called. NULL is fine. */
void online_look(struct online *online, uint64_t now_ns, online_fn tell, void *context);

/* The highest number of a CPU that is there, be it online or not, and one. */
unsigned int present_end(int cpus);

/* The CPUs below `cpus` in a list such as "0-2,5"; false if it is none. */
bool online_parse(const char *text, bool *set, int cpus);

#endif
