/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loading and attaching the kernel side. Knows nothing of what is recorded or where it goes.
 */
#include "capture/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/faultline.skel.h"
#include "capture/async_calls.h"
#include "capture/arming.h"
#include "capture/attach.h"
#include "capture/buffer_sizes.h"
#include "capture/calls.h"
#include "capture/device_tale.h"
#include "capture/lane.h"
#include "capture/load.h"
#include "capture/missed.h"
#include "capture/online.h"
#include "capture/quiesce.h"
#include "capture/uprobes.h"
#include "log.h"

#define RING_WAKE_PART 4 /* of a ring, filled, wakes its reader */
#define VERIFIER_LOG_BYTES (1u << 20)

struct session {
	struct session_options options;
	struct kernel *kernel;
	struct loader *loader;
	struct choice choice;
	struct trace_layer layers[LAYER_COUNT];
	struct faultline *skeleton;
	struct rings *rings, *identities;
	struct lanes *lanes;
	int cpus; /* possible ones: per-CPU maps have a value for each */
	struct buffer_sizes sizes;
	struct device_tale *device_tale; /* NULL: the block layer is off */
	unsigned int profile_slots;
	struct profile *profile; /* NULL: every event is told */
	struct attached attached;
	struct online *online; /* NULL: nothing depends on CPUs that come later */
	struct refusals refused;
	struct arming *arming; /* NULL: a command is run */
	bool multi;	       /* uprobes come by links of many */
};

/* What libbpf says, at -v. */
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

/* --- loading --- */

static bool variant_preempted(const struct session *session, const struct variant *variant)
{
	for (size_t i = 0; variant && i < VARIANT_PROBES_MAX && variant->probes[i].program; i++)
		if (kernel_preempts(session->kernel, variant->probes[i].hook))
			return true;
	return false;
}

/* Whether the programs that record a layer may be preempted. */
static bool layer_preempted(const struct session *session, enum layer layer)
{
	for (size_t p = 0; p < part_count; p++)
		if (parts[p].layer == layer && parts[p].required &&
		    variant_preempted(session, session->choice.variants[p]))
			return true;
	return false;
}

static void settings_fill(struct session *session, struct faultline *skeleton)
{
	/* The skeleton's copies of the tables are const to the kernel side only. */
	calls_fill((struct call_row *)skeleton->rodata->calls,
		   (struct call_request *)skeleton->rodata->requests);
	async_fill_rows((struct async_row *)skeleton->rodata->uring_rows,
			(struct async_row *)skeleton->rodata->aio_rows, calls_first_async());
	skeleton->rodata->async_recorded = session->choice.on[LAYER_ASYNC];
	skeleton->rodata->uring_enter_number = SYS_io_uring_enter;
	skeleton->rodata->file_classes = session->options.file_classes;
	skeleton->rodata->lane_mask = session->sizes.lane_count - 1;
	skeleton->rodata->identities_bytes = session->sizes.identities_bytes;
	skeleton->rodata->lane_slot_count = session->sizes.slot_count;
	skeleton->rodata->ring_wake_bytes = session->sizes.ring_bytes / RING_WAKE_PART;
	skeleton->rodata->calls_preempted = layer_preempted(session, LAYER_SYSCALL);
	/* The programs of system calls may have to end a fault, too. */
	skeleton->rodata->faults_preempted =
		layer_preempted(session, LAYER_FAULT) || skeleton->rodata->calls_preempted;
	skeleton->rodata->lane_shared = skeleton->rodata->faults_preempted ||
					session->sizes.lane_cpus > session->sizes.lane_count;
	skeleton->rodata->profile_mode = session->options.mode;
	skeleton->rodata->profile_slot_count = session->profile_slots;
	skeleton->rodata->profile_auto_rate =
		session->options.auto_rate < UINT32_MAX ? session->options.auto_rate : UINT32_MAX;
	skeleton->rodata->mmap_number = SYS_mmap;
	skeleton->rodata->page_bytes = sysconf(_SC_PAGESIZE);
	skeleton->rodata->tick_ns = kernel_tick_ns();
	skeleton->rodata->follow_privileged = session->options.follow_privileged;
	skeleton->rodata->have_rdonly_cast = kernel_has_kfunc(session->kernel, "bpf_rdonly_cast");
	skeleton->rodata->have_filemap_fault = probes_chosen_like(&session->choice, "fl_filemap");
}

static void settings_fill_attach(const struct session *session, struct faultline *skeleton)
{
	const struct session_attach *attach = &session->options.attach;

	skeleton->rodata->attach_to = attach->to;
	skeleton->rodata->attach_cgroup = attach->cgroup_id;
	skeleton->rodata->attach_hierarchy = attach->hierarchy;
	skeleton->rodata->attach_uid = attach->uid;
	skeleton->rodata->attach_tracer = getpid();
}

/* Opens the object with all that is set before it is loaded, but for which programs. */
static struct faultline *open_skeleton(struct session *session)
{
	LIBBPF_OPTS(bpf_object_open_opts, options,
		    .btf_custom_path = loader_types(session->loader));
	struct faultline *skeleton = faultline__open_opts(&options);

	if (!skeleton)
		return NULL;
	settings_fill(session, skeleton);
	if (session->options.attach.to)
		settings_fill_attach(session, skeleton);
	if (session->multi)
		uprobes_load_multi(skeleton->progs.fl_marker);
	if (!session->choice.on[LAYER_BLOCK]) {
		bpf_map__set_max_entries(skeleton->maps.bio_marks, 1);
		bpf_map__set_max_entries(skeleton->maps.bio_places, 1);
		bpf_map__set_max_entries(skeleton->maps.devices, 1);
		bpf_map__set_max_entries(skeleton->maps.device_names, 1);
	}
	if (session->options.mode != PROFILE_OFF)
		bpf_map__set_max_entries(skeleton->maps.profile_slots,
					 profile_map_entries(session->profile_slots));
	if (session->options.mode == PROFILE_AUTO)
		bpf_map__set_max_entries(skeleton->maps.profile_rates, PROFILE_RATES);
	bpf_map__set_max_entries(skeleton->maps.identities, session->sizes.identities_bytes);
	if (!session->choice.on[LAYER_ASYNC]) {
		bpf_map__set_max_entries(skeleton->maps.async_flight, 1);
		bpf_map__set_max_entries(skeleton->maps.async_names, 1);
		bpf_map__set_max_entries(skeleton->maps.async_users, 1);
	}
	bpf_map__set_max_entries(skeleton->maps.lane_controls, session->sizes.lane_count);
	bpf_map__set_max_entries(skeleton->maps.lane_slots,
				 session->sizes.lane_count * session->sizes.slot_count);
	if (bpf_map__reuse_fd(skeleton->maps.rings, rings_outer_fd(session->rings))) {
		faultline__destroy(skeleton);
		return NULL;
	}
	return skeleton;
}

/* One attempt with the variants chosen now. */
static int load_chosen(struct session *session)
{
	struct faultline *skeleton = open_skeleton(session);
	struct bpf_program *program;
	int err;

	if (!skeleton)
		return -errno;
	bpf_object__for_each_program(program, skeleton->obj) bpf_program__set_autoload(
		program, probes_chosen(&session->choice, bpf_program__name(program)));
	err = loader_load(session->loader, skeleton->skeleton, false);
	if (err)
		faultline__destroy(skeleton);
	else
		session->skeleton = skeleton;
	return err;
}

/* Loads one program and no other; notes it, and what the verifier wrote, when it is refused. */
static int try_alone(struct session *session, const char *name, char *verifier_log)
{
	struct faultline *skeleton = open_skeleton(session);
	struct bpf_program *program;
	int err, status = 0;

	if (!skeleton)
		return -errno;
	bpf_object__for_each_program(program, skeleton->obj)
	{
		bool chosen = !strcmp(bpf_program__name(program), name);

		bpf_program__set_autoload(program, chosen);
		if (chosen)
			bpf_program__set_log_buf(program, verifier_log, VERIFIER_LOG_BYTES);
	}
	verifier_log[0] = 0;
	err = loader_load(session->loader, skeleton->skeleton, true);
	if (err)
		status = refusals_add(&session->refused, name, verifier_log, err);
	faultline__destroy(skeleton);
	return status;
}

/* Which of the chosen programs the kernel refuses; libbpf gives up at the first one. */
static int find_refused(struct session *session)
{
	char *verifier_log = malloc(VERIFIER_LOG_BYTES);
	int err = verifier_log ? 0 : -ENOMEM;

	for (size_t p = 0; p < part_count && !err; p++) {
		const struct variant *variant = session->choice.variants[p];

		for (size_t i = 0; variant && !err && i < VARIANT_PROBES_MAX; i++)
			if (variant->probes[i].program)
				err = try_alone(session, variant->probes[i].program, verifier_log);
	}
	free(verifier_log);
	return err;
}

/* --- choosing --- */

/* Attaches what was loaded. A place that the kernel refuses is noted as its program would be, and
 * nothing is left. */
static int attach_or_note(struct session *session)
{
	const struct probe *failed;
	int err = attach_chosen(&session->attached, session->skeleton->obj, &session->choice,
				session->cpus, &failed);
	int status;

	if (!err)
		return 0;
	log_debug("cannot attach %s to %s: %s", failed->program, failed->target, strerror(-err));
	status = refusals_add(&session->refused, failed->program, "", err);
	session_detach(session);
	faultline__destroy(session->skeleton);
	session->skeleton = NULL;
	return status ? status : err;
}

static void say_no_buffers(const struct session *session, int err)
{
	log_error("cannot make %u buffers: %s; try a smaller --buffer", session->sizes.lane_count,
		  strerror(-err));
}

/* A program that the verifier refuses takes all others with it: pass over its variant and go on,
 * as long as there is another one to pass over. */
static int load_best(struct session *session)
{
	for (;;) {
		size_t refused = session->refused.count;
		int err, status;

		probes_choose(session->kernel, session->options.layers, session->options.attach.to,
			      &session->options.forced, &session->refused, &session->choice);
		if (!session->choice.on[LAYER_TASK]) {
			log_error("processes cannot be followed: %s",
				  session->choice.reason[LAYER_TASK]);
			return -ENOTSUP;
		}
		err = load_chosen(session);
		status = err ? find_refused(session) : 0;
		if (!err) {
			err = rings_wait_offered(session->rings);
			if (err) {
				say_no_buffers(session, err);
				return err;
			}
		}
		if (!err)
			err = attach_or_note(session);
		if (!err)
			return 0;
		if (status || session->refused.count == refused) {
			log_error("the kernel refuses the BPF programs: %s; -v says more",
				  strerror(-err));
			return err;
		}
		for (; refused < session->refused.count; refused++)
			log_debug("the kernel refuses the program %s (%s); trying without",
				  session->refused.rows[refused].program,
				  session->refused.rows[refused].why);
	}
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

/* Those of the object. */
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
	if (!err && session->choice.on[LAYER_BLOCK])
		err = device_tale_open(&session->device_tale, bpf_map__fd(skeleton->maps.devices),
				       bpf_map__fd(skeleton->maps.device_names), session->cpus);
	return err;
}

int session_open(struct session **out, const struct session_options *options)
{
	struct session *session = calloc(1, sizeof(*session));
	char reason[256];
	int err;

	if (!session)
		return -ENOMEM;
	session->options = *options;
	session->options.layers |= 1u << LAYER_TASK;
	libbpf_set_print(libbpf_says);
	err = kernel_open(&session->kernel, reason, sizeof(reason));
	if (err) {
		log_error("%s", reason);
		goto fail;
	}
	err = loader_open(&session->loader, session->kernel);
	if (err) {
		log_error("programs cannot be loaded: %s", strerror(-err));
		goto fail;
	}
	session->cpus = libbpf_num_possible_cpus();
	if (session->cpus < 1) {
		err = -EINVAL;
		log_error("cannot tell the number of CPUs");
		goto fail;
	}
	session->profile_slots = options->profile_slots
					 ? profile_round_slots(options->profile_slots)
					 : profile_default_slots(online_end(session->cpus));
	session->sizes = buffer_sizes(session->options.buffer_bytes, online_end(session->cpus));
	err = rings_open(&session->rings, session->sizes.lane_count, session->sizes.ring_bytes);
	if (err) {
		say_no_buffers(session, err);
		goto fail;
	}
	session->multi = uprobes_have_multi();
	err = load_best(session);
	if (err)
		goto fail;
	if (attach_is_by_cpu(&session->choice))
		session->online = online_open(session->cpus);
	layers_fill(session);
	err = map_buffers(session);
	if (err) {
		say_no_buffers(session, err);
		goto fail;
	}
	*out = session;
	return 0;
fail:
	session_close(session);
	return err;
}

struct session_markers session_markers(const struct session *session)
{
	const struct faultline *skeleton = session->skeleton;

	return (struct session_markers) {
		.program = skeleton->progs.fl_marker,
		.specs = bpf_map__fd(skeleton->maps.marker_specs),
		.tasks = bpf_map__fd(skeleton->maps.tasks),
		.multi = session->multi,
	};
}

/* A task's state is reached through a pidfd; its first word is its mode. */
static int task_state(struct session *session, pid_t pid, bool arm, uint32_t *mode)
{
	const struct bpf_map *map = session->skeleton->maps.tasks;
	uint32_t *state = calloc(1, bpf_map__value_size(map));
	int pidfd, err = 0;

	if (!state)
		return -ENOMEM;
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		err = -errno;
		goto out;
	}
	if (arm) {
		*state = *mode;
		if (bpf_map_update_elem(bpf_map__fd(map), &pidfd, state, BPF_ANY))
			err = -errno;
	} else {
		if (bpf_map_lookup_elem(bpf_map__fd(map), &pidfd, state))
			err = -errno;
		*mode = *state;
	}
	close(pidfd);
out:
	free(state);
	return err;
}

int session_arm(struct session *session, pid_t pid)
{
	uint32_t mode = TASK_ARMED;

	return task_state(session, pid, true, &mode);
}

int session_attach(struct session *session, const int *pidfds, size_t count, size_t *processes,
		   size_t *threads)
{
	int err;

	if (!probes_chosen(&session->choice, "fl_arm")) {
		log_error("this kernel has no iterator over tasks: what runs already cannot be "
			  "attached to");
		return -ENOTSUP;
	}
	err = arming_open(&session->arming, session->skeleton);
	for (size_t i = 0; i < count && !err; i++)
		err = arming_mark(session->arming, pidfds[i]);
	if (!err)
		err = arming_run(session->arming, processes, threads);
	if (err)
		log_error("cannot attach to what runs: %s", strerror(-err));
	return err;
}

void session_each_attached(const struct session *session, void (*take)(void *context, pid_t pid),
			   void *context)
{
	arming_each(session->arming, take, context);
}

uint64_t session_attached_ns(const struct session *session)
{
	return session->arming ? arming_begun_ns(session->arming) : 0;
}

bool session_follows(struct session *session, pid_t pid)
{
	uint32_t mode = TASK_IGNORED;

	return !task_state(session, pid, false, &mode) && mode == TASK_FOLLOWED;
}

bool session_watches_cpus(const struct session *session)
{
	return session->online;
}

static void attach_arrived(void *context, int cpu)
{
	struct session *session = context;
	int err = attach_to_cpu(&session->attached, session->skeleton->obj, &session->choice, cpu);

	if (err)
		log_warning("CPU %d came online, and the ends of page faults there cannot be "
			    "recorded: %s",
			    cpu, strerror(-err));
	else
		log_debug("CPU %d came online", cpu);
}

void session_look_at_cpus(struct session *session, uint64_t now_ns)
{
	online_look(session->online, now_ns, attach_arrived, session);
}

void session_detach(struct session *session)
{
	bool preempted = false;

	if (!session || !session->attached.count)
		return;
	session->skeleton->bss->recording_ended = true;
	attached_free(&session->attached);
	for (size_t p = 0; p < part_count; p++)
		preempted |= variant_preempted(session, session->choice.variants[p]);
	quiesce(preempted);
}

void session_close(struct session *session)
{
	if (!session)
		return;
	session_detach(session);
	online_close(session->online);
	arming_close(session->arming);
	rings_close(session->rings);
	rings_close(session->identities);
	lanes_close(session->lanes);
	device_tale_close(session->device_tale);
	profile_close(session->profile);
	faultline__destroy(session->skeleton);
	loader_close(session->loader);
	kernel_close(session->kernel);
	refusals_free(&session->refused);
	free(session);
}

/* --- what it tells --- */

const struct choice *session_choice(const struct session *session)
{
	return &session->choice;
}

const struct feature *session_lacks(const struct session *session, size_t *at)
{
	return features_missing(session->kernel, at);
}

unsigned int session_missing(const struct session *session)
{
	return probes_missing(&session->choice, session->options.layers & LAYERS_ESSENTIAL);
}

const struct trace_layer *session_layers(const struct session *session)
{
	return session->layers;
}

unsigned int session_lane_count(const struct session *session)
{
	return session->sizes.lane_count;
}

void session_wait(struct session *session, unsigned int most_ms)
{
	rings_wait(session->rings, most_ms);
}

void session_wake(struct session *session)
{
	rings_wake(session->rings);
}

size_t session_drain(struct session *session, ring_record_fn take, lane_slots_fn take_slots,
		     void *context)
{
	size_t records = 0;

	if (session->arming)
		records = arming_drain(session->arming, take, context);
	/* What numbers stand for goes ahead of what came after it. */
	lanes_mark(session->lanes);
	rings_mark(session->rings);
	rings_mark(session->identities);
	records += rings_drain(session->identities, take, context);
	records += rings_drain(session->rings, take, context);
	return records + lanes_drain(session->lanes, take_slots, context);
}

/* Sums a per-CPU array whose values are `words` 64-bit words. */
static int sum_map(struct bpf_map *map, uint32_t entries, size_t words, int cpus, uint64_t *out)
{
	uint64_t *values = calloc(cpus, words * sizeof(*values));
	int err = 0;

	if (!values)
		return -ENOMEM;
	memset(out, 0, entries * words * sizeof(*out));
	for (uint32_t key = 0; key < entries && !err; key++) {
		if (bpf_map_lookup_elem(bpf_map__fd(map), &key, values))
			err = -errno;
		for (size_t i = 0; !err && i < cpus * words; i++)
			out[key * words + i % words] += values[i];
	}
	free(values);
	return err;
}

/* What was given over through lanes are system calls, but for what is counted as faults there. A
 * slot that was overrun does not tell what it held. */
static void count_lanes(const struct session *session, struct kind_total *kinds)
{
	uint64_t faults = kinds[EVENT_FAULT].events - kinds[EVENT_FAULT].lost;

	kinds[EVENT_SYSCALL].events += lanes_given(session->lanes) - faults;
	kinds[EVENT_SYSCALL].lost += lanes_overrun(session->lanes);
}

int session_totals(struct session *session, struct op_total *operations, struct kind_total *kinds,
		   uint64_t *notes)
{
	struct faultline *skeleton = session->skeleton;
	int err;

	err = sum_map(skeleton->maps.op_totals, OP_TABLE_SIZE, sizeof(*operations) / 8,
		      session->cpus, (uint64_t *)operations);
	if (!err)
		err = sum_map(skeleton->maps.kind_totals, EVENT_KIND_COUNT, sizeof(*kinds) / 8,
			      session->cpus, (uint64_t *)kinds);
	if (!err)
		err = sum_map(skeleton->maps.notes, NOTE_COUNT, 1, session->cpus, notes);
	if (err)
		return err;
	count_lanes(session, kinds);
	if (session->arming)
		arming_count(session->arming, kinds, notes);
	kinds[EVENT_DEVICE].events += device_tale_told(session->device_tale);
	return 0;
}

int session_tell_devices(struct session *session, ring_record_fn take, void *context)
{
	return device_tale_go_on(session->device_tale, take, context);
}

void session_read_profile(struct session *session, uint64_t now_ns, bool last, profile_take_fn take,
			  void *context)
{
	if (session->profile)
		profile_read(session->profile, now_ns, last, take, context);
}

struct profile_use session_profile_use(const struct session *session)
{
	return profile_use(session->profile);
}

uint64_t session_missed(const struct session *session, enum layer layer)
{
	return missed_by_layer(session->skeleton->obj, &session->choice, layer);
}
