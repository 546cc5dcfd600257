/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Block I/O by the process that queued it, and by kernel threads. */
#pragma once

#include "analysis/events/device_list.h"

/* Bytes of requests, by the thread that queued them. */
struct process_storage {
	uint64_t read_bytes, write_bytes; /* file data and direct device access */
	uint64_t metadata_bytes;	  /* filesystem metadata, read and written */
};

/* Metadata that kernel threads wrote to a device of a host, for any process. */
struct kernel_metadata {
	bool used;	/* by the run */
	bool known;	/* `bytes` is, from `trace` and earlier ones */
	uint32_t trace; /* that the latest total comes from */
	uint64_t bytes;
	uint64_t before; /* from traces that ended before `trace` */
	uint64_t min;	 /* from all other traces */
};

struct process_storages {
	const struct job *job;
	struct arena *arena;
	struct process_storage *of; /* by process */
	size_t room;
	struct process_storage kernel; /* queued by kernel threads for files of the run */
	struct device_list devices;
	struct kernel_metadata *metadata; /* by number in `devices` */
	size_t metadata_room;
};

/* Columns that events must have. */
#define PROCESS_STORAGE_BIO (1ull << BIO_PID | DEVICE_OF_BIO | 1ull << BIO_FLAGS)
#define PROCESS_STORAGE_DEVICE (DEVICE_OF_DEVICE | 1ull << DEVICE_KERNEL_METADATA)

void process_storages_init(struct process_storages *all, struct arena *arena,
			   const struct job *job);
/* For EVENT_BIO and EVENT_DEVICE. Errors are left in the arena. */
void process_storages_add(struct process_storages *all, const struct event *event);
/* Returns zeros for a process that queued nothing. */
struct process_storage process_storage_of(const struct process_storages *all, uint32_t process);
/* Returns the bytes of metadata that kernel threads wrote to a device, for any process. */
uint64_t process_storage_kernel_metadata(const struct process_storages *all, uint32_t host,
					 uint64_t device);
/* Returns the kernel's own I/O, including metadata written by its threads. */
struct process_storage process_storage_of_kernel(const struct process_storages *all);
