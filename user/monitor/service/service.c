/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loop that feeds the ledger from a session. */
#include "monitor/service/service.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "capture/drain/decode.h"
#include "capture/flight/flight.h"
#include "capture/follow/child.h"
#include "capture/host/host.h"
#include "capture/markers/markers.h"
#include "capture/python/live.h"
#include "capture/host/privileges.h"
#include "base/log.h"
#include "base/thread.h"
#include "monitor/intake/intake.h"

#define DRAIN_EVERY_MS 100
#define DRAIN_SOON_MS 20 /* while processes come and go */
#define DRAIN_NICE (-10)
#define BOOK_AGAIN_MS 5
#define READ_MAX_NS 500000000 /* longest wait for a reading */
/* Slots that a process may leave behind, a multiple of the usual: in a table that is half full,
 * keys find no slot. */
#define SLOTS_OF_PROCESS 512
#define CROWDED_EVERY_NS 50000000 /* shortest interval between readings, where slots run short */
#define QUIET_NS 60000000000ull	  /* between two log lines about losses */

struct service {
	struct service_options options;
	struct session *session;
	struct ledger *ledger;
	struct intake *intake;
	struct markers *markers;  /* NULL: no spans are recorded */
	struct python_live *live; /* NULL: no stacks are read */
	struct flight *flight;	  /* NULL: there is no flight recorder */
	pthread_t thread;
	bool started;
	atomic_bool stop;
	pthread_mutex_t lock; /* protects what follows */
	pthread_cond_t read;
	uint64_t requested, served; /* readings requested; those of them that have been served */
	struct service_facts facts;
	/* Only for the thread. */
	uint64_t read_ns;  /* when the last reading began */
	uint64_t asked_ns; /* likewise, of those requested */
	uint64_t threads_read_ns;
	uint64_t reported_losses, reported_ns;
	uint64_t identities_lost, span_ends_lost;
	unsigned int slots;
	struct in_flight_list in_flight;
	struct thread_list threads;
};

/* --- reading --- */

struct counters {
	struct op_total anonymous_faults, shmem_faults;
	struct kind_total kinds[RECORD_KIND_COUNT];
	uint64_t notes[NOTE_COUNT];
};

static void add_loss(struct service_facts *facts, const char *kind, const char *layer,
		     uint64_t count)
{
	if (facts->loss_count < SERVICE_LOSSES_MAX)
		facts->losses[facts->loss_count++] = (struct service_loss) { kind, layer, count };
}

static void fill_facts(struct service *service, const struct counters *counters,
		       struct service_facts *facts)
{
	const struct intake_losses lost = intake_losses(service->intake);

	facts->loss_count = 0;
	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++)
		add_loss(facts, decoder_kind_name(kind), decoder_kind_layer(kind),
			 counters->kinds[kind].lost);
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		add_loss(facts, "missed", layer_names[layer],
			 session_missed(service->session, layer));
	add_loss(facts, "sums", "profile", lost.operations);
	add_loss(facts, "refused", "span", lost.spans);
	add_loss(facts, "refused", "thread", lost.threads);
	add_loss(facts, "refused", "stack", lost.lines);
	add_loss(facts, "unheard", "span", markers_unheard(service->markers));
	facts->not_followed = counters->notes[NOTE_UNFOLLOWED];
	facts->bios_unseen = counters->notes[NOTE_BIO_END_UNSEEN];
	facts->use = session_profile_use(service->session);
	facts->anonymous_faults = counters->anonymous_faults.count;
	facts->shmem_faults = counters->shmem_faults.count;
}

static uint64_t sum_losses(const struct service_facts *facts)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < facts->loss_count; i++)
		sum += facts->losses[i].count;
	return sum;
}

/* Logs losses: the first at once, then at most once a minute. */
static void log_losses(struct service *service, uint64_t losses, uint64_t now_ns)
{
	if (losses <= service->reported_losses ||
	    (service->reported_ns && now_ns - service->reported_ns < QUIET_NS))
		return;
	log_warning("%llu more records lost: per-process numbers may be incomplete, totals are not "
		    "affected",
		    (unsigned long long)(losses - service->reported_losses));
	service->reported_losses = losses;
	service->reported_ns = now_ns;
}

/* Reads the kernel's counters. If records about processes were lost since the last time, has the
 * intake check which processes still live. */
static void read_counters(struct service *service, uint64_t now_ns)
{
	struct session *session = service->session;
	struct service_facts facts = service->facts;
	struct counters counters;
	uint64_t identities, span_ends;

	if (session_totals(session, NULL, counters.kinds, counters.notes) ||
	    session_op_total(session, OP_ANONYMOUS_FAULT, &counters.anonymous_faults) ||
	    session_op_total(session, OP_SHMEM_FAULT, &counters.shmem_faults))
		return;
	fill_facts(service, &counters, &facts);
	identities = counters.kinds[RECORD_FORK].lost + counters.kinds[RECORD_EXEC].lost +
		     counters.kinds[RECORD_EXIT].lost;
	span_ends = counters.kinds[RECORD_SPAN_END].lost + counters.kinds[RECORD_EXIT].lost +
		    intake_losses(service->intake).span_ends;
	if (identities != service->identities_lost)
		intake_recheck(service->intake, service->read_ns);
	if (span_ends != service->span_ends_lost)
		intake_forget_spans(service->intake);
	service->identities_lost = identities;
	service->span_ends_lost = span_ends;
	log_losses(service, sum_losses(&facts), now_ns);
	pthread_mutex_lock(&service->lock);
	service->facts = facts;
	pthread_mutex_unlock(&service->lock);
}

/* Operations arrive as sums, and for a flight recorder as slots, too. */
static void take_slots(void *context, unsigned int lane, const struct lane_slot *slots,
		       size_t count)
{
	struct service *service = context;

	if (service->flight)
		flight_take_slots(service->flight, lane, slots, count);
}

/* Returns whether the flight recorder keeps what a process did; it may have ended since. */
static bool is_chosen(const struct service *service, uint32_t pid, uint64_t first_ns,
		      uint64_t last_ns)
{
	const struct job_choice *choice = &service->options.flight_of;
	const struct ledger_job *job;

	if (!choice->count)
		return true;
	job = ledger_find_owner(service->ledger, pid, 0, first_ns, last_ns).job;
	return job && job_choice_has(choice, job);
}

/* The kernel sends spans, times of threads and samples of all processes, so they are filtered here.
 * Records that identify processes or describe stacks are kept for all. */
static bool is_for_flight(const struct service *service, const struct event_header *record)
{
	return (record->kind != RECORD_SPAN_BEGIN && record->kind != RECORD_SPAN_END &&
		record->kind != RECORD_THREAD_TIME && record->kind != RECORD_SAMPLE) ||
	       is_chosen(service, record->pid, record->time_ns, record->time_ns);
}

/* A process has changed its job, begun or ended. */
static void choose_for_flight(void *context, const struct ledger_process *process,
			      const struct ledger_job *before)
{
	struct service *service = context;
	const struct job_choice *choice = &service->options.flight_of;
	bool chosen = !process->end_ns && job_choice_has(choice, process->job);
	int err;

	if (!chosen && !(before && job_choice_has(choice, before)))
		return;
	err = session_choose_for_flight(service->session, process->pid, chosen);
	if (err)
		log_debug("cannot select process %u: %s", process->pid, strerror(-err));
}

/* Exits are kept for all processes, but not where others than the chosen ones were. */
static void take_for_flight(struct service *service, unsigned int ring,
			    const struct event_header *record, size_t size)
{
	struct event_exit exit;

	if (record->kind == RECORD_EXIT && size >= sizeof(exit) &&
	    !is_chosen(service, record->pid, record->time_ns, record->time_ns)) {
		exit = *(const struct event_exit *)record;
		exit.stack = 0;
		record = &exit.header;
	}
	flight_take(service->flight, ring, record, size);
}

static void take_record(void *context, unsigned int ring, const void *record, size_t size)
{
	struct service *service = context;

	intake_take(service->intake, ring, record, size);
	if (service->flight && is_for_flight(service, record))
		take_for_flight(service, ring, record, size);
}

static void take_slot(void *context, const struct profile_slot *added)
{
	struct service *service = context;

	intake_take_slot(service->intake, added);
	if (service->flight && is_chosen(service, added->key.pid, added->first_ns, added->last_ns))
		flight_take_sums(service->flight, added);
}

/* Drains what exists at the start and no more: otherwise it might never end. */
static void drain(struct service *service)
{
	uint64_t begin_ns = host_now_ns();

	session_drain(service->session, take_record, take_slots, service);
	intake_settle(service->intake, begin_ns);
	if (service->flight)
		flight_look(service->flight, host_now_ns());
}

/* Returns NULL if the threads cannot be read, or need not be: readings may be due for other reasons
 * many times a second, and there may be many threads. */
static const struct thread_list *read_threads(struct service *service, uint64_t now_ns,
					      bool requested)
{
	int err;

	if (!requested && now_ns - service->threads_read_ns < service->options.interval_ns)
		return NULL;
	err = session_read_threads(service->session, &service->threads);
	if (err && err != -ENOENT)
		log_debug("cannot read the times of threads: %s", strerror(-err));
	service->threads_read_ns = now_ns;
	return err ? NULL : &service->threads;
}

/*
 * One reading: slots first, then all records about processes and files up to then, which identify
 * everything in the slots; then books both.
 */
static void read_all(struct service *service, bool last)
{
	uint64_t begin_ns, serves;

	/* A later request needs another reading: this one has only what was done before. */
	pthread_mutex_lock(&service->lock);
	serves = service->requested;
	pthread_mutex_unlock(&service->lock);
	begin_ns = host_now_ns();
	if (session_read_in_flight(service->session, &service->in_flight))
		log_debug("cannot read operations in flight");
	if (service->flight)
		flight_look_at_in_flight(service->flight, &service->in_flight, begin_ns);
	intake_set_in_flight(service->intake, &service->in_flight);
	intake_set_threads(service->intake,
			   read_threads(service, begin_ns, serves > service->served));
	session_read_profile(service->session, begin_ns, last, take_slot, service);
	/* Not earlier: a move not counted here came after everything that was read. */
	intake_set_moves(service->intake, session_moves(service->session));
	if (service->flight)
		flight_end_sums(service->flight, begin_ns);
	drain(service);
	session_report_devices(service->session, take_record, service);
	read_counters(service, begin_ns);
	if (serves > service->served) {
		intake_read_blocked(service->intake, service->live, service->asked_ns);
		service->asked_ns = begin_ns;
	}
	while (!intake_book(service->intake, begin_ns, host_now_ns())) {
		session_wait(service->session, BOOK_AGAIN_MS);
		drain(service);
	}
	service->read_ns = begin_ns;
	pthread_mutex_lock(&service->lock);
	service->facts.readings++;
	service->facts.read_ns = begin_ns;
	service->served = serves;
	pthread_cond_broadcast(&service->read);
	pthread_mutex_unlock(&service->lock);
}

static bool is_asked(struct service *service)
{
	bool requested;

	pthread_mutex_lock(&service->lock);
	requested = service->requested > service->served;
	pthread_mutex_unlock(&service->lock);
	return requested;
}

/* Sums are due or requested, or slots are needed that ended processes have left behind or that are
 * used least. */
static bool is_due(struct service *service, uint64_t now_ns)
{
	return now_ns - service->read_ns >= service->options.interval_ns || is_asked(service) ||
	       intake_ended(service->intake) > service->slots / SLOTS_OF_PROCESS ||
	       (now_ns - service->read_ns >= CROWDED_EVERY_NS &&
		session_profile_is_full(service->session));
}

static void *work(void *context)
{
	struct service *service = context;

	session_drains_here(service->session);
	while (!atomic_load(&service->stop)) {
		uint64_t now_ns = host_now_ns();

		session_look_at_cpus(service->session, now_ns);
		if (is_due(service, now_ns))
			read_all(service, false);
		else
			drain(service);
		session_wait(service->session,
			     intake_ended(service->intake) ? DRAIN_SOON_MS : DRAIN_EVERY_MS);
	}
	return NULL;
}

void service_read_now(struct service *service)
{
	struct timespec deadline = host_after_ns(READ_MAX_NS);
	uint64_t mine; /* a reading that is already under way does not count */

	pthread_mutex_lock(&service->lock);
	mine = ++service->requested;
	session_wake(service->session);
	while (service->started && !atomic_load(&service->stop) && service->served < mine)
		if (pthread_cond_clockwait(&service->read, &service->lock, CLOCK_MONOTONIC,
					   &deadline))
			break;
	pthread_mutex_unlock(&service->lock);
}

void service_look(struct service *service, struct service_facts *facts)
{
	pthread_mutex_lock(&service->lock);
	*facts = service->facts;
	pthread_mutex_unlock(&service->lock);
	facts->has_flight = service->flight;
	if (service->flight)
		flight_status(service->flight, &facts->flight);
}

struct ledger *service_ledger(struct service *service)
{
	return service->ledger;
}

struct session *service_session(struct service *service)
{
	return service->session;
}

/* --- opening and closing --- */

static int judge_layers(struct service *service, bool best_effort)
{
	if (!session_judge_layers(service->session, best_effort))
		return 0;
	log_error("essential layers are unavailable ('faultline check' says why); use "
		  "--best-effort to monitor without them");
	return -ENOTSUP;
}

/* Sets what new threads inherit. */
static void set_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, 0, nice))
		log_debug("cannot change the priority: %s", strerror(errno));
}

/* For the flight recorder, or lines of blocked threads. */
static void start_live(struct service *service)
{
	const struct session_markers maps = session_markers(service->session);

	if ((service->options.session.flight_bytes || service->options.ledger.lines) &&
	    maps.python_files >= 0)
		service->live = python_live_start(maps.python_files, maps.python_processes);
}

struct python_live *service_live(struct service *service)
{
	return service->live;
}

static void set_session_options(struct service *service)
{
	struct session_options *session = &service->options.session;

	session->mode = PROFILE_ON;
	session->in_flight = true;
	session->attach.to = ATTACH_ALL;
	session->follow_privileged = session->attach.uid == ATTACH_ANYBODY;
	session->flight_chooses = service->options.flight_of.count;
	if (!session->profile_slots)
		session->profile_slots = profile_node_slots(get_nprocs());
}

static int open_intake(struct service *service)
{
	int err;

	set_nice(DRAIN_NICE); /* also for threads that look up what is drained */
	err = intake_open(&service->intake, service->ledger, session_lane_count(service->session),
			  sysconf(_SC_PAGESIZE));
	set_nice(0);
	if (!err)
		err = intake_name_jobs(service->intake, service->options.host_root ?: "/",
				       service->options.session.attach.uid == ATTACH_ANYBODY);
	if (!err)
		err = intake_keep_cgroups(service->intake, session_cgroup_slots(service->session));
	if (!err && service->options.ledger.lines)
		err = intake_keep_lines(service->intake,
					session_stack_generation(service->session));
	return err;
}

int service_open(struct service **out, const struct service_options *options, bool best_effort)
{
	const struct child_user self = { .uid = geteuid(), .gid = getegid() };
	struct service *service = calloc(1, sizeof(*service));
	int err;

	if (!service)
		return -ENOMEM;
	service->options = *options;
	set_session_options(service);
	pthread_mutex_init(&service->lock, NULL);
	pthread_cond_init(&service->read, NULL);
	err = session_open(&service->session, &service->options.session);
	if (!err)
		err = judge_layers(service, best_effort);
	if (!err) /* for all processes: their libraries are seen as they map them */
		err = markers_start(&service->markers, service->session, &self, NULL, environ);
	if (err)
		goto fail;
	/* One of the two has the stacks: what the kernel side describes, it describes once. */
	service->options.ledger.lines = session_choice(service->session)->on[LAYER_STACK] &&
					!service->options.session.flight_bytes;
	start_live(service);
	err = ledger_open(&service->ledger, &service->options.ledger);
	if (!err && options->flight_of.count)
		ledger_on_join(service->ledger, choose_for_flight, service);
	if (!err)
		err = open_intake(service);
	if (err) {
		log_error("cannot monitor: %s", strerror(-err));
		goto fail;
	}
	if (service->markers)
		intake_on_code(service->intake, markers_look, service->markers);
	service->slots = session_profile_slots(service->session);
	service->facts.slots = service->slots;
	session_set_exited(service->session, intake_has_exited, service->intake);
	memcpy(service->facts.layers, session_layers(service->session),
	       sizeof(service->facts.layers));
	*out = service;
	return 0;
fail:
	service_close(service);
	return err;
}

void service_take_flight(struct service *service, struct flight *flight)
{
	service->flight = flight;
}

int service_start(struct service *service, size_t *processes, size_t *threads)
{
	int dropped, err = session_attach(service->session, NULL, 0, processes, threads);

	if (err)
		return err;
	markers_look_at_attached(service->markers, service->session);
	service->facts.start_unix_ns = host_unix_now_ns();
	service->facts.start_ns = host_now_ns();
	service->read_ns = service->asked_ns = host_now_ns();
	/* The thread inherits it: on a busy machine the buffers must not overflow. */
	set_nice(DRAIN_NICE);
	err = thread_start(&service->thread, work, service);
	set_nice(0); /* answering requests is not urgent */
	dropped = privileges_drop(false);
	if (dropped)
		log_warning("cannot drop privileges: %s", strerror(-dropped));
	if (err) {
		log_error("cannot monitor: %s", strerror(-err));
		return err;
	}
	service->started = true;
	/* Existing processes are known, and requests have something to show. */
	service_read_now(service);
	return 0;
}

void service_close(struct service *service)
{
	if (!service)
		return;
	flight_end(service->flight); /* while its data still arrives */
	atomic_store(&service->stop, true);
	if (service->started) {
		session_wake(service->session);
		pthread_join(service->thread, NULL);
	}
	markers_stop(service->markers);
	flight_close(service->flight);
	session_close(service->session);
	markers_close(service->markers);
	python_live_close(service->live);
	if (service->intake && intake_unnamed_lines(service->intake))
		log_debug("%llu samples of Python have no line: too many lines, or unknown ones",
			  (unsigned long long)intake_unnamed_lines(service->intake));
	intake_close(service->intake);
	ledger_close(service->ledger);
	free(service->in_flight.rows);
	free(service->threads.rows);
	pthread_cond_destroy(&service->read);
	pthread_mutex_destroy(&service->lock);
	free(service);
}
