/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses mountinfo, and chooses among several mounts of a hierarchy of cgroups. */
#include "capture/host/mounts.h"

#include <stdlib.h>
#include <string.h>

/* Unescapes in place: white space and backslashes are escaped as three octal digits. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		unsigned int character;
		int end = 0;

		if (*from == '\\' && sscanf(from + 1, "%3o%n", &character, &end) == 1 && end == 3) {
			*to++ = character;
			from += end;
		} else {
			*to++ = *from;
		}
	}
	*to = 0;
}

/* "ID PARENT MAJOR:MINOR ROOT PATH OPTIONS [TAG...] - TYPE SOURCE SUPER-OPTIONS" */
static bool parse(char *line, struct mount *mount)
{
	char *rest, *words[6], *second = strstr(line, " - ");

	if (!second)
		return false;
	*second = 0;
	rest = line;
	for (int i = 0; i < 6; i++) {
		words[i] = strsep(&rest, " ");
		if (!words[i])
			return false;
	}
	if (sscanf(words[2], "%u:%u", &mount->major, &mount->minor) != 2)
		return false;
	mount->root = words[3];
	mount->path = words[4];
	mount->options = words[5];
	rest = second + strlen(" - ");
	mount->type = strsep(&rest, " ");
	strsep(&rest, " ");
	mount->super_options = strsep(&rest, "\n");
	if (!mount->super_options)
		return false;
	unescape(mount->root);
	unescape(mount->path);
	return true;
}

int mounts_each_in(FILE *mountinfo, mounts_take *take, void *context)
{
	struct mount mount;
	char *line = NULL;
	size_t room = 0;
	int status = 0;

	while (mountinfo && !status && getline(&line, &room, mountinfo) > 0)
		if (parse(line, &mount))
			status = take(context, &mount);
	free(line);
	return status;
}

int mounts_each(mounts_take *take, void *context)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	int status = mounts_each_in(file, take, context);

	if (file)
		fclose(file);
	return status;
}

/* --- cgroups --- */

static bool is_whole(const char *root)
{
	return !strcmp(root, "/");
}

void cgroup_mount_take(struct cgroup_mount *known, const struct mount *mount)
{
	if (known->path[0] && (is_whole(known->root) || !is_whole(mount->root)))
		return;
	snprintf(known->path, sizeof(known->path), "%s", mount->path);
	snprintf(known->root, sizeof(known->root), "%s", mount->root);
}

const char *cgroup_mount_below(const struct cgroup_mount *mount, const char *cgroup)
{
	const size_t length = is_whole(mount->root) ? 0 : strlen(mount->root);

	if (strncmp(cgroup, mount->root, length) || (cgroup[length] && cgroup[length] != '/'))
		return cgroup;
	return cgroup + length;
}
