/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks that the limit of open files allows a recording. */
#include "capture/session/session_state.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <sys/sysinfo.h>

#include "base/log.h"
#include "base/number.h"
#include "bpf/faultline.skel.h"
#include "capture/host/host.h"

/* Opened after the programs are attached: the trace, the listener, pipes to helper processes. Twice
 * what a command takes. */
#define FILES_OTHER 24
/* For the buffers as a whole: the array of maps that holds them, epoll and the event to wake it. */
#define FILES_OF_RINGS 3
#define MAPS (sizeof(((struct faultline *)NULL)->maps) / sizeof(struct bpf_map *))

static uint64_t files_open(void)
{
	DIR *directory = opendir("/proc/self/fd");
	uint64_t count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return number_sub(count, 3); /* ".", ".." and the directory */
}

/* Returns how many descriptors it takes to attach a program: a link and, for perf events, these. */
static uint64_t files_of_links(enum hook hook)
{
	switch (hook) {
	case HOOK_RUN:
	case HOOK_RUN_FOUND:
	case HOOK_ITER:
	case HOOK_USDT:
		return 0;
	case HOOK_PERF:
		return 2 * get_nprocs();
	case HOOK_TP:
	case HOOK_KPROBE:
	case HOOK_KRETPROBE:
		return 2;
	default:
		return 1;
	}
}

int session_check_open_files(const struct session *session)
{
	const uint64_t limit = host_raise_open_files();
	struct probe_program program = { 0 };
	uint64_t programs = 0, links = 0, min;

	while (probes_next(&session->choice, &program)) {
		programs++;
		links += files_of_links(program.probe->hook);
	}
	/* While programs are loaded, each has two descriptors: its stand-in's and its own. */
	min = files_open() + MAPS + programs + number_max(programs, links) + FILES_OTHER +
	      (session->rings ? 0 : session->sizes.lane_count + FILES_OF_RINGS);
	if (limit >= min)
		return 0;
	log_error("limit of %llu open files (ulimit -n) is too low; recording needs at least %llu",
		  (unsigned long long)limit, (unsigned long long)min);
	return -EMFILE;
}
