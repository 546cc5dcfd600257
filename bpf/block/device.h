/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Block devices: their names, and totals per device.
 */
#pragma once

#include "core/identity.h"
#include "core/ring.h"

/* Open addressing by dev_t and instance; a device's number is the index of its slot. The user side
 * maps this table and frees slots. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, DEVICES_MAX);
	__type(key, __u32);
	__type(value, struct device_slot);
} device_slots SEC(".maps");

/* All activity of a device, by class of requests, counted per CPU. Indexed by device number, which
 * costs a fraction of a hash lookup. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DEVICES_MAX);
	__type(key, __u32);
	__type(value, struct device_total);
} devices SEC(".maps");

static __always_inline __u32 device_home(__u32 dev, __u32 instance)
{
	return device_key(dev, instance) * 0x9e3779b1 >>
	       (32 - DEVICES_MAX_LOG); /* 2^32 / golden ratio */
}

/* Kernel addresses of a device's name strings. */
struct device_source {
	__u64 name; /* of the disk; source of the mount; 0: it has no slot yet, and gets none */
	__u64 type, subtype; /* of the file system, for a mount; 0: none */
};

struct device_search {
	__u64 taken; /* value in its slot */
	__u32 home, found;
	__u32 free; /* first free slot on the way; DEVICES_MAX: none */
	__u32 pad;
};

static __always_inline void device_name(struct device_slot *slot,
					const struct device_source *source)
{
	if (source->type)
		bpf_probe_read_kernel_str(slot->type, sizeof(slot->type), (void *)source->type);
	if (source->subtype)
		bpf_probe_read_kernel_str(slot->subtype, sizeof(slot->subtype),
					  (void *)source->subtype);
	if (bpf_probe_read_kernel_str(slot->name.text, sizeof(slot->name.text),
				      (void *)source->name) > 1)
		__sync_lock_test_and_set(&slot->named, 1); /* last: user space may be reading */
}

static long device_step(__u32 i, struct device_search *search)
{
	__u32 number = (search->home + i) & (DEVICES_MAX - 1);
	struct device_slot *slot = bpf_map_lookup_elem(&device_slots, &number);
	__u64 taken;

	if (!slot)
		return 1;
	taken = slot->taken;
	if (taken == search->taken) {
		search->found = number;
		return 1;
	}
	if ((!taken || taken == DEVICE_FREED) && search->free == DEVICES_MAX)
		search->free = number;
	return !taken;
}
LOOP_STEP(device_step)

/* Takes the free slot that a search has found, unless another program was faster. */
static __always_inline void device_claim(struct device_search *search,
					 const struct device_source *source)
{
	struct device_slot *slot = bpf_map_lookup_elem(&device_slots, &search->free);
	__u64 taken;

	if (!slot)
		return;
	taken = slot->taken;
	if (!taken || taken == DEVICE_FREED) {
		if (__sync_val_compare_and_swap(&slot->taken, taken, search->taken) == taken) {
			device_name(slot, source); /* keeps the name it had when first seen */
			search->found = search->free;
			return;
		}
		taken = slot->taken;
	}
	if (taken == search->taken)
		search->found = search->free;
}

/* Returns the number of a device that is new, or not at the index selected by its dev_t. If there
 * are too many devices, returns DEVICES_MAX and counts a lost record. Global, so it is verified
 * once instead of on every path. */
__noinline __u32 device_find(const struct device_source *source, __u32 dev, __u32 instance)
{
	struct device_search search = { .taken = DEVICE_TAKEN(dev, instance),
					.home = device_home(dev, instance),
					.found = DEVICES_MAX,
					.free = DEVICES_MAX };

	if (!source)
		return DEVICES_MAX;
	LOOP(DEVICES_MAX, device_step, &search);
	if (search.found != DEVICES_MAX || !source->name)
		return search.found;
	device_claim(&search, source);
	if (search.found == DEVICES_MAX)
		ring_lose(RECORD_DEVICE);
	return search.found;
}

static __always_inline __u32 disk_dev(struct gendisk *disk)
{
	struct block_device *whole = disk ? KREAD(gendisk, disk, part0) : NULL;

	return whole ? KREAD(block_device, whole, bd_dev) : 0;
}

/* Returns a device's number; if there are too many, returns DEVICES_MAX and counts a lost record.
 */
static __always_inline __u32 device_number(const struct device_source *source, __u32 dev,
					   __u32 instance)
{
	__u32 number = device_home(dev, instance);
	struct device_slot *slot = bpf_map_lookup_elem(&device_slots, &number);

	if (slot && slot->taken == DEVICE_TAKEN(dev, instance))
		return number;
	return device_find(source, dev, instance);
}

/* Returns NULL for a number that is not a device's. */
static __always_inline struct device_total *device_total(__u32 number)
{
	return bpf_map_lookup_elem(&devices, &number);
}

/* Returns the counts of a class below DEVICE_CLASSES. */
static __always_inline struct device_counts *device_class_counts(struct device_total *total,
								 __u32 class)
{
	BARRIER_VAR(class); /* 6.1 loses track of the range of class, but follows this mask */
	return &total->of[class & (DEVICE_CLASSES - 1)];
}

/*
 * Classes of operations as in /proc/diskstats; DEVICE_CLASSES: not counted. Odd operations are
 * writes, the others are reads, and the table holds the exceptions. A table, because the verifier
 * then sees a single path.
 */
#define DEVICE_OPS 64 /* more than exist */
#define DEVICE_OP(op, class) [op] = (class) ^ ((op)&1)

static const __u8 device_ops[DEVICE_OPS] = {
	DEVICE_OP(REQ_OP_FLUSH, DEVICE_FLUSH),
	DEVICE_OP(REQ_OP_DISCARD, DEVICE_DISCARD),
	DEVICE_OP(REQ_OP_DRV_IN, DEVICE_CLASSES),
	DEVICE_OP(REQ_OP_DRV_OUT, DEVICE_CLASSES),
};

static __always_inline __u32 device_class(__u32 opf)
{
	return device_ops[opf & (DEVICE_OPS - 1)] ^ (opf & 1);
}

/*
 * An NVMe disk with several paths (nvme0n1) has no requests: it passes each bio on to the hidden
 * disk of a path (nvme0c1n1). Programs do not know that one, so its requests count as those of the
 * disk that they use.
 */
extern __u64 paths_submit; /* address of the function by which it takes bios; 0: unknown */

static __always_inline bool disk_paths_known(void)
{
	return bpf_core_type_exists(struct nvme_ns) &&
	       bpf_core_field_exists(struct nvme_ns_head, disk) && paths_submit;
}

/* Returns the disk that programs use. Global, so it is verified once. */
__noinline __u64 disk_used(struct address *disk)
{
	/* The request's own pointer to its disk went in 5.17, too. */
	__u32 hidden = bpf_core_field_exists(struct request___disk, rq_disk) ? GENHD_FL_HIDDEN_OLD
									     : GENHD_FL_HIDDEN;
	__u64 namespace, used;

	if (!disk)
		return 0;
	if (!disk_paths_known() || !(KREAD(gendisk, disk->at, flags) & hidden))
		return disk->at;
	namespace = (__u64)KREAD(gendisk, disk->at, private_data);
	if ((__u64)KREAD_MODULE(nvme_ns, namespace, disk) != disk->at)
		return disk->at;
	used = (__u64)KREAD_MODULE(nvme_ns_head, KREAD_MODULE(nvme_ns, namespace, head), disk);
	return used ? used : disk->at;
}

static __always_inline struct gendisk *request_disk(struct request *rq)
{
	struct address disk;

	if (bpf_core_field_exists(struct request___disk, rq_disk))
		disk.at = (__u64)KREAD(request___disk, rq, rq_disk);
	else
		disk.at = (__u64)KREAD(request_queue, KREAD(request, rq, q), disk);
	return (struct gendisk *)disk_used(&disk);
}

/* The same for a bio on its way to a request. */
static __always_inline struct gendisk *bio_gendisk(struct bio *bio)
{
	struct address disk = { (__u64)KREAD(block_device, KREAD(bio, bio, bi_bdev), bd_disk) };

	return (struct gendisk *)disk_used(&disk);
}

static __always_inline struct device_total *disk_total(struct gendisk *disk)
{
	struct device_source source = { .name = (__u64)KFIELD(gendisk, disk, disk_name) };

	return device_total(device_number(&source, disk_dev(disk), disk_instance(disk)));
}

static __always_inline struct device_counts *device_counts(struct gendisk *disk, __u32 class)
{
	struct device_total *total;

	if (!disk || class >= DEVICE_CLASSES)
		return NULL;
	total = disk_total(disk);
	return total ? device_class_counts(total, class) : NULL;
}

_Static_assert((DEVICE_CLASSES & (DEVICE_CLASSES - 1)) == 0, "a mask of classes");
