/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums of block I/O by process. */
#include "analysis/processes/process_storage.h"

void process_storages_init(struct process_storages *all, struct arena *arena, const struct job *job)
{
	*all = (struct process_storages) { .job = job, .arena = arena };
	device_list_init(&all->devices, job, arena);
}

/* Returns NULL if there are too many devices or no memory. */
static struct kernel_metadata *metadata_of(struct process_storages *all, const struct event *event)
{
	size_t number = device_list_add(&all->devices, event);

	if (number == DEVICE_UNLISTED ||
	    !ARENA_GROW(all->arena, all->metadata, all->metadata_room, number + 1))
		return NULL;
	return &all->metadata[number];
}

static void add_bio(struct process_storages *all, const struct event *event)
{
	bool kernel = !event_value(event, BIO_PID);
	struct process_storage *storage = &all->kernel;
	struct kernel_metadata *metadata = metadata_of(all, event);

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

/* The last row in a trace holds its total. Traces of one host that overlap count partly the same
 * writes. */
static void add_total(struct process_storages *all, const struct event *event)
{
	uint64_t bytes = event_value(event, DEVICE_KERNEL_METADATA);
	struct kernel_metadata *metadata = metadata_of(all, event);

	if (!metadata)
		return;
	if (metadata->known && metadata->trace != event->block->trace) {
		if (device_list_is_later(all->job, metadata->trace, event->block->trace))
			metadata->before = metadata->bytes;
		metadata->min = metadata->bytes;
	}
	metadata->known = true;
	metadata->trace = event->block->trace;
	metadata->bytes = device_list_total(metadata->before, bytes, metadata->min);
}

void process_storages_add(struct process_storages *all, const struct event *event)
{
	if (event->flags & EVENT_BIO) {
		add_bio(all, event);
		return;
	}
	add_total(all, event);
}

struct process_storage process_storage_of(const struct process_storages *all, uint32_t process)
{
	return process < all->room ? all->of[process] : (struct process_storage) { 0 };
}

uint64_t process_storage_kernel_metadata(const struct process_storages *all, uint32_t host,
					 uint64_t device)
{
	size_t number = device_list_find(&all->devices, host, device);

	return number == DEVICE_UNLISTED ? 0 : all->metadata[number].bytes;
}

struct process_storage process_storage_of_kernel(const struct process_storages *all)
{
	struct process_storage storage = all->kernel;

	for (size_t i = 0; i < all->devices.count; i++)
		if (all->metadata[i].used)
			storage.metadata_bytes += all->metadata[i].bytes;
	return storage;
}
