/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds paths of cgroups by id, and the id of a process's cgroup. */
#include "capture/names/cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "bpf/records/event.h"
#include "capture/host/mounts.h"
#include "capture/host/privileges.h"
#include "capture/host/proc.h"
#include "capture/host/shared.h"

#define REMEMBERED 4096 /* cached ids, the oldest evicted; both are powers of two */
#define CHAINS 4096
#define PLACES_BYTES 65536 /* of /proc/PID/cgroup, with one line per hierarchy */

struct known_cgroup {
	uint64_t id;		    /* 0: none */
	char *path;		    /* NULL: being looked up */
	struct known_cgroup *chain; /* next entry with the same hash */
};

struct cgroups {
	struct cgroup_mount mount;	/* path "": no such hierarchy */
	bool has_handles;		/* the thread may open cgroups by id */
	const struct cgroup_slot *kept; /* NULL: no kernel-side table */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work, found;
	bool stop;
	/* Numbered and looked up in the order of requests. */
	struct known_cgroup known[REMEMBERED], *chains[CHAINS];
	size_t next, looked_up;
};

/* --- the walk --- */

static int take_mount(void *context, const struct mount *mount)
{
	if (!strcmp(mount->type, "cgroup2"))
		cgroup_mount_take(context, mount);
	return 0;
}

bool cgroups_walk(char path[PATH_MAX], int depth, cgroups_look *look, void *context)
{
	enum cgroups_seen seen = look(context, path);
	size_t length = strlen(path);
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	if (seen != CGROUPS_GO_ON || depth == CGROUPS_DEPTH_MAX)
		return seen == CGROUPS_FOUND;
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    length + strlen(entry->d_name) + 2 > PATH_MAX)
			continue;
		sprintf(path + length, "/%s", entry->d_name);
		found = cgroups_walk(path, depth + 1, look, context);
		if (!found)
			path[length] = 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A cgroup's id is the inode number of its directory. */
static enum cgroups_seen has_id(void *context, const char *path)
{
	const uint64_t *id = context;
	struct stat status;

	return !stat(path, &status) && status.st_ino == *id ? CGROUPS_FOUND : CGROUPS_GO_ON;
}

/* --- without a walk --- */

#define KERNFS_HANDLE 0xfe /* FILEID_KERNFS: its 64 bits are the id */

/* Opens a cgroup by its id; needs CAP_DAC_READ_SEARCH. `path` must hold the root's path, and
 * receives the cgroup's. */
static bool find_by_handle(char path[PATH_MAX], uint64_t id)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} of = { .handle = { .handle_bytes = sizeof(id), .handle_type = KERNFS_HANDLE } };
	int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	char link[64];
	ssize_t length;

	if (root < 0)
		return false;
	memcpy(of.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(root, &of.handle, O_PATH | O_CLOEXEC);
	close(root);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	close(fd);
	path[length > 0 ? length : 0] = 0;
	return has_id(&id, path) == CGROUPS_FOUND;
}

/* Tries the root once. Without the permission or the hierarchy, every lookup walks the tree. */
static bool has_handles(const char *root)
{
	char path[PATH_MAX];
	struct stat status;

	strcpy(path, root);
	return !stat(root, &status) && find_by_handle(path, status.st_ino);
}

static size_t kept_bytes(void)
{
	return shared_pages(CGROUP_SLOTS * sizeof(struct cgroup_slot));
}

/* Returns the path that the kernel side kept. It may overwrite the slot during the read. */
static char *look_up_kept(const struct cgroups *cgroups, uint64_t id)
{
	const struct cgroup_slot *slot =
		cgroups->kept ? &cgroups->kept[id & (CGROUP_SLOTS - 1)] : NULL;
	char path[CGROUP_PATH_BYTES];

	if (!slot || __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE) != id)
		return strdup("");
	memcpy(path, slot->path, sizeof(path));
	path[sizeof(path) - 1] = 0;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return strdup(__atomic_load_n(&slot->id, __ATOMIC_RELAXED) == id ? path : "");
}

/* Returns the path below the root, or "". NULL only if out of memory. */
static char *look_up(const struct cgroups *cgroups, uint64_t id)
{
	char path[PATH_MAX];
	const char *below;
	bool found;

	strcpy(path, cgroups->mount.path);
	found = cgroups->has_handles ? find_by_handle(path, id)
				     : path[0] && cgroups_walk(path, 0, has_id, &id);
	if (!found || strncmp(path, cgroups->mount.path, strlen(cgroups->mount.path)) != 0)
		return look_up_kept(cgroups, id);
	below = path + strlen(cgroups->mount.path);
	return strdup(*below ? below : "/");
}

/* --- cache --- */

static struct known_cgroup **chain_of(struct cgroups *cgroups, uint64_t id)
{
	return &cgroups->chains[(id * 0x9e3779b97f4a7c15ull >> 32) % CHAINS];
}

static struct known_cgroup *find(struct cgroups *cgroups, uint64_t id)
{
	struct known_cgroup *known = *chain_of(cgroups, id);

	while (known && known->id != id)
		known = known->chain;
	return known;
}

static void forget(struct cgroups *cgroups, struct known_cgroup *known)
{
	struct known_cgroup **link = chain_of(cgroups, known->id);

	while (*link && *link != known)
		link = &(*link)->chain;
	if (*link)
		*link = known->chain;
	free(known->path);
	*known = (struct known_cgroup) { 0 };
}

/* --- the thread --- */

static void *work(void *context)
{
	struct cgroups *cgroups = context;

	privileges_keep_looking();
	cgroups->has_handles = has_handles(cgroups->mount.path);
	pthread_mutex_lock(&cgroups->lock);
	while (!cgroups->stop) {
		struct known_cgroup *known = &cgroups->known[cgroups->looked_up % REMEMBERED];
		char *path;

		if (cgroups->looked_up == cgroups->next) {
			pthread_cond_wait(&cgroups->work, &cgroups->lock);
			continue;
		}
		pthread_mutex_unlock(&cgroups->lock);
		path = look_up(cgroups, known->id); /* not evicted before it has a path */
		pthread_mutex_lock(&cgroups->lock);
		known->path = path;
		if (!path)
			forget(cgroups, known);
		cgroups->looked_up++;
		pthread_cond_broadcast(&cgroups->found);
	}
	pthread_mutex_unlock(&cgroups->lock);
	return NULL;
}

/* --- requests --- */

/* Queues a lookup in the slot of the oldest entry. Returns false if all entries are still being
 * looked up. */
static bool queue_lookup(struct cgroups *cgroups, uint64_t id)
{
	struct known_cgroup *known = &cgroups->known[cgroups->next % REMEMBERED];
	struct known_cgroup **chain = chain_of(cgroups, id);

	if (cgroups->next - cgroups->looked_up == REMEMBERED)
		return false;
	forget(cgroups, known);
	*known = (struct known_cgroup) { .id = id, .chain = *chain };
	*chain = known;
	cgroups->next++;
	pthread_cond_signal(&cgroups->work);
	return true;
}

bool cgroups_path(struct cgroups *cgroups, uint64_t id, bool wait, char path[PATH_MAX])
{
	struct known_cgroup *known;
	bool found, queued;

	path[0] = 0;
	if (!cgroups->mount.path[0] || !id)
		return true;
	pthread_mutex_lock(&cgroups->lock);
	known = find(cgroups, id);
	queued = known || queue_lookup(cgroups, id);
	while (wait && !queued) {
		pthread_cond_wait(&cgroups->found, &cgroups->lock);
		queued = find(cgroups, id) || queue_lookup(cgroups, id);
	}
	while (wait && (known = find(cgroups, id)) && !known->path)
		pthread_cond_wait(&cgroups->found, &cgroups->lock);
	found = known && known->path;
	if (found)
		strcpy(path, known->path);
	pthread_mutex_unlock(&cgroups->lock);
	return found || wait;
}

/* --- cgroups of processes --- */

/* Finds version 2's line, "0::PATH", among "N:CONTROLLERS:PATH". Returns PATH, or NULL. */
static const char *second_version(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		if (!strncmp(line, "0::/", 4))
			return line + 3;
	return NULL;
}

uint64_t cgroups_of_process(const struct cgroups *cgroups, uint32_t pid)
{
	char *text = cgroups->mount.path[0] && proc_is_of_kernel_side()
			     ? proc_text(pid, "cgroup", PLACES_BYTES)
			     : NULL;
	const char *below = text ? second_version(text) : NULL;
	char path[2 * PATH_MAX];
	struct stat status;
	uint64_t id = 0;

	/* "/..": outside of our cgroup namespace. */
	if (below && strncmp(below, "/..", 3) &&
	    snprintf(path, sizeof(path), "%s%s", cgroups->mount.path,
		     cgroup_mount_below(&cgroups->mount, below)) < (int)sizeof(path) &&
	    !stat(path, &status))
		id = status.st_ino;
	free(text);
	return id;
}

/* --- open and close --- */

int cgroups_keep(struct cgroups *cgroups, int fd)
{
	const struct cgroup_slot *kept = shared_map(fd, kept_bytes(), false, 0);
	int err = kept ? 0 : -errno;

	pthread_mutex_lock(&cgroups->lock);
	cgroups->kept = kept;
	pthread_mutex_unlock(&cgroups->lock);
	return err;
}

int cgroups_open(struct cgroups **out, const char *root)
{
	struct cgroups *cgroups = calloc(1, sizeof(*cgroups));
	int err;

	if (!cgroups)
		return -ENOMEM;
	if (root)
		snprintf(cgroups->mount.path, sizeof(cgroups->mount.path), "%s", root);
	else
		mounts_each(take_mount, &cgroups->mount);
	pthread_mutex_init(&cgroups->lock, NULL);
	pthread_cond_init(&cgroups->work, NULL);
	pthread_cond_init(&cgroups->found, NULL);
	err = thread_start(&cgroups->thread, work, cgroups);
	if (err) {
		free(cgroups);
		return err;
	}
	*out = cgroups;
	return 0;
}

void cgroups_close(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	pthread_mutex_lock(&cgroups->lock);
	cgroups->stop = true;
	pthread_cond_signal(&cgroups->work);
	pthread_mutex_unlock(&cgroups->lock);
	pthread_join(cgroups->thread, NULL);
	for (size_t i = 0; i < REMEMBERED; i++)
		free(cgroups->known[i].path);
	if (cgroups->kept)
		munmap((void *)cgroups->kept, kept_bytes());
	pthread_cond_destroy(&cgroups->work);
	pthread_cond_destroy(&cgroups->found);
	pthread_mutex_destroy(&cgroups->lock);
	free(cgroups);
}
