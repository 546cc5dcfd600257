/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Replaces names that may hold secrets by keyed hashes (SipHash-2-4), so that equal names stay
 * equal and unequal ones stay apart. Names that every Linux system has are kept, because analyses
 * need them: system directories and files below them, directories of Python packages, well-known
 * file name extensions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/format/header.h"

struct arena;
struct trace_writer;

struct redaction {
	uint64_t key[2];
};

/* Replaces a command line in a trace. */
#define REDACTED_COMMAND "(redacted)"

/* Makes a random key. Returns 0 or a negative errno. */
int redaction_random(struct redaction *redaction);
/* Makes the key from the content of a file, so that several recordings hash alike. Returns 0,
 * -EINVAL if it is shorter than 16 bytes, or another negative errno. */
int redaction_from_file(struct redaction *redaction, const char *path);

/* Replaces a text by at most TRACE_STRING_BYTES_MAX bytes in `out`, and returns how many. */
size_t redact_name(const struct redaction *redaction, enum trace_name sort, const char *text,
		   size_t length, char *out);
/* The same for the qualified name of a function, part by part. Those of system files stay: `source`
 * is the unredacted path. */
size_t redact_function(const struct redaction *redaction, const char *source, size_t source_length,
		       const char *text, size_t length, char *out);

/* Replaces the command, the targets and the mounts, in memory of the arena, and has a writer redact
 * names. Returns 0 or -ENOMEM. */
int redact_header(const struct redaction *redaction, struct trace_header *header,
		  struct arena *arena);

/* Like trace_writer_string, for a name that the header's redaction, if any, replaces, ... */
uint32_t trace_writer_name(struct trace_writer *writer, enum trace_name sort, const char *text,
			   size_t length);
/* ... and for a function of the file `source`. */
uint32_t trace_writer_function(struct trace_writer *writer, const char *source,
			       size_t source_length, const char *text, size_t length);

/* SipHash-2-4 (Aumasson and Bernstein, 2012). */
uint64_t redact_hash(const uint64_t key[2], const void *bytes, size_t length);
