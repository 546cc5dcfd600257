/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads the iterator over operations in flight. Each descriptor is good for one reading.
 */
#include "capture/session/in_flight.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/faultline.skel.h"
#include "base/grow.h"
#include "base/log.h"

#define ROWS_AT_ONCE 16

struct in_flight {
	struct bpf_link *link;
};

struct in_flight *in_flight_open(struct faultline *skeleton)
{
	struct in_flight *in_flight = calloc(1, sizeof(*in_flight));

	if (in_flight)
		in_flight->link = bpf_program__attach_iter(skeleton->progs.fl_in_flight, NULL);
	if (in_flight && in_flight->link)
		return in_flight;
	log_warning("cannot monitor operations in flight: %s", strerror(errno));
	in_flight_close(in_flight);
	return NULL;
}

void in_flight_close(struct in_flight *in_flight)
{
	if (!in_flight)
		return;
	bpf_link__destroy(in_flight->link);
	free(in_flight);
}

/* A read may end inside a row. */
static int read_rows(int fd, struct in_flight_list *list)
{
	size_t used = 0;
	ssize_t got = 1;

	while (got > 0) {
		if (!GROW(list->rows, list->room, list->count + ROWS_AT_ONCE))
			return -ENOMEM;
		got = read(fd, (char *)list->rows + used, list->room * sizeof(*list->rows) - used);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			got = 1;
		else if (got > 0)
			used += got;
		list->count = used / sizeof(*list->rows);
	}
	return got < 0 ? -errno : 0;
}

int in_flight_read(struct in_flight *in_flight, struct in_flight_list *list)
{
	int fd, err;

	list->count = 0;
	if (!in_flight)
		return 0;
	fd = bpf_iter_create(bpf_link__fd(in_flight->link));
	if (fd < 0)
		return fd;
	err = read_rows(fd, list);
	close(fd);
	if (err)
		list->count = 0;
	return err;
}
