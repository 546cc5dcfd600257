/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Gives up capabilities, and finds out whether they are the caller's own. */
#include "capture/host/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACING (1ull << CAP_PERFMON | 1ull << CAP_SYS_ADMIN)

bool privileges_are_own(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	bool lent = getauxval(AT_SECURE);
	uint64_t own = 0;

	if (!geteuid())
		return true;
	if (syscall(SYS_capget, &header, data))
		return false;
	/* File capabilities replace those that the caller was given. The inheritable set still
	 * shows the latter: no user can raise it. */
	for (int i = 0; i < 2; i++)
		own |= (uint64_t)(lent ? data[i].inheritable : data[i].permitted) << (32 * i);
	return own & TRACING;
}

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

int privileges_hide(void)
{
	return prctl(PR_SET_DUMPABLE, 0) ? -errno : 0;
}

#define OWN_FILES                                                                                  \
	(1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_SETUID |             \
	 1ull << CAP_SETGID)

int privileges_keep_own(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	/* All three: a saved ID could be taken back. */
	if ((gid != getegid() && setresgid(gid, gid, gid)) ||
	    (uid != geteuid() && setresuid(uid, uid, uid)))
		return -errno;
	return keep_only(uid ? 0 : OWN_FILES);
}

int privileges_drop(bool keep_perf_events)
{
	return keep_only(1ull << CAP_BPF | 1ull << CAP_KILL |
			 (keep_perf_events ? 1ull << CAP_PERFMON : 0));
}

int privileges_keep_attaching(void)
{
	return keep_only(1ull << CAP_BPF | 1ull << CAP_PERFMON | 1ull << CAP_SYS_PTRACE |
			 1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_SYS_ADMIN | 1ull << CAP_SETUID |
			 1ull << CAP_SETGID | 1ull << CAP_KILL);
}

int privileges_keep_reading(void)
{
	return keep_only(1ull << CAP_SYS_PTRACE | 1ull << CAP_BPF);
}

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	return !syscall(SYS_capget, &header, data) &&
	       data[capability / 32].permitted >> capability % 32 & 1;
}

int privileges_keep_unwinding(void)
{
	return keep_only(1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH |
			 1ull << (has_capability(CAP_CHECKPOINT_RESTORE) ? CAP_CHECKPOINT_RESTORE
									 : CAP_SYS_ADMIN));
}

int privileges_keep_naming(void)
{
	return keep_only(1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH);
}

int privileges_keep_looking(void)
{
	return keep_only(1ull << CAP_DAC_READ_SEARCH);
}

int privileges_drop_all(void)
{
	return keep_only(0);
}

/* An unused ID. File systems reserve blocks for root or a configured user (resuid=65534, say). */
#define NO_USER 0xfffffffeu

int privileges_keep_writing(uid_t uid, gid_t gid)
{
	return uid == geteuid() ? keep_only(1ull << CAP_DAC_OVERRIDE) : privileges_become(uid, gid);
}

int privileges_become(uid_t uid, gid_t gid)
{
	/* Raw system calls: the C library's functions would change all threads. */
	if (uid != geteuid()) {
		/* Threads share memory, so processes of this user must not be able to trace this
		 * thread. */
		if (privileges_hide() || syscall(SYS_setgroups, 1, &gid) ||
		    syscall(SYS_setresgid, gid, gid, gid) ||
		    syscall(SYS_setresuid, uid, uid, uid) ||
		    privileges_hide()) /* again: the kernel resets it to fs.suid_dumpable */
			return -errno;
	} else if (!uid) {
		setfsuid(NO_USER); /* its output is already open */
	}
	return keep_only(0);
}
