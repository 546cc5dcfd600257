/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of flags, by bit as in trace/format/flags.h. */
#include "output/base/flags.h"

/* For calls, and for io_uring and libaio operations, which have additional flags. */
static const char *const op_flags[] = {
	"direct", "append",   "sync",	      "unlinked",   "writable",	  "create",	"truncate",
	"shared", "populate", "no file",      "path cut",   "executable", "unfinished", "before",
	"nowait", NULL,	      "fixed buffer", "fixed file", "linked",	  "multishot",	"polled",
	"silent", "normal",   "random",	      "sequential", "willneed",	  "dontneed",	"noreuse",
	"cold",	  "pageout",  "other advice",
};
static const char *const fault_flags[] = { "major",   "write",	 "filemap",    "shared",
					   "kernel",  "in call", "unlinked",   "unfinished",
					   "untimed", "random",	 "sequential", "before",
					   "waiting" };
static const char *const vfs_flags[] = { "direct", "append", "sync",   "unlinked", "in call",
					 "nested", "worker", "thread", "queued" };
static const char *const exec_flags[] = { "not followed", "present", "joined" };
static const char *const file_flags[] = { "deleted", "path cut", "nameless" };
static const char *const span_flags[] = { "cut", "unread", "recorded" };

static const char *const block_flags[] = { "metadata", "sync",	     "readahead", "fua",
					   "preflush", "direct",     "swap",	  "unissued",
					   "part",     "compressed", "held back" };

static const char *const profile_flags[] = { "direct",	"unlinked", "stores", "dirties", "brings",
					     "untimed", "nowait",   "drops",  "keeps" };

#define NAMES(list)                                                                                \
	{                                                                                          \
		list, sizeof(list) / sizeof((list)[0])                                             \
	}

static const struct {
	const char *const *names;
	unsigned int count;
} lists[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = NAMES(op_flags),
	[TRACE_SYSCALL_PATH] = NAMES(op_flags),
	[TRACE_FAULT] = NAMES(fault_flags),
	[TRACE_FILE] = NAMES(file_flags),
	[TRACE_EXEC] = NAMES(exec_flags),
	[TRACE_SPAN_BEGIN] = NAMES(span_flags),
	[TRACE_INSTANT] = NAMES(span_flags),
	[TRACE_REQUEST] = NAMES(block_flags),
	[TRACE_BIO] = NAMES(block_flags),
	[TRACE_ASYNC] = NAMES(op_flags),
	[TRACE_VFS] = NAMES(vfs_flags),
	[TRACE_PROFILE] = NAMES(profile_flags),
	[TRACE_PROFILE_CLASS] = NAMES(profile_flags),
};

const char *flags_name(enum trace_kind kind, unsigned int bit)
{
	return bit < lists[kind].count ? lists[kind].names[bit] : NULL;
}
