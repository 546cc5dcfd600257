/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes what was added to slots as rows of the trace. */
#include "capture/drain/profile_rows.h"

#include <string.h>

#define TAKE_PART(member) added->member
#define TAKE_PART_PAGES(member) (uint64_t) added->member * rows->page_bytes
#define TAKE_PART_SECTORS(member) (uint64_t) added->member *TRACE_SECTOR_BYTES
#define TAKE_BY_HAND 0
#define TAKE(id, number, name, type, unit, source, meaning) row[id] = TAKE_##source;

/* Must precede the first row that uses it. */
static void name_other(struct profile_rows *rows, uint64_t time_ns)
{
	uint64_t row[FILE_COLUMNS] = { 0 };

	row[FILE_TIME] = time_ns;
	row[FILE_ID] = TRACE_FILE_OTHER;
	row[FILE_FLAGS] = TRACE_FILE_NAMELESS;
	row[FILE_PATH] =
		trace_writer_string(rows->writer, TRACE_OTHER_FILES, strlen(TRACE_OTHER_FILES));
	trace_writer_append(rows->writer, TRACE_FILE, 0, row);
	rows->other_named = true;
}

static void write_classes(struct profile_rows *rows, const struct profile_slot *added,
			  unsigned int of, const uint32_t *classes, unsigned int count,
			  unsigned int shift)
{
	uint64_t row[PROFILE_CLASS_COLUMNS];

	TRACE_COLUMNS(PROFILE_CLASS, TAKE)
	row[PROFILE_CLASS_TIME] = added->last_ns;
	row[PROFILE_CLASS_WHAT] = of;
	for (unsigned int i = 0; i < count; i++) {
		if (!classes[i])
			continue;
		row[PROFILE_CLASS_BITS] = i + 1 < count ? shift + i : TRACE_CLASS_OPEN;
		row[PROFILE_CLASS_COUNT] = classes[i];
		trace_writer_append(rows->writer, TRACE_PROFILE_CLASS, 0, row);
	}
}

static bool is_left_out(const struct profile_rows *rows, const struct profile_slot *added)
{
	if (!rows->choice)
		return false;
	if (added->key.file && added->key.file != TRACE_FILE_OTHER &&
	    !file_choice_knows(rows->choice, added->key.file))
		rows->take_names(rows->context);
	return file_choice_leaves_profile(rows->choice, added);
}

void profile_rows_take(void *context, const struct profile_slot *added)
{
	struct profile_rows *rows = context;
	uint64_t row[PROFILE_COLUMNS];

	if (is_left_out(rows, added))
		return;
	if (added->key.file == TRACE_FILE_OTHER && !rows->other_named)
		name_other(rows, added->last_ns);
	TRACE_COLUMNS(PROFILE, TAKE)
	row[PROFILE_TIME] = added->last_ns;
	row[PROFILE_OVER] = added->last_ns - added->first_ns;
	trace_writer_append(rows->writer, TRACE_PROFILE, 0, row);
	write_classes(rows, added, TRACE_CLASS_DURATION, added->sums.latencies, PROFILE_LATENCIES,
		      PROFILE_LATENCY_SHIFT);
	write_classes(rows, added, TRACE_CLASS_SIZE, added->sums.sizes, PROFILE_SIZES,
		      PROFILE_SIZE_SHIFT);
}
