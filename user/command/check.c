/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * faultline check: what this kernel and these privileges allow, layer by layer.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/support/probes.h"
#include "capture/support/selection.h"
#include "capture/session/session.h"
#include "command/common/command.h"
#include "command/common/options.h"

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
		 "variant that\nwould be used, why a layer is off, and which features the kernel "
		 "lacks and what that costs.\nLoads the programs, records nothing.\nExits 0 if "
		 "'faultline run' can work, else 1.",
	.own = OPTION_ROWS(check_rows),
};

static void print_text(const struct utsname *name, const struct session *session, bool works)
{
	const struct trace_layer *layers = session ? session_layers(session) : NULL;
	const struct feature *feature;
	size_t at = 0;

	printf("Linux %s %s: faultline run %s\n\n", name->release, name->machine,
	       works ? "works" : "cannot work");
	if (!layers)
		return;
	printf("%-10s %-5s %-12s %s\n", "LAYER", "STATE", "ATTACH", "REMARK");
	for (size_t l = 0; l < LAYER_COUNT; l++)
		printf("%-10s %-5s %-12s %s\n", layers[l].name, layers[l].on ? "on" : "off",
		       layers[l].attach ? layers[l].attach : "-",
		       layers[l].reason ? layers[l].reason : "-");
	while ((feature = session_lacks(session, &at)))
		printf("\nmissing: %s\n  %s\n", feature->name, feature->cost);
}

static struct json_object *text_or_null(const char *text)
{
	return text ? json_object_new_string(text) : NULL;
}

static struct json_object *missing_features(const struct session *session)
{
	struct json_object *list = json_object_new_array();
	const struct feature *feature;
	size_t at = 0;

	while (session && (feature = session_lacks(session, &at))) {
		struct json_object *row = json_object_new_object();

		json_object_object_add(row, "feature", json_object_new_string(feature->name));
		json_object_object_add(row, "cost", json_object_new_string(feature->cost));
		json_object_array_add(list, row);
	}
	return list;
}

static void print_json(const struct utsname *name, const struct session *session, bool works)
{
	const struct trace_layer *layers = session ? session_layers(session) : NULL;
	struct json_object *all = json_object_new_object(), *list = json_object_new_object();

	json_object_object_add(all, "kernel", json_object_new_string(name->release));
	json_object_object_add(all, "machine", json_object_new_string(name->machine));
	json_object_object_add(all, "works", json_object_new_boolean(works));
	for (size_t l = 0; layers && l < LAYER_COUNT; l++) {
		struct json_object *layer = json_object_new_object();

		json_object_object_add(layer, "state",
				       json_object_new_string(layers[l].on ? "on" : "off"));
		json_object_object_add(layer, "attach", text_or_null(layers[l].attach));
		json_object_object_add(layer, "reason", text_or_null(layers[l].reason));
		json_object_object_add(list, layers[l].name, layer);
	}
	json_object_object_add(all, "layers", list);
	json_object_object_add(all, "missing", missing_features(session));
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY |
							 JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
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
		print_json(&name, session, works);
	else
		print_text(&name, session, works);
	session_close(session);
	return works ? 0 : EXIT_FAILED;
}
