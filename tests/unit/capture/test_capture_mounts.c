// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Mounts with odd names, and the choice among several mounts of a hierarchy of cgroups. */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "capture/host/mounts.h"

static void read_mounts(const char *text, mounts_take *take, void *context)
{
	FILE *file = fmemopen((char *)text, strlen(text), "r");

	assert_non_null(file);
	assert_int_equal(mounts_each_in(file, take, context), 0);
	fclose(file);
}

static int check_odd(void *context, const struct mount *mount)
{
	unsigned int *count = context;

	++*count;
	assert_int_equal(mount->major, 8);
	assert_int_equal(mount->minor, 17);
	assert_string_equal(mount->root, "/a\\b");
	assert_string_equal(mount->path, "/mnt/my data");
	assert_string_equal(mount->options, "rw,noatime");
	assert_string_equal(mount->type, "ext4");
	assert_string_equal(mount->super_options, "rw,errors=remount-ro");
	return 0;
}

TEST(test_lines)
{
	unsigned int count = 0;

	read_mounts("36 35 8:17 /a\\134b /mnt/my\\040data rw,noatime shared:1 master:2 - ext4 "
		    "/dev/sdb1 rw,errors=remount-ro\n"
		    "\n"
		    "37 35 8:17 / /no/second/part rw\n"
		    "38 - ext4 /dev/sdb1 rw\n"
		    "39 35 8 / / rw - ext4 /dev/sdb1 rw\n",
		    check_odd, &count);
	assert_int_equal(count, 1);
	assert_int_equal(mounts_each_in(NULL, check_odd, &count), 0);
}

static int take(void *context, const struct mount *mount)
{
	cgroup_mount_take(context, mount);
	return 0;
}

#define WHOLE "40 35 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define OTHER "41 35 0:30 / /mnt/cgroup rw - cgroup2 cgroup2 rw\n"
#define PART "42 35 0:30 /jobs /mnt/jobs rw - cgroup2 cgroup2 rw\n"
#define SECOND_PART "43 35 0:30 /system /mnt/system rw - cgroup2 cgroup2 rw\n"

static void expect(const char *mounts, const char *path, const char *root)
{
	struct cgroup_mount found = { .path = "" };

	read_mounts(mounts, take, &found);
	assert_string_equal(found.path, path);
	assert_string_equal(found.root, root);
}

TEST(test_several_mounts)
{
	expect(WHOLE PART, "/sys/fs/cgroup", "/");
	expect(PART WHOLE, "/sys/fs/cgroup", "/");
	expect(WHOLE OTHER, "/sys/fs/cgroup", "/");
	expect(PART SECOND_PART, "/mnt/jobs", "/jobs");
}

TEST(test_below)
{
	const struct cgroup_mount whole = { "/sys/fs/cgroup", "/" }, part = { "/mnt", "/jobs" };
	const struct cgroup_mount given = { .path = "/made" };

	assert_string_equal(cgroup_mount_below(&whole, "/jobs/1"), "/jobs/1");
	assert_string_equal(cgroup_mount_below(&given, "/jobs/1"), "/jobs/1");
	assert_string_equal(cgroup_mount_below(&part, "/jobs/1"), "/1");
	assert_string_equal(cgroup_mount_below(&part, "/jobs"), "");
	assert_string_equal(cgroup_mount_below(&part, "/jobsite"), "/jobsite");
}
