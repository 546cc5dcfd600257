/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The thread that moves records from the CPU buffers to the trace. */
#include "capture/host/limits.h"
#include "capture/recorder/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/calls/calls.h"
#include "capture/drain/decode.h"
#include "capture/calls/file_choice.h"
#include "capture/host/host.h"
#include "capture/markers/markers.h"
#include "capture/python/frames.h"
#include "capture/drain/profile_rows.h"
#include "base/log.h"
#include "base/number.h"
#include "base/thread.h"

/* Sleep between drains until about BATCH_RECORDS records have arrived. Each drain takes a CPU from
 * the job for a while, and slots that have left the cache of the CPU that writes them can be read
 * without disturbing it. If the rate rises, the kernel side wakes the thread. */
#define SLEEP_MIN_MS 2
#define SLEEP_MAX_MS 100
#define BATCH_RECORDS 32768

/* Interval of device records, so that they also form a timeline. */
#define DEVICES_EVERY_NS 1000000000ull

/* If a pass of the draining thread takes longer, the thread was stopped or had no CPU. */
#define STOPPED_NS 1000000000ull

/* How long to wait for records that were counted before the end but have not arrived. */
#define LAST_WAIT_NS 1000000000ull

struct recorder {
	struct session *session;
	struct trace_writer *writer;
	struct recorder_options options;
	struct decoder *decoder;
	struct file_choice choice;
	struct profile_rows profile_rows;
	pthread_t thread;
	bool started;
	uint64_t start_ns;
	atomic_bool stop;
	_Atomic uint64_t written_bytes;
	_Atomic int write_error;
	bool resumed;
	uint64_t files_added;  /* rows of files that the kernel side has not counted */
	uint64_t lost;	       /* by the kernel side, at the last check */
	uint64_t lost_stopped; /* those lost while the thread was stopped */
	uint64_t ran_ns;       /* when the draining thread last ran */
	uint64_t stopped_ns;   /* when it last resumed after a stop; 0: never */
};

static uint64_t count_lost(const struct kind_total *kinds)
{
	uint64_t lost = 0;

	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++)
		lost += kinds[kind].lost;
	return lost;
}

/* Notes that the draining thread runs. After a long gap, it was stopped until now. */
static void note_running(struct recorder *recorder)
{
	uint64_t now_ns = host_now_ns();

	if (now_ns - recorder->ran_ns > STOPPED_NS)
		recorder->stopped_ns = now_ns;
	recorder->ran_ns = now_ns;
}

/* Some losses from a stop are only found a little later. */
static bool has_just_stopped(const struct recorder *recorder)
{
	return recorder->stopped_ns &&
	       recorder->ran_ns - recorder->stopped_ns < 2 * DEVICES_EVERY_NS;
}

/* Adds up the losses since the last check. Must check for a stop after reading the totals:
 * otherwise losses from a stop between the two would count as caused by small buffers. */
static void look_at_losses(struct recorder *recorder)
{
	struct kind_total kinds[RECORD_KIND_COUNT];
	uint64_t notes[NOTE_COUNT], lost;

	if (session_totals(recorder->session, NULL, kinds, notes))
		return;
	lost = count_lost(kinds);
	note_running(recorder);
	if (has_just_stopped(recorder) && lost > recorder->lost)
		recorder->lost_stopped += lost - recorder->lost;
	recorder->lost = lost;
}

/* Logs each message once: a nearly full disk may fill up repeatedly. */
static void look_at_writer(struct recorder *recorder, int status)
{
	int before = atomic_load(&recorder->write_error);

	atomic_store(&recorder->written_bytes, trace_writer_bytes(recorder->writer));
	if (status && !before) {
		atomic_store(&recorder->write_error, status);
		log_error("cannot write %s: %s; the command continues, but new events are counted, "
			  "not kept%s",
			  recorder->options.path, strerror(-status),
			  trace_writer_is_full(status) ? " until there is space again" : "");
	}
	if (!status && before && !recorder->resumed) {
		recorder->resumed = true;
		log_warning("%s: space available; writing again", recorder->options.path);
	}
}

/* Returns how long to sleep if `records` records arrived within `within_ns`. */
static unsigned int sleep_ms(size_t records, uint64_t within_ns)
{
	uint64_t ms = within_ns / 1000000 * BATCH_RECORDS / (records + 1);

	return ms < SLEEP_MIN_MS ? SLEEP_MIN_MS : ms > SLEEP_MAX_MS ? SLEEP_MAX_MS : ms;
}

/* Returns `ms`, or the time until sums are due if that is shorter. */
static unsigned int min_ms(unsigned int ms, uint64_t due_ns)
{
	return due_ns / 1000000 < ms ? due_ns / 1000000 + 1 : ms;
}

static void *drain(void *context)
{
	struct recorder *recorder = context;
	uint64_t last_ns = host_now_ns(), devices_ns = last_ns, profile_ns = last_ns;

	session_drains_here(recorder->session);
	while (!atomic_load(&recorder->stop)) {
		size_t records = session_drain(recorder->session, decoder_take, decoder_take_slots,
					       recorder->decoder);
		uint64_t now_ns = host_now_ns();

		note_running(recorder);
		session_look_at_cpus(recorder->session, now_ns);
		decoder_settle(recorder->decoder, false);
		if (now_ns - devices_ns >= DEVICES_EVERY_NS) {
			session_report_devices(recorder->session, decoder_take, recorder->decoder);
			look_at_losses(recorder);
			devices_ns = now_ns;
		}
		if (now_ns - profile_ns >= recorder->options.interval_ns) {
			session_read_profile(recorder->session, now_ns, false, profile_rows_take,
					     &recorder->profile_rows);
			profile_ns = now_ns;
		}
		look_at_writer(recorder, trace_writer_tick(recorder->writer, now_ns));
		session_wait(recorder->session,
			     min_ms(sleep_ms(records, now_ns - last_ns),
				    profile_ns + recorder->options.interval_ns - now_ns));
		last_ns = now_ns;
	}
	note_running(recorder);
	return NULL;
}

static void take_names(void *context)
{
	struct recorder *recorder = context;

	session_drain(recorder->session, decoder_take, decoder_take_slots, recorder->decoder);
}

int recorder_start(struct recorder **out, struct session *session, struct trace_writer *writer,
		   const struct recorder_options *options)
{
	const unsigned int page_bytes = sysconf(_SC_PAGESIZE);
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err = -ENOMEM;

	if (!recorder)
		goto fail;
	recorder->session = session;
	recorder->writer = writer;
	recorder->start_ns = recorder->ran_ns = host_now_ns();
	recorder->options = *options;
	err = decoder_open(&recorder->decoder, writer, session_lane_count(session), page_bytes);
	if (err)
		goto fail;
	decoder_share_generation(recorder->decoder, session_stack_generation(session),
				 PYTHON_GENERATION_BYTES);
	if (options->unwinder)
		err = decoder_unwind(recorder->decoder, options->unwinder);
	if (err)
		goto fail;
	recorder->profile_rows =
		(struct profile_rows) { .writer = writer, .page_bytes = page_bytes };
	file_choice_init(&recorder->choice, &options->globs, page_bytes);
	if (!file_globs_take_all(&options->globs)) {
		decoder_choose_files(recorder->decoder, &recorder->choice);
		recorder->profile_rows.choice = &recorder->choice;
		recorder->profile_rows.take_names = take_names;
		recorder->profile_rows.context = recorder;
	}
	if (options->markers)
		decoder_emit_code(recorder->decoder, markers_look, options->markers);
	err = thread_start(&recorder->thread, drain, recorder);
	if (err)
		goto fail;
	recorder->started = true;
	*out = recorder;
	return 0;
fail:
	log_error("cannot start recording: %s", strerror(-err));
	recorder_close(recorder);
	return err;
}

/* --- totals --- */

#define NOTES_MAX (NOTE_COUNT + 16) /* of the kernel side, and of this one */

struct counts {
	struct op_total operations[OP_TABLE_SIZE];
	struct kind_total kinds[RECORD_KIND_COUNT];
	uint64_t notes[NOTE_COUNT];
	struct trace_note trace_notes[NOTES_MAX];
	size_t trace_note_count;
	struct trace_operation_total totals[OP_TABLE_SIZE];
	struct trace_kind_total kind_totals[RECORD_KIND_COUNT + LAYER_COUNT + 1 + 2];
	size_t kind_total_count;
};

static void sum_status(struct recorder *recorder, const struct counts *counts,
		       struct recorder_status *status)
{
	memset(status, 0, sizeof(*status));
	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++)
		status->events += counts->kinds[kind].events;
	status->lost = count_lost(counts->kinds);
	status->lost += counts->notes[NOTE_UNFOLLOWED];
	status->summed = session_profile_use(recorder->session).operations;
	status->not_followed = counts->notes[NOTE_PRIVILEGED];
	status->written_bytes = atomic_load(&recorder->written_bytes);
	status->write_error = atomic_load(&recorder->write_error);
}

void recorder_status(struct recorder *recorder, struct recorder_status *status)
{
	struct counts *counts = calloc(1, sizeof(*counts));

	memset(status, 0, sizeof(*status));
	if (counts &&
	    !session_totals(recorder->session, counts->operations, counts->kinds, counts->notes))
		sum_status(recorder, counts, status);
	free(counts);
}

static void subtract(uint64_t *from, uint64_t what)
{
	*from -= what < *from ? what : *from;
}

/* Subtracts operations on excluded files from the kernel side's counts. */
static void leave_out(const struct recorder *recorder, struct counts *counts)
{
	const struct file_choice *choice = &recorder->choice;

	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++)
		counts->kinds[kind].events -= choice->records[kind];
	for (size_t i = 0; i < OP_TABLE_SIZE; i++) {
		const struct trace_operation_total *left = &choice->sums.totals[i];
		struct trace_operation_total *total = &counts->totals[i];

		subtract(&total->count, left->count);
		subtract(&total->errors, left->errors);
		subtract(&total->bytes, left->bytes);
		subtract(&total->thread_time_ns, left->thread_time_ns);
		subtract(&total->fetched_bytes, left->fetched_bytes);
		subtract(&total->created_bytes, left->created_bytes);
		subtract(&total->read_for_write_bytes, left->read_for_write_bytes);
		subtract(&total->submissions, left->submissions);
	}
}

/* Returns how many spans have only an end, less the begins already counted as lost. */
static uint64_t unbegun_spans(const struct recorder *recorder, uint64_t lost)
{
	return number_sub(decoder_unbegun(recorder->decoder), lost);
}

static void add_note(struct counts *counts, const char *name, uint64_t count)
{
	if (counts->trace_note_count < NOTES_MAX)
		counts->trace_notes[counts->trace_note_count++] =
			(struct trace_note) { name, count };
}

static void add_note_if_any(struct counts *counts, const char *name, uint64_t count)
{
	if (count)
		add_note(counts, name, count);
}

/* Notes how many events were lost to each cause. */
static void note_losses(const struct recorder *recorder, struct counts *counts)
{
	uint64_t discarded = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		discarded += trace_writer_discarded(recorder->writer, kind);
	add_note_if_any(counts, TRACE_NOTE_LOST_FULL,
			count_lost(counts->kinds) - recorder->lost_stopped);
	add_note_if_any(counts, TRACE_NOTE_LOST_STOPPED, recorder->lost_stopped);
	add_note_if_any(counts, TRACE_NOTE_LOST_NO_ROOM, discarded);
}

/* Notes how far stacks are known. */
static void note_stacks(const struct recorder *recorder, struct counts *counts)
{
	const struct native_counts native = decoder_native_counts(recorder->decoder);
	const struct python_counts python = decoder_python_counts(recorder->decoder);

	if (!recorder->options.unwinder) {
		if (!session_choice(recorder->session)->on[LAYER_STACK])
			return;
		add_note(counts, TRACE_NOTE_PYTHON_WHOLE, python.whole);
		add_note(counts, TRACE_NOTE_PYTHON_CUT, python.cut);
		add_note(counts, TRACE_NOTE_PYTHON_FAILED, python.failed);
		return;
	}
	add_note(counts, TRACE_NOTE_NATIVE_WHOLE, native.whole);
	add_note(counts, TRACE_NOTE_NATIVE_CUT, native.cut);
	add_note(counts, TRACE_NOTE_NATIVE_FAILED, native.failed);
	add_note(counts, TRACE_NOTE_NATIVE_DROPPED, native.dropped);
}

/* Fills the trace's notes on what was not recorded. */
static void fill_notes(const struct recorder *recorder, struct counts *counts)
{
	const struct limits *limits = recorder->options.limits;
	uint64_t bios = 0;
	int err = session_bios_under_way(recorder->session, &bios);

	counts->trace_note_count = session_name_notes(counts->notes, counts->trace_notes);
	if (err)
		log_warning("cannot count block I/Os in flight: %s", strerror(-err));
	else
		add_note_if_any(counts, TRACE_NOTE_BIOS_UNDER_WAY, bios);
	add_note_if_any(counts, TRACE_NOTE_SPANS_BEFORE, decoder_begun_before(recorder->decoder));
	add_note_if_any(counts, TRACE_NOTE_SPANS_UNCOUNTED,
			!decoder_knows_unbegun(recorder->decoder));
	add_note_if_any(counts, TRACE_NOTE_ENDED_UNSEEN, markers_unseen(recorder->options.markers));
	add_note_if_any(counts, TRACE_NOTE_CPU_THROTTLED, limits ? limits_throttled_ns(limits) : 0);
	if (!file_globs_take_all(&recorder->options.globs))
		add_note(counts, TRACE_NOTE_LEFT_OUT, recorder->choice.operations);
	note_stacks(recorder, counts);
	note_losses(recorder, counts);
}

static void add_kind_total(struct counts *counts, const struct trace_kind_total *total)
{
	counts->kind_totals[counts->kind_total_count++] = *total;
}

/* Adds totals for rows of sums, which are lost if there is no room to write them. */
static void add_profile_totals(const struct recorder *recorder, struct counts *counts)
{
	static const enum trace_kind kinds[] = { TRACE_PROFILE, TRACE_PROFILE_CLASS };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t written = trace_writer_rows(recorder->writer, kinds[i]);
		uint64_t lost = trace_writer_discarded(recorder->writer, kinds[i]);

		if (written + lost)
			add_kind_total(counts, &(struct trace_kind_total) {
						       .kind = trace_schemas[kinds[i]].kind,
						       .layer = trace_schemas[kinds[i]].layer,
						       .events = written + lost,
						       .written = written,
						       .lost = lost,
					       });
	}
}

/* Adds the totals of records of a kind. */
static void add_record_total(struct recorder *recorder, struct counts *counts, int kind)
{
	uint64_t written = decoder_taken(recorder->decoder, kind);
	uint64_t lost = counts->kinds[kind].lost + decoder_refused(recorder->decoder, kind);
	uint64_t unbegun = kind == RECORD_SPAN_BEGIN ? unbegun_spans(recorder, lost) : 0;
	uint64_t events = counts->kinds[kind].events + unbegun +
			  (kind == RECORD_FILE ? recorder->files_added : 0);

	decoder_add_rows(recorder->decoder, recorder->writer, kind, &written, &lost);
	if (decoder_kind(kind) != TRACE_KIND_COUNT && !decoder_has_own_rows(kind))
		events = written + lost;
	add_kind_total(counts, &(struct trace_kind_total) {
				       .kind = decoder_kind_name(kind),
				       .layer = decoder_kind_layer(kind),
				       .events = events,
				       .written = written,
				       .lost = lost + unbegun,
			       });
}

/* Adds events that were never recorded, if there were any. */
static void add_lost_total(struct counts *counts, const char *kind, int layer, uint64_t lost)
{
	if (lost)
		add_kind_total(counts, &(struct trace_kind_total) { .kind = kind,
								    .layer = layer_names[layer],
								    .events = lost,
								    .lost = lost });
}

static void fill_operation_totals(struct recorder *recorder, struct counts *counts,
				  struct trace_totals *totals)
{
	unsigned int page_bytes = sysconf(_SC_PAGESIZE);

	calls_operations(&totals->operation_count);
	for (size_t i = 0; i < totals->operation_count; i++) {
		const struct op_total *from = &counts->operations[i];

		counts->totals[i] = (struct trace_operation_total) {
			.count = from->count,
			.errors = from->errors,
			.bytes = from->bytes,
			.thread_time_ns = from->time_ns,
			.fetched_bytes = from->fetched_pages * page_bytes,
			.created_bytes = from->created_pages * page_bytes,
			.read_for_write_bytes = from->read_for_write_bytes,
			.submissions = from->submissions,
			.major_faults = from->major_faults,
		};
	}
	totals->operations = counts->totals;
	leave_out(recorder, counts);
}

static void fill_totals(struct recorder *recorder, struct counts *counts,
			struct trace_totals *totals)
{
	fill_operation_totals(recorder, counts, totals);
	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++)
		add_record_total(recorder, counts, kind);
	add_profile_totals(recorder, counts);
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		add_lost_total(counts, "missed", layer, session_missed(recorder->session, layer));
	/* Programs that may have marked spans while their markers were not attached. */
	add_lost_total(counts, "unheard_program", LAYER_SPAN,
		       markers_unheard(recorder->options.markers));
	totals->kinds = counts->kind_totals;
	totals->kind_count = counts->kind_total_count;
	fill_notes(recorder, counts);
	totals->notes = counts->trace_notes;
	totals->note_count = counts->trace_note_count;
}

/* Returns whether everything that the kernel counted and did not lose has arrived. */
static bool all_taken(const struct recorder *recorder, const struct counts *counts)
{
	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++)
		if (counts->kinds[kind].events != counts->kinds[kind].lost +
							  decoder_taken(recorder->decoder, kind) +
							  decoder_refused(recorder->decoder, kind))
			return false;
	return true;
}

/* Drains the rest and reads the totals that match it: no program runs any more, so both are final.
 * The totals show any record that never arrives. */
static int drain_rest(struct recorder *recorder, struct counts *counts, uint64_t recording_end_ns)
{
	const struct timespec pause = { .tv_nsec = SLEEP_MIN_MS * 1000000 };
	uint64_t end_ns = host_now_ns() + LAST_WAIT_NS;
	int err;

	/* Makes room: the iterators send all their records at once. */
	while (session_drain(recorder->session, decoder_take, decoder_take_slots,
			     recorder->decoder))
		;
	session_record_waiting(recorder->session, recording_end_ns);
	session_read_profile(recorder->session, host_now_ns(), true, profile_rows_take,
			     &recorder->profile_rows);
	err = session_report_devices(recorder->session, decoder_take, recorder->decoder);
	if (err)
		return err;
	for (;;) {
		while (session_drain(recorder->session, decoder_take, decoder_take_slots,
				     recorder->decoder))
			;
		err = session_totals(recorder->session, counts->operations, counts->kinds,
				     counts->notes);
		if (err || all_taken(recorder, counts) || host_now_ns() > end_ns)
			return err;
		nanosleep(&pause, NULL);
	}
}

int recorder_finish(struct recorder *recorder, uint64_t end_ns, int exit_code,
		    const uint64_t *survivors, size_t survivor_count,
		    struct recorder_status *status)
{
	struct trace_totals totals = { .end_ns = end_ns,
				       .exit_code = exit_code,
				       .survivors = survivors,
				       .survivor_count = survivor_count };
	struct counts *counts = calloc(1, sizeof(*counts));
	int err = -ENOMEM;

	memset(status, 0, sizeof(*status));
	status->duration_ns = end_ns - recorder->start_ns;
	atomic_store(&recorder->stop, true);
	session_wake(recorder->session);
	pthread_join(recorder->thread, NULL);
	recorder->started = false;
	markers_stop(recorder->options.markers); /* fed by that thread */
	if (!counts)
		goto out;
	err = drain_rest(recorder, counts, end_ns);
	if (err) {
		log_error("cannot read the kernel's totals: %s", strerror(-err));
		goto out;
	}
	/* The programs are detached: nothing has been lost since the thread ended. */
	recorder->ran_ns = host_now_ns();
	look_at_losses(recorder);
	decoder_read_unfinished(recorder->decoder, recorder->options.live);
	decoder_settle(recorder->decoder, true);
	recorder->files_added =
		recorder->profile_rows.other_named + decoder_add_stripes(recorder->decoder);
	look_at_writer(recorder, trace_writer_flush(recorder->writer));
	totals.start_ns = session_attached_ns(recorder->session);
	if (!totals.start_ns)
		totals.start_ns = decoder_start_ns(recorder->decoder);
	if (!totals.start_ns) /* its record was lost */
		totals.start_ns = recorder->start_ns;
	fill_totals(recorder, counts, &totals);
	err = trace_writer_finish(recorder->writer, &totals);
	if (err) /* totals that fit do not mean that rows fit again */
		look_at_writer(recorder, err);
	sum_status(recorder, counts, status);
	status->duration_ns = end_ns - totals.start_ns;
	status->counted = true;
	status->ended = !err;
	status->lost = counts->notes[NOTE_UNFOLLOWED];
	for (size_t i = 0; i < totals.kind_count; i++)
		status->lost += totals.kinds[i].lost;
	log_debug("counters: %llu children not followed, %llu faults without a start or an end",
		  (unsigned long long)counts->notes[NOTE_UNFOLLOWED],
		  (unsigned long long)counts->notes[NOTE_FAULT_UNTIMED]);
out:
	free(counts);
	return err;
}

void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->started) {
		atomic_store(&recorder->stop, true);
		session_wake(recorder->session);
		pthread_join(recorder->thread, NULL);
	}
	decoder_close(recorder->decoder);
	file_choice_free(&recorder->choice);
	free(recorder);
}
