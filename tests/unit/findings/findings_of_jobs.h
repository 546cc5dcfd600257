/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces of devices, phases and incomplete traces. Each triggers one finding or, if `sound`, does
 * not.
 */
#pragma once

#include "finding_cases.h"

/* --- the trace itself --- */

FINDING_CASE("async-not-traced", async_not_traced)
{
	made->operations[M_URING].count = sound ? 0 : 3;
	made->operations[M_URING].submissions = sound ? 0 : 500;
}

/* A worker dies of SIGBUS as it stores to a full tmpfs, or is terminated. */
FINDING_CASE("killed", killed)
{
	add_file(made, 1, 16 * MIB, "/dev/shm/torch_0");
	made_fork(made, 20, 10, 11);
	FAULT(made, .time = 100, .dur = US, .pid = 11, .file = 1, .offset = 3 * MIB,
	      .flags = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED | TRACE_FAULT_UNFINISHED);
	EXIT(made, .time = 200 * US, .pid = 11, .comm = "worker", .code = sound ? 15 : 7);
}

/* The kernel runs out of memory. */
FINDING_CASE("killed", killed_for_memory)
{
	made_fork(made, 20, 10, 11);
	made_frame(made, 30, 1, "/job/worker.py", 7, "load");
	made_stack(made, 30, 1, 0, 1);
	/* Another thread is the last one, and its stack is not known. */
	EXIT(made, .time = 100 * US, .pid = 11, .tid = 12, .thread_only = 1, .comm = "worker",
	     .stack = 1);
	EXIT(made, .time = 200 * US, .pid = 11, .comm = "worker", .code = sound ? 2 : 9);
}

/* A read that has not returned when the recording ends, or one that failed after the same time. */
FINDING_CASE("still-waiting", still_waiting)
{
	add_file(made, 1, MIB, "/data/a");
	CALL(made, .time = 100, .dur = 3000 * MS, .pid = 10, .op = M_PREAD, .file = 1,
	     .asked = 4096, .result = sound ? -5 : -115, .flags = sound ? 0 : TRACE_OP_UNFINISHED);
}

/* Large reads, each in many requests, keep the device busy; or they are served one by one. */
FINDING_CASE("shallow-queue", shallow_queue_of_busy_device)
{
	add_file(made, 1, 4096 * MIB, "/data/a");
	for (uint64_t i = 0; i < 6000; i++) {
		const uint64_t read = 100 + i / 4 * 101 * US;
		const uint64_t at = read + 1 + (sound ? 0 : i % 4 * 24 * US);
		const uint64_t took = sound ? 98 * US : 24 * US;

		if (i % 4 == 0)
			CALL(made, .time = read, .dur = 100 * US, .pid = 10, .op = M_URING_READ,
			     .file = 1, .offset = i * MIB / 4, .asked = MIB, .result = MIB,
			     .flags = TRACE_OP_DIRECT);
		BIO(made, .time = at, .dur = took, .pid = 10, .op = M_REQUEST_READ, .file = 1,
		    .offset = i * MIB / 4, .bytes = MIB / 4, .request = i + 1, .dev = 8 << 20,
		    .flags = TRACE_BLOCK_DIRECT);
		REQUEST(made, .time = at, .dur = took, .pid = 10, .op = M_REQUEST_READ, .file = 1,
			.bytes = MIB / 4, .dev = 8 << 20);
	}
}

/* The same operations, one at a time or eight at once. */
FINDING_CASE("shallow-queue", shallow_queue)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 100 + (sound ? i / 8 : i) * 101 * US, .dur = 100 * US, .pid = 10,
		     .op = M_URING_READ, .file = 1, .offset = i * 4096, .asked = 4096,
		     .result = 4096, .flags = TRACE_OP_DIRECT);
}

static void add_readahead(struct made_trace *made, const char *path, bool used, uint64_t each_ns)
{
	add_file(made, 1, 256 * MIB, path);
	for (uint64_t i = 0; i < 10; i++) {
		const uint64_t at = 100 + i * 10 * MS;

		CALL(made, .time = at, .dur = each_ns + 10 * US, .pid = 10, .op = M_PREAD,
		     .file = 1, .offset = i * 4 * MIB, .asked = 4096, .result = 4096,
		     .fetched = 4 * MIB);
		REQUEST(made, .time = at + 1, .dur = each_ns, .pid = 10, .op = M_REQUEST_READ,
			.file = 1, .id = i + 1, .dev = 8 << 20, .bytes = 4 * MIB);
		BIO(made, .time = at + 1, .dur = each_ns, .pid = 10, .op = M_REQUEST_READ,
		    .file = 1, .offset = i * 4 * MIB, .bytes = 4 * MIB, .request = i + 1,
		    .dev = 8 << 20);
		if (used)
			CALL(made, .time = at + 5 * MS, .dur = US, .pid = 10, .op = M_PREAD,
			     .file = 1, .offset = i * 4 * MIB, .asked = 4 * MIB, .result = 4 * MIB);
	}
}

FINDING_CASE("readahead-unused", readahead_unused)
{
	add_readahead(made, "/data/a", sound, 2 * MS);
}

/* The device reads it in no time. */
FINDING_CASE("readahead-unused", readahead_quick)
{
	add_readahead(made, "/data/a", false, sound ? 90 * US : 2 * MS);
}

/* Most fetched pages were mapped by fault-around, and perhaps used. */
FINDING_CASE("readahead-unused", readahead_mapped)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < 16; i++) {
		const uint64_t at = 100 + i * 10 * MS;

		FAULT(made, .time = at, .dur = 2 * MS, .pid = 10, .file = 1, .offset = i * 4 * MIB,
		      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = 4 * MIB);
		BIO(made, .time = at + 1, .dur = 2 * MS, .pid = 10, .op = M_REQUEST_READ, .file = 1,
		    .offset = i * 4 * MIB, .bytes = 4 * MIB);
		for (uint64_t j = 1; j < 64 && (i < 6 || sound) && i < 13; j++)
			FAULT(made, .time = at + 3 * MS + j * 10 * US, .dur = 2 * US, .pid = 10,
			      .file = 1, .offset = i * 4 * MIB + j * 64 * KIB);
	}
}

/* The dynamic loader's reads cannot be tuned. */
FINDING_CASE("readahead-unused", readahead_of_library)
{
	add_readahead(made, sound ? "/usr/lib/liba.so" : "/data/a.sob", false, 2 * MS);
}

/* Many Python sources are data, unless some are imported from there. */
FINDING_CASE("readahead-unused", readahead_of_sources)
{
	for (uint64_t i = 0; i < 20; i++)
		add_file(made, 2 + i, 20 * KIB, "/data/code/m.py");
	if (sound)
		add_file(made, 30, 20 * KIB, "/data/code/__pycache__/m.cpython-312.pyc");
	add_readahead(made, "/data/code/all.py", false, 2 * MS);
}

/* Faults in random order are a finding that asks for the same change. */
FINDING_CASE("readahead-unused", readahead_of_random)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < 64; i++) {
		const uint64_t at = 100 + i * 10 * MS, offset = (sound ? i * 37 % 64 : i) * 4 * MIB;

		FAULT(made, .time = at, .dur = 5 * MS, .pid = 10, .file = 1, .offset = offset,
		      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = 4 * MIB);
		BIO(made, .time = at + 1, .dur = 4 * MS, .pid = 10, .op = M_REQUEST_READ, .file = 1,
		    .offset = offset, .bytes = 4 * MIB);
	}
}

/* --- devices --- */

/* 4 KiB read requests, one at a time, for each process from 10 on. */
static void add_requests(struct made_trace *made, uint64_t processes, uint64_t count,
			 uint64_t queue_ns, uint64_t service_ns)
{
	const uint64_t each = queue_ns + service_ns;

	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 1; i < processes; i++)
		made_fork(made, 20, 10, 10 + i);
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t pid = 10 + i % processes, at = 100 + i / processes * each;

		BIO(made, .time = at, .dur = each, .queue = queue_ns, .pid = pid,
		    .op = M_REQUEST_READ, .file = 1, .offset = i * 4096, .bytes = 4096,
		    .request = i + 1, .dev = 8 << 20);
		REQUEST(made, .time = at, .dur = each, .queue = queue_ns, .pid = pid,
			.op = M_REQUEST_READ, .file = 1, .bytes = 4096, .dev = 8 << 20);
	}
}

FINDING_CASE("device-errors", device_errors)
{
	REQUEST(made, .time = 100, .dur = MS, .pid = 10, .op = M_REQUEST_WRITE, .bytes = MIB,
		.dev = 8 << 20, .status = sound ? 0 : 10);
}

FINDING_CASE("device-slow", device_slow)
{
	add_requests(made, 1, 60, US, sound ? 5 * MS : 12 * MS);
}

FINDING_CASE("device-slow", device_slow_few)
{
	add_requests(made, 1, 6, US, sound ? 5 * MS : 60 * MS);
}

FINDING_CASE("device-overloaded", device_overloaded)
{
	add_requests(made, 2, 100, sound ? US : 4 * MS, MS);
}

/* Many requests at once, from two waiting processes or one single-threaded operation. */
FINDING_CASE("device-overloaded", device_overloaded_by_one)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	made_fork(made, 20, 10, 11);
	for (uint64_t i = 0; i < 100; i++)
		BIO(made, .time = 100 + i / 10 * 6 * MS + i % 10, .dur = 5 * MS, .queue = 4 * MS,
		    .pid = sound ? 10 : 10 + i % 2, .op = M_REQUEST_READ, .file = 1,
		    .offset = i * 4096, .bytes = 4096, .request = i + 1, .dev = 8 << 20);
	for (uint64_t i = 0; i < 100; i++)
		REQUEST(made, .time = 100 + i / 10 * 6 * MS + i % 10, .dur = 5 * MS,
			.queue = 4 * MS, .pid = 10, .op = M_REQUEST_READ, .file = 1, .bytes = 4096,
			.dev = 8 << 20);
}

/* One thread with ten operations in flight, or one at a time. */
FINDING_CASE("device-overloaded", device_overloaded_async)
{
	device_overloaded_by_one(made, true);
	for (uint64_t i = 0; i < 100; i++)
		CALL(made, .time = 100 + (sound ? i : i / 10) * 6 * MS, .dur = 5 * MS, .pid = 10,
		     .op = M_URING_READ, .file = 1, .offset = i * 4096, .asked = 4096,
		     .result = 4096, .flags = TRACE_OP_DIRECT);
}

FINDING_CASE("requests-small", requests_small)
{
	const uint64_t bytes = sound ? 256 * 1024 : 16 * 1024;

	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < 20; i++) {
		const uint64_t at = 100 + i * 10 * MS;

		CALL(made, .time = at, .dur = 9 * MS, .pid = 10, .op = M_PREAD, .file = 1,
		     .offset = i * MIB, .asked = MIB, .result = MIB, .flags = TRACE_OP_DIRECT);
		for (uint64_t j = 0; j < MIB / bytes; j++)
			BIO(made, .time = at + 1 + j, .dur = 8 * MS, .pid = 10,
			    .op = M_REQUEST_READ, .file = 1, .offset = i * MIB + j * bytes,
			    .bytes = bytes, .request = i * 1000 + j, .dev = 8 << 20,
			    .flags = TRACE_BLOCK_DIRECT);
	}
}

static void flush_each(struct made_trace *made, uint64_t syncs, uint64_t flush_ns)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < syncs; i++)
		CALL(made, .time = 100 + i * 5 * MS, .dur = 4 * MS, .pid = 10, .op = M_FSYNC,
		     .file = 1);
	REQUEST(made, .time = 100, .dur = MS, .pid = 10, .op = M_REQUEST_READ, .bytes = 4096,
		.dev = 8 << 20);
	DEVICE(made, .time = END - 1, .dev = 8 << 20, .name = "sda", .reads = 1, .read_bytes = 4096,
	       .flushes = 60, .flush_ns = flush_ns);
}

FINDING_CASE("flushes", flushes)
{
	flush_each(made, 60, sound ? MS : 200 * MS);
}

/* Other processes sync as well. */
FINDING_CASE("flushes", flushes_of_others)
{
	flush_each(made, sound ? 10 : 30, 200 * MS);
}

/* Two programs started by a shell, concurrently or one after the other. */
FINDING_CASE("device-shared", device_shared)
{
	for (uint64_t i = 0; i < 2; i++) {
		const uint64_t pid = 20 + i, at = 100 + (sound ? i * 200 * MS : i);

		made_fork(made, 20, 10, pid);
		EXEC(made, .time = 30, .pid = pid, .ppid = 10, .comm = "dd", .command = "dd",
		     .rank = -1);
		made_fork(made, 40, pid, pid + 10);
		for (uint64_t j = 0; j < 10; j++)
			REQUEST(made, .time = at + j * 10 * MS, .dur = 9 * MS, .pid = pid + 10,
				.op = M_REQUEST_READ, .bytes = MIB, .dev = 8 << 20);
	}
	DEVICE(made, .time = END - 1, .dev = 8 << 20, .name = "sda", .reads = 20,
	       .read_bytes = 20 * MIB);
}

/* Twenty 1 MiB requests of `each_ns` each, to a device that moved 60 MiB in total. */
static void add_beside_others(struct made_trace *made, unsigned int op, uint64_t each_ns,
			      uint64_t metadata)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < 20; i++) {
		const uint64_t at = 100 + i * 10 * MS;

		BIO(made, .time = at, .dur = each_ns, .pid = 10, .op = op, .file = 1,
		    .offset = i * MIB, .bytes = MIB, .request = i + 1, .dev = 8 << 20,
		    .flags = TRACE_BLOCK_SYNC);
		REQUEST(made, .time = at, .dur = each_ns, .pid = 10, .op = op, .file = 1,
			.bytes = MIB, .dev = 8 << 20);
	}
	DEVICE(made, .time = END - 1, .dev = 8 << 20, .name = "sda", .writes = 40,
	       .write_bytes = 60 * MIB, .kernel_metadata = metadata);
}

/* Traffic that is not the run's belongs to others, or to the journal that its syncs commit. */
FINDING_CASE("device-shared", device_shared_journal)
{
	add_beside_others(made, M_REQUEST_WRITE, 9 * MS, sound ? 40 * MIB : 0);
}

/* Other traffic hardly delays a run that has few requests of its own. */
FINDING_CASE("device-shared", device_shared_little)
{
	add_beside_others(made, M_REQUEST_READ, sound ? MS : 9 * MS, 0);
}

FINDING_CASE("tracer-cost", tracer_cost)
{
	made->operations[M_ANONYMOUS].count = sound ? 1000 : 2000000; /* 300 ms on 2 CPUs */
}

/* --- phases --- */

/* Epochs that read 10 MiB each, with compute between and within them. */
static void add_epochs(struct made_trace *made, uint64_t epochs, uint64_t later_fetched)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t epoch = 0; epoch < epochs; epoch++) {
		uint64_t at = 100 + epoch * 100 * MS;

		SPAN(made, .begin = at, .end = at + 90 * MS, .pid = 10, .id = 1, .name = "epoch");
		CALL(made, .time = at + MS, .dur = 10 * MS, .pid = 10, .op = M_READ, .file = 1,
		     .asked = 10 * MIB, .result = 10 * MIB,
		     .fetched = epoch ? later_fetched : 10 * MIB);
	}
}

FINDING_CASE("epoch-from-storage", epoch_from_storage)
{
	add_epochs(made, 2, sound ? 2 * MIB : 10 * MIB);
}

FINDING_CASE("epoch-from-memory", epoch_from_memory)
{
	add_epochs(made, 2, sound ? 2 * MIB : 0);
}

/* The last epoch has only begun: it shows nothing. */
static void add_cut_epoch(struct made_trace *made, uint64_t later_fetched)
{
	add_epochs(made, 3, later_fetched);
	SPAN(made, .begin = 400 * MS, .end = 401 * MS, .pid = 10, .id = 1, .name = "epoch");
}

FINDING_CASE("epoch-from-storage", epoch_from_storage_cut)
{
	add_cut_epoch(made, sound ? 2 * MIB : 10 * MIB);
}

/* The bytes of a cut-off epoch do not count toward the average of the others. */
FINDING_CASE("epoch-from-storage", epoch_from_storage_cut_reading)
{
	add_cut_epoch(made, sound ? 4 * MIB : 5 * MIB);
	CALL(made, .time = 400 * MS + MS / 4, .dur = MS / 2, .pid = 10, .op = M_READ, .file = 1,
	     .asked = 3 * MIB, .result = 3 * MIB, .fetched = 3 * MIB);
}

/* It has only begun, or reads what is in memory. */
FINDING_CASE("epoch-from-memory", epoch_from_memory_second_cut)
{
	add_epochs(made, sound ? 1 : 2, 0);
	if (sound)
		SPAN(made, .begin = 200 * MS, .end = 201 * MS, .pid = 10, .id = 1, .name = "epoch");
}

FINDING_CASE("epoch-from-memory", epoch_from_memory_cut)
{
	add_cut_epoch(made, sound ? 10 * MIB : 0);
}

FINDING_CASE("sync-checkpoint", sync_checkpoint)
{
	SPAN(made, .begin = 100, .end = 100 * MS, .pid = 10, .id = 1, .name = "save",
	     .category = "checkpoint");
	SPAN(made, .begin = sound ? 200 : 100 * MS, .end = 200 * MS, .pid = 10, .tid = 11, .id = 2,
	     .name = "step", .category = "compute");
}

/*
 * A quarter of the run waits for data, with I/O for all or none of that time; or no waiting. I/O at
 * other times, for example at program start, must not count.
 */
static void add_loader(struct made_trace *made, bool waits, bool reads)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = 100 + i * 50 * MS;

		SPAN(made, .begin = at, .end = at + (waits ? 25 * MS : US), .pid = 10, .id = 1,
		     .name = "fetch", .category = "data");
		SPAN(made, .begin = at + 25 * MS, .end = at + 49 * MS, .pid = 10, .id = 2,
		     .name = "step", .category = "compute");
		SPAN(made, .begin = at + MS, .end = at + 2 * MS, .pid = 20, .id = 3, .name = "item",
		     .category = "data");
		if (reads)
			CALL(made, .time = at, .dur = 25 * MS, .pid = 20, .op = M_READ, .file = 1,
			     .asked = MIB, .result = MIB);
	}
	CALL(made, .time = 550 * MS, .dur = 400 * MS, .pid = 10, .op = M_READ, .file = 1,
	     .asked = MIB, .result = MIB);
	made_fork(made, 50, 10, 20);
}

FINDING_CASE("loader-io", loader_io)
{
	add_loader(made, true, !sound);
}

FINDING_CASE("loader-preprocessing", loader_preprocessing)
{
	add_loader(made, true, sound);
}

FINDING_CASE("loader-idle", loader_idle)
{
	add_loader(made, sound, false);
}

/* Four workers that the loop waits for, with as many spans each; nested spans are part of the outer
 * one.
 */
FINDING_CASE("worker-slow", worker_slow)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = 100 + i * 100 * MS;

		SPAN(made, .begin = at, .end = at + 50 * MS, .pid = 10, .id = 1, .name = "fetch",
		     .category = "data");
		SPAN(made, .begin = at + 50 * MS, .end = at + 99 * MS, .pid = 10, .id = 2,
		     .name = "step", .category = "compute");
		CALL(made, .time = at + MS, .dur = 5 * MS, .pid = 22, .op = M_READ, .file = 1,
		     .asked = MIB, .result = MIB);
		for (uint64_t worker = 0; worker < 4; worker++) {
			uint64_t busy = worker == 2 && !sound ? 40 * MS : 10 * MS;

			SPAN(made, .begin = at + MS, .end = at + MS + busy, .pid = 20 + worker,
			     .id = 3, .name = "batch", .category = "data");
			SPAN(made, .begin = at + 2 * MS, .end = at + 3 * MS, .pid = 20 + worker,
			     .id = 4, .name = "item", .category = "data");
		}
	}
	for (uint64_t worker = 0; worker < 4; worker++)
		made_fork(made, 50, 10, 20 + worker);
}

FINDING_CASE("accelerator-idle", accelerator_idle)
{
	for (uint64_t i = 0; i < 10; i++)
		SPAN(made, .begin = 100 + i * 100 * MS,
		     .end = 100 + (i * 100 + (sound ? 95 : 60)) * MS, .pid = 10, .id = 1,
		     .name = "step", .category = "compute");
}

FINDING_CASE("straggler", straggler)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t rank = 0; rank < 3; rank++) {
		EXEC(made, .time = 20, .pid = 30 + rank, .comm = "r", .command = "r", .rank = rank);
		SPAN(made, .begin = 100, .end = 200, .pid = 30 + rank, .id = 1, .name = "step");
		CALL(made, .time = 300, .dur = rank == 1 && !sound ? 100 * MS : 10 * MS,
		     .pid = 30 + rank, .op = M_READ, .file = 1, .asked = MIB, .result = MIB);
	}
}

/* No rank marks spans. Rank 2 always takes longer; sound: for as many bytes as the others. */
FINDING_CASE("ranks-uneven", ranks_uneven)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t rank = 0; rank < 4; rank++) {
		const uint64_t times = rank == 2 && !sound ? 8 : 1;

		EXEC(made, .time = 20, .pid = 30 + rank, .comm = "r", .command = "r", .rank = rank);
		CALL(made, .time = 300, .dur = rank == 2 ? 100 * MS : 10 * MS, .pid = 30 + rank,
		     .op = M_READ, .file = 1, .asked = times * MIB, .result = times * MIB);
	}
}

/* One rank takes longer for the same bytes; sound: because it fetches them for all. */
FINDING_CASE("rank-slow", rank_slow)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t rank = 0; rank < 4; rank++) {
		EXEC(made, .time = 20, .pid = 30 + rank, .comm = "r", .command = "r", .rank = rank);
		CALL(made, .time = 300, .dur = rank == 2 ? 300 * MS : 10 * MS, .pid = 30 + rank,
		     .op = M_READ, .file = 1, .asked = MIB, .result = MIB,
		     .fetched = rank == 2 || !sound ? MIB : 0);
	}
}

/* The same through mappings: each rank with its own file, or all with the same. */
FINDING_CASE("ranks-uneven", ranks_uneven_mapped)
{
	for (uint64_t rank = 0; rank < 4; rank++) {
		const uint64_t faults = rank == 2 ? 80 : 10;

		add_file(made, 1 + rank, 64 * MIB, "/data/shard");
		EXEC(made, .time = 20, .pid = 30 + rank, .comm = "r", .command = "r", .rank = rank);
		for (uint64_t i = 0; i < faults; i++)
			FAULT(made, .time = 300 + i * MS, .dur = MS, .pid = 30 + rank,
			      .file = sound ? 1 : 1 + rank, .offset = i * 512 * KIB,
			      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP,
			      .fetched = 512 * KIB);
	}
}
