/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Looks into every file that followed processes map for execution, once, for the notes of USDT
 * probes of provider "faultline". Files are opened as the process sees them, so it may live in a
 * container. What stands in them is hostile: libelf checks their structure, a note is compared
 * within its bounds.
 */
#include "capture/markers.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/privileges.h"
#include "log.h"

#define WAITING_MAX 256 /* processes to look at; one that finds no room is looked at next time */
#define SEEN_SLOTS 4096 /* files without markers; an older one may be looked into again */

struct seen_file {
	dev_t dev;
	ino_t ino;
	struct timespec changed;
};

struct markers {
	struct session *session;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop; /* the thread is to end, or has ended */
	uint32_t waiting[WAITING_MAX];
	size_t waiting_count;
	struct seen_file seen[SEEN_SLOTS];
	struct seen_file *attached; /* exact: attaching twice would record each span twice */
	size_t attached_count;
};

/* --- notes --- */

/* A note of SystemTap's: three addresses, then provider, name and arguments, each with its NUL. */
static bool is_ours(const char *description, size_t bytes, size_t address_bytes)
{
	static const char provider[] = "faultline";
	size_t start = 3 * address_bytes;

	return bytes >= start + sizeof(provider) &&
	       !memcmp(description + start, provider, sizeof(provider));
}

static bool section_has_markers(Elf *elf, Elf_Scn *section)
{
	size_t address_bytes = gelf_getclass(elf) == ELFCLASS64 ? 8 : 4;
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, name_at, text_at;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name_at, &text_at)) > 0)
		if (note.n_namesz == sizeof("stapsdt") &&
		    !memcmp((const char *)data->d_buf + name_at, "stapsdt", sizeof("stapsdt")) &&
		    is_ours((const char *)data->d_buf + text_at, note.n_descsz, address_bytes))
			return true;
	return false;
}

static bool file_has_markers(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	bool found = false;
	size_t names;

	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		goto out;
	while (!found && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, ".note.stapsdt"))
			found = section_has_markers(elf, section);
	}
out:
	elf_end(elf);
	return found;
}

/* --- files --- */

static struct seen_file seen_of(const struct stat *status)
{
	return (struct seen_file) { status->st_dev, status->st_ino, status->st_ctim };
}

static bool is_same(const struct seen_file *one, const struct seen_file *other)
{
	return one->dev == other->dev && one->ino == other->ino &&
	       one->changed.tv_sec == other->changed.tv_sec &&
	       one->changed.tv_nsec == other->changed.tv_nsec;
}

static struct seen_file *slot_of(struct markers *markers, const struct seen_file *file)
{
	return &markers->seen[(file->ino * 31 + file->dev) % SEEN_SLOTS];
}

static bool is_known(struct markers *markers, const struct seen_file *file)
{
	for (size_t i = 0; i < markers->attached_count; i++)
		if (markers->attached[i].dev == file->dev && markers->attached[i].ino == file->ino)
			return true;
	return is_same(slot_of(markers, file), file);
}

static int attach(struct markers *markers, const struct seen_file *file, const char *path)
{
	struct seen_file *attached =
		realloc(markers->attached, (markers->attached_count + 1) * sizeof(*attached));

	if (!attached)
		return -ENOMEM;
	markers->attached = attached;
	attached[markers->attached_count++] = *file;
	return session_attach_markers(markers->session, path);
}

static void look_into(struct markers *markers, uint32_t pid, const char *path)
{
	char seen_from_here[PATH_MAX + 32];
	struct seen_file file;
	struct stat status;
	int fd, err;

	snprintf(seen_from_here, sizeof(seen_from_here), "/proc/%u/root%s", pid, path);
	fd = open(seen_from_here, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return; /* deleted, or the process is gone */
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		goto out;
	file = seen_of(&status);
	if (is_known(markers, &file))
		goto out;
	if (!file_has_markers(fd)) {
		*slot_of(markers, &file) = file;
		goto out;
	}
	err = attach(markers, &file, seen_from_here);
	if (err)
		log_warning("%s marks spans, but cannot be attached to: %s", path, strerror(-err));
	else
		log_debug("%s marks spans", path);
out:
	close(fd);
}

/* Paths in /proc/PID/maps show a newline as \012. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = 0;
}

static void look_at_process(struct markers *markers, uint32_t pid)
{
	char name[64], *line = NULL;
	size_t room = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && getline(&line, &room, maps) > 0) {
		char *path = strchr(line, '/');
		char permissions[5];

		if (!path || strlen(path) >= PATH_MAX ||
		    sscanf(line, "%*s %4s", permissions) != 1 || permissions[2] != 'x')
			continue;
		path[strcspn(path, "\n")] = 0;
		unescape(path);
		look_into(markers, pid, path);
	}
	free(line);
	if (maps)
		fclose(maps);
}

/* --- the thread --- */

static void *look(void *context)
{
	struct markers *markers = context;

	if (privileges_keep_attaching())
		log_debug("the thread that looks for markers keeps all privileges");
	pthread_mutex_lock(&markers->lock);
	while (!markers->stop) {
		uint32_t pid;

		if (!markers->waiting_count) {
			pthread_cond_wait(&markers->wake, &markers->lock);
			continue;
		}
		pid = markers->waiting[0];
		memmove(markers->waiting, markers->waiting + 1,
			--markers->waiting_count * sizeof(markers->waiting[0]));
		pthread_mutex_unlock(&markers->lock);
		look_at_process(markers, pid);
		pthread_mutex_lock(&markers->lock);
	}
	pthread_mutex_unlock(&markers->lock);
	return NULL;
}

int markers_start(struct markers **out, struct session *session)
{
	struct markers *markers = calloc(1, sizeof(*markers));
	int err;

	if (!markers)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	markers->session = session;
	pthread_mutex_init(&markers->lock, NULL);
	pthread_cond_init(&markers->wake, NULL);
	err = -pthread_create(&markers->thread, NULL, look, markers);
	if (err) {
		free(markers);
		return err;
	}
	*out = markers;
	return 0;
}

void markers_look(void *context, uint32_t pid)
{
	struct markers *markers = context;
	size_t i;

	pthread_mutex_lock(&markers->lock);
	for (i = 0; i < markers->waiting_count; i++)
		if (markers->waiting[i] == pid)
			break;
	if (i == markers->waiting_count && i < WAITING_MAX) {
		markers->waiting[markers->waiting_count++] = pid;
		pthread_cond_signal(&markers->wake);
	}
	pthread_mutex_unlock(&markers->lock);
}

void markers_stop(struct markers *markers)
{
	bool stopped;

	if (!markers)
		return;
	pthread_mutex_lock(&markers->lock);
	stopped = markers->stop;
	markers->stop = true;
	pthread_cond_signal(&markers->wake);
	pthread_mutex_unlock(&markers->lock);
	if (!stopped)
		pthread_join(markers->thread, NULL);
}

void markers_close(struct markers *markers)
{
	if (!markers)
		return;
	markers_stop(markers);
	pthread_cond_destroy(&markers->wake);
	pthread_mutex_destroy(&markers->lock);
	free(markers->attached);
	free(markers);
}
