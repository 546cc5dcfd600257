/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Missed spans: ends without a begin, and programs that waited too long; and the order in which
 * waiting programs are served.
 */
#include "unit_test.h"

#include <fcntl.h>

#include "capture/markers/clients.h"
#include "capture/markers/marker_programs.h"
#include "capture/drain/span_ends.h"

TEST(test_unbegun)
{
	struct span_ends *ends = span_ends_make();

	assert_non_null(ends);
	assert_int_equal(span_ends_unbegun(ends), 0);
	for (uint64_t id = 1; id <= 1000; id++)
		span_ends_begin(ends, 10, id);
	for (uint64_t id = 1000; id; id--)
		span_ends_end(ends, 10, id);
	span_ends_end(ends, 10, 5);	     /* ending twice is not a loss */
	span_ends_end(ends, 10, UINT64_MAX); /* not one of our IDs */
	assert_int_equal(span_ends_unbegun(ends), 0);
	span_ends_end(ends, 10, 1001);
	span_ends_end(ends, 11, 7); /* another process's span */
	assert_int_equal(span_ends_unbegun(ends), 2);
	assert_true(span_ends_known(ends));
	span_ends_begin(ends, 10, 1001); /* from another CPU buffer, drained later */
	assert_int_equal(span_ends_unbegun(ends), 1);
	span_ends_fork(ends, 10, 12);
	span_ends_fork(ends, 12, 11);
	assert_int_equal(span_ends_unbegun(ends), 0);
	span_ends_end(ends, 11, 5000);
	assert_int_equal(span_ends_unbegun(ends), 1);
	span_ends_fork(ends, 99, 11); /* the PID was reused: nothing is known */
	assert_int_equal(span_ends_unbegun(ends), 0);
	span_ends_free(ends);
	span_ends_free(NULL);
}

/* Process IDs that lead nowhere or in cycles. */
TEST(test_hostile)
{
	struct span_ends *ends = span_ends_make();

	assert_non_null(ends);
	for (uint32_t i = 0; i < 1000; i++)
		span_ends_fork(ends, i, (i + 1) % 1000);
	for (uint64_t i = 0; i < 50000; i++)
		span_ends_end(ends, i % 1000, i << 20);
	span_ends_unbegun(ends);
	for (uint64_t i = 0; i < 300000; i++) {
		span_ends_begin(ends, 1, i << 6);
		span_ends_end(ends, 2, i);
	}
	assert_int_equal(span_ends_unbegun(ends), 0); /* too many to count */
	assert_false(span_ends_known(ends));
	span_ends_free(ends);
}

/* Forks that are not kept matter only to a process that ends what it has not begun. */
TEST(test_many_forks)
{
	struct span_ends *ends = span_ends_make();

	assert_non_null(ends);
	for (uint32_t i = 0; i < 100000; i++)
		span_ends_fork(ends, 1, i + 10);
	span_ends_begin(ends, 1, 7);
	span_ends_end(ends, 1, 7);
	span_ends_end(ends, 11, 7);
	assert_int_equal(span_ends_unbegun(ends), 0);
	assert_true(span_ends_known(ends));
	span_ends_end(ends, 100009, 7); /* its fork is not kept */
	assert_int_equal(span_ends_unbegun(ends), 0);
	assert_false(span_ends_known(ends));
	span_ends_free(ends);
}

TEST(test_late_programs)
{
	_Atomic uint64_t unheard = 0;
	struct marker_programs *programs = marker_programs_make(&unheard);

	assert_non_null(programs);
	marker_programs_set(programs, 10, 0, PROGRAM_LATE);
	assert_int_equal(unheard, 1);
	marker_programs_set(programs, 10, 0, PROGRAM_LATE);
	assert_int_equal(unheard, 1);
	marker_programs_set(programs, 10, 0, PROGRAM_ASKED); /* it has been waiting all along */
	assert_int_equal(unheard, 0);
	marker_programs_set(programs, 11, 0, PROGRAM_ASKED);
	marker_programs_set(programs, 11, 0, PROGRAM_LATE);
	assert_int_equal(unheard, 0);
	marker_programs_set(programs, 11, 1, PROGRAM_LATE);
	assert_int_equal(unheard, 1);
	marker_programs_free(programs);
}

static int open_null(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Known files first, small files before large ones, otherwise in order of arrival. */
TEST(test_client_order)
{
	static const uint64_t costs[] = { 20 << 20, 20 << 20, 0, 5000, 30 << 20, 5000, 0 };
	static const pid_t turns[] = { 3, 7, 4, 6, 1, 2, 5 };
	static struct clients clients;
	const size_t count = sizeof(costs) / sizeof(costs[0]);

	assert_null(clients_next(&clients));
	for (size_t i = 0; i < count; i++) {
		assert_true(clients_have_room(&clients));
		clients_add(&clients, open_null(), i + 1);
		assert_null(clients_next(&clients)); /* they have not asked yet */
	}
	for (size_t i = count; i-- > 0;)
		clients_request(&clients.all[i], i % 2 ? -1 : open_null(), costs[i]);
	for (size_t i = 0; i < count; i++) {
		struct client *next = clients_next(&clients);

		assert_non_null(next);
		assert_int_equal(next->pid, turns[i]);
		clients_drop(&clients, next);
	}
	assert_int_equal(clients.count, 0);
}

/* Silent ones make room; those that have asked are kept. */
TEST(test_silent_clients)
{
	static struct clients clients;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		assert_true(clients_have_room(&clients));
		clients_add(&clients, open_null(), i + 1);
		if (i % 2)
			clients_request(&clients.all[i], open_null(), 1);
	}
	assert_true(clients_have_room(&clients));
	assert_int_equal(clients.count, CLIENTS_MAX / 2);
	while (clients.count < CLIENTS_MAX) {
		clients_add(&clients, open_null(), 1000);
		clients_request(&clients.all[clients.count - 1], -1, 1);
	}
	assert_false(clients_have_room(&clients));
	assert_int_equal(clients.count, CLIENTS_MAX);
	assert_int_equal(clients_next(&clients)->pid, 2);
	while (clients.count)
		clients_drop(&clients, clients.all);
}
