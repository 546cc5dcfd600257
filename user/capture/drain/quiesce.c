/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits until detached programs no longer run. */
#include "capture/drain/quiesce.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/host/online.h"
#include "base/log.h"

#define VISITS_MAX 16 /* up to this many are faster than asking the kernel */

/*
 * Runs on each online CPU once. Where programs are not preempted, a thread that gets a CPU runs
 * after all programs that ran there, and this is faster than a grace period, which takes
 * milliseconds. Returns false if this is not allowed or there are more than `max` CPUs.
 */
static bool visit_all(unsigned int max)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF), end = present_end(cpus);
	cpu_set_t limits, one;
	bool all = true;

	if (end > max || sched_getaffinity(0, sizeof(limits), &limits) ||
	    CPU_COUNT(&limits) != sysconf(_SC_NPROCESSORS_ONLN))
		return false;
	for (unsigned int cpu = 0; cpu < end && all; cpu++) {
		if (!CPU_ISSET(cpu, &limits))
			continue; /* offline */
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		all = !sched_setaffinity(0, sizeof(one), &one);
	}
	sched_setaffinity(0, sizeof(limits), &limits);
	return all;
}

/* Waits for a grace period: programs run in RCU read-side critical sections. The kernel refuses
 * this where CPUs run without a tick (nohz_full). */
static bool wait_for_rcu(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

bool quiesce(bool preempted)
{
	static bool said;
	int err;

	if (!preempted && visit_all(VISITS_MAX))
		return true;
	if (wait_for_rcu())
		return true;
	err = errno;
	if (!preempted && visit_all(CPU_SETSIZE))
		return true;
	if (!said)
		log_warning("cannot wait for running BPF programs (membarrier: %s); counts from "
			    "the last moments may be slightly low",
			    strerror(err));
	said = true;
	return false;
}

bool quiesce_slowly(void)
{
	return wait_for_rcu() || quiesce(false);
}
