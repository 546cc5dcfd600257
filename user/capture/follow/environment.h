/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The command's environment. It is kept separate from ours: variables set by a user must never
 * affect a process with more rights.
 */
#pragma once

#include <stdbool.h>

#include "capture/follow/child.h"

/*
 * Makes the environment of a command that runs as this user. If `restore` is set and the command
 * has no more rights than the user, restores what sudo or the dynamic loader removed: under sudo,
 * takes the environment of the process that called sudo, overlaid with what was set since then;
 * under file capabilities, adds back what the loader dropped. Otherwise copies our own, with HOME
 * and the like set to the user's. NULL-terminated; returns NULL if out of memory.
 */
char **environment_make(const struct child_user *user, bool restore);
void environment_free(char **environment); /* NULL is fine */

/* Returns the value of a variable; NULL: not set. */
const char *environment_get(char *const *environment, const char *name);
/* Returns 0 or -ENOMEM. */
int environment_set(char ***environment, const char *name, const char *value);
