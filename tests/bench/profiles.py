# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Mode profile against mode trace, and the flight recorder against both: the cost of each for the
traced program, the tracer itself, and the disk.

Runs alternate. The tracer's CPU time excludes starting and stopping, which are the same for all. In
mode profile the rest is less than the variation between starts, so it is measured during the run.
"""
import os
import statistics
import subprocess
import time

import tracers
from running import (Failed, computed, ns_each, remove, said_cpu, start_ready,
                     taken_so_far)

MODES = ("trace", "profile")
TRACED, OWN = 1.02, 0.1
SECONDS, SETTLED, WINDOW = "3.2", 1, 2  # of the program; from its start; of the tracer's own time


def one(bench, mode, argv):
    """ns per operation, the tracer's share of a CPU during the run, bytes of the trace."""
    tracer = tracers.Faultline(f"{bench.build}/faultline", "--mode", mode)
    with subprocess.Popen(tracer.wrap(None, argv, bench.trace), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as process:
        time.sleep(SETTLED)
        before, began = taken_so_far(process.pid), time.monotonic()
        time.sleep(WINDOW)
        own = (taken_so_far(process.pid) - before) / (time.monotonic() - began)
        said, _ = process.communicate()
    done = subprocess.CompletedProcess(argv, process.returncode, said, "")
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

ATTACHED = {"events": (), "sums": ("--mode", "profile"),
            "flight": ("--flight", "64M", "--flight-when", "stall=100%:1h")}


def attached(bench, options, argv):
    """For a program that starts once a tracer is attached: ns per operation, and the tracer's
    CPU seconds."""
    before = computed()
    remove(bench.trace)
    with subprocess.Popen(["sh", "-c", 'read go; exec "$@"', "sh", *argv], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        watching, _ = start_ready(f"{bench.build}/faultline", "attach", "-q", "-o", bench.trace,
                                  *options, "-p", str(program.pid))
        said, _ = program.communicate("go\n")
        if watching.wait():
            raise Failed(f"faultline attach {' '.join(options)}: it failed")
    used = computed() - before
    remove(bench.trace)
    done = subprocess.CompletedProcess(argv, program.returncode, said, "")
    return ns_each(argv, done), used - said_cpu(argv, done)


def measure_flight(bench, say):
    """Yields as measure does."""
    say("hot 4 KiB pread, attached: events, sums, the flight recorder")
    program = [f"{bench.build}/tests/bench/hotread", f"{bench.scratch}/hot", "1"]
    rows = [{name: attached(bench, options, [*program, "2"]) for name, options in ATTACHED.items()}
            for _ in range(bench.options.pairs // 2 + 1)]
    idle = {name: min(attached(bench, options, [*program, "0.001"])[1] for _ in range(3))
            for name, options in ATTACHED.items()}
    own = {name: max(statistics.median(row[name][1] for row in rows) - idle[name], 0)
           for name in ATTACHED}
    for other in "sums", "events":
        name = f"hot 4 KiB pread, flight recorder by {other}"
        yield (f"{name}: traced time, median",
               statistics.median(row["flight"][0] / row[other][0] for row in rows), "ratio", None)
        yield (f"{name}: traced time, best", min(row["flight"][0] for row in rows)
               / min(row[other][0] for row in rows), "ratio", None)
    yield ("hot 4 KiB pread, flight recorder by events: the tracer's own CPU",
           own["flight"] / own["events"], "ratio", OWN)
