/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Asking the tracers of this process to listen; see tracer.h.
 */
#ifndef FAULTLINE_SPAN_ASK_H
#define FAULTLINE_SPAN_ASK_H

/*
 * Asks each tracer that the environment names to listen to the file with this code, and returns
 * when all have answered, gone or not answered in time. Keeps errno.
 * Returns 0, or 1 when one of them cannot be reached, so that nothing is known of it.
 */
__attribute__((visibility("hidden"))) int ask_tracers(const void *code);

#endif
