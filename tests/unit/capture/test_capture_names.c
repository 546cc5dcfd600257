// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names built from kernel data, and option values given by users. */
#include "unit_test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/records/event.h"
#include "capture/names/cgroups.h"
#include "capture/names/names.h"
#include "capture/support/probes.h"
#include "capture/support/selection.h"
#include "capture/host/tracefile.h"

/* --- paths --- */

static void expect_path(const char *names, size_t bytes, uint32_t flags, uint32_t class,
			const char *expected)
{
	struct event_file *file = calloc(1, sizeof(*file) + bytes + 1);
	char path[NAMES_PATH_BYTES];
	size_t length;

	assert_non_null(file);
	file->ino = 77;
	file->dev = 8 << 20 | 1;
	file->rdev = 4000u << 20 | 5; /* no such device */
	file->flags = flags;
	file->class = class;
	file->names_bytes = bytes;
	memcpy(file->names, names, bytes);
	length = names_path(file, path);
	assert_int_equal(length, strlen(expected));
	assert_memory_equal(path, expected, length);
	free(file);
}

TEST(test_components_are_reversed)
{
	expect_path("leaf\0dir\0top", 13, 0, FILE_CLASS_REG, "/top/dir/leaf");
	expect_path("leaf", 5, 0, FILE_CLASS_REG, "/leaf");
	expect_path("", 0, 0, FILE_CLASS_DIR, "/");
	expect_path("a\xff\nb\0d", 7, 0, FILE_CLASS_REG, "/d/a\xff\nb");
}

TEST(test_a_cut_path_says_so)
{
	expect_path("leaf\0dir", 9, TRACE_FILE_PATH_CUT, FILE_CLASS_REG, ".../dir/leaf");
	expect_path("", 0, TRACE_FILE_PATH_CUT, FILE_CLASS_REG, "[inode 77 of device 8:1]");
	expect_path("", 0, TRACE_FILE_PATH_CUT, FILE_CLASS_BLK, "[block device 4000:5]");
}

TEST(test_files_without_a_path)
{
	expect_path("memfd:x", 8, TRACE_FILE_NAMELESS, FILE_CLASS_REG, "memfd:x");
	expect_path("", 0, TRACE_FILE_NAMELESS, FILE_CLASS_FIFO, "pipe:[77]");
	expect_path("", 0, TRACE_FILE_NAMELESS, FILE_CLASS_SOCK, "socket:[77]");
	expect_path("[eventfd]", 10, TRACE_FILE_NAMELESS, FILE_CLASS_ANON, "anon_inode:[eventfd]");
	expect_path("", 0, TRACE_FILE_NAMELESS, FILE_CLASS_REG, "[inode 77 without a name]");
}

TEST(test_the_longest_path_fits)
{
	size_t bytes = EVENT_PATH_BYTES + 255;
	char *names = malloc(bytes), *expected = malloc(bytes + 1);

	assert_non_null(names);
	assert_non_null(expected);
	for (size_t i = 0; i < bytes; i++) {
		names[i] = i % 2 ? 0 : 'x';
		expected[i] = i % 2 ? 'x' : '/';
	}
	names[bytes - 1] = 0;
	expected[bytes - 1] = 0;
	/* Odd length: the last component is empty, and so is the path's first. */
	expect_path(names, bytes - 1, 0, FILE_CLASS_REG, expected);
	free(names);
	free(expected);
}

/* --- ranks --- */

static int64_t rank_of(const char *environment, size_t bytes)
{
	struct event_ranks ranks;

	names_find_ranks(environment, bytes, &ranks);
	return names_rank(&ranks);
}

TEST(test_ranks)
{
	static const char both[] = "SLURM_PROCID=7\0RANK=3";
	static const char other[] = "XRANK=1\0RANKS=2\0PMI_RANK=12\0";
	static const char wrong[] = "RANK=\0SLURM_PROCID=-1\0OMPI_COMM_WORLD_RANK=1x\0PMIX_RANK=4";
	static const char huge[] = "RANK=99999999999999999999";

	assert_int_equal(rank_of(both, sizeof(both)), 3);
	assert_int_equal(rank_of(other, sizeof(other)), 12);
	assert_int_equal(rank_of(wrong, sizeof(wrong)), 4);
	assert_int_equal(rank_of(huge, sizeof(huge)), -1);
	assert_int_equal(rank_of("", 0), -1);
	assert_int_equal(rank_of("RANK=1", 4), -1); /* truncated */
}

/* --- option values --- */

TEST(test_selection)
{
	unsigned int mask;

	mask = LAYERS_DEFAULT;
	assert_int_equal(selection_layers(NULL, &mask), 0);
	assert_int_equal(mask, LAYERS_DEFAULT);
	mask = 1u << LAYER_TASK;
	assert_int_equal(selection_layers("default,fault", &mask), 0);
	assert_int_equal(mask, 1u << LAYER_FAULT | 1u << LAYER_TASK);
	assert_int_equal(selection_file_types("default,fifo", &mask), 0);
	assert_int_equal(mask, FILE_CLASS_REG | FILE_CLASS_DIR | FILE_CLASS_BLK | FILE_CLASS_FIFO);
	assert_int_equal(selection_layers("all", &mask), 0);
	assert_int_equal(mask, LAYERS_ALL);
	assert_int_equal(selection_layers("fault,task", &mask), 0);
	assert_int_equal(mask, 1u << LAYER_FAULT | 1u << LAYER_TASK);
	assert_int_not_equal(selection_layers("fault,", &mask), 0);
	assert_int_not_equal(selection_layers("", &mask), 0);
	assert_int_not_equal(selection_layers("faults", &mask), 0);
	assert_int_equal(selection_file_types("fifo,sock", &mask), 0);
	assert_int_equal(mask, FILE_CLASS_FIFO | FILE_CLASS_SOCK);
	assert_int_equal(selection_file_types("all", &mask), 0);
	assert_int_equal(mask, FILE_CLASS_ANON * 2 - 1);
}

TEST(test_file_names)
{
	char out[PATH_MAX], host[HOST_NAME_MAX + 1], expected[PATH_MAX], *long_name;

	assert_int_equal(tracefile_name("x-%p-100%%.flt", 42, out), 0);
	assert_string_equal(out, "x-42-100%.flt");
	assert_int_equal(gethostname(host, sizeof(host)), 0);
	snprintf(expected, sizeof(expected), "%s.flt", host);
	assert_int_equal(tracefile_name("%h.flt", 42, out), 0);
	assert_string_equal(out, expected);
	assert_int_equal(tracefile_rank("%h-%r-%%r-%p%", 7, out), 0);
	assert_string_equal(out, "%h-7-%%r-%p%");
	assert_int_equal(tracefile_rank("%h-%%r", -1, out), 0);
	assert_int_not_equal(tracefile_rank("%r", -1, out), 0);
	assert_int_not_equal(tracefile_name("", 42, out), 0);
	assert_int_not_equal(tracefile_name("%q", 42, out), 0);
	assert_int_not_equal(tracefile_name("x%", 42, out), 0);
	long_name = malloc(PATH_MAX + 1);
	assert_non_null(long_name);
	memset(long_name, 'x', PATH_MAX);
	long_name[PATH_MAX] = 0;
	assert_int_not_equal(tracefile_rank(long_name, 7, out), 0);
	assert_int_not_equal(tracefile_name(long_name, 42, out), 0);
	free(long_name);
}

/* --- cgroups: any directory's inode number serves as an ID --- */

static uint64_t number_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

TEST(test_cgroups)
{
	char root[] = "/tmp/faultline-test-XXXXXX", path[PATH_MAX], name[64];
	struct cgroups *cgroups;
	uint64_t inner, outer;

	assert_non_null(mkdtemp(root));
	snprintf(name, sizeof(name), "%s/a", root);
	assert_int_equal(mkdir(name, 0700), 0);
	snprintf(name, sizeof(name), "%s/a/b", root);
	assert_int_equal(mkdir(name, 0700), 0);
	inner = number_of(name);
	outer = number_of(root);

	assert_int_equal(cgroups_open(&cgroups, root), 0);
	assert_true(cgroups_path(cgroups, inner, true, path));
	assert_string_equal(path, "/a/b");
	assert_true(cgroups_path(cgroups, outer, true, path));
	assert_string_equal(path, "/");
	/* Nonblocking callers never wait for a walk; a missing ID triggers one walk. */
	while (!cgroups_path(cgroups, inner + outer, false, path))
		usleep(1000);
	assert_string_equal(path, "");
	for (int i = 0; i < 100; i++)
		assert_true(cgroups_path(cgroups, inner + outer, false, path));
	/* Found paths stay known. */
	assert_int_equal(rmdir(name), 0);
	assert_true(cgroups_path(cgroups, inner, false, path));
	assert_string_equal(path, "/a/b");
	/* All of a thousand IDs stay known; beyond the limit the oldest are forgotten. */
	for (int i = 0; i < 2; i++)
		for (uint64_t id = 1; id <= 1000; id++) {
			assert_true(cgroups_path(cgroups, outer + id * 1000000007, i == 0, path));
			assert_string_equal(path, "");
		}
	for (uint64_t id = 1001; id < 10000; id++)
		assert_true(cgroups_path(cgroups, outer + id * 1000000007, true, path));
	assert_false(cgroups_path(cgroups, inner, false, path));
	assert_true(cgroups_path(cgroups, inner, true, path));
	assert_string_equal(path, "");
	/* A caller that waits gets its answer even if the queue is full. */
	for (uint64_t id = 20000; id < 40000; id++)
		cgroups_path(cgroups, outer + id * 1000000007, false, path);
	assert_true(cgroups_path(cgroups, outer, true, path));
	assert_string_equal(path, "/");
	cgroups_close(cgroups);
	snprintf(name, sizeof(name), "%s/a", root);
	rmdir(name);
	rmdir(root);
}

/* The first answer comes from another thread, so it is not available at once. */
TEST(test_cgroups_do_not_hold_up)
{
	struct cgroups *cgroups;
	char path[PATH_MAX];

	assert_int_equal(cgroups_open(&cgroups, "/tmp"), 0);
	assert_false(cgroups_path(cgroups, number_of("/tmp"), false, path));
	assert_true(cgroups_path(cgroups, number_of("/tmp"), true, path));
	assert_string_equal(path, "/");
	cgroups_close(cgroups);
}
