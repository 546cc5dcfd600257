/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Matches cgroup paths against patterns. */
#include "capture/names/cgroup_names.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MAX 255
#define POD_DIGITS_MIN 32 /* of a pod's uid; static pods' have no hyphens */

/*
 * Patterns for the last component: the text before and after the container's id or name. `above` is
 * a text that must occur earlier in the path, where the component is ambiguous.
 */
static const struct pattern {
	const char *above, *before, *after;
	bool named; /* by name; otherwise by an id of 64 digits */
} patterns[] = {
	{ NULL, "docker-", ".scope", false },
	{ NULL, "cri-containerd-", ".scope", false },
	{ NULL, "crio-", ".scope", false },
	{ NULL, "libpod-", ".scope", false },
	{ NULL, "nerdctl-", ".scope", false },
	{ NULL, "buildkit-", ".scope", false },
	{ "/docker/", "", "", false },
	{ "/kubepods/", "", "", false }, /* .../pod<uid>/<id> */
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

	return length > 0 && length <= NAME_BYTES_MAX && !strchr(id, '/') && strcmp(id, ".") &&
	       strcmp(id, "..");
}

/* `name` is the part between a pattern's texts. */
static bool is_named(const struct pattern *pattern, const char *name, size_t length, const char *id)
{
	size_t wanted = strlen(id);

	if (pattern->named)
		return length == wanted && !memcmp(name, id, length);
	return length == CONTAINER_DIGITS && digits(name) >= CONTAINER_DIGITS &&
	       wanted >= CONTAINER_DIGITS_MIN && wanted <= CONTAINER_DIGITS &&
	       digits(id) == wanted && !memcmp(name, id, wanted);
}

/* Returns the part between a pattern's texts in the last component of a path, and its length; NULL:
 * no match. */
static const char *name_in(const struct pattern *pattern, const char *path, const char *last,
			   size_t *name_length)
{
	size_t before = strlen(pattern->before), after = strlen(pattern->after);
	size_t length = strlen(last);
	const char *above;

	if (length < before + after || strncmp(last, pattern->before, before) ||
	    strcmp(last + length - after, pattern->after))
		return NULL;
	above = pattern->above ? strstr(path, pattern->above) : path;
	if (!above || (pattern->above && above + strlen(pattern->above) > last))
		return NULL;
	*name_length = length - before - after;
	return last + before;
}

static bool matches(const struct pattern *pattern, const char *path, const char *last,
		    const char *id)
{
	size_t length;
	const char *name = name_in(pattern, path, last, &length);

	return name && is_named(pattern, name, length, id);
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

/* Writes the container of a cgroup, ignoring its ancestors, to `id`. */
static bool container_of(const char *path, char *id, size_t size)
{
	const char *last = last_component(path);

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		size_t length;
		const char *name = name_in(&patterns[i], path, last, &length);

		if (!name || !length || length >= size ||
		    (!patterns[i].named && (length != CONTAINER_DIGITS || digits(name) < length)))
			continue;
		snprintf(id, size, "%.*s", (int)length, name);
		return true;
	}
	return false;
}

bool cgroup_container(const char *path, char *id, size_t size)
{
	size_t length = strlen(path);
	char above[PATH_MAX];

	id[0] = 0;
	if (length >= sizeof(above))
		return false;
	/* Outermost first: cgroups nested in a container are its internals. */
	for (size_t end = 1; end <= length; end++) {
		if (path[end] != '/' && path[end])
			continue;
		memcpy(above, path, end);
		above[end] = 0;
		if (container_of(above, id, size))
			return true;
	}
	return false;
}

/* --- Kubernetes --- */

/* .../kubepods/QOS/pod<uid>/..., or with systemd .../kubepods-QOS-pod<uid>.slice/..., which has
 * underscores instead of hyphens. */
bool cgroup_pod(const char *path, char *uid, size_t size)
{
	const char *at = strstr(path, "kubepods");
	size_t length;

	uid[0] = 0;
	while (at && (at = strstr(at, "pod"))) {
		bool begins = at[-1] == '/' || at[-1] == '-';

		at += strlen("pod");
		length = strspn(at, "0123456789abcdef-_");
		if (!begins || length < POD_DIGITS_MIN || length >= size ||
		    (at[length] && at[length] != '/' && strncmp(at + length, ".slice", 6)))
			continue;
		for (size_t i = 0; i < length; i++)
			uid[i] = at[i] == '_' ? '-' : at[i];
		uid[length] = 0;
		return true;
	}
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
 * Version 2: .../slurmstepd.scope/job_N/step_S. Version 1: /slurm/uid_U/job_N/step_S, where the
 * first component may also contain the node's name.
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

/* Copies the rest of a component to `out`. Returns false if it does not fit. */
static bool take_component(const char *text, char *out, size_t size)
{
	size_t length = strcspn(text, "/");

	out[0] = 0;
	if (!length || length >= size)
		return false;
	memcpy(out, text, length);
	out[length] = 0;
	return true;
}

bool cgroup_slurm(const char *path, char *job, char *step, size_t size)
{
	const char *at = strstr(path, "slurm");
	char id[64];

	job[0] = step[0] = 0;
	at = at ? strstr(at, "/job_") : NULL;
	if (!at || !take_component(at + strlen("/job_"), job, size) || !slurm_id_fits(job)) {
		job[0] = 0;
		return false;
	}
	at = strstr(at, "/step_");
	if (at && take_component(at + strlen("/step_"), step, size)) {
		snprintf(id, sizeof(id), "%s.%s", job, step);
		if (!slurm_id_fits(id))
			step[0] = 0;
	}
	return true;
}
