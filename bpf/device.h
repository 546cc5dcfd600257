/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Block devices: what they are called, and what each did in all. Knows nothing of bios.
 */
#ifndef FAULTLINE_BPF_DEVICE_H
#define FAULTLINE_BPF_DEVICE_H

#include "ring.h"

/* All that a device did, by class of requests; counted on each CPU for itself. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, DEVICES_MOST);
	__type(key, __u32);
	__type(value, struct device_total);
} devices SEC(".maps");

/* What devices are called, as they were when they were first met. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DEVICES_MOST);
	__type(key, __u32);
	__type(value, struct device_name);
} device_names SEC(".maps");

/* Global, like what follows: the verifier looks at it once, not at each way that leads to it. */
__noinline int device_enter(struct address *disk, __u32 dev)
{
	struct device_name name = {};
	struct device_total zero = {};

	if (!disk)
		return 0;
	bpf_probe_read_kernel_str(name.text, sizeof(name.text),
				  KFIELD(gendisk, disk->at, disk_name));
	bpf_map_update_elem(&device_names, &dev, &name, BPF_NOEXIST);
	bpf_map_update_elem(&devices, &dev, &zero, BPF_NOEXIST);
	return 0;
}

static __always_inline __u32 disk_dev(struct gendisk *disk)
{
	struct block_device *whole = disk ? KREAD(gendisk, disk, part0) : NULL;

	return whole ? KREAD(block_device, whole, bd_dev) : 0;
}

/* NULL, and counted as lost, when there are too many devices. */
static __always_inline struct device_total *device_total(struct gendisk *disk, __u32 dev)
{
	struct device_total *total = bpf_map_lookup_elem(&devices, &dev);
	struct address address = { (__u64)disk };

	if (total)
		return total;
	device_enter(&address, dev);
	total = bpf_map_lookup_elem(&devices, &dev);
	if (!total)
		ring_lose(RECORD_DEVICE);
	return total;
}

/* As the kernel classes them for /proc/diskstats; DEVICE_CLASSES: it does not count them. */
__noinline __u32 device_class(__u32 opf)
{
	__u32 op = opf & REQ_OP_MASK;

	if (op == REQ_OP_FLUSH)
		return DEVICE_FLUSH;
	if (op == REQ_OP_DISCARD)
		return DEVICE_DISCARD;
	if (op == REQ_OP_DRV_IN || op == REQ_OP_DRV_OUT)
		return DEVICE_CLASSES;
	return op & 1 ? DEVICE_WRITE : DEVICE_READ;
}

static __always_inline struct device_counts *device_counts(struct gendisk *disk, __u32 class)
{
	struct device_total *total;

	if (!disk || class >= DEVICE_CLASSES)
		return NULL;
	total = device_total(disk, disk_dev(disk));
	return total ? &total->of[class] : NULL;
}

#endif
