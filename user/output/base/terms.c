/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "output/base/terms.h"

const struct term terms[] = {
	{ "time", "Time with at least one operation of a kind in flight: concurrent operations of "
		  "several threads or processes count once." },
	{ "thread time", "The same time summed over threads: four threads that wait one second "
			 "each add up to four seconds." },
	{ "unoverlapped I/O",
	  "I/O time without compute: an upper bound on what faster storage could save. Compute is "
	  "spans of category compute, or a GPU's profile." },
	{ "from storage", "Bytes brought into the page cache to be read, readahead included; also "
			  "holes of sparse files, which no device reads." },
	{ "newly cached",
	  "Bytes newly cached because the program wrote them, without reading storage." },
	{ "unattributed",
	  "Bytes brought into the page cache while no known operation of the job requested them." },
	{ "method",
	  "How bytes are moved: read and write calls, O_DIRECT, page faults on mapped files "
	  "(mmap), sendfile and splice, io_uring, libaio. Each byte has one method." },
	{ "major fault", "A page fault that read from storage. A minor fault found its page in "
			 "memory, or waited for a read already in flight." },
	{ "metadata", "Calls that name, open, close, inspect or list files." },
	{ "path", "A file, or a group of similar files: those with one extension in a directory "
		  "(*) or below it (**)." },
	{ "sequential, consecutive, random",
	  "An access at or past the end of the previous one, exactly at it, or before it; per "
	  "process and file, and for calls per open file, duplicates included." },
	{ "dirty, writeback",
	  "Data written or stored to the page cache is dirty until the kernel writes it back to "
	  "the device, later on its own or on request (fsync)." },
	{ "throttled", "Put to sleep by the kernel while writing because too much was dirty: part "
		       "of the time of calls and faults." },
	{ "finding", "A known problem. Its cost is the time that fixing it would save (~ marks an "
		     "estimate) or, if that "
		     "is unknown, bytes." },
	{ "line", "The innermost frame of the application: not in Python's standard library, "
		  "site-packages or dist-packages. Its time is estimated from samples; the "
		  "uncertainty is one standard error." },
	{ "lower bound",
	  "A number that excludes lost events: the true value is the same or larger." },
	{ "from memory", "Bytes requested by read calls minus bytes from storage during them." },
	{ "queue, service",
	  "Time of a request before the driver received it, and from then to its completion." },
	{ "straggler",
	  "A rank or worker whose I/O takes at least 43% longer than the median of its group." },
	{ NULL, NULL },
};
