/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The environment that the command finds. It is kept apart from our own: what a user puts into it
 * must never work on a process that has more rights.
 */
#ifndef FAULTLINE_ENVIRONMENT_H
#define FAULTLINE_ENVIRONMENT_H

#include <stdbool.h>

#include "capture/child.h"

/*
 * Makes the environment of a command that runs as this user. Where sudo or the dynamic loader took
 * away what the user had, that is given back if `restore` says so and the command has no more
 * rights than that user: under sudo it is that of the process that called sudo, with what was set
 * since then over it; under file capabilities it is what the loader dropped. Else it is our own,
 * with HOME and its like those of the user. Ends with a NULL; returns NULL without memory.
 */
char **environment_make(const struct child_user *user, bool restore);
void environment_free(char **environment); /* NULL is fine */

/* NULL if there is none of that name. */
const char *environment_get(char *const *environment, const char *name);
/* Returns 0 or -ENOMEM. */
int environment_set(char ***environment, const char *name, const char *value);

#endif
