# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Mode profile against mode trace, and the flight recorder against both: the cost of each for the
traced program, the tracer itself, and the disk.

Runs alternate. The tracer's CPU time is measured during the run: it excludes starting and stopping,
which are the same for all.
"""
import os
import statistics
import subprocess
import time

import tracers
from running import Failed, ns_each, remove, start_ready, taken_so_far

MODES = ("trace", "profile")
TRACED, OWN = 1.02, 0.1
SECONDS, SETTLED, WINDOW = "3.2", 1, 2  # of the program; from its start; of the tracer's own time


def own_share(pid):
    """The tracer's share of a CPU during the run."""
    time.sleep(SETTLED)
    before, began = taken_so_far(pid), time.monotonic()
    time.sleep(WINDOW)
    return (taken_so_far(pid) - before) / (time.monotonic() - began)


def one(bench, mode, argv):
    """ns per operation, the tracer's share of a CPU during the run, bytes of the trace."""
    tracer = tracers.Faultline(f"{bench.build}/faultline", "--mode", mode)
    with subprocess.Popen(tracer.wrap(None, argv, bench.trace), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as process:
        own = own_share(process.pid)
        output, _ = process.communicate()
    done = subprocess.CompletedProcess(argv, process.returncode, output, "")
    return ns_each(argv, done), own, os.path.getsize(bench.trace)


def measure(bench, say):
    """Yields (name, value, unit, target or None)."""
    program = f"{bench.build}/tests/bench/hotread"
    for threads in ("1", "2"):
        say(f"hot 4 KiB pread, {threads} threads: modes trace and profile")
        argv = [program, f"{bench.scratch}/hot", threads, SECONDS]
        rows = [[one(bench, mode, argv) for mode in MODES] for _ in range(bench.options.pairs // 2 + 1)]
        ratios = [sums[0] / events[0] for events, sums in rows]
        name = f"hot 4 KiB pread, {threads} threads, mode profile by mode trace"
        yield f"{name}: traced time, median", statistics.median(ratios), "ratio", TRACED
        yield (f"{name}: traced time, best", min(sums[0] for _, sums in rows)
               / min(events[0] for events, _ in rows), "ratio", None)
        yield (f"{name}: the tracer's own CPU",
               statistics.median(sums[1] / events[1] for events, sums in rows), "ratio", OWN)
        yield (f"{name}: bytes of the trace",
               statistics.median(sums[2] / events[2] for events, sums in rows), "ratio", OWN)


# --- the flight recorder, which attaches, as the others do here ---

TRIGGER = ("--flight-when", "stall=100%:1h")
ATTACHED = {"events": (), "sums": ("--mode", "profile"),
            "flight recorder": ("--flight", "64M", *TRIGGER),
            # The most expensive one: it soon drops old events.
            "smallest flight recorder": ("--flight", "1M", *TRIGGER)}
RATE, OWN_AT_RATE = 100_000, 0.03  # events a second; the flight recorder's share of a CPU


def attached(bench, options, argv):
    """For a program that starts once a tracer is attached: ns per operation, and the tracer's
    share of a CPU."""
    remove(bench.trace)
    with subprocess.Popen(["sh", "-c", 'read go; exec "$@"', "sh", *argv], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        watching, _ = start_ready(f"{bench.build}/faultline", "attach", "-q", "-o", bench.trace,
                                  *options, "-p", str(program.pid))
        program.stdin.write("go\n")
        program.stdin.flush()
        own = own_share(watching.pid)
        output, _ = program.communicate()
        if watching.wait():
            raise Failed(f"faultline attach {' '.join(options)}: it failed")
    remove(bench.trace)
    done = subprocess.CompletedProcess(argv, program.returncode, output, "")
    return ns_each(argv, done), own


def flight_rows(bench, names, rate):
    argv = [f"{bench.build}/tests/bench/hotread", f"{bench.scratch}/hot", "1", SECONDS, "0",
            str(rate)]
    return [{name: attached(bench, ATTACHED[name], argv) for name in names}
            for _ in range(bench.options.pairs // 2 + 1)]


def own_ratio(rows, name):
    """A tracer's own CPU time by that of events, for each operation."""
    each = [{name: ns * own for name, (ns, own) in row.items()} for row in rows]
    return statistics.median(row[name] / row["events"] for row in each)


def measure_flight(bench, say):
    """Yields as measure does."""
    say("hot 4 KiB pread, attached: events, sums, the flight recorder")
    ours, smallest = "flight recorder", "smallest flight recorder"
    rows = flight_rows(bench, ("events", "sums", ours), 0)
    for other in "sums", "events":
        name = f"hot 4 KiB pread, {ours} by {other}"
        yield (f"{name}: traced time, median",
               statistics.median(row[ours][0] / row[other][0] for row in rows), "ratio", None)
        yield (f"{name}: traced time, best", min(row[ours][0] for row in rows)
               / min(row[other][0] for row in rows), "ratio", None)
    yield (f"hot 4 KiB pread, {ours} by events: the tracer's own CPU an event",
           own_ratio(rows, ours), "ratio", None)
    say(f"{RATE:,} preads a second, attached: events, the flight recorder")
    rows = flight_rows(bench, ("events", ours, smallest), RATE)
    for name, target in ("events", None), (ours, OWN_AT_RATE), (smallest, OWN_AT_RATE):
        yield (f"{RATE:,} preads a second, {name}: the tracer's own CPU",
               statistics.median(row[name][1] for row in rows), "share", target)
    yield (f"{RATE:,} preads a second, {ours} by events: the tracer's own CPU",
           own_ratio(rows, ours), "ratio", None)
