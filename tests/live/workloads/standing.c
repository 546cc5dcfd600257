// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes the tracer believe that it missed the end of a call, as kernels do while a program is
 * preempted: writes "a read is in flight" into the tracer's state of this task, then makes calls
 * other than reads.
 *
 *   standing TIMES OPERATION     the number of read in the trace's list of operations
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <sys/syscall.h>

#include "live.h"

#define FOLLOWED 2 /* enum task_mode */

static uint32_t slot[512]; /* large enough for any struct task_slot */
static uint32_t key;
static int map = -1;
static size_t op_at;

/* Offset of a member in the map's value, from the map's BTF; nested structs are listed outermost
 * first.
 */
static size_t place_of(const struct bpf_map_info *info, const char *const *path)
{
	struct btf *btf = btf__load_from_kernel_by_id(info->btf_id);
	uint32_t id = info->btf_value_type_id;
	size_t bits = 0;

	require(btf);
	for (; *path; path++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		int i = 0;

		require(type);
		while (i < btf_vlen(type) &&
		       strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), *path))
			i++;
		require(i < btf_vlen(type));
		bits += btf_member_bit_offset(type, i);
		id = btf_members(type)[i].type;
	}
	return bits / 8 / sizeof(uint32_t);
}

/* Several tracers may be running, some following every process: of those that follow this one, ours
 * started last.
 */
static void find_tracer(void)
{
	static const char *const mode[] = { "state", "mode", NULL }, *const tid[] = { "tid", NULL },
				 *const op[] = { "state", "call", "account", "op", NULL };
	struct bpf_map_info info;
	uint32_t id = 0, size;

	while (!bpf_map_get_next_id(id, &id)) {
		int fd = bpf_map_get_fd_by_id(id);

		memset(&info, 0, size = sizeof(info));
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    !strcmp(info.name, "task_slots") && info.value_size <= sizeof(slot)) {
			key = getpid() & (info.max_entries - 1);
			if (!bpf_map_lookup_elem(fd, &key, slot) &&
			    slot[place_of(&info, tid)] == (uint32_t)getpid() &&
			    slot[place_of(&info, mode)] == FOLLOWED) {
				if (map >= 0)
					close(map);
				map = fd;
				op_at = place_of(&info, op);
			}
		}
		if (fd >= 0 && fd != map)
			close(fd);
	}
	require(map >= 0);
}

int main(int argc, char **argv)
{
	require(argc == 3);
	find_tracer();
	for (int i = atoi(argv[1]); i; i--) {
		require(!bpf_map_lookup_elem(map, &key, slot));
		slot[op_at] = atoi(argv[2]);
		require(!bpf_map_update_elem(map, &key, slot, BPF_EXIST));
		syscall(SYS_getppid);
	}
	return 0;
}
