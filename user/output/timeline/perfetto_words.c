/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Interned names: each is written once, before the first packet that refers to its number. Field
 * numbers are those of tests/unit/perfetto.proto.
 */
#include "output/timeline/perfetto_message.h"

#include <errno.h>

#include "base/grow.h"

/* InternedData */
enum { CATEGORIES = 1, NAMES, ANNOTATION_NAMES, ANNOTATION_STRINGS = 29 };

/* Kinds of words that are strings of a trace. */
enum { WORD_NAME, WORD_CATEGORY };

static void put_word(struct sink *interned, unsigned int field, uint64_t iid,
		     struct trace_string text)
{
	struct sink word;

	sink_open_memory(&word);
	perfetto_put_uint(&word, 1, iid);
	perfetto_put_text(&word, 2, text);
	perfetto_put_message(interned, field, &word);
}

void perfetto_intern_args(struct perfetto_tracks *tracks)
{
#define ARG_NAME(id, name) name,
	static const char *const names[] = { NULL, PERFETTO_ARGS(ARG_NAME) };
	struct sink interned;

	sink_open_memory(&interned);
	for (size_t i = 1; i < PERFETTO_ARG_COUNT; i++)
		put_word(&interned, ANNOTATION_NAMES, i, perfetto_literal(names[i]));
	perfetto_add_packet(tracks, PACKET_INTERNED, &interned,
			    PACKET_STATE_CLEARED | PACKET_NEEDS_STATE);
}

static void emit_word(struct perfetto_tracks *tracks, unsigned int field, uint64_t iid,
		      struct trace_string text)
{
	struct sink interned;

	sink_open_memory(&interned);
	put_word(&interned, field, iid, text);
	perfetto_add_packet(tracks, PACKET_INTERNED, &interned, PACKET_NEEDS_STATE);
}

/* --- names of numbered items --- */

/* Returns the number of an item's name, assigned just now if *added. */
static uint64_t find_numbered(struct perfetto_tracks *tracks, unsigned int what, uint32_t number,
			      bool *added)
{
	*added = false;
	if (number >= tracks->numbered[what].room &&
	    !GROW(tracks->numbered[what].iids, tracks->numbered[what].room, (size_t)number + 1)) {
		perfetto_fail(tracks, -ENOMEM);
		return 0;
	}
	*added = !tracks->numbered[what].iids[number];
	if (*added)
		tracks->numbered[what].iids[number] = tracks->iids++;
	return tracks->numbered[what].iids[number];
}

uint64_t perfetto_operation(struct perfetto_tracks *tracks, uint16_t operation)
{
	bool added;
	uint64_t iid = find_numbered(tracks, NUMBERED_OPERATION, operation, &added);

	if (added)
		emit_word(tracks, NAMES, iid,
			  perfetto_literal(tracks->job->operations[operation].name));
	return iid;
}

uint64_t perfetto_family(struct perfetto_tracks *tracks, enum trace_family family)
{
	bool added;
	uint64_t iid = find_numbered(tracks, NUMBERED_FAMILY, family, &added);

	if (added)
		emit_word(tracks, CATEGORIES, iid, perfetto_literal(trace_family_names[family]));
	return iid;
}

uint64_t perfetto_file(struct perfetto_tracks *tracks, uint32_t file)
{
	bool added;
	uint64_t iid = find_numbered(tracks, NUMBERED_FILE, file, &added);
	struct trace_string path;

	if (!added)
		return iid;
	path = file_table_name(&tracks->job->files, file);
	emit_word(tracks, ANNOTATION_STRINGS, iid,
		  path.length ? path : perfetto_literal("(no path)"));
	return iid;
}

/* --- strings of traces --- */

static uint64_t string_word(struct perfetto_tracks *tracks, uint64_t what, unsigned int field,
			    uint32_t trace, uint64_t string, const char *none)
{
	const uint64_t key[] = { what, trace, string };
	struct trace_string text;
	bool added;
	uint64_t *iid = map_add(&tracks->words, key, &added);

	if (!iid) {
		perfetto_fail(tracks, -ENOMEM);
		return 0;
	}
	if (!added)
		return *iid;
	*iid = tracks->iids++;
	text = trace_reader_string(tracks->job->traces[trace].reader, string);
	emit_word(tracks, field, *iid, text.length ? text : perfetto_literal(none));
	return *iid;
}

uint64_t perfetto_name(struct perfetto_tracks *tracks, uint32_t trace, uint64_t string)
{
	return string_word(tracks, WORD_NAME, NAMES, trace, string, "(no name)");
}

uint64_t perfetto_category(struct perfetto_tracks *tracks, uint32_t trace, uint64_t string)
{
	return string_word(tracks, WORD_CATEGORY, CATEGORIES, trace, string, "span");
}
