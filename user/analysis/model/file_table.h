/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The files that traces name: from the ids of their rows to files, each once however many ids,
 * names and traces it has. Knows nothing of what was done to them.
 */
#ifndef FAULTLINE_FILE_TABLE_H
#define FAULTLINE_FILE_TABLE_H

#include "analysis/base/map.h"
#include "analysis/base/number_index.h"
#include "analysis/model/file_system.h"
#include "arena.h"
#include "trace/reader.h"

#define FILE_UNKNOWN 0	     /* the file of all ids that no row explains */
#define FILE_NONE UINT32_MAX /* what id 0 stands for: no file */

/* There may be a million: as narrow as what the kernel has. Numbers of hostile traces that are
 * wider are the largest that fits. */
struct file {
	uint64_t ino;
	uint64_t time; /* of the latest row, on its host's clock */
	uint64_t size_bytes;
	uint32_t dev, generation;
	uint32_t host;		  /* devices and inodes of different hosts are different files */
	uint32_t trace;		  /* whose strings these are: */
	uint32_t path;		  /* of the latest row that has one; string id */
	uint32_t filesystem;	  /* name of its type, as of the path; string id */
	uint32_t readahead_bytes; /* 0: not known */
	uint32_t capacity_kib;	  /* of its tmpfs; 0: not known */
	uint16_t mode;
	uint16_t flags; /* TRACE_FILE_* of the latest row; DELETED once any row said so */
};

/* What an id of a trace stands for. */
struct file_id {
	uint64_t time; /* of the row that said so */
	uint32_t id;   /* the kernel side counts no further; wider ones explain nothing */
	uint32_t file;
};

struct file_ids {
	struct file_id *ids;
	size_t count, room;
	struct number_index index; /* by id: of those that are not where they would be in order */
};

/* What stands for a name that the trace lost. */
struct lost_name {
	uint32_t file;
	struct trace_string text;
};

struct file_table {
	struct file *files; /* number 0 is FILE_UNKNOWN */
	size_t count, room;
	size_t most;	 /* files there may be; 0 for any number ... */
	uint64_t beyond; /* ... and how many rows of others were passed over: FILE_UNKNOWN */
	struct trace_reader *const *traces;
	size_t trace_count;
	struct file_ids *ids;		/* of each trace */
	struct number_index identities; /* by host, dev, ino, generation */
	struct map first_paths; /* file -> time of its first row, trace and string id of the path
				   there: of those that have another path now */
	uint64_t lost_rows;	/* of damaged blocks: their files are among FILE_UNKNOWN */
	struct lost_name *lost_names; /* by number of the file */
	size_t lost_count, lost_room;
	struct arena lost_texts;
	struct map imported; /* hashes of directories that have a __pycache__ */
	size_t sources;	     /* files of Python's in directories that have none */
};

#define FILES_LOST "(files whose names were lost)" /* FILE_UNKNOWN, once rows were lost */

/* The traces must outlive the table. Returns 0 or -ENOMEM. */
int file_table_init(struct file_table *table, struct trace_reader *const *traces,
		    size_t trace_count);
void file_table_free(struct file_table *table);

/* Reads the file rows of one trace. `host` tells machines (and boots) apart. Returns 0 or -errno.
 */
int file_table_load(struct file_table *table, uint32_t trace, uint32_t host,
		    struct trace_error *error);

/* To be called once, when all traces are read: makes texts of what has a name that stood in a
 * damaged block or was never written, and finds what Python imports. Returns 0 or -ENOMEM. */
int file_table_find_lost(struct file_table *table);

/* Whether a source of Python at a path is imported: Python has compiled sources in its directory,
 * so that some file or directory of the traces is, or lies in, a __pycache__ there. A few that lie
 * elsewhere are programs that were run. */
bool file_table_is_imported(const struct file_table *table, const char *path, size_t length);

/* Number of the file that an id of a trace stands for, FILE_UNKNOWN, or FILE_NONE for id 0. */
uint32_t file_table_find(const struct file_table *table, uint32_t trace, uint64_t id);
/* Its path, and the type of its file system; empty when it has none or is unknown. */
struct trace_string file_table_path(const struct file_table *table, uint32_t file);
/* The path that it had when it was first told of: before it was renamed. */
struct trace_string file_table_first_path(const struct file_table *table, uint32_t file);
struct trace_string file_table_filesystem(const struct file_table *table, uint32_t file);
/* Whether that type has the trait, FILE_SYSTEM_*; false if it is not known. */
bool file_table_is_on(const struct file_table *table, uint32_t file, unsigned int trait);
/* The path for people: where the trace lost it, "(name lost, dev 8:1 inode 123)" or FILES_LOST. */
struct trace_string file_table_name(const struct file_table *table, uint32_t file);
/* Whether file_table_name gives such a text. */
bool file_table_is_lost(const struct file_table *table, uint32_t file);

#endif
