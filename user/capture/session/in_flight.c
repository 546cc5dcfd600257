/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads the iterators over operations in flight and over threads. Each descriptor is good for one
 * reading.
 */
#include "capture/session/in_flight.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/faultline.skel.h"
#include "collections/grow.h"
#include "base/log.h"

#define READ_BYTES 32768 /* the kernel returns no more at once */

struct in_flight {
	bool reported;			       /* that rows were missing */
	struct bpf_link *operations, *threads; /* NULL: not read */
};

static struct bpf_link *open_link(const struct bpf_program *program, const char *what)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);

	if (!link)
		log_warning("cannot monitor %s: %s", what, strerror(errno));
	return link;
}

struct in_flight *in_flight_open(struct faultline *skeleton, bool operations, bool threads)
{
	struct in_flight *in_flight = calloc(1, sizeof(*in_flight));

	if (in_flight && operations)
		in_flight->operations =
			open_link(skeleton->progs.fl_in_flight, "operations in flight");
	if (in_flight && threads)
		in_flight->threads =
			open_link(skeleton->progs.fl_threads, "thread states in progress");
	return in_flight;
}

void in_flight_close(struct in_flight *in_flight)
{
	if (!in_flight)
		return;
	bpf_link__destroy(in_flight->operations);
	bpf_link__destroy(in_flight->threads);
	free(in_flight);
}

/*
 * Reads rows into an array as for GROW, and returns their number or a negative errno. A read may
 * end inside a row. The kernel ends the list with E2BIG at a task whose rows exceed its buffer:
 * those before it are good.
 */
static ssize_t read_rows(struct in_flight *in_flight, int fd, void **rows, size_t *room,
			 size_t row_bytes)
{
	size_t used = 0;
	ssize_t got = 1;

	while (got > 0) {
		void *grown =
			grow_bytes(*rows, room, (used + READ_BYTES) / row_bytes + 1, row_bytes);

		if (!grown)
			return -ENOMEM;
		*rows = grown;
		got = read(fd, (char *)grown + used, *room * row_bytes - used);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			got = 1;
		else if (got > 0)
			used += got;
	}
	if (got < 0 && errno == E2BIG) {
		if (!in_flight->reported)
			log_warning("the list of operations and threads in flight is incomplete: "
				    "one thread has too many");
		in_flight->reported = true;
		got = 0;
	}
	return got < 0 ? -errno : (ssize_t)(used / row_bytes);
}

/* Sets *count to the rows that one run of the iterator writes. */
static int run(struct in_flight *in_flight, const struct bpf_link *link, void **rows, size_t *room,
	       size_t row_bytes, size_t *count)
{
	ssize_t got;
	int fd;

	*count = 0;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		return fd;
	got = read_rows(in_flight, fd, rows, room, row_bytes);
	close(fd);
	*count = got > 0 ? got : 0;
	return got < 0 ? got : 0;
}

int in_flight_read(struct in_flight *in_flight, struct in_flight_list *list)
{
	list->count = 0;
	if (!in_flight || !in_flight->operations)
		return 0;
	return run(in_flight, in_flight->operations, (void **)&list->rows, &list->room,
		   sizeof(*list->rows), &list->count);
}

int in_flight_read_threads(struct in_flight *in_flight, struct thread_list *list)
{
	list->count = 0;
	if (!in_flight || !in_flight->threads)
		return -ENOENT;
	return run(in_flight, in_flight->threads, (void **)&list->rows, &list->room,
		   sizeof(*list->rows), &list->count);
}
