/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Describes the machine, the time, the layers, and the operations that they record. */
#include "capture/recorder/recorded_header.h"

#include "capture/calls/calls.h"
#include "capture/host/host.h"
#include "capture/host/limits.h"
#include "capture/support/probes.h"

int recorded_header_open(struct recorded_header *recorded, const struct session *session,
			 const char *mode, const char *const *command, const char *const *targets)
{
	struct trace_header *header = &recorded->header;
	int err = limits_open(&recorded->limits);

	if (err)
		return err;
	host_describe(header);
	limits_describe(recorded->limits, header);
	if (targets) /* they may have others than this process */
		header->cpu_milli = 0;
	header->mode = mode;
	header->start = targets ? "attach" : "run";
	header->targets = targets;
	header->command = command;
	header->layers = session_layers(session);
	header->layer_count = LAYER_COUNT;
	if (!probes_chosen(session_choice(session), "fl_dirtied"))
		calls_leave_out(OP_DIRTIED);
	if (!probes_chosen_like(session_choice(session), "fl_throttled"))
		calls_leave_out(OP_THROTTLED);
	for (unsigned int op = OP_VFS; op < OP_FIRST_CALL && !header->layers[LAYER_VFS].on; op++)
		calls_leave_out(op);
	header->operations = calls_operations(&header->operation_count);
	return 0;
}

void recorded_header_close(struct recorded_header *recorded)
{
	limits_close(recorded->limits);
	arena_free(&recorded->arena);
	recorded->limits = NULL;
}
