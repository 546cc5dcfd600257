/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums up requests without completion events, marks the affected numbers as lower bounds, and
 * describes them.
 */
#include "analysis/devices/device_unseen.h"

#include <string.h>

#include "base/units.h"

/* Only a device's last row in a trace has any. */
void device_unseen_add(struct device_unseen *unseen, const struct event *event)
{
	unseen->requests[DEVICE_READS] += event_value(event, DEVICE_UNSEEN_READS);
	unseen->bytes[DEVICE_READS] += event_value(event, DEVICE_UNSEEN_READ_BYTES);
	unseen->requests[DEVICE_WRITES] += event_value(event, DEVICE_UNSEEN_WRITES);
	unseen->bytes[DEVICE_WRITES] += event_value(event, DEVICE_UNSEEN_WRITE_BYTES);
}

static const char *const unseen_names[] = { "read", "write" };

void device_unseen_mark(struct table *table, const struct device_unseen *unseen)
{
	struct cell *row = &table->cells[(table->row_count - 1) * table->column_count];

	for (int use = DEVICE_READS; use <= DEVICE_WRITES; use++)
		for (size_t i = 0; i < table->column_count && unseen->requests[use]; i++) {
			const char *name = table->columns[i].name;
			bool counted = table->columns[i].unit == UNIT_COUNT ||
				       table->columns[i].unit == UNIT_BYTES;

			name += strncmp(name, "all.", 4) ? 0 : 4;
			if (counted &&
			    !strncmp(name, device_use_names[use], strlen(device_use_names[use])) &&
			    row[i].type == CELL_UINT)
				row[i].at_least = true;
		}
}

void device_unseen_say(struct strbuf *text, struct table_text name,
		       const struct device_unseen *unseen)
{
	char count[UNITS_TEXT], bytes[UNITS_TEXT];

	for (int use = DEVICE_READS; use <= DEVICE_WRITES; use++)
		if (unseen->requests[use])
			strbuf_clause(text, "%.*s: %s %s%s (%s) %s no completion event",
				      (int)name.length, name.bytes,
				      units_count(count, unseen->requests[use]), unseen_names[use],
				      unseen->requests[use] == 1 ? "" : "s",
				      units_bytes(bytes, unseen->bytes[use]),
				      unseen->requests[use] == 1 ? "has" : "have");
}
