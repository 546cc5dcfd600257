/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the application's frame in stacks. */
#include "analysis/shared/sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/path.h"
#include "analysis/shared/trace_text.h"
#include "collections/compare.h"
#include "base/number.h"

#define KEY_WORDS 6

void sites_init(struct sites *sites, struct arena *arena, const struct job *job)
{
	sites->job = job;
	sites->arena = arena;
	map_init_in(&sites->numbers, arena, KEY_WORDS, 1);
	map_init_in(&sites->stacks, arena, 2, 1);
	map_init_in(&sites->texts, arena, 2, 1);
}

/* --- whose code a frame is --- */

static bool begins(struct trace_string source, const char *start)
{
	return source.length >= strlen(start) && !memcmp(source.bytes, start, strlen(start));
}

/* Returns where the path below an installation directory begins: "torch/utils.py"; NULL if the file
 * is in none. This project's own modules, which call the application's functions, may be anywhere.
 */
static const char *installed_path(struct trace_string source)
{
	static const struct {
		const char *part;
		size_t skipped; /* of it; 0: up to the next slash */
	} patterns[] = {
		{ "/site-packages/", 0 },
		{ "/dist-packages/", 0 },
		{ "/lib/python3.", 0 },
		{ "/lib64/python3.", 0 },
		{ "/python/faultline/_", sizeof("/python/") - 1 },
		{ "/python/hook/sitecustomize.py", sizeof("/python/") - 1 },
		{ "/python/hook/dftracer/", sizeof("/python/") - 1 },
	};
	const char *end = source.bytes + source.length;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const size_t length = strlen(patterns[i].part);
		const char *at = memmem(source.bytes, source.length, patterns[i].part, length);
		const char *slash;

		if (!at)
			continue;
		if (patterns[i].skipped)
			return at + patterns[i].skipped;
		slash = memchr(at + length - 1, '/', end - at - length + 1);
		return slash ? slash + 1 : at + length;
	}
	return NULL;
}

/* The C library, through which everything waits. */
static bool is_system(struct trace_string source)
{
	static const char *const names[] = { "libc.so.", "libc-", "libpthread", "ld-linux" };
	const size_t base = source.length ? path_base(source.bytes, source.length) : 0;
	const struct trace_string name = { source.bytes + base, source.length - base };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (begins(name, names[i]))
			return true;
	return false;
}

/* A function of Python has no line if its table of lines is longer than what is recorded of it. */
static bool is_python(struct trace_string source)
{
	return source.length > 3 && !memcmp(source.bytes + source.length - 3, ".py", 3);
}

/* A function of compiled code has no line. */
static enum frame_owner owner_of_native(struct trace_string source)
{
	static const char *const directories[] = { "/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/" };

	if (is_system(source))
		return OWNER_SYSTEM;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		if (begins(source, directories[i]))
			return OWNER_LIBRARY;
	return OWNER_NATIVE;
}

enum frame_owner frame_owner(struct trace_string source, uint64_t line)
{
	if (!source.length || begins(source, "<frozen ") || installed_path(source))
		return OWNER_LIBRARY;
	if (begins(source, "<"))
		return OWNER_TEXT;
	return line || is_python(source) ? OWNER_APPLICATION : owner_of_native(source);
}

size_t frame_in_library(char text[LIBRARY_BYTES], struct trace_string source, uint64_t line,
			struct trace_string function)
{
	const char *installed = installed_path(source);
	const char *path = installed ? installed : source.bytes;
	const int path_length = source.bytes + source.length - path;

	if (line)
		return snprintf(text, LIBRARY_BYTES, "%.*s:%" PRIu64, path_length, path, line);
	return site_locate(text, site_base_name(trace_text(source)), 0, trace_text(function));
}

/* --- sites --- */

/* Equal texts share a copy: a line may have many sites. */
static struct table_text keep(struct sites *sites, struct trace_string from)
{
	const uint64_t key[] = { map_hash_bytes(&sites->texts, from.bytes, from.length),
				 from.length };
	uint64_t *text = from.length ? map_find(&sites->texts, key) : NULL;
	char *copy;
	bool added;

	if (text || !from.length)
		return (struct table_text) { text ? (const char *)*text : NULL, from.length };
	copy = arena_text(sites->arena, from.bytes, from.length);
	text = copy ? map_add(&sites->texts, key, &added) : NULL;
	if (text)
		*text = (uintptr_t)copy;
	return (struct table_text) { copy, from.length };
}

static struct table_text keep_library(struct sites *sites, const struct stack_frame *frame)
{
	char text[LIBRARY_BYTES];

	return keep(sites,
		    (struct trace_string) { text, frame_in_library(text, frame->source, frame->line,
								   frame->function) });
}

static uint64_t hash_of(const struct sites *sites, struct trace_string text)
{
	return map_hash_bytes(&sites->numbers, text.bytes, text.length);
}

/* `frame`: NULL if the outer frames, and the application's with them, are missing. `inner`: the
 * innermost frame, if it is another one, or NULL. */
static uint32_t find_site(struct sites *sites, const struct stack_frame *frame,
			  const struct stack_frame *inner)
{
	const uint64_t key[KEY_WORDS] = {
		frame ? hash_of(sites, frame->source) : 0,
		frame ? hash_of(sites, frame->function) : 0,
		frame ? frame->line : UINT64_MAX,
		inner ? hash_of(sites, inner->source) : 0,
		inner ? inner->line + 1 : 0,
		inner && !inner->line ? hash_of(sites, inner->function) : 0,
	};
	const uint32_t plain = inner ? find_site(sites, frame, NULL) : sites->count;
	struct site *site;
	bool added;

	site = MAP_ITEM(&sites->numbers, key, sites->all, sites->room, sites->count, &added);
	if (!site)
		return SITE_NONE;
	if (!added)
		return site - sites->all;
	site->plain = plain;
	if (inner)
		site->library = keep_library(sites, inner);
	if (frame) {
		site->file = keep(sites, frame->source);
		site->function = keep(sites, frame->function);
		site->line = frame->line;
	} else {
		site->reason = "outer frames not recorded";
	}
	return site - sites->all;
}

enum frames_found { FRAMES_NONE, FRAMES_ONE, FRAMES_TWO, FRAMES_INNER };

/* Finds the frame that a report names, and the innermost one, which may be the same; only that one
 * if the other must be among the missing ones. */
static enum frames_found find_frames(const struct stack_table *stacks, uint32_t trace,
				     uint64_t stack, bool cut, struct stack_frame *best,
				     struct stack_frame *inner)
{
	uint64_t inner_stack = stack, best_stack = stack, caller = stack;
	struct stack_frame frame;
	enum frame_owner owner = OWNER_SYSTEM;
	int depth = 0, found = 0, inner_depth = 0;

	for (; depth < STACK_FRAMES_MAX && owner < OWNER_APPLICATION; depth++, stack = caller) {
		enum frame_owner of;

		if (!stack_table_next(stacks, trace, &caller, &frame))
			break;
		of = frame_owner(frame.source, frame.line);
		if (of <= owner)
			continue;
		if (owner == OWNER_SYSTEM) {
			inner_stack = stack;
			inner_depth = depth;
		}
		owner = of;
		best_stack = stack;
		found = depth;
	}
	if (!depth)
		return FRAMES_NONE;
	/* Again, since texts do not stay valid during a walk. */
	stack_table_next(stacks, trace, &inner_stack, inner);
	stack_table_next(stacks, trace, &best_stack, best);
	if (cut && owner <= OWNER_LIBRARY)
		return FRAMES_INNER;
	return found != inner_depth ? FRAMES_TWO : FRAMES_ONE;
}

static uint32_t walk_stack(struct sites *sites, uint32_t trace, uint64_t stack, bool cut)
{
	struct stack_frame inner, best;
	const enum frames_found found =
		find_frames(&sites->job->stacks, trace, stack, cut, &best, &inner);

	if (found == FRAMES_NONE)
		return SITE_NONE;
	return find_site(sites, found == FRAMES_INNER ? NULL : &best,
			 found == FRAMES_ONE ? NULL : &inner);
}

uint32_t sites_find(struct sites *sites, uint32_t trace, uint64_t stack, bool cut)
{
	const uint64_t key[] = { (uint64_t)trace << 1 | cut, stack };
	const uint64_t *known = map_find(&sites->stacks, key);
	uint64_t *number;
	uint32_t site;
	bool added;

	if (known)
		return *known;
	site = walk_stack(sites, trace, stack, cut);
	if (site == SITE_NONE)
		return SITE_NONE; /* a hostile trace may name any number of such stacks */
	number = map_add(&sites->stacks, key, &added);
	if (number)
		*number = site;
	return site;
}

/* --- what is shown --- */

static int weight_of(char byte)
{
	return byte == '/' ? -1 : (unsigned char)byte;
}

/* Compares paths from their ends, so that those with the most common components are next to each
 * other. */
static int compare_ends(const void *left, const void *right)
{
	const struct table_text a = (*(const struct site *const *)left)->file;
	const struct table_text b = (*(const struct site *const *)right)->file;
	const char *at = a.bytes + a.length, *other = b.bytes + b.length;

	if (a.bytes == b.bytes)
		return 0;
	while (at > a.bytes && other > b.bytes && at[-1] == other[-1]) {
		at--;
		other--;
	}
	if (at == a.bytes || other == b.bytes)
		return COMPARE(a.length, b.length);
	return COMPARE(weight_of(at[-1]), weight_of(other[-1]));
}

static bool begins_component(struct table_text path, size_t at)
{
	return !at || path.bytes[at - 1] == '/';
}

/* Returns where a file has to begin to differ from another one. */
static size_t begin_of(struct table_text file, struct table_text other)
{
	size_t common = 0, at;

	for (size_t i = 1; i <= file.length && i <= other.length; i++) {
		if (file.bytes[file.length - i] != other.bytes[other.length - i])
			break;
		if (begins_component(file, file.length - i) &&
		    begins_component(other, other.length - i))
			common = i;
	}
	at = file.length - common;
	if (!common || !at)
		return common ? 0 : path_base(file.bytes, file.length);
	for (at--; !begins_component(file, at); at--)
		;
	return at;
}

/* Chooses for neighbours in the order of their ends; those of the same file are shown alike. */
static void show(struct site *a, struct site *b)
{
	const bool same = a->file.bytes == b->file.bytes;
	const size_t a_begin = same ? b->shown : begin_of(a->file, b->file);
	const size_t b_begin = same ? a->shown : begin_of(b->file, a->file);

	a->shown = number_min(a_begin, a->shown);
	b->shown = number_min(b_begin, b->shown);
}

void sites_show(struct sites *sites)
{
	struct site **order = arena_alloc(sites->arena, sites->count * sizeof(*order));
	size_t count = 0;

	for (size_t i = 0; order && i < sites->count; i++) {
		struct site *site = &sites->all[i];

		site->shown = path_base(site->file.bytes, site->file.length);
		if (site->file.length)
			order[count++] = site;
	}
	if (count)
		qsort(order, count, sizeof(*order), compare_ends);
	for (size_t i = 1; i < count; i++)
		show(order[i - 1], order[i]);
	for (size_t i = count; i > 1; i--)
		show(order[i - 2], order[i - 1]);
}

struct table_text site_base_name(struct table_text file)
{
	const size_t base = path_base(file.bytes, file.length);

	return base ? (struct table_text) { file.bytes + base, file.length - base } : file;
}

size_t site_locate(char text[LOCATION_BYTES], struct table_text file, uint64_t line,
		   struct table_text function)
{
	const struct table_text unknown = { "?", 1 };
	int used;

	file = file.length ? file : unknown;
	function = function.length ? function : unknown;
	if (line)
		used = snprintf(text, LOCATION_BYTES, "%.*s:%" PRIu64 " in %.*s", (int)file.length,
				file.bytes, line, (int)function.length, function.bytes);
	else
		used = snprintf(text, LOCATION_BYTES, "%.*s in %.*s", (int)function.length,
				function.bytes, (int)file.length, file.bytes);
	return used < LOCATION_BYTES ? used : LOCATION_BYTES - 1;
}

size_t site_locate_stack(char text[LOCATION_BYTES], const struct job *job, uint32_t trace,
			 uint64_t stack)
{
	struct stack_frame inner, best;

	if (!stack || !find_frames(&job->stacks, trace, stack, false, &best, &inner))
		return 0;
	return site_locate(text, site_base_name(trace_text(best.source)), best.line,
			   trace_text(best.function));
}
