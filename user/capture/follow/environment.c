/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the user's environment and edits it for the command. */
#include "capture/follow/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define ENVIRON_BYTES_MAX (8u << 20)
#define ANCESTORS_MAX 64

/* --- lists of variables --- */

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

static char **find(char *const *environment, const char *variable)
{
	size_t length = name_length(variable);

	for (; *environment; environment++)
		if (!strncmp(*environment, variable, length) && (*environment)[length] == '=')
			return (char **)environment;
	return NULL;
}

static size_t count_of(char *const *environment)
{
	size_t count = 0;

	while (environment[count])
		count++;
	return count;
}

/* Appends "NAME=value" to a list of `count` variables. */
static int append(char ***environment, size_t count, const char *variable)
{
	char *copy = strdup(variable);
	char **grown = copy ? reallocarray(*environment, count + 2, sizeof(*grown)) : NULL;

	if (!grown) {
		free(copy);
		return -ENOMEM;
	}
	grown[count] = copy;
	grown[count + 1] = NULL;
	*environment = grown;
	return 0;
}

/* Sets "NAME=value", replacing an existing variable of that name. */
static int put(char ***environment, const char *variable)
{
	char **entry = find(*environment, variable), *copy;

	if (!entry)
		return append(environment, count_of(*environment), variable);
	copy = strdup(variable);
	if (!copy)
		return -ENOMEM;
	free(*entry);
	*entry = copy;
	return 0;
}

void environment_free(char **environment)
{
	for (char **variable = environment; variable && *variable; variable++)
		free(*variable);
	free(environment);
}

const char *environment_get(char *const *environment, const char *name)
{
	char **entry = find(environment, name);

	return entry ? *entry + strlen(name) + 1 : NULL;
}

int environment_set(char ***environment, const char *name, const char *value)
{
	char *variable;
	int err;

	if (asprintf(&variable, "%s=%s", name, value) < 0)
		return -ENOMEM;
	err = put(environment, variable);
	free(variable);
	return err;
}

/* Parses NUL-terminated texts, as the kernel keeps them. */
static char **parse(const char *text, size_t bytes)
{
	char **environment = calloc(1, sizeof(*environment));
	const char *end = text + bytes;
	size_t count = 0;

	while (environment && text < end) {
		const char *stop = memchr(text, 0, end - text);

		if (!stop)
			break;
		if (strchr(text, '=') && append(&environment, count++, text)) {
			environment_free(environment);
			return NULL;
		}
		text = stop + 1;
	}
	return environment;
}

/* --- processes --- */

/* Returns the environment that a process was executed with. */
static char **environment_of(pid_t pid)
{
	char name[64], *text = malloc(ENVIRON_BYTES_MAX), **environment = NULL;
	size_t bytes = 0;
	ssize_t got;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/environ", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	while (text && fd >= 0 && (got = read(fd, text + bytes, ENVIRON_BYTES_MAX - bytes)) > 0)
		bytes += got;
	if (bytes)
		environment = parse(text, bytes);
	if (fd >= 0)
		close(fd);
	free(text);
	return environment;
}

static pid_t parent_of(pid_t pid)
{
	char name[64], line[512];
	int parent = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	file = fopen(name, "re");
	/* A program's name may contain anything, but is at most 15 bytes. */
	if (file && fgets(line, sizeof(line), file) && strrchr(line, ')'))
		sscanf(strrchr(line, ')'), ") %*c %d", &parent);
	if (file)
		fclose(file);
	return parent;
}

/* Whether a process runs sudo: a setuid program of that name owned by root. */
static bool is_sudo(pid_t pid)
{
	char name[64], target[PATH_MAX];
	struct stat status;
	ssize_t length;

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	length = readlink(name, target, sizeof(target) - 1);
	if (length < 0 || stat(name, &status))
		return false;
	target[length] = 0;
	return !strncmp(basename(target), "sudo", 4) && !status.st_uid && status.st_mode & S_ISUID;
}

/* --- removed by sudo --- */

/* Whether sudo sets the variable for its target user, or a shell for itself: the caller's stays. */
static bool is_sudos(const char *variable)
{
	static const char *const names[] = { "PATH=",	  "HOME=",  "LOGNAME=", "USER=",
					     "USERNAME=", "SHELL=", "MAIL=",	"SHLVL=",
					     "TERM=",	  "_=",	    "SUDO_" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Whether sudo started that process for this user: only root can have changed SUDO_UID since. */
static bool is_called_for(pid_t pid, const struct child_user *user)
{
	char **environment = environment_of(pid);
	const char *uid = environment ? environment_get(environment, "SUDO_UID") : NULL;
	bool same = uid && strtoul(uid, NULL, 10) == user->uid;

	environment_free(environment);
	return same;
}

/* Returns the environment of the nearest sudo above us, if this user called it. */
static char **find_callers(const struct child_user *user)
{
	pid_t child = getpid(), pid = getppid();

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (is_sudo(pid))
			return is_called_for(child, user) ? environment_of(pid) : NULL;
		child = pid;
		pid = parent_of(pid);
	}
	return NULL;
}

static char **undo_sudo(const struct child_user *user)
{
	char **environment = find_callers(user);

	if (!environment) {
		log_debug("cannot find the environment of sudo's caller; the command gets ours");
		return NULL;
	}
	for (char **variable = environ; *variable; variable++)
		if (!is_sudos(*variable) && put(&environment, *variable)) {
			environment_free(environment);
			return NULL;
		}
	return environment;
}

/* --- removed by the dynamic loader --- */

/* The loader removes variables from the list, but not from memory. */
static char **undo_loader(void)
{
	unsigned long start = 0, end = 0;
	char line[4096], *fields;
	FILE *file = fopen("/proc/self/stat", "re");

	/* Reads fields 50 and 51. Field 2, the name, ends with the last parenthesis. */
	if (file && fgets(line, sizeof(line), file) && (fields = strrchr(line, ')')))
		for (int field = 3; field <= 51 && (fields = strchr(fields, ' ')); field++) {
			fields++;
			if (field == 50)
				start = strtoul(fields, NULL, 10);
			else if (field == 51)
				end = strtoul(fields, NULL, 10);
		}
	if (file)
		fclose(file);
	if (!start || end <= start || end - start > ENVIRON_BYTES_MAX)
		return NULL;
	return parse((const char *)start, end - start);
}

/* --- the command's environment --- */

/* Whether the command would keep capabilities, even after giving up root. */
static bool rights_may_stay(void)
{
	int bits = prctl(PR_GET_SECUREBITS);

	for (int capability = 0; capability < 64; capability++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) > 0)
			return true;
	return bits < 0 || bits & (SECBIT_NO_SETUID_FIXUP | SECBIT_KEEP_CAPS);
}

static char **find_users(const struct child_user *user)
{
	const char *sudo = getenv("SUDO_UID");

	if (rights_may_stay())
		return NULL;
	if (user->name) /* it gives up root */
		return sudo && user->uid && strtoul(sudo, NULL, 10) == user->uid ? undo_sudo(user)
										 : NULL;
	if (geteuid() && getuid() == geteuid() && getgid() == getegid() && getauxval(AT_SECURE))
		return undo_loader();
	return NULL;
}

static char **copy_own(const struct child_user *user)
{
	char **environment = calloc(1, sizeof(*environment));
	int err = environment ? 0 : -ENOMEM;

	for (size_t i = 0; environ[i] && !err; i++)
		err = append(&environment, i, environ[i]);
	if (!err && user->name)
		err = environment_set(&environment, "HOME", user->home);
	if (!err && user->name)
		err = environment_set(&environment, "SHELL", user->shell);
	if (!err && user->name)
		err = environment_set(&environment, "USER", user->name);
	if (!err && user->name)
		err = environment_set(&environment, "LOGNAME", user->name);
	if (!err)
		return environment;
	environment_free(environment);
	return NULL;
}

char **environment_make(const struct child_user *user, bool restore)
{
	char **environment = restore ? find_users(user) : NULL;

	return environment ? environment : copy_own(user);
}
