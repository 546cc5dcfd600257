/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reports CPUs that came online since the last check. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct online;

/* Reads the initial state. `cpus` is the number of possible CPUs. Returns NULL if the kernel
 * provides no list; online_look then reports nothing. */
struct online *online_open(int cpus);
/* The same with the list at `path` and the socket `events` for CPUs that went offline (-1: none).
 * Takes ownership of the socket. */
struct online *online_open_from(const char *path, int events, int cpus);
void online_close(struct online *online); /* NULL is fine */

typedef void (*online_fn)(void *context, int cpu);
/* Reports each CPU that is online now but was offline at the last check or in between. Checks at
 * most 100 times a second, however often it is called. NULL is fine. */
void online_look(struct online *online, uint64_t now_ns, online_fn emit, void *context);

/* Returns the highest number of a present CPU, online or not, plus one. */
unsigned int present_end(int cpus);

/* Parses the CPUs below `cpus` from a list like "0-2,5". Returns false for other text. */
bool online_parse(const char *text, bool *set, int cpus);
