/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Asks the tracers of this process to listen; see tracer.h. */
#pragma once

/*
 * Asks each tracer named in the environment to listen to the file that contains `code`, and returns
 * when each has answered, exited or timed out. Keeps errno.
 * Returns 0, or 1 if a tracer cannot be reached, so that its state is unknown.
 */
__attribute__((visibility("hidden"))) int ask_tracers(const void *code);
