/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The thread that drains the rings into a flight recorder. */
#include "capture/flight/flight_recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "capture/host/host.h"
#include "capture/markers/markers.h"
#include "base/log.h"
#include "base/thread.h"

/* Records are not urgent: rings wake their reader when they fill up. */
#define SLEEP_MS 100
#define DEVICES_EVERY_NS 1000000000ull

struct flight_recorder {
	struct session *session;
	struct flight *flight;
	struct markers *markers;
	uint64_t interval_ns;
	pthread_t thread;
	atomic_bool stop;
};

static unsigned int sleep_ms(uint64_t now_ns, uint64_t due_ns)
{
	uint64_t left_ms = due_ns > now_ns ? (due_ns - now_ns) / 1000000 + 1 : 1;

	return left_ms < SLEEP_MS ? left_ms : SLEEP_MS;
}

static void *drain(void *context)
{
	struct flight_recorder *recorder = context;
	struct session *session = recorder->session;
	uint64_t sums_ns = host_now_ns() + recorder->interval_ns, devices_ns = 0;
	struct in_flight_list in_flight = { 0 };

	session_drains_here(session);
	while (!atomic_load(&recorder->stop)) {
		uint64_t now_ns;

		session_drain(session, flight_take, flight_take_slots, recorder->flight);
		now_ns = host_now_ns();
		session_look_at_cpus(session, now_ns);
		if (now_ns >= devices_ns) {
			session_report_devices(session, flight_take, recorder->flight);
			devices_ns = now_ns + DEVICES_EVERY_NS;
		}
		if (now_ns >= sums_ns) {
			if (!session_read_in_flight(session, &in_flight))
				flight_look_at_in_flight(recorder->flight, &in_flight, now_ns);
			session_read_profile(session, now_ns, false, flight_take_sums,
					     recorder->flight);
			flight_end_sums(recorder->flight, now_ns);
			sums_ns = now_ns + recorder->interval_ns;
		}
		flight_look(recorder->flight, now_ns);
		session_wait(session, sleep_ms(now_ns, sums_ns));
	}
	free(in_flight.rows);
	return NULL;
}

int flight_recorder_start(struct flight_recorder **out, struct session *session,
			  struct flight *flight, struct markers *markers, uint64_t interval_ns)
{
	struct flight_recorder *recorder = calloc(1, sizeof(*recorder));
	int err = -ENOMEM;

	if (recorder) {
		recorder->session = session;
		recorder->flight = flight;
		recorder->markers = markers;
		recorder->interval_ns = interval_ns;
		if (markers)
			flight_emit_code(flight, markers_look, markers);
		err = thread_start(&recorder->thread, drain, recorder);
	}
	if (err) {
		log_error("cannot start recording: %s", strerror(-err));
		free(recorder);
		return err;
	}
	*out = recorder;
	return 0;
}

void flight_recorder_stop(struct flight_recorder *recorder)
{
	if (!recorder)
		return;
	flight_end(recorder->flight); /* needs the records still arriving */
	atomic_store(&recorder->stop, true);
	session_wake(recorder->session);
	pthread_join(recorder->thread, NULL);
	if (recorder->markers)
		markers_stop(recorder->markers);
	free(recorder);
}
