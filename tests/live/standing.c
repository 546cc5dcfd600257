// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes it look to the tracer as if the end of a call had been passed over, as kernels do while a
 * program is preempted: writes "a read is in flight" into its own state there, then goes on with
 * calls that are none.
 *
 *   standing TIMES OPERATION     the number of read in the trace's list of operations
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <sys/syscall.h>

#include "live.h"

#define FOLLOWED 2 /* enum task_mode */

static uint32_t state[256]; /* room for any struct task_state */
static int pidfd, map = -1;
static size_t op_at;

/* Where a member of the map's value lies, by the types that came with the map. */
static size_t place_of(const struct bpf_map_info *info, const char *name)
{
	struct btf *btf = btf__load_from_kernel_by_id(info->btf_id);
	const struct btf_type *type = btf ? btf__type_by_id(btf, info->btf_value_type_id) : NULL;

	require(type);
	for (int i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			return btf_member_bit_offset(type, i) / 8 / sizeof(uint32_t);
	require(!"a member of that name");
	return 0;
}

/* Several tracers may be at work: ours is the one that follows this process. */
static void find_tracer(void)
{
	struct bpf_map_info info;
	uint32_t id = 0, size;

	while (map < 0 && !bpf_map_get_next_id(id, &id)) {
		int fd = bpf_map_get_fd_by_id(id);

		memset(&info, 0, size = sizeof(info));
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    !strcmp(info.name, "tasks") && info.value_size <= sizeof(state) &&
		    !bpf_map_lookup_elem(fd, &pidfd, state) && state[0] == FOLLOWED)
			map = fd;
		else if (fd >= 0)
			close(fd);
	}
	require(map >= 0);
	op_at = place_of(&info, "call_op");
}

int main(int argc, char **argv)
{
	require(argc == 3);
	pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	require(pidfd >= 0);
	find_tracer();
	for (int i = atoi(argv[1]); i; i--) {
		require(!bpf_map_lookup_elem(map, &pidfd, state));
		state[op_at] = atoi(argv[2]);
		require(!bpf_map_update_elem(map, &pidfd, state, BPF_EXIST));
		syscall(SYS_getppid);
	}
	return 0;
}
