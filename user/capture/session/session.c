/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opens and closes sessions. */
#include "capture/session/session.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bpf/faultline.skel.h"
#include "capture/session/arming.h"
#include "capture/support/attach.h"
#include "capture/session/buffer_sizes.h"
#include "capture/drain/device_stats.h"
#include "capture/host/host.h"
#include "capture/drain/lane.h"
#include "capture/session/late.h"
#include "capture/support/load.h"
#include "capture/host/online.h"
#include "capture/host/privileges.h"
#include "capture/session/session_state.h"
#include "capture/usdt/uprobes.h"
#include "capture/session/waiting.h"
#include "base/log.h"

/* Logs libbpf's messages at -v. */
static int libbpf_says(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text, *line, *rest;

	if (level == LIBBPF_DEBUG || log_get_level() < LOG_DEBUG ||
	    vasprintf(&text, format, args) < 0)
		return 0;
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			log_debug("%s", line);
	free(text);
	return 0;
}

static void layers_fill(struct session *session)
{
	for (size_t l = 0; l < LAYER_COUNT; l++) {
		const struct choice *choice = &session->choice;

		session->layers[l] = (struct trace_layer) {
			.name = layer_names[l],
			.on = choice->on[l],
			.attach = choice->on[l] ? choice->attach[l] : NULL,
			.reason = choice->reason[l][0] ? choice->reason[l] : NULL,
		};
	}
}

/* Maps the buffers of the object. */
static int map_buffers(struct session *session)
{
	struct faultline *skeleton = session->skeleton;
	int err = rings_open_one(&session->identities, bpf_map__fd(skeleton->maps.identities),
				 session->sizes.identities_bytes);

	if (!err)
		err = lanes_open(&session->lanes, bpf_map__fd(skeleton->maps.lane_controls),
				 bpf_map__fd(skeleton->maps.lane_slots), session->sizes.lane_count,
				 session->sizes.slot_count);
	if (!err && session->options.mode != PROFILE_OFF)
		err = profile_open(&session->profile, bpf_map__fd(skeleton->maps.profile_slots),
				   session->profile_slots);
	if (!err && session_counts_devices(session))
		err = device_stats_open(&session->device_stats,
					bpf_map__fd(skeleton->maps.device_slots),
					bpf_map__fd(skeleton->maps.devices), session->cpus,
					probes_chosen(&session->choice, "fl_rq_merge"));
	return err;
}

/* libbpf gets the kernel's types as a file of about 400 KiB. */
#define FILE_BYTES_MIN (512ull << 10)

static int check_file_size(void)
{
	struct rlimit size;

	if (!getrlimit(RLIMIT_FSIZE, &size) && size.rlim_cur < FILE_BYTES_MIN) {
		log_error("file size limit of %llu bytes (ulimit -f) is too low; recording needs "
			  "at least %llu",
			  (unsigned long long)size.rlim_cur, FILE_BYTES_MIN);
		return -EFBIG;
	}
	return 0;
}

/* Opens what this machine provides: the kernel's types, the loader, the CPUs. */
static int open_machine(struct session *session)
{
	char reason[256];
	int err = check_file_size();

	if (err)
		return err;
	err = kernel_open(&session->kernel, reason, sizeof(reason));
	if (err) {
		log_error("%s", reason);
		return err;
	}
	err = loader_open(&session->loader, session->kernel);
	if (err) {
		log_error("cannot load BPF programs: %s", strerror(-err));
		return err;
	}
	session->cpus = libbpf_num_possible_cpus();
	if (session->cpus < 1) {
		log_error("cannot determine the number of CPUs");
		return -EINVAL;
	}
	return 0;
}

static void choose_sizes(struct session *session)
{
	const struct session_options *options = &session->options;

	session->profile_slots = options->profile_slots
					 ? profile_round_slots(options->profile_slots)
					 : profile_default_slots(present_end(session->cpus));
	session->sizes = buffer_sizes(options->buffer_bytes, present_end(session->cpus));
	if (options->mode == PROFILE_ON)
		buffer_sizes_of_sums(&session->sizes, options->flight_bytes);
	if (options->native_stacks)
		buffer_sizes_of_copies(&session->sizes);
}

/* Opens the readers of threads that wait and of operations in flight. Returns 0 or -ENOMEM. */
static int open_readers(struct session *session)
{
	const struct choice *choice = &session->choice;

	session->waiting = waiting_open(session->skeleton, probes_chosen(choice, "fl_waiting"),
					probes_chosen(choice, "fl_async_waits"),
					probes_chosen(choice, "fl_threads"));
	if (session->options.in_flight)
		session->in_flight =
			in_flight_open(session->skeleton, probes_chosen(choice, "fl_in_flight"),
				       probes_chosen(choice, "fl_threads"));
	return session->waiting && (session->in_flight || !session->options.in_flight) ? 0
										       : -ENOMEM;
}

int session_open(struct session **out, const struct session_options *options)
{
	struct session *session = calloc(1, sizeof(*session));
	int err;

	if (!session)
		return -ENOMEM;
	session->options = *options;
	session->options.layers |= 1u << LAYER_TASK;
	libbpf_set_print(libbpf_says);
	host_raise_open_files();
	err = open_machine(session);
	if (err)
		goto fail;
	choose_sizes(session);
	err = session_choose(session);
	if (err)
		goto fail;
	err = rings_open(&session->rings, session->sizes.lane_count, session->sizes.ring_bytes);
	if (err) {
		session_say_no_buffers(session, err);
		goto fail;
	}
	session->multi = uprobes_have_multi();
	err = session_load(session);
	if (err)
		goto fail;
	if (attach_is_by_cpu(&session->choice))
		session->online = online_open(session->cpus);
	layers_fill(session);
	err = map_buffers(session);
	if (err) {
		session_say_no_buffers(session, err);
		goto fail;
	}
	err = open_readers(session);
	if (err)
		goto fail;
	session->late = late_start(session);
	*out = session;
	return 0;
fail:
	session_close(session);
	return err;
}

struct session_markers session_markers(const struct session *session)
{
	const struct faultline *skeleton = session->skeleton;
	const bool stacks = session->choice.on[LAYER_STACK];

	return (struct session_markers) {
		.on = session->choice.on[LAYER_SPAN],
		.program = skeleton->progs.fl_marker,
		.specs = bpf_map__fd(skeleton->maps.marker_specs),
		.rows = session_has_cookies(session) ? -1 : bpf_map__fd(skeleton->maps.marker_rows),
		.tasks = bpf_map__fd(skeleton->maps.tasks),
		.multi = session->multi,
		.python_files = stacks ? bpf_map__fd(skeleton->maps.python_files) : -1,
		.python_processes = stacks ? bpf_map__fd(skeleton->maps.python_processes) : -1,
	};
}

volatile uint32_t *session_stack_generation(struct session *session)
{
	return &session->skeleton->bss->stack_generation;
}

void session_drains_here(const struct session *session)
{
	int err = privileges_drop(session->online);

	if (err)
		log_warning("the recording thread cannot drop privileges: %s", strerror(-err));
}

static void attach_arrived(void *context, int cpu)
{
	struct session *session = context;
	int err = attach_to_cpu(&session->attached, session->skeleton->obj, &session->choice, cpu);

	if (err)
		log_warning("CPU %d came online; cannot record the ends of page faults on it: %s%s",
			    cpu, strerror(-err),
			    err == -EACCES ? " (kernel.perf_event_paranoid is above 2)" : "");
	else
		log_debug("CPU %d came online", cpu);
}

void session_look_at_cpus(struct session *session, uint64_t now_ns)
{
	online_look(session->online, now_ns, attach_arrived, session);
}

void session_close(struct session *session)
{
	if (!session)
		return;
	session_detach(session);
	late_close(session->late);
	online_close(session->online);
	waiting_close(session->waiting);
	in_flight_close(session->in_flight);
	arming_close(session->arming);
	rings_close(session->rings);
	rings_close(session->identities);
	lanes_close(session->lanes);
	device_stats_close(session->device_stats);
	profile_close(session->profile);
	faultline__destroy(session->skeleton);
	loader_close(session->loader);
	kernel_close(session->kernel);
	refusals_free(&session->refused);
	free(session);
}
