/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "capture/session/lru_maps.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "base/number.h"

#define ENTRIES_PER_CPU 256u
#define FILES_PER_CPU 1024u /* the files beyond those with slots of their own */

void lru_maps_size(struct bpf_object *object, unsigned int cpus)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		bool files = !strcmp(bpf_map__name(map), "files");
		unsigned int entries = cpus * (files ? FILES_PER_CPU : ENTRIES_PER_CPU);

		if (bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH)
			bpf_map__set_max_entries(map,
						 number_max(entries, bpf_map__max_entries(map)));
	}
}
