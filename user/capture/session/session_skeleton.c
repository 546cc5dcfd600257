/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opens the BPF object and sets its constants and map sizes for a session. */
#include "capture/session/session_state.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number.h"
#include "bpf/faultline.skel.h"
#include "bpf/probe_read.skel.h"
#include "capture/calls/async_calls.h"
#include "capture/calls/calls.h"
#include "capture/calls/wait_calls.h"
#include "capture/follow/cgroup_target.h"
#include "capture/session/lru_maps.h"
#include "capture/support/kernel.h"
#include "capture/support/load.h"
#include "capture/drain/profile.h"
#include "capture/drain/ring.h"
#include "capture/usdt/uprobes.h"

#define STACK_PERIOD_NS 1000000ull /* the time waited that a stack is taken for */
#define STACK_DRAFTS_MAX 64	   /* of 70 KiB each */

/* Returns whether the programs that record a layer may be preempted. */
static bool layer_preempted(const struct session *session, enum layer layer)
{
	for (size_t p = 0; p < part_count; p++)
		if (parts[p].layer == layer && parts[p].required &&
		    probes_preempted(session->kernel, session->choice.variants[p]))
			return true;
	return false;
}

/* Returns the flag of a request in a flush sequence: a macro before 6.11, and until 6.17 in an
 * unnamed enum (5f89154e8e9e). */
static uint32_t flush_sequence(struct kernel *kernel)
{
	int bit = kernel_enum_value(kernel, "__RQF_FLUSH_SEQ");

	return 1u << (bit < 0 ? 4 : bit & 31);
}

/* Without random numbers, open files are not identified. */
static void settings_fill_secrets(uint64_t secrets[2])
{
	if (getentropy(secrets, 2 * sizeof(*secrets)))
		secrets[1] = 0;
	else
		secrets[1] |= 1;
}

/* One for each CPU, and some for programs that are preempted. */
static unsigned int stack_drafts(const struct session *session)
{
	unsigned int count = session->cpus + 3;

	if (!session->choice.on[LAYER_STACK])
		return 1;
	return number_min(count, STACK_DRAFTS_MAX);
}

bool session_has_cookies(const struct session *session)
{
	return kernel_enum_value(session->kernel, "BPF_FUNC_get_attach_cookie") > 0;
}

static void settings_fill(struct session *session, struct faultline *skeleton)
{
	/* The skeleton's copies of the tables are const only for the kernel side. */
	calls_fill((struct call_row *)skeleton->rodata->calls,
		   (struct call_request *)skeleton->rodata->requests);
	async_fill_rows((struct async_row *)skeleton->rodata->uring_rows,
			(struct async_row *)skeleton->rodata->aio_rows, calls_first_async());
	wait_calls_fill((struct wait_call *)skeleton->rodata->wait_calls);
	settings_fill_secrets((uint64_t *)skeleton->rodata->open_file_secrets);
	skeleton->rodata->threads_recorded = session->choice.on[LAYER_THREAD];
	skeleton->rodata->async_recorded = session->choice.on[LAYER_ASYNC];
	skeleton->rodata->uring_enter_number = SYS_io_uring_enter;
	skeleton->rodata->file_classes = session->options.file_classes;
	skeleton->rodata->lane_mask = session->sizes.lane_count - 1;
	skeleton->rodata->identities_bytes = session->sizes.identities_bytes;
	skeleton->rodata->lane_slot_count = session->sizes.slot_count;
	skeleton->rodata->ring_wake_bytes = session->sizes.ring_bytes / RING_WAKE_PART;
	skeleton->rodata->calls_preempted = layer_preempted(session, LAYER_SYSCALL);
	/* Programs of system calls may also have to end a fault. */
	skeleton->rodata->faults_preempted =
		layer_preempted(session, LAYER_FAULT) || skeleton->rodata->calls_preempted;
	skeleton->rodata->lane_shared = skeleton->rodata->faults_preempted ||
					session->sizes.lane_cpus > session->sizes.lane_count;
	skeleton->rodata->profile_mode = session->options.mode;
	skeleton->rodata->profile_slot_count = session->profile_slots;
	skeleton->rodata->profile_auto_rate = number_min(session->options.auto_rate, UINT32_MAX);
	skeleton->rodata->in_flight_summed = session->options.mode == PROFILE_ON &&
					     probes_chosen(&session->choice, "fl_in_flight");
	skeleton->rodata->bios_held_back =
		session->choice.on[LAYER_BLOCK] && cgroup_has_first_version("blkio");
	skeleton->rodata->flight_on = session->options.flight_bytes;
	skeleton->rodata->flight_slower_ns = session->options.flight_slower_ns;
	skeleton->rodata->flight_chooses = session->options.flight_chooses;
	skeleton->rodata->mmap_number = SYS_mmap;
	skeleton->rodata->exit_group_number = SYS_exit_group;
	skeleton->rodata->sigreturn_number = SYS_rt_sigreturn;
	skeleton->rodata->stack_period_ns = session->choice.on[LAYER_STACK] ? STACK_PERIOD_NS : 0;
	skeleton->rodata->stack_draft_count = stack_drafts(session);
	skeleton->rodata->stack_required = session->options.stacks_only;
	skeleton->rodata->stacks_native =
		session->options.native_stacks && session->choice.on[LAYER_STACK];
	skeleton->rodata->code_reported =
		session->choice.on[LAYER_SPAN] || skeleton->rodata->stacks_native;
	skeleton->rodata->page_bytes = sysconf(_SC_PAGESIZE);
	skeleton->rodata->tick_ns = kernel_tick_ns();
	if (session->choice.on[LAYER_BLOCK])
		skeleton->rodata->flush_sequence = flush_sequence(session->kernel);
	skeleton->rodata->follow_privileged = session->options.follow_privileged;
	skeleton->rodata->reads_other_tasks =
		kernel_enum_value(session->kernel, "BPF_FUNC_copy_from_user_task") > 0;
	skeleton->rodata->calls_fast_path =
		kernel_reads_plainly(session->kernel) && !skeleton->rodata->calls_preempted;
	skeleton->rodata->have_filemap_fault = probes_chosen_like(&session->choice, "fl_filemap");
}

static void settings_fill_attach(const struct session *session, struct faultline *skeleton)
{
	const struct session_attach *attach = &session->options.attach;

	skeleton->rodata->attach_to = attach->to;
	skeleton->rodata->attach_cgroup = attach->cgroup_id;
	skeleton->rodata->attach_hierarchy = attach->hierarchy;
	skeleton->rodata->attach_uid = attach->uid;
	skeleton->rodata->attach_own_child = attach->own_child;
}

/* Opens the object built for this kernel. Both have the same maps, programs and settings, so the
 * skeleton of one serves the other. Returns NULL and sets errno on failure. */
static struct faultline *open_object(struct kernel *kernel, const struct bpf_object_open_opts *opts)
{
	struct faultline *skeleton = calloc(1, sizeof(*skeleton));
	int err = skeleton ? faultline__create_skeleton(skeleton) : -ENOMEM;

	if (!err && !kernel_reads_plainly(kernel))
		skeleton->skeleton->data = probe_read__elf_bytes(&skeleton->skeleton->data_sz);
	if (!err)
		err = bpf_object__open_skeleton(skeleton->skeleton, opts);
	if (!err)
		return skeleton;
	faultline__destroy(skeleton);
	errno = -err;
	return NULL;
}

/* Gives one entry, the minimum, to maps that this session does not use. */
static void shrink_unused_maps(const struct session *session, struct faultline *skeleton)
{
	const bool *on = session->choice.on;
	const bool servers = session_records_servers(session);
	const bool devices = session_counts_devices(session);
	const struct {
		bool used;
		struct bpf_map *map;
	} maps[] = {
		{ on[LAYER_BLOCK], skeleton->maps.bio_marks },
		{ on[LAYER_BLOCK], skeleton->maps.bio_slots },
		{ on[LAYER_P9], skeleton->maps.p9_places },
		{ servers, skeleton->maps.remote_marks },
		{ servers, skeleton->maps.remote_slots },
		{ devices, skeleton->maps.devices },
		{ devices, skeleton->maps.device_slots },
		{ !kernel_reads_plainly(session->kernel), skeleton->maps.loop_turns },
		{ on[LAYER_STACK], skeleton->maps.python_files },
		{ on[LAYER_STACK], skeleton->maps.python_processes },
		{ on[LAYER_STACK], skeleton->maps.stack_codes },
		{ on[LAYER_STACK], skeleton->maps.stack_ids },
		{ on[LAYER_ASYNC], skeleton->maps.async_slots },
		{ on[LAYER_ASYNC], skeleton->maps.async_flight },
		{ on[LAYER_ASYNC], skeleton->maps.async_names },
		{ on[LAYER_ASYNC], skeleton->maps.async_users },
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (!maps[i].used)
			bpf_map__set_max_entries(maps[i].map, 1);
}

static void size_maps(const struct session *session, struct faultline *skeleton)
{
	const struct buffer_sizes *sizes = &session->sizes;

	lru_maps_size(skeleton->obj, session->cpus);
	shrink_unused_maps(session, skeleton);
	if (!session_has_cookies(session))
		bpf_map__set_max_entries(skeleton->maps.marker_rows, MARKER_SPECS_MAX);
	bpf_map__set_max_entries(skeleton->maps.stack_drafts, stack_drafts(session));
	if (session->options.mode != PROFILE_OFF)
		bpf_map__set_max_entries(skeleton->maps.profile_slots,
					 profile_map_entries(session->profile_slots));
	if (session->options.attach.to)
		bpf_map__set_max_entries(skeleton->maps.cgroup_slots, CGROUP_SLOTS);
	if (session->options.mode == PROFILE_AUTO)
		bpf_map__set_max_entries(skeleton->maps.profile_rates, PROFILE_RATES);
	if (session->options.flight_chooses)
		bpf_map__set_max_entries(skeleton->maps.flight_chosen, FLIGHT_CHOSEN_MAX);
	bpf_map__set_max_entries(skeleton->maps.identities, sizes->identities_bytes);
	bpf_map__set_max_entries(skeleton->maps.lane_controls, sizes->lane_count);
	bpf_map__set_max_entries(skeleton->maps.lane_slots, sizes->lane_count * sizes->slot_count);
}

struct faultline *session_open_skeleton(struct session *session)
{
	LIBBPF_OPTS(bpf_object_open_opts, options,
		    .btf_custom_path = loader_types(session->loader));
	struct faultline *skeleton = open_object(session->kernel, &options);
	int err;

	if (!skeleton)
		return NULL;
	settings_fill(session, skeleton);
	if (session->options.attach.to)
		settings_fill_attach(session, skeleton);
	if (session->multi)
		uprobes_load_multi(skeleton->progs.fl_marker);
	size_maps(session, skeleton);
	/* Until 6.0, programs of perf events may use no hash that grows. */
	if (!kernel_has_member(session->kernel, "bpf_mem_alloc", "cache"))
		bpf_map__set_map_flags(skeleton->maps.flight_chosen, 0);
	err = bpf_map__reuse_fd(skeleton->maps.rings, rings_outer_fd(session->rings));
	if (!err)
		return skeleton;
	faultline__destroy(skeleton);
	errno = -err;
	return NULL;
}
