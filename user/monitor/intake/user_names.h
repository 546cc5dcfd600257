/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * User names, looked up by a thread of their own: a directory server may take longer to answer than
 * the thread that drains the buffers may wait.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct user_names;

#define USER_NAME_BYTES                                                                            \
	32 /* of a name, NUL included; a longer one is replaced by the user's number */
#define USER_NAMES_WAIT_NS 300000000ull	    /* for a name */
#define USER_NAMES_AGAIN_NS 600000000000ull /* before looking one up again */

int user_names_open(struct user_names **names); /* returns 0 or a negative errno */
/* NULL is fine. Does not wait for a lookup in progress. */
void user_names_close(struct user_names *names);

/*
 * Writes a user's name, or the number if there is none or the lookup takes too long. Returns false
 * while it is being looked up: ask again soon, or use the number, which is written then, too. A
 * known name stays while it is looked up again.
 */
bool user_name(struct user_names *names, uint32_t uid, char out[USER_NAME_BYTES]);
