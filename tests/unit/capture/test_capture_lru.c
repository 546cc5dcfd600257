// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Maps that evict entries, on machines with many CPUs. */
#include "unit_test.h"

#include <bpf/libbpf.h>

#include "bpf/records/event.h"
#include "bpf/faultline.skel.h"
#include "capture/session/lru_maps.h"

#define FREE_PER_CPU 128 /* LOCAL_FREE_TARGET in the kernel's bpf_lru_list.c */

/* At least half of the entries are for all CPUs. Returns the number of maps. */
static size_t check_room(unsigned int cpus)
{
	struct faultline *skeleton = faultline__open();
	struct bpf_map *map;
	size_t count = 0;

	assert_non_null(skeleton);
	lru_maps_size(skeleton->obj, cpus);
	bpf_object__for_each_map(map, skeleton->obj)
	{
		if (bpf_map__type(map) != BPF_MAP_TYPE_LRU_HASH)
			continue;
		count++;
		if (bpf_map__max_entries(map) < 2 * FREE_PER_CPU * cpus)
			fail_msg("%s has %u entries for %u CPUs", bpf_map__name(map),
				 bpf_map__max_entries(map), cpus);
	}
	assert_true(bpf_map__max_entries(skeleton->maps.files) >= 32768);
	assert_true(bpf_map__max_entries(skeleton->maps.stack_ids) >= 32768);
	faultline__destroy(skeleton);
	return count;
}

TEST(test_many_cpus)
{
	assert_true(check_room(2) >= 6);
	assert_true(check_room(128) >= 6);
	assert_true(check_room(1024) >= 6);
}
