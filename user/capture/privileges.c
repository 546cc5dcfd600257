/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Giving up capabilities. Knows nothing of what they were used for.
 */
#include "capture/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static int keep_only(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return -errno;
	for (int i = 0; i < 2; i++) {
		uint32_t kept = keep >> (32 * i);

		data[i].effective &= kept;
		data[i].permitted &= kept;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int privileges_drop(void)
{
	return keep_only(1ull << CAP_BPF | 1ull << CAP_KILL);
}

int privileges_keep_attaching(void)
{
	return keep_only(1ull << CAP_BPF | 1ull << CAP_PERFMON | 1ull << CAP_SYS_PTRACE |
			 1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_SYS_ADMIN);
}
