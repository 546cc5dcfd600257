/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The files that traces name: maps ids in rows to files, each file once regardless of how many ids,
 * names and traces it has.
 */
#pragma once

#include "collections/map.h"
#include "collections/number_index.h"
#include "analysis/job/file_system.h"
#include "collections/arena.h"
#include "trace/read/reader.h"

#define FILE_UNKNOWN 0	     /* the file of all ids that no row explains */
#define FILE_NONE UINT32_MAX /* for id 0: no file */

/* There may be a million: fields are as narrow as the kernel's. Wider numbers in hostile traces are
 * clamped. */
struct file {
	uint64_t ino;
	uint64_t time; /* of the latest row, on its host's clock */
	uint64_t size_bytes;
	uint32_t dev, generation;
	uint32_t instance;	  /* of the device: see event_device */
	uint32_t host;		  /* other hosts' devices and inodes are other files */
	uint32_t trace;		  /* trace that has these strings: */
	uint32_t path;		  /* of the latest row with a path; string id */
	uint32_t filesystem;	  /* name of its type, as of the path; string id */
	uint32_t readahead_bytes; /* 0: unknown */
	uint32_t capacity_kib;	  /* of its tmpfs; 0: unknown */
	uint32_t stripe_kib;	  /* on Lustre: size of its stripes; 0: unknown */
	uint16_t stripes;	  /* and their number */
	uint16_t mode;
	uint16_t flags; /* TRACE_FILE_* of the latest row; DELETED once any row has it */
};

/* The file that an id of a trace stands for. */
struct file_id {
	uint64_t time; /* of the row that says so */
	uint32_t id;   /* the kernel side counts no further; wider ids match nothing */
	uint32_t file;
};

struct file_ids {
	struct file_id *ids;
	size_t count, room;
	struct number_index index; /* by id: those not at the index that their order suggests */
};

/* Text that replaces a name that the trace lost. */
struct lost_name {
	uint32_t file;
	struct trace_string text;
};

struct file_table {
	struct file *files; /* number 0 is FILE_UNKNOWN */
	size_t count, room;
	size_t max;	   /* maximum number of files; 0: no limit ... */
	uint64_t overflow; /* ... and rows of files beyond it, which are FILE_UNKNOWN */
	struct trace_reader *const *traces;
	size_t trace_count;
	struct file_ids *ids;		/* by trace */
	struct number_index identities; /* by host, device, ino, generation */
	struct map first_paths; /* file -> time of its first row, trace and string id of the path
				 * there; only files whose path has changed */
	uint64_t lost_rows;	/* in damaged blocks: their files are FILE_UNKNOWN */
	struct lost_name *lost_names; /* by file number */
	size_t lost_count, lost_room;
	struct arena lost_texts;
	struct map imported; /* hashes of directories that have a __pycache__ */
	size_t sources;	     /* Python files in directories that have none */
};

#define FILES_LOST "(files whose names were lost)" /* FILE_UNKNOWN, once rows were lost */

/* The traces must outlive the table. Returns 0 or -ENOMEM. */
int file_table_init(struct file_table *table, struct trace_reader *const *traces,
		    size_t trace_count);
void file_table_free(struct file_table *table);

/* Reads the file rows of one trace. `host` identifies a machine and boot. Returns 0 or -errno. */
int file_table_load(struct file_table *table, uint32_t trace, uint32_t host,
		    struct trace_error *error);

/* Must run once after all traces are read: creates texts for names that were in a damaged block or
 * never written, and finds what Python imports. Returns 0 or -ENOMEM. */
int file_table_find_lost(struct file_table *table);

/* True if the Python source at a path is imported: Python compiled sources in its directory, so the
 * traces name a __pycache__ there or a file in one. If only a few sources are elsewhere, these are
 * programs that were run, and all count as imported. */
bool file_table_is_imported(const struct file_table *table, const char *path, size_t length);

/* Returns the number of the file for an id of a trace, FILE_UNKNOWN, or FILE_NONE for id 0. */
uint32_t file_table_find(const struct file_table *table, uint32_t trace, uint64_t id);
/* Its path, and the type of its file system; empty if there is none or it is unknown. */
struct trace_string file_table_path(const struct file_table *table, uint32_t file);
/* The path in its first row: before it was renamed. */
struct trace_string file_table_first_path(const struct file_table *table, uint32_t file);
struct trace_string file_table_filesystem(const struct file_table *table, uint32_t file);
/* True if that type has the trait, FILE_SYSTEM_*; false if it is unknown. */
bool file_table_is_on(const struct file_table *table, uint32_t file, unsigned int trait);
/* The path for display: if the trace lost it, "(name lost, dev 8:1 inode 123)" or FILES_LOST. */
struct trace_string file_table_name(const struct file_table *table, uint32_t file);
/* True if file_table_name returns such a text. */
bool file_table_is_lost(const struct file_table *table, uint32_t file);
/* True if it stands for all files without a slot of their own, in mode profile. */
bool file_table_is_rest(const struct file_table *table, uint32_t file);
