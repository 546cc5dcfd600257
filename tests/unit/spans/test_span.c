/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The C library apart from its probes: IDs, arguments, and no effect without listeners. Linked in
 * statically, so that the test can raise the semaphores as a tracer does.
 */
#include "unit_test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <msgpack.h>

#include "collections/compare.h"
#include "span/faultline.h"
#include "span/pack.h"

#define THREADS 4
#define PER_THREAD 50000

extern volatile unsigned short faultline_span_begin_semaphore;
extern volatile unsigned short faultline_span_end_semaphore;
extern volatile unsigned short faultline_span_record_semaphore;
extern volatile unsigned short faultline_instant_semaphore;

static int start_listening(void **state)
{
	faultline_span_begin_semaphore++;
	faultline_span_end_semaphore++;
	faultline_span_record_semaphore++;
	faultline_instant_semaphore++;
	return 0;
}

static int stop_listening(void **state)
{
	faultline_span_begin_semaphore--;
	faultline_span_end_semaphore--;
	faultline_span_record_semaphore--;
	faultline_instant_semaphore--;
	return 0;
}

/* Arguments are not read: the pointers are invalid. */
TEST(test_nobody_listens)
{
	const char *nowhere = (const char *)16;

	assert_int_equal(faultline_enabled(), 0);
	assert_int_equal(faultline_span_begin(nowhere, nowhere, nowhere, 100), 0);
	faultline_span_end(0);
	faultline_span_end(12345);
	faultline_span_record(nowhere, nowhere, nowhere, 100, 1, 2);
	faultline_instant(nowhere, nowhere, nowhere, 100);
}

TEST_WITH(test_somebody_listens, start_listening, stop_listening)
{
	uint64_t first, second;

	errno = 5;
	assert_int_not_equal(faultline_enabled(), 0);
	first = faultline_span_begin("a", "b", NULL, 0);
	second = faultline_span_begin(NULL, NULL, "", 0);
	assert_int_not_equal(first, 0);
	assert_int_not_equal(second, 0);
	assert_int_not_equal(first, second);
	assert_true(first < 1ull << 53); /* JSON readers represent it exactly */
	faultline_span_end(second);
	faultline_span_end(second);
	faultline_span_end(0);
	faultline_span_end(first);
	faultline_span_record("a", NULL, NULL, 7, 2, 1);
	faultline_instant("a", NULL, NULL, 7);
	assert_int_equal(errno, 5);
}

/* A tracer that arrives between begin and end has no span to end. */
TEST(test_listening_begins_within_a_span)
{
	uint64_t id = faultline_span_begin("a", "b", NULL, 0);

	start_listening(NULL);
	assert_int_equal(id, 0);
	faultline_span_end(id);
	stop_listening(NULL);
}

/* Bytes beyond the kept part are not read: strings end at the end of mapped memory. */
TEST_WITH(test_strings_at_the_end_of_memory, start_listening, stop_listening)
{
	size_t page = sysconf(_SC_PAGESIZE), lengths[] = { 0, 1, 63, 64, 255, 256 }, i;
	char *memory =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = memory + page;

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	memset(memory, 'x', page);
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		char *text = end - lengths[i] - 1;

		end[-1] = '\0';
		faultline_span_end(faultline_span_begin(text, text, text, lengths[i] + 1));
	}
	/* unterminated, but longer than what is kept */
	memset(memory, 0x80, page);
	faultline_span_end(faultline_span_begin(end - 256, end - 64, end - 1024, 1024));
	munmap(memory, 2 * page);
}

static uint64_t all_ids[THREADS * PER_THREAD];

static void *take_ids(void *first)
{
	uint64_t *ids = first;
	size_t i;

	for (i = 0; i < PER_THREAD; i++) {
		ids[i] = faultline_span_begin("name", "category", NULL, 0);
		faultline_span_end(ids[i]);
	}
	return NULL;
}

TEST_WITH(test_ids_of_threads, start_listening, stop_listening)
{
	pthread_t threads[THREADS];
	size_t i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, take_ids, all_ids + i * PER_THREAD), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	qsort(all_ids, THREADS * PER_THREAD, sizeof(*all_ids), compare_u64);
	assert_int_not_equal(all_ids[0], 0);
	for (i = 1; i < THREADS * PER_THREAD; i++)
		assert_int_not_equal(all_ids[i - 1], all_ids[i]);
}

static volatile sig_atomic_t signals;
static uint64_t signal_ids[64];

static void on_signal(int number)
{
	if (signals < 64)
		signal_ids[signals++] = faultline_span_begin("signal", "", NULL, 0);
}

TEST_WITH(test_in_a_signal_handler, start_listening, stop_listening)
{
	uint64_t ids[64 + 64];
	size_t i;

	signals = 0;
	signal(SIGUSR1, on_signal);
	for (i = 0; i < 64; i++) {
		ids[i] = faultline_span_begin("program", "", NULL, 0);
		raise(SIGUSR1);
	}
	signal(SIGUSR1, SIG_DFL);
	memcpy(ids + 64, signal_ids, sizeof(signal_ids));
	qsort(ids, 128, sizeof(*ids), compare_u64);
	for (i = 1; i < 128; i++)
		assert_int_not_equal(ids[i - 1], ids[i]);
}

/* A child's spans do not reuse the ID of an inherited span. */
TEST_WITH(test_after_fork, start_listening, stop_listening)
{
	uint64_t inherited = faultline_span_begin("both", "", NULL, 0);
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(faultline_span_begin("child", "", NULL, 0) == inherited);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_not_equal(faultline_span_begin("parent", "", NULL, 0), inherited);
}

TEST(test_arguments)
{
	static const char expected[] = "{\"int\"=>-5, \"uint\"=>18446744073709551615, "
				       "\"double\"=>0.500000, \"yes\"=>true, "
				       "\"no\"=>false, \"text\"=>\"t\", \"\"=>\"\"}";
	struct faultline_args args;
	msgpack_unpacked unpacked;
	char text[512] = "";

	faultline_args_init(&args);
	assert_int_equal(args.used, 3);
	faultline_args_int(&args, "int", -5);
	faultline_args_uint(&args, "uint", UINT64_MAX);
	faultline_args_double(&args, "double", 0.5);
	faultline_args_bool(&args, "yes", 2);
	faultline_args_bool(&args, "no", 0);
	faultline_args_text(&args, "text", "t");
	faultline_args_text(&args, NULL, NULL);
	msgpack_unpacked_init(&unpacked);
	assert_int_equal(msgpack_unpack_next(&unpacked, (const char *)args.bytes, args.used, NULL),
			 MSGPACK_UNPACK_SUCCESS);
	msgpack_object_print_buffer(text, sizeof(text), unpacked.data);
	assert_string_equal(text, expected);
	msgpack_unpacked_destroy(&unpacked);
}

/* Too many pairs: the arguments stay overlong, whatever follows. */
TEST_WITH(test_arguments_that_do_not_fit, start_listening, stop_listening)
{
	struct faultline_args args;
	char text[FAULTLINE_ARGS_BYTES];

	memset(text, 'x', sizeof(text));
	faultline_args_init(&args);
	text[FAULTLINE_ARGS_BYTES - 8] = '\0'; /* map header, two-byte key, text header */
	faultline_args_text(&args, "k", text);
	assert_int_equal(args.used, FAULTLINE_ARGS_BYTES);
	faultline_args_int(&args, "", 1);
	assert_true(args.used > FAULTLINE_ARGS_BYTES);
	faultline_args_int(&args, "", 1);
	assert_true(args.used > FAULTLINE_ARGS_BYTES);
	assert_int_not_equal(faultline_span_begin("a", "b", args.bytes, args.used), 0);
}

static void check_number(const unsigned char *bytes, size_t size, bool is_signed, uint64_t value)
{
	msgpack_unpacked unpacked;

	msgpack_unpacked_init(&unpacked);
	assert_int_equal(msgpack_unpack_next(&unpacked, (const char *)bytes, size, NULL),
			 MSGPACK_UNPACK_SUCCESS);
	if (is_signed)
		assert_int_equal(unpacked.data.type, MSGPACK_OBJECT_NEGATIVE_INTEGER);
	else
		assert_int_equal(unpacked.data.type, MSGPACK_OBJECT_POSITIVE_INTEGER);
	assert_int_equal(unpacked.data.via.u64, value);
	msgpack_unpacked_destroy(&unpacked);
}

/* Each width, one below and one above its edge, in both directions. */
TEST(test_numbers)
{
	unsigned char bytes[16];
	int bits, step;

	for (bits = 0; bits < 64; bits++) {
		for (step = -1; step <= 1; step++) {
			struct args_pack up = { .bytes = bytes, .size = sizeof(bytes) };
			struct args_pack down = up;
			uint64_t value = (1ull << bits) + step;
			int64_t negative = -(int64_t)(value & INT64_MAX) - 1;

			pack_uint(&up, value);
			check_number(bytes, up.used, false, value);
			pack_int(&down, negative);
			check_number(bytes, down.used, true, negative);
		}
	}
}
