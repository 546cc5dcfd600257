/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the parts of Trace Event Format events. */
#include "output/timeline/chrome_event.h"

#include <inttypes.h>

#include "output/base/flags.h"
#include "output/base/json.h"

void chrome_open(struct sink *out, struct trace_string name, struct trace_string category,
		 char phase, struct chrome_place place)
{
	sink_text(out, "{\"name\":");
	json_text(out, name.bytes, name.length);
	if (category.length) {
		sink_text(out, ",\"cat\":");
		json_text(out, category.bytes, category.length);
	}
	sink_text(out, ",\"ph\":\"");
	sink_char(out, phase);
	sink_text(out, "\",\"pid\":");
	sink_uint(out, place.pid);
	sink_text(out, ",\"tid\":");
	sink_uint(out, place.tid);
}

void chrome_time(struct sink *out, const char *name, uint64_t ns)
{
	unsigned int part = ns % 1000;
	const char digits[] = { '.', '0' + part / 100, '0' + part / 10 % 10, '0' + part % 10 };

	sink_text(out, ",\"");
	sink_text(out, name);
	sink_text(out, "\":");
	sink_uint(out, ns / 1000);
	sink_bytes(out, digits, sizeof(digits));
}

struct chrome_args chrome_args_begin(struct sink *out)
{
	sink_text(out, ",\"args\":{");
	return (struct chrome_args) { .out = out };
}

void chrome_args_end(struct chrome_args *args)
{
	sink_char(args->out, '}');
}

static void add_name(struct chrome_args *args, const char *name, const char *after)
{
	sink_text(args->out, args->any ? ",\"" : "\"");
	sink_text(args->out, name);
	sink_text(args->out, after);
	sink_text(args->out, "\":");
	args->any = true;
}

void chrome_add_text(struct chrome_args *args, const char *name, struct trace_string text)
{
	add_name(args, name, "");
	if (!json_text(args->out, text.bytes, text.length)) {
		add_name(args, name, "_hex");
		json_hex(args->out, text.bytes, text.length);
	}
}

void chrome_add_uint(struct chrome_args *args, const char *name, uint64_t value)
{
	add_name(args, name, "");
	sink_uint(args->out, value);
}

void chrome_add_int(struct chrome_args *args, const char *name, int64_t value)
{
	add_name(args, name, "");
	sink_int(args->out, value);
}

void chrome_add_word(struct chrome_args *args, const char *name, const char *word)
{
	add_name(args, name, "");
	json_text(args->out, word, strlen(word));
}

void chrome_add_true(struct chrome_args *args, const char *name)
{
	add_name(args, name, "");
	sink_text(args->out, "true");
}

void chrome_add_flags(struct chrome_args *args, enum trace_kind kind, uint64_t flags)
{
	const char *between = "";

	if (!flags)
		return;
	add_name(args, "flags", "");
	sink_char(args->out, '[');
	for (; flags; flags &= flags - 1) {
		unsigned int bit = __builtin_ctzll(flags);
		const char *name = flags_name(kind, bit);

		sink_text(args->out, between);
		if (name)
			json_text(args->out, name, strlen(name));
		else
			sink_format(args->out, "\"bit %u\"", bit);
		between = ",";
	}
	sink_char(args->out, ']');
}

bool chrome_slice_cut(struct chrome_slice *slice, const struct chrome_window *window,
		      uint64_t start_ns, uint64_t end_ns)
{
	bool late = start_ns<window->from_ns, early = end_ns> window->until_ns;

	if (start_ns >= window->until_ns || (late && end_ns <= window->from_ns))
		return false;
	slice->start_ns = (late ? window->from_ns : start_ns) - window->base_ns;
	slice->end_ns = (early ? window->until_ns : end_ns) - window->base_ns;
	slice->cut = late && early ? "both" : late ? "start" : early ? "end" : NULL;
	return true;
}

static void open_async(struct sink *out, const struct chrome_slice *slice, char phase,
		       uint64_t time_ns)
{
	sink_text(out, ",\n");
	chrome_open(out, slice->name, slice->category, phase, slice->place);
	sink_format(out, ",\"id\":\"0x%" PRIx64 "\"", slice->async);
	chrome_time(out, "ts", time_ns);
}

struct chrome_args chrome_slice_begin(struct sink *out, const struct chrome_slice *slice)
{
	if (slice->async) {
		open_async(out, slice, 'b', slice->start_ns);
	} else {
		sink_text(out, ",\n");
		chrome_open(out, slice->name, slice->category, 'X', slice->place);
		chrome_time(out, "ts", slice->start_ns);
		chrome_time(out, "dur", slice->end_ns - slice->start_ns);
	}
	return chrome_args_begin(out);
}

void chrome_slice_end(struct chrome_args *args, const struct chrome_slice *slice)
{
	if (slice->cut)
		chrome_add_word(args, "cut", slice->cut);
	chrome_args_end(args);
	sink_char(args->out, '}');
	if (slice->async) {
		open_async(args->out, slice, 'e', slice->end_ns);
		sink_char(args->out, '}');
	}
}
