/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Requests that the kernel counted in /proc/diskstats but whose completion events are missing. */
#pragma once

#include "analysis/events/event.h"
#include "analysis/table/table.h"
#include "base/strbuf.h"

struct device_unseen {
	uint64_t requests[2], bytes[2]; /* DEVICE_READS, DEVICE_WRITES */
};

/* Adds the numbers of an EVENT_DEVICE. */
void device_unseen_add(struct device_unseen *unseen, const struct event *event);
/* Marks the request counts in the last row of the table "devices" as lower bounds. */
void device_unseen_mark(struct table *table, const struct device_unseen *unseen);
/* Adds a readable clause if any requests are missing. */
void device_unseen_say(struct strbuf *text, struct table_text name,
		       const struct device_unseen *unseen);
