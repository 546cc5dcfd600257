/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tracks of a Perfetto trace, interned names, and packets of events. Private to the Perfetto
 * export.
 */
#ifndef FAULTLINE_PERFETTO_TRACKS_H
#define FAULTLINE_PERFETTO_TRACKS_H

#include "analysis/job/job.h"
#include "output/base/device_names.h"
#include "output/timeline/perfetto_pack.h"

#define PERFETTO_DEPTH 4 /* nested slices on a lane: a fault in a call is two */
#define PERFETTO_NO_GROUP UINT32_MAX

/* What a group of lanes belongs to. */
enum perfetto_kind {
	PERFETTO_THREAD, /* key: tid */
	PERFETTO_SPANS,	 /* of a thread; key: tid */
	PERFETTO_ASYNC,	 /* of a process */
	PERFETTO_DEVICE, /* key: dev; no process */
};

/* A track whose slices nest. */
struct perfetto_lane {
	uint64_t uuid;
	uint32_t depth;
	uint64_t ends[PERFETTO_DEPTH]; /* of the open slices, innermost last */
};

struct perfetto_group {
	enum perfetto_kind kind;
	uint32_t process;
	uint64_t key;
	uint32_t newest; /* its latest open span; maintained by export_perfetto.c */
	struct perfetto_lane *lanes;
	size_t count, room;
};

enum perfetto_counter { COUNT_READ, COUNT_WRITTEN, COUNT_FETCHED, PERFETTO_COUNTERS };

struct perfetto_process {
	uint64_t uuid; /* 0: not written yet */
	int32_t pid;   /* as written */
	int32_t moved; /* offset of its pid and tids if the pid was used before */
	struct {
		uint64_t uuid, bin, bytes;
		bool any;
	} counters[PERFETTO_COUNTERS];
};

/* Numbered items with interned names. */
enum { NUMBERED_OPERATION, NUMBERED_FAMILY, NUMBERED_FILE, PERFETTO_NUMBERED };

struct perfetto_tracks {
	struct job *job;
	struct perfetto_pack *pack;
	struct device_names devices;
	struct sink made; /* for packets with texts */
	uint64_t uuids;	  /* used so far */
	uint64_t bin_ns;
	struct perfetto_process *processes;
	size_t process_room;
	struct perfetto_group *groups;
	size_t count, room;
	struct map numbers; /* kind, process, key -> group */
	struct map pids;    /* pid -> number of processes that had it */
	struct map words;   /* WORD_*, trace, string id -> iid */
	struct {
		uint64_t *iids; /* 0: not interned yet */
		size_t room;
	} numbered[PERFETTO_NUMBERED]; /* by the job's number */
	uint64_t iids;
	int error;
};

/* Argument names, interned at the start under these numbers. */
#define PERFETTO_ARGS(ARG)                                                                         \
	ARG(FILE, "file")                                                                          \
	ARG(OFFSET, "offset")                                                                      \
	ARG(BYTES, "bytes")                                                                        \
	ARG(FETCHED, "fetched_bytes")                                                              \
	ARG(CREATED, "created_bytes")                                                              \
	ARG(ERROR, "error")                                                                        \
	ARG(MAJOR, "major")                                                                        \
	ARG(ARGS, "args")                                                                          \
	ARG(SECTOR, "sector")                                                                      \
	ARG(QUEUE, "queue_ns")                                                                     \
	ARG(UNFINISHED, "unfinished")

#define PERFETTO_ARG_ENUM(id, name) PERFETTO_ARG_##id,
enum perfetto_arg { PERFETTO_ARG_NONE, PERFETTO_ARGS(PERFETTO_ARG_ENUM) PERFETTO_ARG_COUNT };

#define PERFETTO_EVENT_BYTES 512 /* arguments of an event, without texts */

/* An event under construction. It may have one text that is not interned, which goes last. */
struct perfetto_event {
	uint64_t track, name, category; /* interned; 0 for none */
	uint64_t flow, flow_end;	/* 0: none */
	uint8_t args[PERFETTO_EVENT_BYTES], *end;
	struct trace_string text; /* value of text_arg; written as UTF-8 */
	enum perfetto_arg text_arg;
};

void perfetto_tracks_init(struct perfetto_tracks *tracks, struct job *job,
			  struct perfetto_pack *pack, uint64_t length_ns);
void perfetto_tracks_free(struct perfetto_tracks *tracks);
/* Writes the first packets: the clocks and the argument names. */
int perfetto_tracks_begin(struct perfetto_tracks *tracks, uint64_t start_unix_ns);

/* Returns the group's number, for perfetto_place; `groups` may move. Errors are kept in
 * tracks->error. */
uint32_t perfetto_group(struct perfetto_tracks *tracks, enum perfetto_kind kind, uint32_t process,
			uint64_t key);
/* Returns the uuid of a lane where a slice nests (or overlaps nothing); adds lanes as needed. */
uint64_t perfetto_place(struct perfetto_tracks *tracks, uint32_t group, uint64_t start_ns,
			uint64_t end_ns, bool nest);
/* Returns the uuid of a lane by its number. */
uint64_t perfetto_lane(struct perfetto_tracks *tracks, uint32_t group, size_t lane);
/* Names a thread, unless nothing happened on it. */
void perfetto_name_thread(struct perfetto_tracks *tracks, uint32_t process, uint64_t tid,
			  struct trace_string name);

/* Counts bytes of a process at a time, which must not go back by more than a bin. */
void perfetto_count(struct perfetto_tracks *tracks, uint32_t process, enum perfetto_counter counter,
		    uint64_t bytes, uint64_t time_ns);
void perfetto_count_end(struct perfetto_tracks *tracks);

/* Return the numbers of interned texts. */
uint64_t perfetto_operation(struct perfetto_tracks *tracks, uint16_t operation);
uint64_t perfetto_family(struct perfetto_tracks *tracks, enum trace_family family);
uint64_t perfetto_name(struct perfetto_tracks *tracks, uint32_t trace, uint64_t string);
uint64_t perfetto_category(struct perfetto_tracks *tracks, uint32_t trace, uint64_t string);
uint64_t perfetto_file(struct perfetto_tracks *tracks, uint32_t file);

void perfetto_event_begin(struct perfetto_event *event);
void perfetto_arg_uint(struct perfetto_event *event, enum perfetto_arg arg, uint64_t value);
void perfetto_arg_interned(struct perfetto_event *event, enum perfetto_arg arg, uint64_t iid);

/* Times are relative to the start. */
void perfetto_slice(struct perfetto_tracks *tracks, const struct perfetto_event *event,
		    uint64_t start_ns, uint64_t end_ns);
void perfetto_instant(struct perfetto_tracks *tracks, const struct perfetto_event *event,
		      uint64_t time_ns);

#endif
