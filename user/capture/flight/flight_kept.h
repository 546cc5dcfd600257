/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds traces that an earlier run of a flight recorder left: their names match the pattern, and
 * their headers have the same host, command and targets. Other files are left alone.
 */
#ifndef FAULTLINE_FLIGHT_KEPT_H
#define FAULTLINE_FLIGHT_KEPT_H

#include "capture/flight/flight_files.h"
#include "trace/format/header.h"

/* Adds these traces to `files`, oldest first, and deletes those beyond the limits. Call before any
 * file is created, as the owner of the files. */
void flight_kept_find(struct flight_files *files, const struct trace_header *like);

#endif
