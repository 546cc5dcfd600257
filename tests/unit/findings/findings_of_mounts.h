/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Traces of mounts with servers. Each triggers one finding or, if `sound`, does not. */
#pragma once

#include "finding_cases.h"

/* Reads of one file on a mount, in order or not. */
static void add_mount_reads(struct made_trace *made, uint64_t count, uint64_t bytes, uint64_t step)
{
	for (uint64_t i = 0; i < count; i++)
		REMOTE(made, .time = 100 + i * MS / 2, .dur = MS / 4, .queue = -1, .pid = 10,
		       .op = M_FUSE_READ, .node = 2, .dev = 44, .offset = i * step, .bytes = bytes);
}

FINDING_CASE("mount-small-reads", mount_small_reads)
{
	add_mount_reads(made, 1200, sound ? 128 * KIB : 4 * KIB, sound ? 128 * KIB : 4 * KIB);
}

FINDING_CASE("mount-small-reads", mount_small_reads_in_order)
{
	add_mount_reads(made, 1200, 4 * KIB, sound ? 8 * KIB : 4 * KIB);
}

/* Lookups take longer than reads, or as many take less. */
FINDING_CASE("mount-metadata", mount_metadata)
{
	add_mount_reads(made, 100, 128 * KIB, 128 * KIB);
	for (uint64_t i = 0; i < 1200; i++)
		REMOTE(made, .time = 300 + i * MS / 2, .dur = sound ? 10 * US : MS / 4, .queue = -1,
		       .pid = 10, .op = i % 3 ? M_FUSE_LOOKUP : M_FUSE_GETATTR, .node = 1,
		       .dev = 44, .offset = -1);
}

/* One of 20 reads is sent again, or one of 300 without anyone's waiting for long. */
FINDING_CASE("mount-retransmits", mount_retransmits)
{
	for (uint64_t i = 0; i < 300; i++) {
		const bool again = i % (sound ? 300 : 20) == 0;

		REMOTE(made, .time = 100 + i * MS, .dur = MS / 2, .queue = again ? MS / 3 : 0,
		       .rtt = MS / 8, .retransmits = again, .pid = 10, .op = M_NFS_READ, .node = 2,
		       .dev = 44, .offset = i * 128 * KIB, .bytes = 128 * KIB);
	}
}

/* A single one, for which a thread waits long, or that is written back. */
FINDING_CASE("mount-retransmits", mount_retransmits_once)
{
	for (uint64_t i = 0; i < 300; i++)
		REMOTE(made, .time = 100 + i * MS, .dur = i ? MS / 2 : 200 * MS,
		       .queue = i ? 0 : 199 * MS, .rtt = MS / 8, .retransmits = !i, .pid = 10,
		       .op = M_NFS_WRITE, .node = 2, .dev = 44, .offset = i * 128 * KIB,
		       .bytes = 128 * KIB, .flags = sound ? TRACE_REMOTE_BACKGROUND : 0);
}

/* NFS reads in order, of as much as readahead allows, or more. */
FINDING_CASE("mount-readahead", mount_readahead)
{
	FILE_ROW(made, .time = 10, .id = 1, .dev = 44, .ino = 2, .path = "/mnt/a",
		 .readahead = 128 * KIB);
	for (uint64_t i = 0; i < 200; i++) {
		REMOTE(made, .time = 100 + i * 4 * MS, .dur = 4 * MS, .rtt = 4 * MS, .pid = 10,
		       .op = M_NFS_READ, .file = 1, .node = 2, .dev = 44, .offset = i * 128 * KIB,
		       .bytes = 128 * KIB, .asked = sound ? MIB : 128 * KIB);
		if (i < 30)
			REMOTE(made, .time = 200 + i * 4 * MS, .dur = 3 * MS, .rtt = 3 * MS,
			       .pid = 10, .op = M_NFS_ACCESS, .node = 2, .dev = 44, .offset = -1);
	}
}

/* Two processes wait for a daemon that serves one request at a time, or for a slow one. */
static void add_served_reads(struct made_trace *made, uint64_t queue_ns, uint64_t service_ns)
{
	const uint64_t dur = queue_ns + service_ns;

	made_fork(made, 20, 10, 11);
	add_file(made, 1, 64 * MIB, "/mnt/a");
	for (uint64_t i = 0; i < 60; i++) {
		const uint64_t time = 100 + i / 2 * (dur + US);

		CALL(made, .time = time - 1, .dur = dur + 2, .pid = 10 + i % 2, .op = M_PREAD,
		     .file = 1, .offset = i / 2 * 128 * KIB, .asked = 128 * KIB,
		     .result = 128 * KIB, .flags = TRACE_OP_DIRECT);
		REMOTE(made, .time = time, .dur = dur, .queue = queue_ns, .pid = 10 + i % 2,
		       .op = M_FUSE_READ, .file = 1, .node = 2 + i % 2, .dev = 44,
		       .offset = i / 2 * 128 * KIB, .bytes = 128 * KIB);
	}
}

FINDING_CASE("device-overloaded", device_overloaded_daemon)
{
	add_served_reads(made, sound ? 0 : 4 * MS, sound ? 8 * MS : 4 * MS);
}

/* Requests that wait for a reply are in no queue; others are. */
FINDING_CASE("device-overloaded", device_overloaded_or_resent)
{
	made_fork(made, 20, 10, 11);
	for (uint64_t i = 0; i < 100; i++)
		REMOTE(made, .time = 100 + i / 2 * 6 * MS, .dur = 5 * MS, .queue = 4 * MS,
		       .rtt = MS / 2, .retransmits = sound, .pid = 10 + i % 2, .op = M_NFS_READ,
		       .node = 2, .dev = 44, .offset = i * 4096, .bytes = 4096);
}
