/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From the kernel side's maps of devices to records. Knows nothing of where they go.
 */
#include "capture/device_tale.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/event.h"
#include "capture/host.h"
#include "capture/shared.h"

#define PLACES_BYTES (DEVICES_MOST * sizeof(struct device_place))

struct device_tale {
	const struct device_place *places; /* the kernel side's */
	int totals, cpus;
	bool merges;				/* they are counted, and so are requeues */
	struct device_total *values;		/* of each CPU */
	struct device_total told[DEVICES_MOST]; /* by their numbers, as they were told last */
	uint64_t records;
};

int device_tale_open(struct device_tale **out, int places, int totals, int cpus, bool merges)
{
	struct device_tale *tale = calloc(1, sizeof(*tale));

	if (!tale)
		return -ENOMEM;
	tale->totals = totals;
	tale->cpus = cpus;
	tale->merges = merges;
	tale->values = calloc(cpus, sizeof(*tale->values));
	if (!tale->values) {
		device_tale_close(tale);
		return -ENOMEM;
	}
	tale->places = shared_map(places, PLACES_BYTES, false, 0);
	if (!tale->places) {
		int err = -errno;

		device_tale_close(tale);
		return err;
	}
	*out = tale;
	return 0;
}

void device_tale_close(struct device_tale *tale)
{
	if (!tale)
		return;
	if (tale->places)
		munmap((void *)tale->places, shared_pages(PLACES_BYTES));
	free(tale->values);
	free(tale);
}

static int sum_up(struct device_tale *tale, uint32_t number, struct device_total *total)
{
	uint64_t *sums = (uint64_t *)total;

	if (bpf_map_lookup_elem(tale->totals, &number, tale->values))
		return -errno;
	memset(total, 0, sizeof(*total));
	for (int cpu = 0; cpu < tale->cpus; cpu++)
		for (size_t i = 0; i < sizeof(*total) / sizeof(*sums); i++)
			sums[i] += ((const uint64_t *)&tale->values[cpu])[i];
	for (size_t i = 0; i < DEVICE_CLASSES && !tale->merges; i++)
		total->of[i].merges = total->of[i].requeues = DEVICE_NOT_COUNTED;
	return 0;
}

int device_tale_go_on(struct device_tale *tale, ring_record_fn take, void *context)
{
	for (uint32_t number = 0; tale && number < DEVICES_MOST; number++) {
		const struct device_place *place = &tale->places[number];
		struct event_device record = { .header = { .kind = RECORD_DEVICE,
							   .size = sizeof(record) } };
		uint64_t taken = __atomic_load_n(&place->taken, __ATOMIC_ACQUIRE);
		int status;

		if (!taken || !place->name.text[0])
			continue;
		record.header.time_ns = host_now_ns();
		status = sum_up(tale, number, &record.total);
		if (status)
			return status;
		if (!memcmp(&tale->told[number], &record.total, sizeof(record.total)))
			continue;
		record.dev = taken - DEVICE_TAKEN(0);
		record.name = place->name;
		tale->told[number] = record.total;
		tale->records++;
		take(context, 0, &record, sizeof(record));
	}
	return 0;
}

uint64_t device_tale_told(const struct device_tale *tale)
{
	return tale ? tale->records : 0;
}
