/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads state files of kubelet and of container engines. Their texts come from users: lengths are
 * bounded, and a pod's names count only in a cgroup of that pod.
 */
#include "capture/names/job_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "capture/host/proc.h"
#include "capture/names/names.h"

#define FILE_BYTES_MAX (4u << 20) /* one file may describe hundreds of containers */
#define ENTRIES_MAX 65536
#define DEPTH_MAX 32
#define ENVIRONMENT_BYTES_MAX (256u << 10)

/* Sets a name that is still unknown. */
static void set(struct job_names *names, enum job_name name, const char *text, size_t length)
{
	char *out = names->text[name];

	if (out[0] || !length || length >= JOB_NAME_BYTES || memchr(text, 0, length))
		return;
	memcpy(out, text, length);
	out[length] = 0;
}

static void set_text(struct job_names *names, enum job_name name, const char *text)
{
	if (text)
		set(names, name, text, strlen(text));
}

/* Splits a text at each '_'. Returns whether it has exactly `count` parts, none of them empty. */
static bool split(const char *text, size_t length, const char *parts[], size_t lengths[],
		  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *end = memchr(text, '_', length);

		parts[i] = text;
		lengths[i] = end ? (size_t)(end - text) : length;
		if (!lengths[i] || (end != NULL) != (i + 1 < count))
			return false;
		text += lengths[i] + 1;
		length -= end ? lengths[i] + 1 : length;
	}
	return true;
}

static bool is_text(const char *part, size_t length, const char *text)
{
	return length == strlen(text) && !memcmp(part, text, length);
}

/* --- kubelet's log directories --- */

/* /var/log/pods/NAMESPACE_POD_UID */
static void take_pod_log(const struct job_ids *ids, const char *entry, size_t length,
			 struct job_names *names)
{
	const char *parts[3];
	size_t lengths[3];

	if (!split(entry, length, parts, lengths, 3) || !is_text(parts[2], lengths[2], ids->pod))
		return;
	set(names, JOB_NAMESPACE, parts[0], lengths[0]);
	set(names, JOB_POD, parts[1], lengths[1]);
}

/* /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log; the end of a very long name is cut off. */
static void take_container_log(const struct job_ids *ids, const char *entry, size_t length,
			       struct job_names *names)
{
	char end[JOB_ID_BYTES + 8];
	const char *parts[3];
	size_t lengths[3], end_length;

	end_length = snprintf(end, sizeof(end), "-%s.log", ids->container);
	if (!ids->pod[0] || length < end_length ||
	    memcmp(entry + length - end_length, end, end_length) ||
	    !split(entry, length - end_length, parts, lengths, 3))
		return;
	set(names, JOB_POD, parts[0], lengths[0]);
	set(names, JOB_NAMESPACE, parts[1], lengths[1]);
	set(names, JOB_CONTAINER, parts[2], lengths[2]);
}

/* --- JSON --- */

static struct json_object *parse(const char *text, size_t length)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *object;

	if (!tokener)
		return NULL;
	object = json_tokener_parse_ex(tokener, text, length);
	json_tokener_free(tokener);
	return object;
}

/* NULL if absent. */
static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *found = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, name, &found);
	return found;
}

/* NULL if absent, or no string. */
static const char *text_of(struct json_object *object, const char *name)
{
	struct json_object *found = member(object, name);

	return json_object_is_type(found, json_type_string) ? json_object_get_string(found) : NULL;
}

/* CRI-O and cri-dockerd call a container of a pod k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT; the one
 * that only holds the pod's namespaces, POD. */
static void take_engine_name(const struct job_ids *ids, const char *name, struct job_names *names)
{
	const char *parts[6];
	size_t lengths[6];

	if (!name)
		return;
	name += name[0] == '/'; /* Docker */
	if (!ids->pod[0]) {
		set_text(names, JOB_CONTAINER, name);
	} else if (split(name, strlen(name), parts, lengths, 6) &&
		   is_text(parts[0], lengths[0], "k8s") &&
		   is_text(parts[4], lengths[4], ids->pod)) {
		if (!is_text(parts[1], lengths[1], "POD"))
			set(names, JOB_CONTAINER, parts[1], lengths[1]);
		set(names, JOB_POD, parts[2], lengths[2]);
		set(names, JOB_NAMESPACE, parts[3], lengths[3]);
	}
}

/* The specification that containerd passes to runc. */
static void take_containerd(const struct job_ids *ids, const char *text, size_t length,
			    struct job_names *names)
{
	static const struct {
		const char *key;
		enum job_name name;
		bool of_pod;
	} annotations[] = {
		{ "io.kubernetes.cri.sandbox-namespace", JOB_NAMESPACE, true },
		{ "io.kubernetes.cri.sandbox-name", JOB_POD, true },
		{ "io.kubernetes.cri.container-name", JOB_CONTAINER, true },
		{ "io.kubernetes.cri.image-name", JOB_IMAGE, true },
		{ "nerdctl/name", JOB_CONTAINER, false },
	};
	struct json_object *object = parse(text, length);
	struct json_object *of = member(object, "annotations");

	for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]); i++)
		if (annotations[i].of_pod == (bool)ids->pod[0])
			set_text(names, annotations[i].name, text_of(of, annotations[i].key));
	json_object_put(object);
}

static void take_docker(const struct job_ids *ids, const char *text, size_t length,
			struct job_names *names)
{
	struct json_object *object = parse(text, length);

	take_engine_name(ids, text_of(object, "Name"), names);
	set_text(names, JOB_IMAGE, text_of(member(object, "Config"), "Image"));
	json_object_put(object);
}

/* A list of all containers of Podman and CRI-O, each with JSON of its own in a string. */
static void take_storage(const struct job_ids *ids, const char *text, size_t length,
			 struct job_names *names)
{
	struct json_object *list = parse(text, length);
	bool is_list = json_object_is_type(list, json_type_array);

	for (size_t i = 0; is_list && i < json_object_array_length(list); i++) {
		struct json_object *container = json_object_array_get_idx(list, i), *object;
		const char *id = text_of(container, "id");
		const char *metadata = text_of(container, "metadata");

		if (!id || strcmp(id, ids->container) || !metadata)
			continue;
		object = parse(metadata, strlen(metadata));
		take_engine_name(ids, text_of(object, "name"), names);
		set_text(names, JOB_IMAGE, text_of(object, "image-name"));
		json_object_put(object);
	}
	json_object_put(list);
}

/* --- sources --- */

/*
 * In this order, until nothing is missing. `path` is below the node's root; %s is the container's
 * id. A directory (with a slash at its end) is listed, and `take` gets each entry's name; otherwise
 * it gets the content.
 */
static const struct source {
	const char *path;
	void (*take)(const struct job_ids *ids, const char *text, size_t length,
		     struct job_names *names);
} sources[] = {
	{ "var/log/pods/", take_pod_log },
	{ "var/log/containers/", take_container_log },
	{ "run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json", take_containerd },
	{ "run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
	  take_containerd },
	{ "run/containerd/io.containerd.runtime.v2.task/default/%s/config.json", take_containerd },
	{ "var/lib/docker/containers/%s/config.v2.json", take_docker },
	{ "var/lib/containers/storage/overlay-containers/containers.json", take_storage },
	{ "var/lib/containers/storage/overlay-containers/volatile-containers.json", take_storage },
};

static void list(int fd, const struct source *source, const struct job_ids *ids,
		 struct job_names *names)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		close(fd);
		return;
	}
	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(dir)); i++)
		source->take(ids, entry->d_name, strlen(entry->d_name), names);
	closedir(dir);
}

static void read_file(int fd, const struct source *source, const struct job_ids *ids,
		      struct job_names *names)
{
	struct stat status;
	ssize_t length = -1;
	char *text = NULL;

	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size > 0 &&
	    status.st_size <= FILE_BYTES_MAX)
		text = malloc(status.st_size);
	if (text)
		length = read(fd, text, status.st_size);
	if (length > 0)
		source->take(ids, text, length, names);
	free(text);
	close(fd);
}

static void read_source(int root, const struct source *source, const struct job_ids *ids,
			struct job_names *names)
{
	bool lists = source->path[strlen(source->path) - 1] == '/';
	const char *at = strstr(source->path, "%s");
	char path[PATH_MAX];
	int fd;

	if (at)
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(at - source->path), source->path,
			 ids->container, at + 2);
	else
		snprintf(path, sizeof(path), "%s", source->path);
	fd = host_open_below(root, path, lists ? O_DIRECTORY : 0);
	if (fd < 0)
		return;
	if (lists)
		list(fd, source, ids, names);
	else
		read_file(fd, source, ids, names);
}

/* --- Slurm --- */

void job_names_of_environment(const char *environment, size_t bytes, const char *slurm_job,
			      struct job_names *names)
{
	static const struct {
		const char *variable;
		enum job_name name;
	} variables[] = {
		{ "SLURM_JOB_NAME", JOB_SLURM_NAME },
		{ "SLURM_JOB_USER", JOB_SLURM_USER },
	};
	size_t length;
	const char *value = names_variable(environment, bytes, "SLURM_JOB_ID", &length);

	if (!value || !is_text(value, length, slurm_job))
		return;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		value = names_variable(environment, bytes, variables[i].variable, &length);
		if (value)
			set(names, variables[i].name, value, length);
	}
}

static void read_process(const struct job_ids *ids, uint32_t pid, struct job_names *names)
{
	size_t bytes;
	char *text = proc_read(pid, "environ", ENVIRONMENT_BYTES_MAX, &bytes);

	if (text)
		job_names_of_environment(text, bytes, ids->slurm_job, names);
	free(text);
}

/* --- all --- */

bool job_names_lack(const struct job_ids *ids, const struct job_names *names)
{
	const bool wanted[JOB_NAMES] = {
		[JOB_NAMESPACE] = ids->pod[0],	      [JOB_POD] = ids->pod[0],
		[JOB_CONTAINER] = ids->container[0],  [JOB_IMAGE] = ids->container[0],
		[JOB_SLURM_NAME] = ids->slurm_job[0], [JOB_SLURM_USER] = ids->slurm_job[0],
	};

	for (int i = 0; i < JOB_NAMES; i++)
		if (wanted[i] && !names->text[i][0])
			return true;
	return false;
}

void job_names_read(int root, const struct job_ids *ids, uint32_t pid, struct job_names *names)
{
	struct job_ids nodes = *ids;

	nodes.slurm_job[0] = 0;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (job_names_lack(&nodes, names))
			read_source(root, &sources[i], ids, names);
	if (ids->slurm_job[0] && pid && proc_is_of_kernel_side())
		read_process(ids, pid, names);
}
