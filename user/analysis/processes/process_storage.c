/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums of block I/O by process. */
#include "analysis/processes/process_storage.h"

#include "analysis/events/device_list.h"

void process_storages_init(struct process_storages *all, struct arena *arena, const struct job *job)
{
	*all = (struct process_storages) { .job = job, .arena = arena };
}

/* Returns NULL if there are too many devices or no memory. */
static struct kernel_metadata *metadata_of(struct process_storages *all, const struct event *event,
					   uint32_t dev)
{
	for (size_t i = 0; i < all->metadata_count; i++)
		if (all->metadata[i].dev == dev && all->metadata[i].trace == event->block->trace)
			return &all->metadata[i];
	if (all->metadata_count == DEVICES_MAX)
		return NULL;
	if (!ARENA_GROW(all->arena, all->metadata, all->metadata_room, all->metadata_count + 1))
		return NULL;
	all->metadata[all->metadata_count] =
		(struct kernel_metadata) { .trace = event->block->trace, .dev = dev };
	return &all->metadata[all->metadata_count++];
}

static void add_bio(struct process_storages *all, const struct event *event)
{
	bool kernel = !event_value(event, BIO_PID);
	struct process_storage *storage = &all->kernel;
	struct kernel_metadata *metadata = metadata_of(all, event, event_value(event, BIO_DEV));

	if (metadata)
		metadata->used = true;
	if (!kernel) {
		if (!ARENA_GROW(all->arena, all->of, all->room, (size_t)event->process + 1))
			return;
		storage = &all->of[event->process];
	}
	if (event_value(event, BIO_FLAGS) & TRACE_BLOCK_META)
		storage->metadata_bytes += event->bytes;
	else if (all->job->operations[event->operation].use == DEVICE_WRITES)
		storage->write_bytes += event->bytes;
	else
		storage->read_bytes += event->bytes;
}

void process_storages_add(struct process_storages *all, const struct event *event)
{
	struct kernel_metadata *metadata;

	if (event->flags & EVENT_BIO) {
		add_bio(all, event);
		return;
	}
	metadata = metadata_of(all, event, event_value(event, DEVICE_DEV));
	if (metadata) /* the last row holds the total */
		metadata->bytes = event_value(event, DEVICE_KERNEL_METADATA);
}

struct process_storage process_storage_of(const struct process_storages *all, uint32_t process)
{
	return process < all->room ? all->of[process] : (struct process_storage) { 0 };
}

uint64_t process_storage_kernel_metadata(const struct process_storages *all, uint32_t dev)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < all->metadata_count; i++)
		if (all->metadata[i].dev == dev)
			bytes += all->metadata[i].bytes;
	return bytes;
}

struct process_storage process_storage_of_kernel(const struct process_storages *all)
{
	struct process_storage storage = all->kernel;

	for (size_t i = 0; i < all->metadata_count; i++)
		if (all->metadata[i].used)
			storage.metadata_bytes += all->metadata[i].bytes;
	return storage;
}
