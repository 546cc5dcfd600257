/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "capture/quiesce.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/online.h"
#include "log.h"

#define VISITS_MAX 16 /* that take less than asking the kernel */

/*
 * Where programs are not preempted, whoever runs on a CPU runs after all that ran there: to be on
 * each once takes less than the milliseconds that the kernel takes for a grace period. False where
 * that is not allowed, or they are more than `most`.
 */
static bool visit_all(unsigned int most)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF), end = present_end(cpus);
	cpu_set_t allowed, one;
	bool all = true;

	if (end > most || sched_getaffinity(0, sizeof(allowed), &allowed) ||
	    CPU_COUNT(&allowed) != sysconf(_SC_NPROCESSORS_ONLN))
		return false;
	for (unsigned int cpu = 0; cpu < end && all; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue; /* it is not online */
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		all = !sched_setaffinity(0, sizeof(one), &one);
	}
	sched_setaffinity(0, sizeof(allowed), &allowed);
	return all;
}

/* Programs run inside what RCU protects. The kernel refuses this where CPUs run without a tick
 * (nohz_full). */
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
		log_warning("cannot wait for programs that still run (membarrier: %s): counts "
			    "of the last moments may be a little low",
			    strerror(err));
	said = true;
	return false;
}

bool quiesce_slowly(void)
{
	return wait_for_rcu() || quiesce(false);
}
