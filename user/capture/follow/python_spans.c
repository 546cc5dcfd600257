/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the startup hook next to the program and puts it first on PYTHONPATH. */
#include "capture/follow/python_spans.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/follow/environment.h"
#include "capture/host/host.h"
#include "base/log.h"

/* Relative to the program's directory: in the build tree, and as installed. */
static const char *const hook_paths[] = { "python/hook", "../lib/faultline/python/hook" };
static const char *const known[] = { "torch", "dftracer" };

static int check_words(const char *list)
{
	for (const char *word = list;; word++) {
		size_t length = strcspn(word, ","), i;

		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (strlen(known[i]) == length && !strncmp(known[i], word, length))
				break;
		if (i == sizeof(known) / sizeof(known[0])) {
			log_error("--python-spans: unknown library '%.*s'; choose from torch, "
				  "dftracer",
				  (int)length, word);
			return -EINVAL;
		}
		word += length;
		if (!*word)
			return 0;
	}
}

static int find_hook(char hook[PATH_MAX])
{
	char program[PATH_MAX], path[2 * PATH_MAX];
	int err = host_program_path(program);

	if (err)
		return err;
	dirname(program);
	for (size_t i = 0; i < sizeof(hook_paths) / sizeof(hook_paths[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", program, hook_paths[i]);
		if (realpath(path, hook))
			return 0;
	}
	log_error("--python-spans: the hook is not installed next to the program (%s/%s)", program,
		  hook_paths[1]);
	return -ENOENT;
}

int python_spans_prepare(const char *list, char ***environment)
{
	const char *old = environment_get(*environment, "PYTHONPATH");
	char hook[PATH_MAX], *path;
	int err;

	if (!list)
		return 0;
	err = check_words(list);
	if (!err)
		err = find_hook(hook);
	if (err)
		return err;
	if (asprintf(&path, "%s%s%s", hook, old && *old ? ":" : "", old ? old : "") < 0)
		return -ENOMEM;
	err = environment_set(environment, "PYTHONPATH", path);
	if (!err)
		err = environment_set(environment, "FAULTLINE_PYTHON_SPANS", list);
	free(path);
	return err;
}
