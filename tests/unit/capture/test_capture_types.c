// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Kernel types reduced to those the kernel side uses: the reduced set gives the same results as the
 * full one.
 */
// clang-format off
// clang-format on
#define OWN_MAIN
#include "unit_test.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/records/event.h"
#include "bpf/faultline.skel.h"
#include "capture/support/types.h"

static struct btf *kernel, *thin;

/* Compares the offsets and sizes of all members, including those of nested structs. */
static void compare(uint32_t left, uint32_t right, int depth)
{
	const struct btf_type *one = btf__type_by_id(kernel, left);
	const struct btf_type *other = btf__type_by_id(thin, right);

	assert_int_equal(btf_kind(one), btf_kind(other));
	assert_int_equal(btf_vlen(one), btf_vlen(other));
	assert_string_equal(btf__name_by_offset(kernel, one->name_off),
			    btf__name_by_offset(thin, other->name_off));
	if (!btf_is_ptr(one) && left)
		assert_int_equal(btf__resolve_size(kernel, left), btf__resolve_size(thin, right));
	for (unsigned int i = 0; btf_is_any_enum(one) && i < btf_vlen(one); i++)
		if (btf_is_enum(one))
			assert_int_equal(btf_enum(one)[i].val, btf_enum(other)[i].val);
	for (unsigned int i = 0; btf_is_composite(one) && i < btf_vlen(one); i++) {
		const struct btf_member *member = &btf_members(one)[i];
		const struct btf_member *same = &btf_members(other)[i];

		assert_string_equal(btf__name_by_offset(kernel, member->name_off),
				    btf__name_by_offset(thin, same->name_off));
		assert_int_equal(member->offset, same->offset);
		if (depth)
			compare(member->type, same->type, depth - 1);
	}
}

TEST(test_requested_types)
{
	static const struct {
		const char *name;
		int kind;
	} asked[] = {
		{ "task_struct", BTF_KIND_STRUCT }, { "inode", BTF_KIND_STRUCT },
		{ "file", BTF_KIND_STRUCT },	    { "vm_area_struct", BTF_KIND_STRUCT },
		{ "request", BTF_KIND_STRUCT },	    { "io_kiocb", BTF_KIND_STRUCT },
		{ "pageflags", BTF_KIND_ENUM },
	};

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		int id = btf__find_by_name_kind(kernel, asked[i].name, asked[i].kind);

		assert_true(id > 0);
		assert_int_equal(btf__find_by_name_kind(thin, asked[i].name, asked[i].kind), id);
		compare(id, id, 4);
	}
}

/* By name as libbpf finds it, which searches all types. */
TEST(test_names)
{
	static const unsigned int kinds[] = { BTF_KIND_STRUCT, BTF_KIND_TYPEDEF, BTF_KIND_FUNC,
					      BTF_KIND_VAR };
	struct type_names *names;
	uint32_t end = btf__type_cnt(kernel);

	assert_int_equal(type_names_open(&names, kernel, 1), 0);
	for (uint32_t id = 1; id < end; id += end / 200) {
		const struct btf_type *type = btf__type_by_id(kernel, id);
		const char *name = btf__name_by_offset(kernel, type->name_off);

		for (size_t i = 0; *name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
			assert_int_equal(type_names_find(names, name, kinds[i]),
					 btf__find_by_name_kind(kernel, name, kinds[i]));
	}
	assert_int_equal(type_names_find(names, "no_such_type", BTF_KIND_STRUCT), -ENOENT);
	type_names_close(names);
}

TEST(test_little_is_left)
{
	uint32_t raw, all;

	btf__raw_data(kernel, &all);
	btf__raw_data(thin, &raw);
	assert_true(raw < all / 4);
	assert_true(btf__find_by_name_kind(thin, "perf_event_attr", BTF_KIND_STRUCT) < 0);
	assert_true(btf__find_by_name_kind(thin, "vfs_read", BTF_KIND_FUNC) < 0);
}

static int set_up(void **state)
{
	struct faultline *skeleton = faultline__open();
	int fd = memfd_create("types", MFD_CLOEXEC);
	struct type_names *names;
	char path[32];

	kernel = btf__load_vmlinux_btf();
	if (!skeleton || fd < 0 || !kernel || type_names_open(&names, kernel, 1) ||
	    types_write(fd, kernel, names, bpf_object__btf(skeleton->obj)))
		return -1;
	type_names_close(names);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	thin = btf__parse(path, NULL);
	close(fd);
	faultline__destroy(skeleton);
	return thin ? 0 : -1;
}

static int tear_down(void **state)
{
	btf__free(thin);
	btf__free(kernel);
	return 0;
}

int main(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("no kernel's types at hand\n");
		return 77;
	}
	return cmocka_run_group_tests(unit_tests, set_up, tear_down);
}
