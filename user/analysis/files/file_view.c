/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The view of a file, from its uses or from its row in a merged report. */
#include <string.h>

#include "analysis/files/file_use.h"
#include "analysis/shared/loaded.h"

/* Returns the last recorded size, or the end of the furthest access if the file has grown since. A
 * fault only shows that the file reaches into its page. */
static uint64_t size_of(const struct file *file, const struct file_use *use,
			const struct file_use_more *more, uint64_t page_bytes)
{
	uint64_t called = use->furthest, faulted = more->furthest;
	uint64_t size = more->truncated ? more->size_bytes : file->size_bytes;

	if (called > size)
		size = called;
	return faulted >= page_bytes && faulted - page_bytes >= size ? faulted : size;
}

static void set_identity(struct file_view *view, const struct file_uses *files, uint32_t number)
{
	const struct file *file = &files->job->files.files[number];
	const struct file_use *use = &files->uses[number];
	const struct job_trace *trace = &files->job->traces[file->trace];
	struct trace_string type = file_table_filesystem(&files->job->files, number);

	view->known = true;
	view->ino = file->ino;
	view->size_bytes =
		size_of(file, use, file_uses_more(files, number), trace->header->page_bytes);
	view->deleted = use->unlinked || (file->flags & TRACE_FILE_DELETED);
	view->host = trace->header->host;
	if (type.length)
		view->filesystem = (struct table_text) { type.bytes, type.length };
	if (file->readahead_bytes)
		view->readahead_bytes = file->readahead_bytes;
	if (file->stripes) {
		view->stripes = file->stripes;
		view->stripe_bytes = file->stripe_kib * 1024ull;
	}
	view->dev = file->dev;
	view->instance = file->instance ?: TABLE_NO_UINT;
}

/* Cached: there may be a million files, and several callers. */
static bool is_loaded(const struct job *job, struct file_use *use, struct table_text path)
{
	if (!use->known)
		use->loaded = loaded_in(&job->files, path);
	use->known = true;
	return use->loaded;
}

/* The last version has not ended yet. */
static void set_versions(struct file_view *view, struct versions versions)
{
	file_versions_end(&versions, view->tallies[USE_WRITE].bytes);
	view->grown = versions.grown;
	view->repeated_bytes = versions.repeated_bytes;
}

/*
 * Estimates the pages that programs touched. A fault maps the cached pages of its
 * FAULT_AROUND_BYTES, so an access of n pages faults once, and once more if it crosses an edge: in
 * (n - 1) / (pages of FAULT_AROUND_BYTES) of the cases if it starts anywhere. Each such second
 * fault thus stands for as many pages.
 */
static uint64_t touched_pages(const struct order *order, uint64_t faults, uint64_t page_bytes)
{
	const uint64_t around = number_max(FAULT_AROUND_BYTES / page_bytes, 1);

	return number_sub(faults, order->near) + order->near * around;
}

struct file_view file_uses_view(const struct file_uses *files, uint32_t number)
{
	uint64_t page_bytes;
	struct trace_string path;
	struct file_use *use = &files->uses[number];
	const struct file_use_more *more = file_uses_more(files, number);
	struct file_view view = {
		.ino = TABLE_NO_UINT,
		.instance = TABLE_NO_UINT,
		.size_bytes = TABLE_NO_UINT,
		.readahead_bytes = TABLE_NO_UINT,
		.stripes = TABLE_NO_UINT,
		.stripe_bytes = TABLE_NO_UINT,
		.processes = use->processes,
		.opens = use->opens,
		.unattributed = more->unattributed,
		.indirect = more->indirect,
		.written_pages = TABLE_NO_UINT,
		.deleted = -1,
		.faulted_bytes = more->faulted_bytes,
		.direct_bytes = more->direct_bytes,
		.advised = more->advised,
		.listed = more->listing.count,
		.listing_ns = more->listing.time.measure,
		.locking_ns = more->locking.time.measure,
		.overwriting_ns = more->overwriting.time.measure,
		.overwrites = more->overwriting.count,
		.overwriters = __builtin_popcountll(more->overwriters),
		.aligned_faults = more->aligned,
		.copied_pages = more->copied,
		.first_rank = more->ranks[0] - 1, /* TABLE_NO_UINT if none */
		.last_rank = more->ranks[1] - 1,
	};

	for (size_t i = 0; i < ACCESSES; i++) {
		const struct order *order = file_uses_order(files, number, i);

		memcpy(view.patterns[i], order->patterns, sizeof(order->patterns));
		view.jumps[i] = (struct jump_sums) { order->known, order->back, order->others };
	}
	for (size_t i = 0; i < USES; i++) {
		file_uses_tally(files, number, i, &view.tallies[i]);
		view.time_ns += view.tallies[i].time.measure;
		view.fetched_bytes += view.tallies[i].fetched_bytes;
		view.created_bytes += view.tallies[i].created_bytes;
	}
	set_versions(&view, more->versions);
	view.fetched_bytes += more->unattributed.fetched_bytes + more->indirect.fetched_bytes;
	view.created_bytes += more->unattributed.created_bytes + more->indirect.created_bytes;
	path = file_table_name(&files->job->files, number);
	if (path.length)
		view.path = (struct table_text) { path.bytes, path.length };
	view.loaded = is_loaded(files->job, use, view.path);
	view.lost = file_table_is_lost(&files->job->files, number);
	if (number != FILE_UNKNOWN)
		set_identity(&view, files, number);
	page_bytes = files->job->traces[files->job->files.files[number].trace].header->page_bytes;
	view.copied_bytes = page_bytes * more->copied;
	if (page_bytes) {
		view.written_pages = view.tallies[USE_MMAP].dirtied_bytes / page_bytes;
		view.touched_pages = touched_pages(file_uses_order(files, number, BY_FAULTS),
						   view.tallies[USE_MMAP].count, page_bytes);
	}
	return view;
}

struct file_view file_view_of_row(const struct table *table, size_t row)
{
	struct file_view view = {
		.ino = TABLE_NO_UINT,
		.instance = TABLE_NO_UINT,
		.size_bytes = TABLE_NO_UINT,
		.readahead_bytes = TABLE_NO_UINT,
		.stripes = TABLE_NO_UINT,
		.stripe_bytes = TABLE_NO_UINT,
		.first_rank = TABLE_NO_UINT,
		.last_rank = TABLE_NO_UINT,
		.patterns[BY_READS] = { TABLE_NO_UINT },
		.aligned_faults = TABLE_NO_UINT,
		.touched_pages = TABLE_NO_UINT,
		.deleted = -1,
	};

	table_read_row(table, row, &view);
	if (view.patterns[BY_READS][SEQUENTIAL] == TABLE_NO_UINT) {
		/* Summaries of older versions do not have these columns. */
		memcpy(view.patterns[BY_READS], view.patterns[BY_CALLS], sizeof(*view.patterns));
		view.jumps[BY_READS] = view.jumps[BY_CALLS];
	}
	view.known = view.ino != TABLE_NO_UINT;
	view.loaded = loaded_is(view.path);
	return view;
}
