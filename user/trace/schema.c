/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tables of schema.h and header.h: kinds of blocks, their columns, names of families.
 * Knows nothing of how a row is captured, encoded or used.
 */
#include "schema.h"

#include "header.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Rows of syscall_path start with these as well. */
#define SYSCALL_COMMON                                                                             \
	[SYSCALL_TIME] = { "dts", TRACE_TIME }, [SYSCALL_DUR] = { "dur", TRACE_UINT },             \
	[SYSCALL_PID] = { "pid", TRACE_UINT }, [SYSCALL_TID] = { "tid", TRACE_UINT },              \
	[SYSCALL_OP] = { "op", TRACE_UINT }, [SYSCALL_FILE] = { "file", TRACE_UINT },              \
	[SYSCALL_OFFSET] = { "offset", TRACE_INT }, [SYSCALL_ASKED] = { "asked", TRACE_UINT },     \
	[SYSCALL_RESULT] = { "result", TRACE_INT }, [SYSCALL_FLAGS] = { "flags", TRACE_UINT },     \
	[SYSCALL_FETCHED] = { "fetched_bytes", TRACE_UINT },                                       \
	[SYSCALL_FAULT_FETCHED] = { "fault_fetched_bytes", TRACE_UINT },                           \
	[SYSCALL_MAJOR] = { "major", TRACE_UINT },                                                 \
	[SYSCALL_CREATED] = { "created_bytes", TRACE_UINT },                                       \
	[SYSCALL_DIRTIED] = { "dirtied_bytes", TRACE_UINT }

static const struct trace_column syscall_columns[] = { SYSCALL_COMMON };

static const struct trace_column syscall_path_columns[] = {
	SYSCALL_COMMON,
	[SYSCALL_PATH_FILE2] = { "file2", TRACE_UINT },
	[SYSCALL_PATH_DIR] = { "dir", TRACE_UINT },
	[SYSCALL_PATH_PATH] = { "path", TRACE_STRING },
	[SYSCALL_PATH_DIR2] = { "dir2", TRACE_UINT },
	[SYSCALL_PATH_PATH2] = { "path2", TRACE_STRING },
};

static const struct trace_column fault_columns[] = {
	[FAULT_TIME] = { "dts", TRACE_TIME },
	[FAULT_DUR] = { "dur", TRACE_UINT },
	[FAULT_PID] = { "pid", TRACE_UINT },
	[FAULT_TID] = { "tid", TRACE_UINT },
	[FAULT_FILE] = { "file", TRACE_UINT },
	[FAULT_OFFSET] = { "offset", TRACE_UINT },
	[FAULT_FLAGS] = { "flags", TRACE_UINT },
	[FAULT_FETCHED] = { "fetched_bytes", TRACE_UINT },
	[FAULT_DIRTIED] = { "dirtied_bytes", TRACE_UINT },
};

static const struct trace_column pagecache_columns[] = {
	[PAGECACHE_TIME] = { "dts", TRACE_TIME },
	[PAGECACHE_PID] = { "pid", TRACE_UINT },
	[PAGECACHE_TID] = { "tid", TRACE_UINT },
	[PAGECACHE_FILE] = { "file", TRACE_UINT },
	[PAGECACHE_OFFSET] = { "offset", TRACE_UINT },
	[PAGECACHE_BYTES] = { "fetched_bytes", TRACE_UINT },
	[PAGECACHE_CREATED] = { "created_bytes", TRACE_UINT },
	[PAGECACHE_CALL] = { "call", TRACE_UINT },
};

static const struct trace_column fork_columns[] = {
	[FORK_TIME] = { "dts", TRACE_TIME },
	[FORK_PID] = { "pid", TRACE_UINT },
	[FORK_TID] = { "tid", TRACE_UINT },
	[FORK_CHILD_PID] = { "child_pid", TRACE_UINT },
	[FORK_CHILD_TID] = { "child_tid", TRACE_UINT },
};

static const struct trace_column exec_columns[] = {
	[EXEC_TIME] = { "dts", TRACE_TIME },	      [EXEC_PID] = { "pid", TRACE_UINT },
	[EXEC_TID] = { "tid", TRACE_UINT },	      [EXEC_PPID] = { "ppid", TRACE_UINT },
	[EXEC_UID] = { "uid", TRACE_UINT },	      [EXEC_COMM] = { "comm", TRACE_STRING },
	[EXEC_COMMAND] = { "command", TRACE_STRING }, [EXEC_CGROUP] = { "cgroup", TRACE_STRING },
	[EXEC_RANK] = { "rank", TRACE_INT },	      [EXEC_FLAGS] = { "flags", TRACE_UINT },
};

static const struct trace_column exit_columns[] = {
	[EXIT_TIME] = { "dts", TRACE_TIME },	[EXIT_PID] = { "pid", TRACE_UINT },
	[EXIT_TID] = { "tid", TRACE_UINT },	[EXIT_PROCESS] = { "process", TRACE_UINT },
	[EXIT_CODE] = { "code", TRACE_UINT },	[EXIT_COMM] = { "comm", TRACE_STRING },
	[EXIT_MAJOR] = { "major", TRACE_UINT }, [EXIT_MINOR] = { "minor", TRACE_UINT },
};

static const struct trace_column file_columns[] = {
	[FILE_TIME] = { "dts", TRACE_TIME },
	[FILE_ID] = { "id", TRACE_UINT },
	[FILE_DEV] = { "dev", TRACE_UINT },
	[FILE_INO] = { "ino", TRACE_UINT },
	[FILE_GENERATION] = { "generation", TRACE_UINT },
	[FILE_MODE] = { "mode", TRACE_UINT },
	[FILE_SIZE] = { "size", TRACE_UINT },
	[FILE_FLAGS] = { "flags", TRACE_UINT },
	[FILE_PATH] = { "path", TRACE_STRING },
	[FILE_READAHEAD] = { "readahead_bytes", TRACE_UINT },
	[FILE_FILESYSTEM] = { "filesystem", TRACE_STRING },
};

static const struct trace_column span_begin_columns[] = {
	[SPAN_BEGIN_TIME] = { "dts", TRACE_TIME },
	[SPAN_BEGIN_PID] = { "pid", TRACE_UINT },
	[SPAN_BEGIN_TID] = { "tid", TRACE_UINT },
	[SPAN_BEGIN_ID] = { "id", TRACE_UINT },
	[SPAN_BEGIN_NAME] = { "name", TRACE_STRING },
	[SPAN_BEGIN_CATEGORY] = { "category", TRACE_STRING },
	[SPAN_BEGIN_ARGS] = { "args", TRACE_STRING },
	[SPAN_BEGIN_FLAGS] = { "flags", TRACE_UINT },
};

static const struct trace_column span_end_columns[] = {
	[SPAN_END_TIME] = { "dts", TRACE_TIME },
	[SPAN_END_PID] = { "pid", TRACE_UINT },
	[SPAN_END_TID] = { "tid", TRACE_UINT },
	[SPAN_END_ID] = { "id", TRACE_UINT },
};

static const struct trace_column instant_columns[] = {
	[INSTANT_TIME] = { "dts", TRACE_TIME },
	[INSTANT_PID] = { "pid", TRACE_UINT },
	[INSTANT_TID] = { "tid", TRACE_UINT },
	[INSTANT_NAME] = { "name", TRACE_STRING },
	[INSTANT_CATEGORY] = { "category", TRACE_STRING },
	[INSTANT_ARGS] = { "args", TRACE_STRING },
	[INSTANT_FLAGS] = { "flags", TRACE_UINT },
};

_Static_assert(COUNT(syscall_columns) == SYSCALL_COLUMNS, "every column has a name");
_Static_assert(COUNT(syscall_path_columns) == SYSCALL_PATH_COLUMNS, "every column has a name");
_Static_assert(COUNT(fault_columns) == FAULT_COLUMNS, "every column has a name");
_Static_assert(COUNT(pagecache_columns) == PAGECACHE_COLUMNS, "every column has a name");
_Static_assert(COUNT(fork_columns) == FORK_COLUMNS, "every column has a name");
_Static_assert(COUNT(exec_columns) == EXEC_COLUMNS, "every column has a name");
_Static_assert(COUNT(exit_columns) == EXIT_COLUMNS, "every column has a name");
_Static_assert(COUNT(file_columns) == FILE_COLUMNS, "every column has a name");

_Static_assert(COUNT(span_begin_columns) == SPAN_BEGIN_COLUMNS, "every column has a name");
_Static_assert(COUNT(span_end_columns) == SPAN_END_COLUMNS, "every column has a name");
_Static_assert(COUNT(instant_columns) == INSTANT_COLUMNS, "every column has a name");

#define SCHEMA(kind_, layer_, columns_, duration_)                                                 \
	{                                                                                          \
		.kind = (kind_), .layer = (layer_), .columns = (columns_),                         \
		.column_count = COUNT(columns_), .duration = (duration_)                           \
	}
#define NAMES(kind_, layer_, columns_)                                                             \
	{                                                                                          \
		.kind = (kind_), .layer = (layer_), .columns = (columns_),                         \
		.column_count = COUNT(columns_), .duration = -1, .names = true                     \
	}

const struct trace_schema trace_schemas[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = SCHEMA("syscall", "syscall", syscall_columns, SYSCALL_DUR),
	[TRACE_SYSCALL_PATH] = SCHEMA("syscall_path", "syscall", syscall_path_columns, SYSCALL_DUR),
	[TRACE_FAULT] = SCHEMA("fault", "fault", fault_columns, FAULT_DUR),
	[TRACE_PAGECACHE] = SCHEMA("pagecache", "pagecache", pagecache_columns, -1),
	[TRACE_FORK] = NAMES("fork", "task", fork_columns),
	[TRACE_EXEC] = NAMES("exec", "task", exec_columns),
	[TRACE_EXIT] = NAMES("exit", "task", exit_columns),
	[TRACE_FILE] = NAMES("file", "file", file_columns),
	[TRACE_SPAN_BEGIN] = SCHEMA("span_begin", "span", span_begin_columns, -1),
	[TRACE_SPAN_END] = SCHEMA("span_end", "span", span_end_columns, -1),
	[TRACE_INSTANT] = SCHEMA("instant", "span", instant_columns, -1),
};

const char *const trace_family_names[TRACE_FAMILY_COUNT] = {
	[TRACE_READ] = "read",	     [TRACE_WRITE] = "write",	    [TRACE_METADATA] = "metadata",
	[TRACE_SYNC] = "sync",	     [TRACE_MAP] = "map",	    [TRACE_TRANSFER] = "transfer",
	[TRACE_ADVICE] = "advice",   [TRACE_FILEFAULT] = "fault",   [TRACE_ANONFAULT] = "anonymous",
	[TRACE_CACHE] = "pagecache", [TRACE_INDIRECT] = "indirect", [TRACE_UNDECODED] = "undecoded",
	[TRACE_ASYNC] = "async",     [TRACE_STORES] = "stores",
};
