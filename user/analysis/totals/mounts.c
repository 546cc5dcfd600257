/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "analysis/totals/mounts.h"

#include <string.h>

#include "base/units.h"

static bool are_used(const struct job *job, unsigned int trait)
{
	uint32_t i = 0;

	while (i < job->files.count && !file_table_is_on(&job->files, i, trait))
		i++;
	return i < job->files.count;
}

void mounts_say_unrecorded(struct strbuf *text, const struct results *results)
{
	static const struct {
		unsigned int layer, trait;
		const char *says;
	} rows[] = {
#define UNRECORDED(id, name, also, mounts, requests, servers)                                      \
	{ JOB_##id, FILE_SYSTEM_SERVED(LAYER_##id),                                                \
	  "files on " mounts " mounts were used; " requests " to their " servers                   \
	  " were not recorded (layer " name ", see --table trace)" },
		TRACE_SERVER_LAYERS(UNRECORDED)
	};
	const struct job *job = results->job;

	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++)
		if (!(job->layers & rows[row].layer) && are_used(job, rows[row].trait))
			strbuf_join(text, "; ", "%s", rows[row].says);
	if (job->layers & JOB_NETFS && are_used(job, FILE_SYSTEM_SERVED(LAYER_NETFS)))
		strbuf_join(text, "; ",
			    "files on CIFS, AFS or Ceph mounts were used; of the requests to their "
			    "servers only reads and writes are recorded, on Ceph only reads into "
			    "the page cache");
}

#define TYPES_MAX 8

static bool same_text(struct trace_string a, struct trace_string b)
{
	return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length);
}

/* "1", or "1 to 4". */
static void say_range(struct strbuf *text, const char *lead, const char *from, const char *to)
{
	strbuf_add(text, "%s%s", lead, from);
	if (strcmp(from, to))
		strbuf_add(text, " to %s", to);
}

/* How Lustre distributes files. */
static void say_stripes(struct strbuf *text, const struct file_table *files)
{
	uint32_t min = UINT32_MAX, max = 0, min_kib = UINT32_MAX, max_kib = 0;
	char from[UNITS_TEXT], to[UNITS_TEXT];

	for (uint32_t i = 0; i < files->count; i++) {
		const struct file *file = &files->files[i];

		if (!file->stripes)
			continue;
		min = file->stripes < min ? file->stripes : min;
		max = file->stripes > max ? file->stripes : max;
		min_kib = file->stripe_kib < min_kib ? file->stripe_kib : min_kib;
		max_kib = file->stripe_kib > max_kib ? file->stripe_kib : max_kib;
	}
	if (!max)
		return;
	say_range(text, "; stripes of files on lustre: ", units_count(from, min),
		  units_count(to, max));
	say_range(text, ", of ", units_bytes(from, min_kib * 1024ull),
		  units_bytes(to, max_kib * 1024ull));
}

/* Files on other machines were used, and no layer records requests to these. */
void mounts_say_servers(struct strbuf *text, const struct results *results)
{
	const struct file_table *files = &results->job->files;
	struct trace_string types[TYPES_MAX];
	size_t count = 0, bypass = 0;

	for (uint32_t i = 0; i < files->count && count < TYPES_MAX; i++) {
		struct trace_string type = file_table_filesystem(files, i);
		size_t known = 0;

		if (!(file_system_traits(type) & FILE_SYSTEM_REMOTE))
			continue;
		while (known < count && !same_text(types[known], type))
			known++;
		if (known == count)
			types[count++] = type;
	}
	for (size_t i = 0; i < count; i++)
		strbuf_add(text, "%s%.*s", i ? ", " : "files on ", (int)types[i].length,
			   types[i].bytes);
	if (count)
		strbuf_add(text, " were used: calls, page faults and page-cache fills are "
				 "recorded; requests to the servers are not, so network and server "
				 "time are known only as parts of calls and faults");
	for (size_t i = 0; i < count; i++)
		if (file_system_traits(types[i]) & FILE_SYSTEM_BYPASSES)
			strbuf_add(text, "%s%.*s", bypass++ ? ", " : "; reads on ",
				   (int)types[i].length, types[i].bytes);
	if (bypass)
		strbuf_add(text, " may bypass the page cache: bytes from storage are lower bounds");
	if (count)
		say_stripes(text, files);
}
