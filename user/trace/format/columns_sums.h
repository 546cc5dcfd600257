/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums of mode profile and of summaries: columns and fields (see columns.h). */
#pragma once

/* clang-format off */
#define TRACE_FIELDS_PROFILE(COLUMN, HIDDEN)                                                       \
	COLUMN(PROFILE_TIME, 0, "dts", TIME, NS, BY_HAND, "start of the last operation")           \
	COLUMN(PROFILE_OVER, 1, "over", UINT, NS, BY_HAND,                                         \
	       "approximate time before it in which the operations began")                         \
	COLUMN(PROFILE_PID, 2, "pid", UINT, NONE, PART(key.pid), "process")                        \
	COLUMN(PROFILE_FILE2, 3, "file2", UINT, NONE, PART(key.file2),                             \
	       "file written by sendfile and similar calls")                                       \
	COLUMN(PROFILE_OP, 4, "op", UINT, NONE, PART(key.op),                                      \
	       "operation: number in the header's operations")                                     \
	COLUMN(PROFILE_FILE, 5, "file", UINT, NONE, PART(key.file), "file id, 0 for none")         \
	COLUMN(PROFILE_FLAGS, 6, "flags", UINT, NONE, PART(key.flags),                             \
	       "TRACE_PROFILE_* of flags.h")                                                       \
	COLUMN(PROFILE_COUNT, 7, "count", UINT, COUNT, PART(sums.count), "number of operations")   \
	COLUMN(PROFILE_ERRORS, 8, "errors", UINT, COUNT, PART(sums.errors), "failed operations")   \
	COLUMN(PROFILE_BYTES, 9, "bytes", UINT, BYTES, PART(sums.bytes), "bytes moved")            \
	COLUMN(PROFILE_THREAD_TIME, 10, "thread_time", UINT, NS, PART(sums.time_ns),               \
	       "sum of their durations")                                                           \
	COLUMN(PROFILE_FETCHED, 11, "fetched_bytes", UINT, BYTES, PART_PAGES(sums.fetched_pages),  \
	       "bytes brought into the page cache, as in syscall and fault")                       \
	COLUMN(PROFILE_FAULT_FETCHED, 12, "fault_fetched_bytes", UINT, BYTES,                      \
	       PART_PAGES(sums.fault_fetched_pages),                                               \
	       "bytes brought in by faults inside calls")                                          \
	COLUMN(PROFILE_CREATED, 13, "created_bytes", UINT, BYTES, PART_PAGES(sums.created_pages),  \
	       "bytes newly cached by writes")                                                     \
	COLUMN(PROFILE_DIRTIED, 14, "dirtied_bytes", UINT, BYTES, PART_PAGES(sums.dirtied_pages),  \
	       "bytes dirtied by stores, and by map calls ahead of them")                          \
	COLUMN(PROFILE_MAJOR, 15, "major", UINT, COUNT, PART(sums.major_faults),                   \
	       "major faults; for map calls, those that they caused")                              \
	COLUMN(PROFILE_READ_FOR_WRITE, 16, "read_for_write_bytes", UINT, BYTES,                    \
	       PART_SECTORS(sums.read_for_write_sectors),                                          \
	       "bytes read from storage to complete partially written pages")

#define TRACE_FIELDS_PROFILE_CLASS(COLUMN, HIDDEN)                                                 \
	COLUMN(PROFILE_CLASS_TIME, 0, "dts", TIME, NS, BY_HAND, "as in the profile row")           \
	COLUMN(PROFILE_CLASS_WHAT, 1, "what", UINT, NONE, BY_HAND,                                 \
	       "0: durations, 1: requested sizes")                                                 \
	COLUMN(PROFILE_CLASS_PID, 2, "pid", UINT, NONE, PART(key.pid), "process")                  \
	COLUMN(PROFILE_CLASS_FILE2, 3, "file2", UINT, NONE, PART(key.file2),                       \
	       "as in the profile row")                                                            \
	COLUMN(PROFILE_CLASS_OP, 4, "op", UINT, NONE, PART(key.op),                                \
	       "operation: number in the header's operations")                                     \
	COLUMN(PROFILE_CLASS_FILE, 5, "file", UINT, NONE, PART(key.file), "file id, 0 for none")   \
	COLUMN(PROFILE_CLASS_FLAGS, 6, "flags", UINT, NONE, PART(key.flags),                       \
	       "TRACE_PROFILE_* of flags.h")                                                       \
	COLUMN(PROFILE_CLASS_BITS, 7, "bits", UINT, NONE, BY_HAND,                                 \
	       "class: durations below, or sizes up to, two to this power, and above half of "     \
	       "that; 64: all above the other classes")                                            \
	COLUMN(PROFILE_CLASS_COUNT, 8, "count", UINT, COUNT, BY_HAND, "number of operations")

#define TRACE_FIELDS_SUMMARY_TABLE(COLUMN, HIDDEN)                                                 \
	COLUMN(SUMMARY_TABLE_TIME, 0, "dts", TIME, NS, BY_HAND, "end of the summarized time")      \
	COLUMN(SUMMARY_TABLE_NUMBER, 1, "table", UINT, NONE, BY_HAND,                              \
	       "table number; a table in a cell has a lower one than the table of that cell")      \
	COLUMN(SUMMARY_TABLE_NAME, 2, "name", STRING, NONE, BY_HAND,                               \
	       "name in the report; none for a table in a cell")                                   \
	COLUMN(SUMMARY_TABLE_SHAPE, 3, "shape", UINT, NONE, BY_HAND, "0: one row, 1: a list")      \
	COLUMN(SUMMARY_TABLE_ABSENT, 4, "absent", UINT, NONE, BY_HAND,                             \
	       "1: its data was not recorded, as opposed to having no rows")                       \
	COLUMN(SUMMARY_TABLE_NOTE, 5, "note", STRING, NONE, BY_HAND, "note on the table")          \
	COLUMN(SUMMARY_TABLE_ROWS, 6, "rows", UINT, COUNT, BY_HAND, "number of rows")              \
	COLUMN(SUMMARY_TABLE_FOLDED, 7, "folded", UINT, COUNT, BY_HAND,                            \
	       "rows summed in the last row; 0: it is an ordinary row")                            \
	COLUMN(SUMMARY_TABLE_CUT, 8, "cut", UINT, COUNT, BY_HAND,                                  \
	       "rows dropped for lack of room, and in no sum")

#define TRACE_FIELDS_SUMMARY_COLUMN(COLUMN, HIDDEN)                                                \
	COLUMN(SUMMARY_COLUMN_TIME, 0, "dts", TIME, NS, BY_HAND, "end of the summarized time")     \
	COLUMN(SUMMARY_COLUMN_TABLE, 1, "table", UINT, NONE, BY_HAND, "number of the table")       \
	COLUMN(SUMMARY_COLUMN_NAME, 2, "name", STRING, NONE, BY_HAND, "name in the report")        \
	COLUMN(SUMMARY_COLUMN_TITLE, 3, "title", STRING, NONE, BY_HAND, "heading; may be none")    \
	COLUMN(SUMMARY_COLUMN_UNIT, 4, "unit", UINT, NONE, BY_HAND,                                \
	       "0: none, 1: count, 2: bytes, 3: ns, 4: share of 1, 5: none, a path")               \
	COLUMN(SUMMARY_COLUMN_MEANING, 5, "meaning", STRING, NONE, BY_HAND,                        \
	       "one line of explanation; none if the names suffice")                               \
	COLUMN(SUMMARY_COLUMN_KIND, 6, "kind", UINT, NONE, BY_HAND,                                \
	       "1: key, 2: fact, 3: sum, 4: thread, 5: union, 6: covered, 7: unoverlapped, "       \
	       "8: remainder, 9: ratio, 10: derived, 11: percentile, 12: max, 13: min, "           \
	       "14: moment, 15: duration, 16: first, 17: list, 18: any, 19: all, 20: status, "     \
	       "21: shared, 22: largest")

#define TRACE_FIELDS_SUMMARY_CELL(COLUMN, HIDDEN)                                                  \
	COLUMN(SUMMARY_CELL_TIME, 0, "dts", TIME, NS, BY_HAND, "end of the summarized time")       \
	COLUMN(SUMMARY_CELL_TABLE, 1, "table", UINT, NONE, BY_HAND, "number of the table")         \
	COLUMN(SUMMARY_CELL_ROW, 2, "row", UINT, NONE, BY_HAND, "row, from 0")                     \
	COLUMN(SUMMARY_CELL_COLUMN, 3, "column", UINT, NONE, BY_HAND, "column, from 0")            \
	COLUMN(SUMMARY_CELL_TYPE, 4, "type", UINT, NONE, BY_HAND,                                  \
	       "0: nothing, 1: unsigned, 2: signed, 3: real, 4: boolean, 5: text, 6: list of "     \
	       "texts, 7: table, 8: next text of the preceding list")                              \
	COLUMN(SUMMARY_CELL_FLAGS, 5, "flags", UINT, NONE, BY_HAND,                                \
	       "1: the number is a lower bound, 2: it stands for an unknown number")               \
	COLUMN(SUMMARY_CELL_VALUE, 6, "value", UINT, NONE, BY_HAND,                                \
	       "number; bits of a real; count of texts; table number")                             \
	COLUMN(SUMMARY_CELL_TEXT, 7, "text", STRING, NONE, BY_HAND, "text")

#define TRACE_FIELDS_SUMMARY_CLASS(COLUMN, HIDDEN)                                                 \
	COLUMN(SUMMARY_CLASS_TIME, 0, "dts", TIME, NS, BY_HAND, "end of the summarized time")      \
	COLUMN(SUMMARY_CLASS_TABLE, 1, "table", UINT, NONE, BY_HAND, "number of the table")        \
	COLUMN(SUMMARY_CLASS_ROW, 2, "row", UINT, NONE, BY_HAND, "row, from 0")                    \
	COLUMN(SUMMARY_CLASS_COLUMN, 3, "column", UINT, NONE, BY_HAND, "column, from 0")           \
	COLUMN(SUMMARY_CLASS_PERCENT, 4, "percent", UINT, NONE, BY_HAND, "percentile")             \
	COLUMN(SUMMARY_CLASS_MAX, 5, "most", UINT, NONE, BY_HAND, "largest of all values")         \
	COLUMN(SUMMARY_CLASS_NUMBER, 6, "class", UINT, NONE, BY_HAND,                              \
	       "class: values below 128 have their own; above, 64 of equal width per power of "    \
	       "two")                                                                              \
	COLUMN(SUMMARY_CLASS_COUNT, 7, "count", UINT, COUNT, BY_HAND, "values in the class")
/* clang-format on */
