/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of users, looked up by a thread of its own: where a directory server answers for them, or
 * does not, that takes longer than whoever drains the buffers may wait.
 */
#ifndef FAULTLINE_MONITOR_USER_NAMES_H
#define FAULTLINE_MONITOR_USER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct user_names;

#define USER_NAME_BYTES                                                                            \
	32 /* of a name, its NUL included; who has a longer one goes by the number */
#define USER_NAMES_WAIT_NS 300000000ull	    /* for a name */
#define USER_NAMES_AGAIN_NS 600000000000ull /* then one is looked up again, and whose has none */

int user_names_open(struct user_names **names); /* 0 or a negative errno */
/* NULL is fine. A look-up that lasts is not waited for. */
void user_names_close(struct user_names *names);

/*
 * Writes a user's name, or number where there is none or it takes too long. False while it is being
 * looked up: ask again soon. Whoever cannot takes the number, which is written then, too.
 */
bool user_name(struct user_names *names, uint32_t uid, char out[USER_NAME_BYTES]);

#endif
