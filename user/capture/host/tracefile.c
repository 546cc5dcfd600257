/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Creates and removes the trace file. */
#include "capture/host/tracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

int tracefile_name(const char *pattern, pid_t pid, char out[PATH_MAX])
{
	size_t used = 0;

	if (!*pattern) {
		log_error("-o: empty file name; name a file for the trace");
		return -EINVAL;
	}
	for (const char *p = pattern; *p; p++) {
		char piece[HOST_NAME_MAX + 32] = { *p };

		if (*p == '%') {
			switch (*++p) {
			case 'h':
				if (gethostname(piece, sizeof(piece)))
					strcpy(piece, "host");
				break;
			case 'p':
				sprintf(piece, "%d", (int)pid);
				break;
			case 't':
				sprintf(piece, "%lld", (long long)time(NULL));
				break;
			case '%':
				break;
			default:
				log_error("-o %s: unknown %%%c; use %%h (host), %%p (pid), %%r "
					  "(rank, with run), %%t (time) or %%%% (a %%)",
					  pattern, *p ? *p : ' ');
				return -EINVAL;
			}
		}
		if (used + strlen(piece) >= PATH_MAX) {
			log_error("-o: the name is too long");
			return -EINVAL;
		}
		strcpy(out + used, piece);
		used += strlen(piece);
	}
	out[used] = 0;
	return 0;
}

int tracefile_rank(const char *pattern, int64_t rank, char out[PATH_MAX])
{
	size_t used = 0;

	for (const char *p = pattern; *p && used < PATH_MAX; p++) {
		const bool is_rank = p[0] == '%' && p[1] == 'r';
		const int length = p[0] == '%' && p[1] ? 2 : 1;

		if (is_rank && rank < 0) {
			log_error("-o %s: %%r needs a rank, but neither RANK nor a variable of "
				  "Slurm or MPI has one",
				  pattern);
			return -EINVAL;
		}
		used += is_rank ? snprintf(out + used, PATH_MAX - used, "%lld", (long long)rank)
				: snprintf(out + used, PATH_MAX - used, "%.*s", length, p);
		p += length - 1;
	}
	if (used < PATH_MAX) {
		out[used] = 0;
		return 0;
	}
	log_error("-o: the name is too long");
	return -EINVAL;
}

static int create(const char *path, bool force)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat status;

	if (fd >= 0 || errno != EEXIST || !force)
		return fd >= 0 ? fd : -errno;
	if (lstat(path, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EEXIST;
	/* Not truncated: the old file may have a reader. */
	if (unlink(path))
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd >= 0 ? fd : -errno;
}

static void explain(const char *path, int err, bool force)
{
	struct stat status;

	switch (-err) {
	case EEXIST:
		if (!stat(path, &status) && S_ISDIR(status.st_mode))
			log_error("%s is a directory; name a file with -o", path);
		else if (force)
			log_error("%s exists and is not a regular file; name another file with -o",
				  path);
		else
			log_error("%s exists; use --force to overwrite it, or name another file "
				  "with -o",
				  path);
		break;
	case ENOENT:
		log_error("%s: the directory does not exist; create it or name another with -o",
			  path);
		break;
	case EACCES:
	case EPERM:
	case EROFS:
		log_error("%s: user %u cannot write there (%s); name another file with -o", path,
			  (unsigned int)geteuid(), strerror(-err));
		break;
	default:
		log_error("cannot create %s: %s", path, strerror(-err));
	}
}

int tracefile_create(const char *path, bool force, uid_t uid, gid_t gid)
{
	uid_t own_uid = geteuid();
	gid_t own_gid = getegid();
	gid_t *groups = NULL; /* up to 256 KiB: too much for some stacks */
	int group_count = 0, fd = -EPERM;

	if (own_uid != uid) {
		group_count = getgroups(0, NULL);
		groups = calloc(group_count > 0 ? group_count : 1, sizeof(*groups));
		if (!groups) {
			log_error("cannot switch to user %u: out of memory", (unsigned int)uid);
			return -ENOMEM;
		}
		group_count = getgroups(group_count, groups);
		if (group_count < 0 || setgroups(1, &gid) || setegid(gid) || seteuid(uid)) {
			log_error("cannot switch to user %u to write the trace: %s",
				  (unsigned int)uid, strerror(errno));
			goto back;
		}
	}
	fd = create(path, force);
	if (fd < 0)
		explain(path, fd, force);
back:
	if (own_uid != uid &&
	    (seteuid(own_uid) || setegid(own_gid) || setgroups(group_count, groups))) {
		log_error("cannot switch back to user %u: %s", (unsigned int)own_uid,
			  strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -EPERM;
	}
	free(groups);
	return fd;
}

void tracefile_remove(const char *path, uid_t uid)
{
	/* Only of this thread: others may have given up the right to change theirs. */
	uid_t own_uid = setfsuid(uid);

	unlink(path);
	setfsuid(own_uid);
}
