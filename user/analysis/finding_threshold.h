/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * All thresholds of findings in one list, each with its source.
 */
#ifndef FAULTLINE_FINDING_THRESHOLD_H
#define FAULTLINE_FINDING_THRESHOLD_H

#include "analysis/table/table.h"

/* X(name, value, unit, meaning, source); shares are fractions of 1, times in ns. */
#define THRESHOLDS(X)                                                                              \
	X(SEVERITY_HIGH, 0.10, UNIT_SHARE, "share of the run from which a finding is high",        \
	  "a choice; Drishti calls 10 % of requests critical")                                     \
	X(SEVERITY_MEDIUM, 0.02, UNIT_SHARE, "share of the run from which a finding is medium",    \
	  "a choice: less is within the spread of most runs")                                      \
	X(COST_LEAST, 0.002, UNIT_SHARE, "share of the run below which no finding is told",        \
	  "a choice: two thousandths of a run are no reason to change a program")                  \
	X(TIME_DECIDES, 0.05, UNIT_SHARE,                                                          \
	  "share of the run from which a few times are as good as many",                           \
	  "a choice: half of what makes a finding high")                                           \
	X(ORDER, 4, UNIT_COUNT, "accesses of a file at least, to speak of their order",            \
	  "a choice: of three, one that goes back is chance")                                      \
	X(FEW, 0.05, UNIT_SHARE, "part of a number of times that is a few of them",                \
	  "a choice: a twentieth; of less, the word is wrong")                                     \
	X(FEW_MOST, 10, UNIT_COUNT, "times that are always a few",                                 \
	  "a choice: ten times is no accident")                                                    \
	X(SAME_WAIT, 0.5, UNIT_SHARE,                                                              \
	  "part of a finding's time that another tells already, for that to be the same wait",     \
	  "a choice: most of it")                                                                  \
	X(BYTES_MEDIUM, 0.5, UNIT_SHARE,                                                           \
	  "share of what was brought in from which a finding without a time is medium",            \
	  "a choice: half of the traffic")                                                         \
	X(LOSS_HIGH, 0.10, UNIT_SHARE, "share of lost events from which a loss is high",           \
	  "a choice: beyond it the tables mislead")                                                \
	X(STILL_WAITING, 1e9, UNIT_NS, "time in flight of a call that has not returned",           \
	  "a choice: slow storage answers within that")                                            \
	X(MMAP_RANDOM_SHARE, 0.20, UNIT_SHARE,                                                     \
	  "share of faults that lie 1 MiB and more before the thread's last, for random",          \
	  "Drishti: random_operations 0.2; uniform access has one half")                           \
	X(MMAP_RANDOM_MAJOR, 16, UNIT_COUNT, "major faults of a file at least",                    \
	  "a choice: fewer are the start of a program")                                            \
	X(MMAP_RANDOM_BYTES, 16777216, UNIT_BYTES, "or bytes that they brought in at least",       \
	  "a choice: two windows of readahead of 8 MiB")                                           \
	X(MMAP_RANDOM_BYTES_EACH, 65536, UNIT_BYTES,                                               \
	  "bytes brought in for each major fault at least",                                        \
	  "16 pages: what a fault maps at once if they are cached (fault_around_bytes)")           \
	X(MMAP_ORDER_BACKWARD, 0.05, UNIT_SHARE, "share of backward faults at most, for in order", \
	  "a choice: readahead and several threads make some")                                     \
	X(MMAP_WHOLE, 0.5, UNIT_SHARE, "part of the file that came through the mapping at least",  \
	  "a choice: half of a file is most of a load")                                            \
	X(MMAP_ORDER_BANDWIDTH, 8589934592, UNIT_BYTES,                                            \
	  "bytes a second of waiting at most, for the waiting to be felt",                         \
	  "about what one processor copies in memory: readahead kept up")                          \
	X(MMAP_SCAN, 0.5, UNIT_SHARE, "share of faults that lie where a scan faults at least",     \
	  "a choice: most of them; strides have one of 16, or none")                               \
	X(MMAP_MINOR_FAULTS, 10000, UNIT_COUNT, "minor faults on data at least",                   \
	  "measured: 0.9 to 1.4 us each, 10 ms and more in all")                                   \
	X(MMAP_STORED, 0.5, UNIT_SHARE, "part of faults that made a page dirty at least",          \
	  "a choice: most of them")                                                                \
	X(SMALL_WRITES_OF_FILE, 4, UNIT_COUNT,                                                     \
	  "small writes to each file at most, for the files to be what is small",                  \
	  "a choice: a header, data and an end")                                                   \
	X(MMAP_COPIED, 0.5, UNIT_SHARE, "part of faults that copied a page at least",              \
	  "a choice: most of them")                                                                \
	X(SWAPPED_FAULTS, 1000, UNIT_COUNT, "major faults on memory without a file at least",      \
	  "a choice: fewer are what had not been used for long")                                   \
	X(SWAPPED_SHARE, 0.01, UNIT_SHARE, "share of them in all faults on such memory at least",  \
	  "measured: one of ten of a job in half of the memory that it needs")                     \
	X(LARGE_FILE, 16777216, UNIT_BYTES, "size from which a file is large",                     \
	  "a choice: beyond the readahead windows of 128 KiB to 8 MiB that are common")            \
	X(RANDOM_SHARE, 0.20, UNIT_SHARE, "share of backward accesses from which they are random", \
	  "Drishti: random_operations 0.2; uniform access has one half")                           \
	X(RANDOM_READS, 100, UNIT_COUNT, "reads, or major faults, of a file at least",             \
	  "a choice: fewer are looking at headers")                                                \
	X(FROM_STORAGE_SHARE, 0.5, UNIT_SHARE, "share of the bytes that storage brought at least", \
	  "a choice: below it the page cache served most")                                         \
	X(FROM_MEMORY_SHARE, 0.1, UNIT_SHARE, "share of the bytes that storage brought at most",   \
	  "a choice: a tenth, as for Drishti's small requests")                                    \
	X(HOLES, 0.1, UNIT_SHARE,                                                                  \
	  "of what came into memory of a file that devices read, below which it has holes",        \
	  "a choice: as much as counts as none from storage")                                      \
	X(SMALL_READ, 65536, UNIT_BYTES, "bytes of a read on average at most, from storage",       \
	  "a choice: half of the kernel's default readahead of 128 KiB")                           \
	X(SMALL_CACHED_READ, 16384, UNIT_BYTES, "bytes of a read on average at most, from memory", \
	  "measured: a call costs about what copying 4 KiB does, a fifth of it at 16 KiB")         \
	X(SMALL_READS_OF_FILE, 10, UNIT_COUNT,                                                     \
	  "small reads of an opened file at least, from memory",                                   \
	  "a choice: fewer are a small file that is read at one go")                               \
	X(SMALL_REQUESTS, 1000, UNIT_COUNT, "small requests at least",                             \
	  "Drishti: small_requests_absolute 1000")                                                 \
	X(PARTIAL_WRITES, 100, UNIT_COUNT, "writes that read from storage first at least",         \
	  "a choice: fewer are the ends of files that go on")                                      \
	X(AGAIN, 1.5, UNIT_NONE, "times the file's size from which it came again",                 \
	  "a choice: one and a half, so that headers read twice do not count")                     \
	X(BY_EACH, 0.75, UNIT_SHARE,                                                               \
	  "part of the file's size that each of its readers reads on average at least",            \
	  "a choice: some are at it when the run ends, or leave a header out")                     \
	X(HELD_BACK, 0.5, UNIT_SHARE,                                                              \
	  "share of the time of a file's reads that passes before the device is asked, at least",  \
	  "a choice: most of it")                                                                  \
	X(LOAD_BYTES, 67108864, UNIT_BYTES, "bytes that are read in large pieces, at least",       \
	  "a choice: some tens of ms from fast flash, as long as a program's start")               \
	X(LOAD_SHARE, 0.05, UNIT_SHARE, "unhidden share of the run that reading takes at least",   \
	  "a choice: as of what is written")                                                       \
	X(LOADED_BYTES, 16777216, UNIT_BYTES, "bytes of programs from storage at least",           \
	  "a choice: as for a large file; the C library and a shell have a few MiB")               \
	X(LOADED_NS, 100000000, UNIT_NS, "or time that it takes at least,",                        \
	  "a choice: a tenth of a second is noticed")                                              \
	X(LOADED_OF_RUN, 0.05, UNIT_SHARE, "if that is a part of the run, at least",               \
	  "a choice: half of what makes a finding high")                                           \
	X(STARTS, 3, UNIT_COUNT, "starts of a program by one process at least",                    \
	  "a choice: two may be one thing and another")                                            \
	X(SMALL_FILE, 262144, UNIT_BYTES, "size of a small file at most",                          \
	  "a choice: two of the kernel's default readahead windows")                               \
	X(SMALL_FILES, 500, UNIT_COUNT, "small files at least", "a choice: fewer are no data set") \
	X(OPENS_OF_FILE, 10, UNIT_COUNT, "opens of one file at least",                             \
	  "a choice: more than workers of a usual loader")                                         \
	X(OPENS, 500, UNIT_COUNT, "opens of such files at least", "a choice: one a sample")        \
	X(LISTING, 0.5, UNIT_SHARE, "share of listing in the metadata time of a directory",        \
	  "a choice: most of it")                                                                  \
	X(LISTED_AGAIN, 8, UNIT_COUNT, "opens of a directory that is listed at least",             \
	  "a choice: each worker of a usual loader may list it once")                              \
	X(METADATA_SHARE, 0.5, UNIT_SHARE, "share of metadata in the time of calls at least",      \
	  "metadata heavier than data")                                                            \
	X(METADATA_CALLS, 1000, UNIT_COUNT, "metadata calls at least",                             \
	  "a choice: a program's start makes some hundreds")                                       \
	X(METADATA_OF_RUN, 0.02, UNIT_SHARE, "share of the run that they take at least",           \
	  "a choice: importing Python's modules takes about a hundredth")                          \
	X(COLD_NAMES, 10, UNIT_COUNT, "metadata calls that wait for requests at least",            \
	  "a choice: their time decides")                                                          \
	X(FAILED_LOOKUPS, 1000, UNIT_COUNT, "look-ups that failed at least",                       \
	  "a choice: Python's start makes some hundreds")                                          \
	X(FSYNCS, 50, UNIT_COUNT, "syncs one after the other at least",                            \
	  "a choice: more than files of a checkpoint")                                             \
	X(FSYNCS_WAITED, 4, UNIT_COUNT, "syncs at least where the run waits for them",             \
	  "a choice: one or two end the writing of a file and of its directory")                   \
	X(FSYNC_SHARE, 0.05, UNIT_SHARE, "unhidden share of the run that such take at least",      \
	  "a choice: half of what makes a finding high")                                           \
	X(SAVE_BYTES, 16777216, UNIT_BYTES, "bytes that are written at one go, at least",          \
	  "a choice: as for a large file")                                                         \
	X(SAVE_ROW, 1048576, UNIT_BYTES,                                                           \
	  "bytes to a file before the next is written to, at least",                               \
	  "a choice: less is a copy of many small files")                                          \
	X(SAVE_BESIDE, 0.25, UNIT_NONE,                                                            \
	  "time without I/O for each that is spent saving, at least",                              \
	  "a choice: what copies has next to nothing else to do")                                  \
	X(SAVE_SHARE, 0.05, UNIT_SHARE, "unhidden share of the run that writing takes at least",   \
	  "a choice: as of syncs that are waited for")                                             \
	X(SYNC_WRITES, 100, UNIT_COUNT, "writes with O_SYNC at least",                             \
	  "a choice: a log of a job has fewer")                                                    \
	X(SHARED_WRITES, 10, UNIT_COUNT, "writes that wait for another to the same file at least", \
	  "a choice: their time decides")                                                          \
	X(BOUND_SHARE, 0.1, UNIT_SHARE,                                                            \
	  "unhidden share of the run that reads, or writes, take at least",                        \
	  "a choice: what makes a finding high")                                                   \
	X(LOCKS, 10, UNIT_COUNT, "calls that wait for locks at least",                             \
	  "a choice: their time decides")                                                          \
	X(FAILED_CALLS, 100, UNIT_COUNT, "calls that failed at least",                             \
	  "a choice: their time decides")                                                          \
	X(SHORT_READS, 1000, UNIT_COUNT, "short reads at least",                                   \
	  "Drishti: small_requests_absolute 1000")                                                 \
	X(EPOCH_BYTES, 1048576, UNIT_BYTES, "bytes from storage in the first epoch at least",      \
	  "a choice: less is no data set")                                                         \
	X(EPOCH_AGAIN, 0.5, UNIT_SHARE, "of the first epoch's bytes that the last one fetched",    \
	  "a choice: most of it again")                                                            \
	X(EPOCH_MEMORY, 0.05, UNIT_SHARE, "of the first epoch's bytes that the last one fetched",  \
	  "a choice: nearly none of it again")                                                     \
	X(EPOCH_FITS, 0.5, UNIT_SHARE, "part of memory that the first epoch's bytes take at most", \
	  "a choice: the job itself needs some")                                                   \
	X(CHECKPOINT_WAITS, 0.5, UNIT_SHARE, "unoverlapped part of checkpoints at least",          \
	  "a choice: less is mostly hidden")                                                       \
	X(DATA_WAIT, 0.05, UNIT_SHARE, "of the run that the loop waits for data at least",         \
	  "DLIO and MLPerf Storage ask for an accelerator utilization of 90 % and more")           \
	X(DATA_WAIT_IO, 0.5, UNIT_SHARE, "part of the wait that I/O takes, for I/O to be why",     \
	  "a choice: most of it")                                                                  \
	X(DATA_WAIT_NONE, 0.01, UNIT_SHARE, "of the run that the loop waits, for it not to wait",  \
	  "a choice: within the spread of runs")                                                   \
	X(WORKERS_IDLE, 0.5, UNIT_SHARE, "of the run that workers work at most, to be idle",       \
	  "a choice: half as many would do")                                                       \
	X(WORKER_SLOW, 0.3, UNIT_SHARE, "of the slowest worker's time a span beyond the median",   \
	  "as of ranks: Drishti's imbalance_operations 0.3")                                       \
	X(WORKERS_SLOW, 0.25, UNIT_SHARE, "of the workers that are as slow, or one, at most",      \
	  "a choice: more are another kind of work, such as training beside validation")           \
	X(ACCELERATOR_USED, 0.9, UNIT_SHARE, "of training that compute takes, not to speak of it", \
	  "MLPerf Storage: an accelerator utilization of 90 % and more")                           \
	X(IMBALANCE, 0.3, UNIT_SHARE, "of the slowest rank's time that is beyond the median",      \
	  "Drishti: imbalance_operations 0.3")                                                     \
	X(UNEVEN_OF_RUN, 0.02, UNIT_SHARE,                                                         \
	  "of the run that a rank reads and writes beyond the median, at least",                   \
	  "a choice: less is within the spread of most runs")                                      \
	X(TRACER_EVENT_NS, 150, UNIT_NS, "cost of an event for who causes it, about",              \
	  "make bench: 90 to 300 ns an event")                                                     \
	X(TRACER_SHARE, 0.05, UNIT_SHARE, "of the run that tracing costs, to speak of it",         \
	  "a choice: Faultline's own aim is 5 % and less")                                         \
	X(THROTTLED_SHARE, 0.1, UNIT_SHARE,                                                        \
	  "share of the time of writes and stores that their threads were told to sleep at least", \
	  "a choice: below it something else makes them slow")                                     \
	X(AMPLIFIED, 2, UNIT_NONE, "bytes written to the device for each that was stored to",      \
	  "measured, one page stored in each 64 KiB: 1 on btrfs, 2.5 on ext4, 11.8 on xfs")        \
	X(SCATTERED, 0.5, UNIT_SHARE,                                                              \
	  "share of stores to large folios that are not to their first page, to be scattered",     \
	  "stores anywhere in folios of two pages and more have one half and more")                \
	X(SCATTERED_STORES, 16, UNIT_COUNT, "stores to large folios at least",                     \
	  "a choice: fewer tell nothing of how they are spread")                                   \
	X(QUEUED, 1000, UNIT_COUNT, "asynchronous operations at least",                            \
	  "Drishti: small_requests_absolute 1000")                                                 \
	X(QUEUED_NS, 20000, UNIT_NS, "time of one on average at least, to wait for a device",      \
	  "a choice: fast flash takes 10 us and more, the page cache some 1")                      \
	X(QUEUE_DEPTH, 2, UNIT_NONE,                                                               \
	  "operations at once on average below which a queue is shallow",                          \
	  "a choice: below two most operations are alone")                                         \
	X(READAHEAD_UNUSED, 0.5, UNIT_SHARE,                                                       \
	  "share of what was fetched, but for what nobody sees, that was not used, at least",      \
	  "a choice: most of it")                                                                  \
	X(READAHEAD_OF_ALL, 0.25, UNIT_SHARE,                                                      \
	  "share of all that was fetched that was not used, at least",                             \
	  "a choice: what was used by nine tenths was well worth fetching")                        \
	X(READAHEAD_BYTES, 4194304, UNIT_BYTES, "bytes fetched ahead and not used at least",       \
	  "a choice: many windows of the kernel's default of 128 KiB")                             \
	X(DEVICE_REQUESTS, 20, UNIT_COUNT, "requests to a device that are waited for, at least",   \
	  "a choice: fewer are the start of a program")                                            \
	X(DEVICE_SLOW_NS, 10000000, UNIT_NS,                                                       \
	  "time that half of a device's requests are with it at least, to be slow",                \
	  "half a turn of a disk at 7,200 rpm and its seek take some 12 ms, flash below 1 ms")     \
	X(DEVICE_SLOW_BANDWIDTH, 209715200, UNIT_BYTES,                                            \
	  "bytes a second that a device moves at most, to be slow",                                \
	  "a disk reads some 200 MiB/s in order; what moves more is busy with large requests")     \
	X(DEVICE_QUEUE, 0.5, UNIT_SHARE,                                                           \
	  "share of the time of requests that they wait for the driver, at least",                 \
	  "a choice: they wait longer than they are served")                                       \
	X(DEVICE_QUEUE_NS, 1000000, UNIT_NS, "that time on average at least",                      \
	  "a choice: flash serves several requests in it")                                         \
	X(DEVICE_AT_ONCE, 1.5, UNIT_NONE,                                                          \
	  "operations with requests under way on average, while there are any, at least",          \
	  "a choice: most of the time there is more than one")                                     \
	X(PIECES, 8, UNIT_NONE,                                                                    \
	  "requests for each operation that moves 128 KiB and more, at least",                     \
	  "a choice: readahead alone cuts reads into pieces of 128 KiB")                           \
	X(PIECE_BYTES, 65536, UNIT_BYTES, "bytes of such a request on average at most",            \
	  "a choice: as for small direct I/O")                                                     \
	X(FLUSHES, 50, UNIT_COUNT, "flushes of a device at least", "a choice: as for syncs")       \
	X(FLUSHES_OF_SYNC, 2, UNIT_COUNT,                                                          \
	  "flushes of the device for each sync of the run at most",                                \
	  "a journal's commit flushes before and after it")                                        \
	X(FLUSH_SHARE, 0.2, UNIT_SHARE,                                                            \
	  "time of flushes, by that of syncs and of writes with O_SYNC, at least",                 \
	  "a choice: below it the writing itself is what is waited for")                           \
	X(SHARED, 0.2, UNIT_SHARE,                                                                 \
	  "what the second user of a device takes of it, by what the first does, at least",        \
	  "a choice: less is hardly felt")                                                         \
	X(SHARED_BYTES, 16777216, UNIT_BYTES, "bytes that others move at least",                   \
	  "a choice: as for a large file")                                                         \
	X(SHARED_TIME, 0.1, UNIT_SHARE,                                                            \
	  "share of the run in which it has requests there to wait for, if others are not of it",  \
	  "a choice: what makes a finding high")                                                   \
	X(AMPLIFIED_BYTES, 16777216, UNIT_BYTES, "bytes written in excess of a file at least",     \
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
