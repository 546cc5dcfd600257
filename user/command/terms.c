/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The terms of reports. */
#include "command/terms.h"

#include <stddef.h>
#include <stdio.h>

static const struct {
	const char *term, *meaning;
} terms[] = {
	{ "time", "How long at least one operation of a kind was under way: operations at the same "
		  "time, of several threads or processes, count once." },
	{ "thread time", "The same time with that of every thread added: four threads that "
			 "wait a second each wait four." },
	{ "unoverlapped I/O",
	  "Time in I/O while nothing computed: what a faster storage could save "
	  "at most. Compute is what spans of category compute say, or a GPU's "
	  "profile." },
	{ "from storage", "Bytes that were brought into the page cache to be read, readahead "
			  "included; holes of sparse files, too, for which no device is asked." },
	{ "newly cached", "Bytes that were newly cached because the program wrote them; storage "
			  "had no part in it." },
	{ "unattributed", "Bytes that came into the page cache while no operation of the job was "
			  "known to ask for them." },
	{ "method", "How bytes come and go: read and write calls, O_DIRECT, page faults on "
		    "mapped files (mmap), sendfile and splice, io_uring, libaio. Each byte has "
		    "one." },
	{ "major fault",
	  "A page fault that read from storage. A minor one found its page in memory, "
	  "or waited for a read that was under way." },
	{ "metadata", "Calls that name, open, close, look at or list files." },
	{ "path", "A file, or files that are alike: those of one extension in a directory (*) or "
		  "below it (**)." },
	{ "sequential, consecutive, random",
	  "An access at or past the end of the one before, exactly "
	  "at it, before it; per process and file, and of calls per open, with its duplicates." },
	{ "dirty, writeback", "What was written or stored to in the page cache is dirty until the "
			      "kernel writes it back "
			      "to the device, later, by itself or when asked to (fsync)." },
	{ "throttled",
	  "A thread that writes was told to sleep, for too much was dirty: part of the "
	  "time of its calls and faults." },
	{ "finding",
	  "What costs time: its cost is time that no compute hid, where that is known, or "
	  "else bytes." },
	{ "lower bound", "A number that lacks what was lost: the true one is at least as large." },
};

void terms_print(void)
{
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		printf("%s\n    %s\n", terms[i].term, terms[i].meaning);
}
