/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an earlier run of a flight recorder has left: traces under names of the same pattern, by
 * their own words a recorder's of the same host, command and targets. Anything else is somebody
 * else's.
 */
#ifndef FAULTLINE_FLIGHT_KEPT_H
#define FAULTLINE_FLIGHT_KEPT_H

#include "capture/flight_files.h"
#include "trace/header.h"

/* Adds them to the files that were made, oldest first, and removes what is too much; before any is
 * made. Called as whoever the files belong to. */
void flight_kept_find(struct flight_files *files, const struct trace_header *like);

#endif
