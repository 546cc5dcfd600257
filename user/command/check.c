/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline check: what this kernel and these privileges allow, layer by layer. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/support/probes.h"
#include "capture/support/selection.h"
#include "capture/session/session.h"
#include "command/common/command.h"
#include "command/common/options.h"
#include "command/common/traces.h"
#include "output/base/json.h"
#include "output/base/style.h"
#include "output/text/wrap.h"

#define ROW "%-9s  %-5s  %-13s  %s" /* a layer */
#define REMARK (9 + 5 + 13 + 3 * 2) /* where the remark begins */
#define INDENT 2

struct check_options {
	const char *format, *variants, *changed, *absent;
};

static const struct option_row check_rows[] = {
	{ 0, "format", "text|json", OPTION_CHOICE, offsetof(struct check_options, format),
	  "Output format. Default: text." },
	{ 0, "force-variant", "VARIANTS", OPTION_STRING, offsetof(struct check_options, variants),
	  "Check a layer with this variant only, such as fault=kprobe+perf; \"list\" lists them." },
	{ 0, "force-changed", "FUNCTION,...", OPTION_STRING,
	  offsetof(struct check_options, changed), NULL },
	{ 0, "force-absent", "NAME,...", OPTION_STRING, offsetof(struct check_options, absent),
	  NULL },
};

static const struct option_table check_table = {
	.usage = "faultline check [OPTION...]",
	.about = "Shows, layer by layer, what this kernel and these privileges allow: the probe "
		 "variant that would be used, why a layer is off, and which features the kernel "
		 "lacks and what that costs. Loads the programs, records nothing.\nExits 0 if "
		 "'faultline run' can work, else 1.",
	.own = OPTION_ROWS(check_rows),
};

/* Takes what is in `line`. */
static void write_line(struct sink *out, struct sink *line, size_t width, size_t indent)
{
	sink_char(line, '\0');
	if (!line->error)
		wrap_indented(out, line->buffer, width, indent);
	line->used = 0;
}

/* Returns an exit status. */
static int print_text(const struct utsname *name, const struct session *session, bool works)
{
	const struct trace_layer *layers = session ? session_layers(session) : NULL;
	const size_t width = style_width(STDOUT_FILENO);
	const struct feature *feature;
	struct sink out, line;
	size_t at = 0;
	int err;

	if (sink_open(&out, STDOUT_FILENO))
		return output_failed(-ENOMEM);
	sink_open_memory(&line);
	sink_format(&out, "Linux %s %s: faultline run %s\n", name->release, name->machine,
		    works ? "works" : "cannot work");
	if (layers)
		sink_format(&out, "\n" ROW, "layer", "state", "attach", "remark\n");
	for (size_t l = 0; layers && l < LAYER_COUNT; l++) {
		sink_format(&line, ROW, layers[l].name, layers[l].on ? "on" : "off",
			    layers[l].attach ? layers[l].attach : "-",
			    layers[l].reason ? layers[l].reason : "-");
		write_line(&out, &line, width, REMARK);
	}
	while (layers && (feature = session_lacks(session, &at))) {
		sink_format(&out, "\nmissing: %s\n", feature->name);
		sink_format(&line, "%*s%s", INDENT, "", feature->cost);
		write_line(&out, &line, width, INDENT);
	}
	err = line.error ? line.error : sink_flush(&out);
	sink_close(&line);
	sink_close(&out);
	return err ? output_failed(err) : works ? 0 : EXIT_FAILED;
}

/* Returns an exit status. */
static int print_json(const struct utsname *name, const struct session *session, bool works)
{
	const struct trace_layer *layers = session ? session_layers(session) : NULL;
	const struct feature *feature;
	struct sink out;
	struct json json = { .out = &out, .style = JSON_INDENTED };
	size_t at = 0;
	int err;

	sink_open(&out, STDOUT_FILENO);
	json_begin(&json, NULL);
	json_literal(&json, "kernel", name->release);
	json_literal(&json, "machine", name->machine);
	json_flag(&json, "works", works);
	json_begin(&json, "layers");
	for (size_t l = 0; layers && l < LAYER_COUNT; l++) {
		json_begin(&json, layers[l].name);
		json_literal(&json, "state", layers[l].on ? "on" : "off");
		json_literal(&json, "attach", layers[l].attach);
		json_literal(&json, "reason", layers[l].reason);
		json_end(&json);
	}
	json_end(&json);
	json_begin_list(&json, "missing");
	while (session && (feature = session_lacks(session, &at))) {
		json_begin(&json, NULL);
		json_literal(&json, "feature", feature->name);
		json_literal(&json, "cost", feature->cost);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
	sink_char(&out, '\n');
	err = sink_flush(&out);
	sink_close(&out);
	return err ? output_failed(err) : works ? 0 : EXIT_FAILED;
}

int command_check(int argc, char **argv)
{
	struct check_options options = { .format = "text" };
	struct session_options wanted = { .layers = LAYERS_ALL };
	struct session *session = NULL;
	struct utsname name;
	int status = options_parse(&check_table, argc, argv, &options, NULL);
	bool works;

	if (status != OPTIONS_GO)
		return status;
	if (selection_lists_variants(options.variants))
		return 0;
	if (selection_variants(options.variants, &wanted.forced))
		return EXIT_USAGE;
	wanted.forced.changed = options.changed;
	wanted.forced.absent = options.absent;
	uname(&name);
	selection_file_types(NULL, &wanted.file_classes);
	works = !session_open(&session, &wanted) && !session_missing(session);
	if (!strcmp(options.format, "json"))
		status = print_json(&name, session, works);
	else
		status = print_text(&name, session, works);
	session_close(session);
	return status;
}
