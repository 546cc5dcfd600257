/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Patterns of cgroup paths. Knows nothing of file systems.
 */
#include "capture/cgroup_names.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_DIGITS 64 /* of a container's whole number */
#define NAME_MOST 255

/*
 * The last component: what stands before the container's number or name, and what behind. `above`
 * is a text that the path must hold before it, where the component alone says too little.
 */
static const struct pattern {
	const char *above, *before, *after;
	bool named; /* by a name, else by a number of 64 digits */
} patterns[] = {
	{ NULL, "docker-", ".scope", false },
	{ NULL, "cri-containerd-", ".scope", false },
	{ NULL, "crio-", ".scope", false },
	{ NULL, "libpod-", ".scope", false },
	{ NULL, "nerdctl-", ".scope", false },
	{ NULL, "buildkit-", ".scope", false },
	{ "/docker/", "", "", false },
	{ "/kubepods/", "", "", false }, /* .../pod<uid>/<number> */
	{ "/kubepods.slice/", "", "", false },
	{ "/libpod_parent/", "libpod-", "", false },
	{ "/actions_job/", "", "", false },
	{ "/default/", "", "", false }, /* containerd's namespaces, with cgroupfs */
	{ "/k8s.io/", "", "", false },
	{ "/moby/", "", "", false },
	{ "/lxc/", "", "", true },
	{ NULL, "lxc.payload.", "", true },
	{ "/machine.slice/", "systemd-nspawn@", ".service", true },
	{ "/machine.slice/", "machine-", ".scope", true },
	{ NULL, "apptainer-", ".scope", true },
};

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static size_t digits(const char *text)
{
	size_t count = 0;

	while (is_digit(text[count]))
		count++;
	return count;
}

bool container_id_fits(const char *id)
{
	size_t length = strlen(id);

	return length > 0 && length <= NAME_MOST && !strchr(id, '/') && strcmp(id, ".") &&
	       strcmp(id, "..");
}

/* `name` is what stands between a pattern's texts. */
static bool is_named(const struct pattern *pattern, const char *name, size_t length, const char *id)
{
	size_t wanted = strlen(id);

	if (pattern->named)
		return length == wanted && !memcmp(name, id, length);
	return length == NUMBER_DIGITS && digits(name) >= NUMBER_DIGITS &&
	       wanted >= CONTAINER_DIGITS_LEAST && wanted <= NUMBER_DIGITS &&
	       digits(id) == wanted && !memcmp(name, id, wanted);
}

static bool matches(const struct pattern *pattern, const char *path, const char *last,
		    const char *id)
{
	size_t before = strlen(pattern->before), after = strlen(pattern->after);
	size_t length = strlen(last);
	const char *above;

	if (length < before + after || strncmp(last, pattern->before, before) ||
	    strcmp(last + length - after, pattern->after))
		return false;
	above = pattern->above ? strstr(path, pattern->above) : path;
	if (!above || (pattern->above && above + strlen(pattern->above) > last))
		return false;
	return is_named(pattern, last + before, length - before - after, id);
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool cgroup_is_container(const char *path, const char *id)
{
	const char *last = last_component(path);

	if (!container_id_fits(id))
		return false;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (matches(&patterns[i], path, last, id))
			return true;
	return false;
}

/* --- Slurm --- */

static size_t decimals(const char *text)
{
	return strspn(text, "0123456789");
}

bool slurm_id_fits(const char *id)
{
	static const char *const words[] = { "batch", "extern", "interactive" };
	size_t job = decimals(id);
	const char *step;

	if (!job || job > 10 || (id[job] && id[job] != '.'))
		return false;
	if (!id[job])
		return true;
	step = id + job + 1;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(step, words[i]))
			return true;
	return decimals(step) && decimals(step) <= 10 && !step[decimals(step)];
}

/*
 * .../slurmstepd.scope/job_N/step_S with the second version, /slurm/uid_U/job_N/step_S with the
 * first, where the first component may have the node's name, too.
 */
bool cgroup_is_slurm(const char *path, const char *id)
{
	size_t job = decimals(id), length = strlen(path), wanted;
	char tail[64];
	const char *at;

	if (!slurm_id_fits(id))
		return false;
	wanted = snprintf(tail, sizeof(tail), id[job] ? "/job_%.*s/step_%s" : "/job_%.*s", (int)job,
			  id, id[job] ? id + job + 1 : "");
	if (length < wanted || strcmp(path + length - wanted, tail))
		return false;
	at = strstr(path, "slurm");
	return at && at < path + length - wanted;
}
