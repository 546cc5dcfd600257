/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From the kernel side's maps of devices to records. Knows nothing of where they go.
 */
#include "capture/device_tale.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/event.h"
#include "capture/host.h"

struct told_device {
	uint32_t dev;
	struct device_total total; /* as it was told last */
};

struct device_tale {
	int devices, names, cpus;
	bool merges;		     /* they are counted, and so are requeues */
	struct device_total *values; /* of each CPU */
	struct told_device told[DEVICES_MOST];
	size_t count;
	uint64_t records;
};

int device_tale_open(struct device_tale **out, int devices, int names, int cpus, bool merges)
{
	struct device_tale *tale = calloc(1, sizeof(*tale));

	if (!tale)
		return -ENOMEM;
	tale->values = calloc(cpus, sizeof(*tale->values));
	if (!tale->values) {
		free(tale);
		return -ENOMEM;
	}
	tale->devices = devices;
	tale->names = names;
	tale->cpus = cpus;
	tale->merges = merges;
	*out = tale;
	return 0;
}

void device_tale_close(struct device_tale *tale)
{
	if (!tale)
		return;
	free(tale->values);
	free(tale);
}

static struct told_device *find_told(struct device_tale *tale, uint32_t dev)
{
	for (size_t i = 0; i < tale->count; i++)
		if (tale->told[i].dev == dev)
			return &tale->told[i];
	if (tale->count == DEVICES_MOST)
		return NULL;
	tale->told[tale->count].dev = dev;
	return &tale->told[tale->count++];
}

static int sum_up(struct device_tale *tale, uint32_t dev, struct device_total *total)
{
	uint64_t *sums = (uint64_t *)total;

	if (bpf_map_lookup_elem(tale->devices, &dev, tale->values))
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
	uint32_t dev, last;

	if (!tale)
		return 0;
	for (int err = bpf_map_get_next_key(tale->devices, NULL, &dev); !err;
	     err = bpf_map_get_next_key(tale->devices, &last, &dev)) {
		struct told_device *told = find_told(tale, dev);
		struct event_device record = {
			.header = { .time_ns = host_now_ns(),
				    .kind = RECORD_DEVICE,
				    .size = sizeof(record) },
			.dev = dev,
		};
		int status = sum_up(tale, dev, &record.total);

		last = dev;
		if (status)
			return status;
		if (!told || !memcmp(&told->total, &record.total, sizeof(record.total)))
			continue;
		bpf_map_lookup_elem(tale->names, &dev, &record.name);
		told->total = record.total;
		tale->records++;
		take(context, 0, &record, sizeof(record));
	}
	return 0;
}

uint64_t device_tale_told(const struct device_tale *tale)
{
	return tale ? tale->records : 0;
}
