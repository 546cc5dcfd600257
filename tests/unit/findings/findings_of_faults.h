/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Traces of page faults. Each triggers one finding or, if `sound`, does not. */
#pragma once

#include "finding_cases.h"

FINDING_CASE("mmap-in-order", mmap_in_order)
{
	add_file(made, 1, 64 * MIB, sound ? "/usr/lib/libbig.so" : "/data/model.safetensors");
	for (uint64_t i = 0; i < 16; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = i * 4 * MIB, .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP,
		      .fetched = 4 * MIB);
}

/* A column of a matrix stored by rows, or the whole matrix. */
FINDING_CASE("mmap-strided", mmap_strided)
{
	add_file(made, 1, 64 * MIB, "/data/matrix");
	for (uint64_t i = 0; i < 64; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = i * MIB + (sound ? 0 : 8192),
		      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
}

/* Each copy of a part runs backward; or it is a column, although in the last row first. */
FINDING_CASE("mmap-in-order", mmap_in_order_backward)
{
	add_file(made, 1, 64 * MIB, "/data/model.safetensors");
	for (uint64_t i = 0; i < 1024; i++)
		FAULT(made, .time = 100 + i * 200 * US, .dur = 100 * US, .pid = 10, .file = 1,
		      .offset = i / 16 * MIB + (15 - i % 16) * 64 * KIB + (sound ? 32 : 60) * KIB,
		      .flags = i % 16 ? 0 : TRACE_FAULT_MAJOR, .fetched = i % 16 ? 0 : MIB);
}

/* Cached data, or data that readahead brings from storage during these faults. */
FINDING_CASE("mmap-minor-faults", mmap_minor_ahead)
{
	add_file(made, 1, 1024 * MIB, "/data/model.safetensors");
	for (uint64_t i = 0; i < 16384; i++)
		FAULT(made, .time = 100 + i * 3 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i * 40503 % 16384 * 64 * KIB, .fetched = sound ? 64 * KIB : 0);
}

/* Readahead that keeps up causes no waits. */
FINDING_CASE("mmap-in-order", mmap_in_order_fast)
{
	add_file(made, 1, 64 * MIB, "/data/model.safetensors");
	for (uint64_t i = 0; i < 16; i++)
		FAULT(made, .time = 100 + i * 10 * MS, .dur = sound ? 200 * US : 2 * MS, .pid = 10,
		      .file = 1, .offset = i * 4 * MIB, .fetched = 4 * MIB);
}

/* Refetching evicted data is a different problem from access order. */
FINDING_CASE("mmap-in-order", mmap_in_order_again)
{
	add_file(made, 1, 64 * MIB, "/data/model.safetensors");
	for (uint64_t i = 0; i < (sound ? 48 : 16); i++)
		FAULT(made, .time = 100 + i * 10 * MS, .dur = 2 * MS, .pid = 10, .file = 1,
		      .offset = i % 16 * 4 * MIB, .fetched = 4 * MIB);
}

/* A file of nothing but holes fetches nothing, whatever else the device reads at the time. */
FINDING_CASE("mmap-in-order", mmap_in_order_holes)
{
	add_sparse(made, 0);
	add_file(made, 2, 64 * MIB, "/data/b");
	REQUEST(made, .time = 100, .dur = 20 * MS, .queue = US, .pid = 10, .op = M_REQUEST_READ,
		.file = 2, .id = 1, .dev = 8 << 20, .bytes = 32 * MIB);
	BIO(made, .time = 100, .dur = 20 * MS, .queue = US, .pid = 10, .op = M_REQUEST_READ,
	    .file = sound ? 2 : 1, .request = 1, .dev = 8 << 20, .bytes = 32 * MIB);
	for (uint64_t i = 0; i < 16; i++)
		FAULT(made, .time = 100 + i * 10 * MS, .dur = 2 * MS, .pid = 10, .file = 1,
		      .offset = i * 2 * MIB, .flags = TRACE_FAULT_MAJOR, .fetched = 2 * MIB);
}

/* Each tensor's copy begins at its end; loaded by one thread or by several. */
FINDING_CASE("mmap-in-order", mmap_in_order_copied)
{
	static const uint64_t order[] = { 3, 0, 1, 2 };

	add_file(made, 1, 64 * MIB, "/data/model.safetensors");
	for (uint64_t i = 0; i < 16; i++)
		for (uint64_t j = 0; j < 4; j++)
			FAULT(made, .time = 100 + (i * 4 + j) * 2 * MS, .dur = MS, .pid = 10,
			      .tid = sound ? 10 + i % 4 : 10, .file = 1,
			      .offset = ((sound ? i % 4 * 4 + i / 4 : i) * 4 + order[j]) * MIB,
			      .flags = TRACE_FAULT_MAJOR, .fetched = MIB);
}

/* Faults that need most of what readahead brings: page by page they would take as long. */
FINDING_CASE("mmap-random", mmap_random_of_all)
{
	add_file(made, 1, 64 * MIB, "/data/tokens.bin");
	for (uint64_t i = 0; i < 1000; i++)
		FAULT(made, .time = 100 + i * 500 * US,
		      .dur = i % 20  ? US
			     : sound ? MS
				     : 4 * MS,
		      .pid = 10, .file = 1, .offset = i * 40503 % 1024 * 64 * KIB,
		      .flags = TRACE_FAULT_FILEMAP | (i % 20 ? 0 : TRACE_FAULT_MAJOR),
		      .fetched = i % 20 ? 0 : MIB);
}

/* The same in two threads, which wait for their pages at the same time: half of it is saved. */
FINDING_CASE("mmap-random", mmap_random_of_two)
{
	add_file(made, 1, 64 * MIB, "/data/tokens.bin");
	for (uint64_t i = 0; i < 1000; i++)
		FAULT(made, .time = 100 + i / 2 * 2 * MS, .dur = sound ? 80 * US : 160 * US,
		      .pid = 10, .tid = 10 + i % 2, .file = 1,
		      .offset = i / 2 * 40503 % 1024 * 64 * KIB,
		      .flags = TRACE_FAULT_FILEMAP | TRACE_FAULT_MAJOR, .fetched = MIB);
}

/* Single pages take a tenth of the time of a fault; sound: half of it, and an access takes two. */
FINDING_CASE("mmap-random", mmap_random_slow_pages)
{
	add_file(made, 1, 64 * MIB, "/data/tokens.bin");
	for (uint64_t i = 0; i < 40; i++)
		REQUEST(made, .time = 100 + i * 5 * MS, .dur = (sound ? 4000 : 800) * US, .pid = 10,
			.op = M_REQUEST_READ, .id = i + 1, .dev = 8 << 20, .bytes = 4 * KIB);
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t offset = i * 40503 % 1024 * 64 * KIB;

		FAULT(made, .time = 100 + i * 9 * MS, .dur = 8 * MS, .pid = 10, .file = 1,
		      .offset = offset, .flags = TRACE_FAULT_FILEMAP | TRACE_FAULT_MAJOR,
		      .fetched = 128 * KIB);
		if (sound && i % 14 == 0)
			FAULT(made, .time = 101 + i * 9 * MS + 8 * MS, .dur = US, .pid = 10,
			      .file = 1, .offset = offset + 8 * KIB, .flags = TRACE_FAULT_FILEMAP);
	}
}

/* Several threads read a mapping: at random, or each its own part sequentially. */
FINDING_CASE("mmap-random", mmap_random_threads)
{
	add_file(made, 1, 256 * MIB, "/data/tokens.bin");
	for (uint64_t i = 0; i < 120; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .tid = 10 + i % 4,
		      .file = 1,
		      .offset = sound ? (i % 4 * 64 + i / 4) * MIB : i * 40503 % 256 * MIB,
		      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
}

FINDING_CASE("mmap-single", mmap_single)
{
	add_file(made, 1, 64 * MIB, "/data/data.mdb");
	for (uint64_t i = 0; i < 1000; i++)
		FAULT(made, .time = 100 + i * 200 * US, .dur = 100 * US, .pid = 10, .file = 1,
		      .offset = i * 40503 % 16384 * 4096,
		      .flags = sound ? 0 : TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP,
		      .fetched = sound ? 0 : 8 * KIB);
}

FINDING_CASE("mmap-minor-faults", mmap_minor)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < (sound ? 2000 : 20000); i++)
		FAULT(made, .time = 100 + i * 3 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i % 16384 * 4096);
}

/* Each page faults: sequential faults from storage are not a storm of minor faults. */
FINDING_CASE("mmap-minor-faults", mmap_minor_read)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 16384; i++)
		FAULT(made, .time = 100 + i * 3 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i * 4096, .fetched = sound && i % 256 == 0 ? MIB : 0,
		      .flags = sound && i % 256 == 0 ? TRACE_FAULT_MAJOR : 0);
}

/* Major faults that no file explains, or that one does. */
FINDING_CASE("swapped", swapped)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 5000 && sound; i++)
		FAULT(made, .time = 100 + i * 3 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i * 4096, .flags = TRACE_FAULT_MAJOR, .fetched = 4096);
	made->operations[M_ANONYMOUS].count = 20000;
	made->operations[M_ANONYMOUS].thread_time_ns = 300 * MS;
	made->operations[M_ANONYMOUS].major_faults = sound ? 0 : 5000;
	EXIT(made, .time = END - 2, .pid = 10, .major = 5000, .comm = "a");
}

/* A call that maps and populates a large range, or a few pages. */
FINDING_CASE("mmap-bound", mmap_bound)
{
	add_file(made, 1, 256 * MIB, "/data/a.gguf");
	CALL(made, .time = 100, .dur = (sound ? 50 : 300) * MS, .pid = 10, .op = M_MMAP, .file = 1,
	     .fetched = 256 * MIB);
}

/* Loading code counts as startup. */
FINDING_CASE("mmap-bound", mmap_bound_data)
{
	add_file(made, 1, 8 * MIB, sound ? "/usr/lib/liba.so" : "/data/a");
	FAULT(made, .time = 200 * MS, .dur = 200 * MS, .pid = 10, .file = 1,
	      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
}
