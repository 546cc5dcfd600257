/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * All thresholds of findings in one list, each with its source.
 */
#ifndef FAULTLINE_FINDING_THRESHOLD_H
#define FAULTLINE_FINDING_THRESHOLD_H

#include "analysis/table/table.h"

/* X(name, value, unit, meaning, source); shares are fractions of 1, times in ns. */
#define THRESHOLDS(X)                                                                              \
	X(SEVERITY_HIGH, 0.10, UNIT_SHARE, "share of the run above which a finding is high",       \
	  "a choice; Drishti calls 10% of requests critical")                                      \
	X(SEVERITY_MEDIUM, 0.02, UNIT_SHARE, "share of the run above which a finding is medium",   \
	  "a choice: less is within the variation of most runs")                                   \
	X(COST_MIN, 0.002, UNIT_SHARE, "share of the run below which no finding is reported",    \
	  "a choice: 0.2% of a run is no reason to change a program")                              \
	X(TIME_DECIDES, 0.05, UNIT_SHARE,                                                          \
	  "share of the run above which a few occurrences suffice",                                \
	  "a choice: half of what makes a finding high")                                           \
	X(ORDER, 4, UNIT_COUNT, "accesses of a file for their order to count, at least",           \
	  "a choice: one backward access in three is chance")                                      \
	X(FEW, 0.05, UNIT_SHARE, "share of occurrences that counts as a few",                      \
	  "a choice: one in twenty")                                                               \
	X(FEW_MAX, 10, UNIT_COUNT, "number of occurrences that always suffices",                  \
	  "a choice: ten occurrences are no accident")                                             \
	X(SAME_WAIT, 0.5, UNIT_SHARE,                                                              \
	  "part of a finding's time that another covers for both to be the same wait",             \
	  "a choice: most of it")                                                                  \
	X(BYTES_MEDIUM, 0.5, UNIT_SHARE,                                                           \
	  "share of bytes from storage above which a finding without a time is medium",            \
	  "a choice: half of the traffic")                                                         \
	X(LOSS_HIGH, 0.10, UNIT_SHARE, "share of lost events above which the loss is high",        \
	  "a choice: beyond it the tables mislead")                                                \
	X(STILL_WAITING, 1e9, UNIT_NS, "time in flight of a call that has not returned, at least", \
	  "a choice: even slow storage responds within it")                                        \
	X(MMAP_RANDOM_SHARE, 0.20, UNIT_SHARE,                                                     \
	  "share of faults over 1 MiB before the thread's last one, at least",                     \
	  "Drishti: random_operations 0.2; uniform access has 0.5")                                \
	X(MMAP_RANDOM_MAJOR, 16, UNIT_COUNT, "major faults of a file, at least",                   \
	  "a choice: program startup causes fewer")                                                \
	X(MMAP_RANDOM_BYTES, 16777216, UNIT_BYTES, "or bytes they read from storage, at least",    \
	  "a choice: two readahead windows of 8 MiB")                                              \
	X(MMAP_RANDOM_BYTES_EACH, 65536, UNIT_BYTES,                                               \
	  "bytes from storage per major fault: more is random, less is page by page",              \
	  "16 pages, which one fault maps if they are cached (fault_around_bytes)")                \
	X(MMAP_ORDER_BACKWARD, 0.05, UNIT_SHARE, "share of backward faults if in order, at most",  \
	  "a choice: readahead and threads cause some")                                            \
	X(MMAP_WHOLE, 0.5, UNIT_SHARE, "part of the file read through the mapping, at least",      \
	  "a choice: half of the file is most of a load")                                          \
	X(MMAP_ORDER_BANDWIDTH, 8589934592, UNIT_BYTES,                                            \
	  "bytes per second of waiting for the wait to matter, at most",                           \
	  "about what one CPU copies in memory: above it, readahead kept up")                      \
	X(MMAP_SCAN, 0.5, UNIT_SHARE, "share of faults where a scan would fault, at least",        \
	  "a choice: most of them; strided access has 1/16 or none")                               \
	X(MMAP_MINOR_FAULTS, 10000, UNIT_COUNT, "minor faults on data, at least",                  \
	  "measured: 0.9 to 1.4 us each, over 10 ms in total")                                     \
	X(MMAP_STORED, 0.5, UNIT_SHARE, "share of faults that dirtied a page, at least",           \
	  "a choice: most of them")                                                                \
	X(SMALL_WRITES_OF_FILE, 4, UNIT_COUNT,                                                     \
	  "small writes per file for the files themselves to be small, at most",                   \
	  "a choice: a header, data and a trailer")                                                \
	X(MMAP_COPIED, 0.5, UNIT_SHARE, "share of faults that copied a page, at least",            \
	  "a choice: most of them")                                                                \
	X(SWAPPED_FAULTS, 1000, UNIT_COUNT, "major faults on memory without a file, at least",     \
	  "a choice: fewer are pages unused for long")                                             \
	X(SWAPPED_SHARE, 0.01, UNIT_SHARE, "their share of all faults on such memory, at least",   \
	  "measured: one in ten for a job with half the memory it needs")                          \
	X(LARGE_FILE, 16777216, UNIT_BYTES, "size of a large file, at least",                      \
	  "a choice: more than common readahead windows (128 KiB to 8 MiB)")                       \
	X(RANDOM_SHARE, 0.20, UNIT_SHARE, "share of backward accesses to be random, at least",     \
	  "Drishti: random_operations 0.2; uniform access has 0.5")                                \
	X(RANDOM_READS, 100, UNIT_COUNT, "reads or major faults of a file, at least",              \
	  "a choice: reading headers needs fewer")                                                 \
	X(FROM_STORAGE_SHARE, 0.5, UNIT_SHARE, "share of the bytes read from storage, at least",   \
	  "a choice: below it the page cache served most reads")                                   \
	X(FROM_MEMORY_SHARE, 0.1, UNIT_SHARE, "share of the bytes read from storage, at most",     \
	  "a choice: a tenth, as for Drishti's small requests")                                    \
	X(HOLES, 0.1, UNIT_SHARE,                                                                  \
	  "share of a file's fetched bytes read by devices, below which it has holes",             \
	  "a choice: the same share as for reads from memory")                                     \
	X(SMALL_READ, 65536, UNIT_BYTES, "average size of a read from storage, at most",           \
	  "a choice: half of the kernel's default readahead of 128 KiB")                           \
	X(SMALL_CACHED_READ, 16384, UNIT_BYTES, "average size of a read from memory, at most",     \
	  "measured: a call costs as much as copying 4 KiB; at 16 KiB, a fifth")                   \
	X(SMALL_READS_OF_FILE, 10, UNIT_COUNT,                                                     \
	  "small reads of a file from memory per open, at least",                                  \
	  "a choice: fewer read a small file as a whole")                                          \
	X(SMALL_REQUESTS, 1000, UNIT_COUNT, "small requests, at least",                            \
	  "Drishti: small_requests_absolute 1000")                                                 \
	X(PARTIAL_WRITES, 100, UNIT_COUNT, "writes that first read from storage, at least",        \
	  "a choice: appending to files causes a few")                                             \
	X(AGAIN, 1.5, UNIT_NONE, "multiple of the file's size to be read again, at least",         \
	  "a choice: 1.5, so that headers read twice do not count")                                \
	X(BY_EACH, 0.75, UNIT_SHARE,                                                               \
	  "part of the file's size that each reader reads on average, at least",                   \
	  "a choice: some are still reading at the end of the run, or skip a header")              \
	X(HELD_BACK, 0.5, UNIT_SHARE,                                                              \
	  "share of a file's read time before the device gets the request, at least",              \
	  "a choice: most of it")                                                                  \
	X(LOAD_BYTES, 67108864, UNIT_BYTES, "bytes read in large pieces, at least",                \
	  "a choice: tens of ms on fast flash, as long as a program's startup")                    \
	X(LOAD_SHARE, 0.05, UNIT_SHARE, "share of the run reading outside compute, at least",      \
	  "a choice: as for writes")                                                               \
	X(LOADED_BYTES, 16777216, UNIT_BYTES, "bytes of programs read from storage, at least",     \
	  "a choice: as for a large file; the C library and a shell have a few MiB")               \
	X(LOADED_NS, 100000000, UNIT_NS, "or time that it takes, at least",                        \
	  "a choice: 0.1 s is noticeable")                                                         \
	X(LOADED_OF_RUN, 0.05, UNIT_SHARE, "share of the run that this time takes, at least",      \
	  "a choice: half of what makes a finding high")                                           \
	X(STARTS, 3, UNIT_COUNT, "starts of a program by one process, at least",                   \
	  "a choice: two may be coincidence")                                                      \
	X(SMALL_FILE, 262144, UNIT_BYTES, "size of a small file, at most",                         \
	  "a choice: two of the kernel's default readahead windows")                               \
	X(SMALL_FILES, 500, UNIT_COUNT, "small files, at least", "a choice: fewer are no dataset") \
	X(OPENS_OF_FILE, 10, UNIT_COUNT, "opens of one file, at least",                            \
	  "a choice: more than a usual loader's workers")                                          \
	X(OPENS, 500, UNIT_COUNT, "opens of such files, at least", "a choice: one per sample")     \
	X(LISTING, 0.5, UNIT_SHARE, "share of listing in a directory's metadata time, at least",   \
	  "a choice: most of it")                                                                  \
	X(LISTED_AGAIN, 8, UNIT_COUNT, "opens of a listed directory, at least",                    \
	  "a choice: each worker of a usual loader may list it once")                              \
	X(METADATA_SHARE, 0.5, UNIT_SHARE, "share of metadata in call time, at least",             \
	  "metadata takes more time than data")                                                    \
	X(METADATA_CALLS, 1000, UNIT_COUNT, "metadata calls, at least",                            \
	  "a choice: program startup makes some hundreds")                                         \
	X(METADATA_OF_RUN, 0.02, UNIT_SHARE, "share of the run that they take, at least",          \
	  "a choice: importing Python modules takes about 1%")                                     \
	X(COLD_NAMES, 10, UNIT_COUNT, "metadata calls that wait for requests, at least",           \
	  "a choice: their time matters more")                                                     \
	X(FAILED_LOOKUPS, 1000, UNIT_COUNT, "failed lookups, at least",                            \
	  "a choice: Python's startup makes some hundreds")                                        \
	X(FSYNCS, 50, UNIT_COUNT, "consecutive syncs, at least",                                   \
	  "a choice: more than the files of a checkpoint")                                         \
	X(FSYNCS_WAITED, 4, UNIT_COUNT, "syncs that the run waits for, at least",                  \
	  "a choice: one or two finish writing a file and its directory")                          \
	X(FSYNC_SHARE, 0.05, UNIT_SHARE, "share of the run that they take unhidden, at least",     \
	  "a choice: half of what makes a finding high")                                           \
	X(SAVE_BYTES, 16777216, UNIT_BYTES, "bytes written in one go, at least",                   \
	  "a choice: as for a large file")                                                         \
	X(SAVE_ROW, 1048576, UNIT_BYTES,                                                           \
	  "bytes written to a file before switching to another, at least",                         \
	  "a choice: less looks like copying many small files")                                    \
	X(SAVE_BESIDE, 0.25, UNIT_NONE,                                                            \
	  "time without I/O divided by the time spent saving, at least",                           \
	  "a choice: a copy program does almost nothing else")                                     \
	X(SAVE_SHARE, 0.05, UNIT_SHARE, "share of the run writing outside compute, at least",      \
	  "a choice: as for syncs that are waited for")                                            \
	X(SYNC_WRITES, 100, UNIT_COUNT, "writes with O_SYNC, at least",                            \
	  "a choice: a job's log has fewer")                                                       \
	X(SHARED_WRITES, 10, UNIT_COUNT, "writes that wait for another to the file, at least",     \
	  "a choice: their time matters more")                                                     \
	X(BOUND_SHARE, 0.1, UNIT_SHARE,                                                            \
	  "share of the run that reads or writes take outside compute, at least",                  \
	  "a choice: what makes a finding high")                                                   \
	X(LOCKS, 10, UNIT_COUNT, "calls that wait for locks, at least",                            \
	  "a choice: their time matters more")                                                     \
	X(FAILED_CALLS, 100, UNIT_COUNT, "failed calls, at least",                                 \
	  "a choice: their time matters more")                                                     \
	X(SHORT_READS, 1000, UNIT_COUNT, "short reads, at least",                                  \
	  "Drishti: small_requests_absolute 1000")                                                 \
	X(EPOCH_BYTES, 1048576, UNIT_BYTES, "bytes from storage in the first epoch, at least",     \
	  "a choice: less is no dataset")                                                          \
	X(EPOCH_AGAIN, 0.5, UNIT_SHARE, "share of first epoch's bytes the last read, at least",    \
	  "a choice: most of it again")                                                            \
	X(EPOCH_MEMORY, 0.05, UNIT_SHARE, "share of first epoch's bytes the last read, at most",   \
	  "a choice: almost none of it again")                                                     \
	X(EPOCH_FITS, 0.5, UNIT_SHARE, "share of memory for the first epoch's bytes, at most",     \
	  "a choice: the job itself needs memory too")                                             \
	X(CHECKPOINT_WAITS, 0.5, UNIT_SHARE, "unoverlapped part of checkpoints, at least",         \
	  "a choice: less is mostly overlapped")                                                   \
	X(DATA_WAIT, 0.05, UNIT_SHARE, "share of the run that the loop waits for data, at least",  \
	  "DLIO and MLPerf Storage require an accelerator utilization of 90%")                     \
	X(DATA_WAIT_IO, 0.5, UNIT_SHARE, "part of the wait with I/O if I/O is why, at least",      \
	  "a choice: most of it")                                                                  \
	X(DATA_WAIT_NONE, 0.01, UNIT_SHARE, "share of the run that counts as no wait, at most",    \
	  "a choice: within the variation of runs")                                                \
	X(WORKERS_IDLE, 0.5, UNIT_SHARE, "share of the run that idle workers work, at most",       \
	  "a choice: half as many would suffice")                                                  \
	X(WORKER_SLOW, 0.3, UNIT_SHARE, "share of the slowest worker's span above the median",     \
	  "as for ranks: Drishti's imbalance_operations 0.3")                                      \
	X(WORKERS_SLOW, 0.25, UNIT_SHARE, "share of workers that are as slow (or one), at most",   \
	  "a choice: more do other work, such as training next to validation")                     \
	X(ACCELERATOR_USED, 0.9, UNIT_SHARE, "share of training in compute, at most",              \
	  "MLPerf Storage: an accelerator utilization of 90%")                                     \
	X(IMBALANCE, 0.3, UNIT_SHARE, "share of the slowest rank's time above the median",         \
	  "Drishti: imbalance_operations 0.3")                                                     \
	X(UNEVEN_OF_RUN, 0.02, UNIT_SHARE,                                                         \
	  "share of the run that a rank reads and writes above the median, at least",              \
	  "a choice: less is within the variation of most runs")                                   \
	X(TRACER_EVENT_NS, 150, UNIT_NS, "approximate cost of an event for its process",           \
	  "make bench: 90 to 300 ns per event")                                                    \
	X(TRACER_SHARE, 0.05, UNIT_SHARE, "share of the run that tracing costs, at least",         \
	  "a choice: Faultline aims at 5% or less")                                                \
	X(THROTTLED_SHARE, 0.1, UNIT_SHARE,                                                        \
	  "share of the time of writes and stores in which they were throttled, at least",         \
	  "a choice: below it something else makes them slow")                                     \
	X(AMPLIFIED, 2, UNIT_NONE, "bytes written to the device per byte stored, at least",        \
	  "measured with one page stored per 64 KiB: btrfs 1, ext4 2.5, xfs 11.8")                 \
	X(SCATTERED, 0.5, UNIT_SHARE,                                                              \
	  "share of stores to large folios outside their first page, at least",                    \
	  "random stores in folios of two or more pages have at least 0.5")                        \
	X(SCATTERED_STORES, 16, UNIT_COUNT, "stores to large folios, at least",                    \
	  "a choice: fewer do not show how they are spread")                                       \
	X(QUEUED, 1000, UNIT_COUNT, "asynchronous operations, at least",                           \
	  "Drishti: small_requests_absolute 1000")                                                 \
	X(QUEUED_NS, 20000, UNIT_NS, "average time of one that waits for a device, at least",      \
	  "a choice: fast flash takes 10 us or more, the page cache about 1 us")                   \
	X(QUEUE_DEPTH, 2, UNIT_NONE,                                                               \
	  "average operations in flight below which a queue is shallow",                           \
	  "a choice: below two, most operations are the only one")                                 \
	X(READAHEAD_UNUSED, 0.5, UNIT_SHARE,                                                       \
	  "share of the fetched bytes with known use that were not used, at least",                \
	  "a choice: most of it")                                                                  \
	X(READAHEAD_OF_ALL, 0.25, UNIT_SHARE,                                                      \
	  "share of all fetched bytes that were not used, at least",                               \
	  "a choice: data used by nine tenths was worth fetching")                                 \
	X(READAHEAD_BYTES, 4194304, UNIT_BYTES, "bytes fetched ahead and not used, at least",      \
	  "a choice: many of the kernel's default windows of 128 KiB")                             \
	X(DEVICE_REQUESTS, 20, UNIT_COUNT, "requests to a device that are waited for, at least",   \
	  "a choice: program startup causes fewer")                                                \
	X(DEVICE_SLOW_NS, 10000000, UNIT_NS,                                                       \
	  "median service time of a slow device's requests, at least",                             \
	  "half a turn at 7,200 rpm plus a seek takes about 12 ms, flash below 1 ms")              \
	X(DEVICE_SLOW_BANDWIDTH, 209715200, UNIT_BYTES,                                            \
	  "bytes per second that a slow device moves, at most",                                    \
	  "a disk reads about 200 MiB/s in order; more means large requests")                      \
	X(DEVICE_QUEUE, 0.5, UNIT_SHARE,                                                           \
	  "share of request time spent waiting for the driver, at least",                          \
	  "a choice: they wait longer than they are served")                                       \
	X(DEVICE_QUEUE_NS, 1000000, UNIT_NS, "average time waiting for the driver, at least",      \
	  "a choice: flash serves several requests in that time")                                  \
	X(DEVICE_AT_ONCE, 1.5, UNIT_NONE,                                                          \
	  "average operations with requests in flight while there are any, at least",              \
	  "a choice: most of the time there is more than one")                                     \
	X(PIECES, 8, UNIT_NONE,                                                                    \
	  "block requests for each operation that moves 128 KiB or more, at least",                \
	  "a choice: readahead by itself cuts reads into pieces of 128 KiB")                       \
	X(PIECE_BYTES, 65536, UNIT_BYTES, "average size of such a request, at most",               \
	  "a choice: as for small direct I/O")                                                     \
	X(FLUSHES, 50, UNIT_COUNT, "flushes of a device, at least", "a choice: as for syncs")      \
	X(FLUSHES_OF_SYNC, 2, UNIT_COUNT,                                                          \
	  "flushes of the device for each sync of the run, at most",                               \
	  "a journal commit flushes before and after it")                                          \
	X(FLUSH_SHARE, 0.2, UNIT_SHARE,                                                            \
	  "time of flushes divided by that of syncs and O_SYNC writes, at least",                  \
	  "a choice: below it the wait is for the writes themselves")                              \
	X(SHARED, 0.2, UNIT_SHARE,                                                                 \
	  "a device's use by its second user divided by that of its first, at least",              \
	  "a choice: less is hardly noticeable")                                                   \
	X(SHARED_BYTES, 16777216, UNIT_BYTES, "bytes moved by others, at least",                   \
	  "a choice: as for a large file")                                                         \
	X(SHARED_TIME, 0.1, UNIT_SHARE,                                                            \
	  "share of the run waiting for its requests there, if the others are not of the run",     \
	  "a choice: what makes a finding high")                                                   \
	X(AMPLIFIED_BYTES, 16777216, UNIT_BYTES, "bytes written in excess for a file, at least",   \
	  "a choice: as for a large file")

enum threshold {
#define X(name, value, unit, meaning, source) THRESHOLD_##name,
	THRESHOLDS(X)
#undef X
		THRESHOLD_COUNT,
};

struct finding_threshold {
	const char *name;
	double value;
	enum table_unit unit;
	const char *meaning, *source;
};

extern const struct finding_threshold finding_thresholds[THRESHOLD_COUNT];

static inline double threshold(enum threshold which)
{
	return finding_thresholds[which].value;
}

#endif
