/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQL views for the most common questions about a run. Uses the tables of relations.h by name.
 *
 * thread_time_ns is summed over threads, as in the report: time that two threads spend
 * simultaneously counts twice.
 */
#include "output/tables/export_sqlite.h"

/* Operations by the file that they read or wrote; a transfer between files counts for both. */
#define OPERATIONS_BY_FILE                                                                         \
	"SELECT file, process, span, time_ns, timed_ns, read_bytes,\n"                             \
	"       CASE WHEN file2 IS NULL THEN written_bytes END AS written_bytes,\n"                \
	"       fetched_bytes, 0 AS faults, 0 AS major FROM calls WHERE file IS NOT NULL\n"        \
	"  UNION ALL SELECT file2, process, span, time_ns,\n"                                      \
	"       CASE WHEN file IS NULL THEN timed_ns END, NULL, written_bytes, NULL, 0, 0\n"       \
	"       FROM calls WHERE file2 IS NOT NULL\n"                                              \
	"  UNION ALL SELECT file, process, span, time_ns, timed_ns, NULL, NULL,\n"                 \
	"       fetched_bytes, 1, major FROM faults"

/* Operations regardless of file, each once. */
#define OPERATIONS                                                                                 \
	"SELECT process, span, time_ns, timed_ns, class, read_bytes, written_bytes,\n"             \
	"       fetched_bytes, 0 AS faults, 0 AS major FROM calls WHERE class IS NOT NULL\n"       \
	"  UNION ALL SELECT process, span, time_ns, timed_ns, class, NULL, NULL,\n"                \
	"       fetched_bytes, 1, major FROM faults"

#define SUMS                                                                                       \
	"sum(timed_ns) AS thread_time_ns, count(read_bytes) AS reads,\n"                           \
	"  sum(read_bytes) AS read_bytes, count(written_bytes) AS writes,\n"                       \
	"  sum(written_bytes) AS written_bytes, sum(faults) AS faults, sum(major) AS major,\n"     \
	"  sum(fetched_bytes) AS fetched_bytes"

const struct sqlite_view sqlite_views[] = {
	{ "by_file", "Which files cost the most time, and how were they read?",
	  "SELECT f.path, " SUMS "\n"
	  "FROM (" OPERATIONS_BY_FILE ") AS o\n"
	  "JOIN files AS f ON f.id = o.file GROUP BY f.id ORDER BY thread_time_ns DESC" },
	{ "by_directory", "Which directories cost the most time?",
	  "SELECT rtrim(f.path, replace(f.path, '/', '')) AS directory,\n"
	  "  count(DISTINCT f.id) AS files, " SUMS "\n"
	  "FROM (" OPERATIONS_BY_FILE ") AS o\n"
	  "JOIN files AS f ON f.id = o.file GROUP BY directory ORDER BY thread_time_ns DESC" },
	{ "by_operation",
	  "Which calls were made, how many, how long did they take, and how many failed?",
	  "SELECT layer, op, count(*) AS count, count(error) AS errors,\n"
	  "  sum(coalesce(read_bytes, written_bytes)) AS bytes,\n"
	  "  sum(dur_ns) AS thread_time_ns, max(dur_ns) AS max_ns,\n"
	  "  sum(fetched_bytes) AS fetched_bytes\n"
	  "FROM calls GROUP BY layer, op\n"
	  "UNION ALL SELECT 'fault', 'fault', count(*), NULL, NULL, sum(dur_ns), max(dur_ns),\n"
	  "  sum(fetched_bytes) FROM faults HAVING count(*) > 0 ORDER BY 6 DESC" },
	{ "by_method", "How many bytes did each access method move?",
	  "SELECT method, 'read' AS op, count(read_bytes) AS count, sum(read_bytes) AS bytes,\n"
	  "  sum(fetched_bytes) AS fetched_bytes FROM calls\n"
	  "  WHERE class = 'read' GROUP BY method\n"
	  "UNION ALL SELECT method, 'write', count(written_bytes), sum(written_bytes), NULL\n"
	  "  FROM calls WHERE written_bytes IS NOT NULL GROUP BY method\n"
	  "UNION ALL SELECT 'mmap', substr(class, 6), sum(fault),\n"
	  "  CASE class WHEN 'mmap_read' THEN sum(fetched_bytes) ELSE sum(dirtied_bytes) END,\n"
	  "  sum(fetched_bytes) FROM (\n"
	  "    SELECT class, 1 AS fault, fetched_bytes, dirtied_bytes FROM faults\n"
	  "    UNION ALL SELECT class, 0, fetched_bytes, dirtied_bytes FROM calls\n"
	  "    WHERE class IN ('mmap_read', 'mmap_write')) GROUP BY class" },
	{ "by_process", "Which processes and ranks spent the most time in I/O?",
	  "SELECT p.pid, p.rank, p.host, p.comm, " SUMS "\n"
	  "FROM (" OPERATIONS ") AS o\n"
	  "LEFT JOIN processes AS p ON p.id = o.process GROUP BY p.id ORDER BY thread_time_ns "
	  "DESC" },
	{ "by_span", "In which phases did I/O happen? Operations count for the innermost span.",
	  "SELECT s.name, s.category, count(DISTINCT s.id) AS spans_with_io, " SUMS "\n"
	  "FROM (" OPERATIONS ") AS o\n"
	  "JOIN spans AS s ON s.id = o.span GROUP BY s.name, s.category\n"
	  "ORDER BY thread_time_ns DESC" },
	{ "by_step", "Does I/O differ between epochs, or between steps?",
	  "SELECT p.rank, s.epoch, s.step, min(o.time_ns) AS first_ns, " SUMS "\n"
	  "FROM (" OPERATIONS ") AS o\n"
	  "JOIN spans AS s ON s.id = o.span JOIN processes AS p ON p.id = s.process\n"
	  "WHERE s.epoch IS NOT NULL OR s.step IS NOT NULL\n"
	  "GROUP BY p.rank, s.epoch, s.step ORDER BY first_ns" },
	{ "by_second", "When did I/O happen? Operations by the second in which they began.",
	  "SELECT time_ns / 1000000000 AS second, " SUMS "\n"
	  "FROM (" OPERATIONS ") AS o\n"
	  "GROUP BY second ORDER BY second" },
	{ "by_device", "What did the block devices do: time in queue or in service?",
	  "SELECT host, dev, instance, op, count(*) AS requests, sum(own_bytes) AS bytes,\n"
	  "  sum(queue_ns) AS queue_ns, sum(dur_ns - queue_ns) AS service_ns,\n"
	  "  max(dur_ns) AS max_ns, sum(status != 0) AS errors\n"
	  "FROM requests GROUP BY host, dev, instance, op ORDER BY bytes DESC" },
	{ "by_line",
	  "Which lines of the application, and of libraries that they called, took how much time, "
	  "by state? The state io (calls, faults) overlaps cpu.",
	  "SELECT a.source, a.line, a.function, t.library, s.state, count(*) AS samples,\n"
	  "  sum(s.weight_ns) AS time_ns\n"
	  "FROM samples AS s LEFT JOIN stacks AS t ON t.id = s.stack\n"
	  "LEFT JOIN stacks AS a ON a.id = t.application\n"
	  "GROUP BY a.source, a.line, a.function, t.library, s.state ORDER BY time_ns DESC" },
	{ "by_caller", "Time of each line, what it calls included, by state.",
	  "WITH RECURSIVE above(stack, at) AS (SELECT id, id FROM stacks\n"
	  "  UNION ALL SELECT a.stack, t.caller FROM above AS a JOIN stacks AS t ON t.id = a.at\n"
	  "  WHERE t.caller IS NOT NULL),\n"
	  "lines AS (SELECT DISTINCT a.stack, t.source, t.line, t.function\n"
	  "  FROM above AS a JOIN stacks AS t ON t.id = a.at)\n"
	  "SELECT l.source, l.line, l.function, s.state, count(*) AS samples,\n"
	  "  sum(s.weight_ns) AS time_ns\n"
	  "FROM samples AS s JOIN lines AS l ON l.stack = s.stack\n"
	  "GROUP BY l.source, l.line, l.function, s.state ORDER BY time_ns DESC" },
	{ "slowest", "Which operations were the slowest?",
	  "SELECT o.dur_ns, o.time_ns, o.pid, o.tid, o.op, coalesce(o.path, f.path) AS path,\n"
	  "  o.offset, o.fetched_bytes\n"
	  "FROM (SELECT * FROM (SELECT dur_ns, time_ns, pid, tid, op, path, file, offset,\n"
	  "                     fetched_bytes FROM calls ORDER BY dur_ns DESC LIMIT 100)\n"
	  "  UNION ALL SELECT * FROM (SELECT dur_ns, time_ns, pid, tid, 'fault', NULL, file,\n"
	  "                     offset, fetched_bytes FROM faults ORDER BY dur_ns DESC LIMIT 100))"
	  " AS o\n"
	  "LEFT JOIN files AS f ON f.id = o.file ORDER BY o.dur_ns DESC LIMIT 100" },
	{ "failed", "Which calls failed, and on which files?",
	  "SELECT c.op, c.error, count(*) AS count, sum(c.dur_ns) AS thread_time_ns,\n"
	  "  min(coalesce(c.path, f.path)) AS example\n"
	  "FROM calls AS c LEFT JOIN files AS f ON f.id = c.file\n"
	  "WHERE c.error IS NOT NULL GROUP BY c.op, c.error ORDER BY count DESC" },
	{ "by_cache", "How much was read from memory?",
	  "SELECT f.path, count(*) AS reads, sum(c.fetched_bytes = 0) AS from_memory,\n"
	  "  sum(c.read_bytes) AS read_bytes, sum(c.fetched_bytes) AS fetched_bytes\n"
	  "FROM calls AS c JOIN files AS f ON f.id = c.file\n"
	  "WHERE c.read_bytes IS NOT NULL AND c.method != 'direct'\n"
	  "GROUP BY f.id ORDER BY fetched_bytes DESC" },
	{ NULL, NULL, NULL },
};
