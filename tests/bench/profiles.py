# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Mode profile by mode trace: what each costs the traced program, the tracer itself, and the disk.

Must not know how either works. Runs of both take turns; of the tracer's own CPU time what it takes to
start and to stop is left out, which is the same for both.
"""
import os
import statistics

import tracers

MODES = ("trace", "profile")
TRACED, OWN = 1.02, 0.1


def one(bench, mode, argv):
    """ns an operation, seconds that the tracer computed, bytes of the trace."""
    tracer = tracers.Faultline(f"{bench.build}/faultline", "--mode", mode)
    ns, own, _ = bench.own_cpu(tracer.wrap(None, argv, bench.trace))
    return ns, own, os.path.getsize(bench.trace)


def measure(bench, say):
    """Yields (name, value, unit, target or None)."""
    program = f"{bench.build}/tests/bench/hotread"
    for threads in ("1", "2"):
        say(f"hot 4 KiB pread, {threads} threads: modes trace and profile")
        long = [program, f"{bench.scratch}/hot", threads, "2"]
        short = [program, f"{bench.scratch}/hot", threads, "0.001"]
        rows = [[one(bench, mode, long) for mode in MODES] for _ in range(bench.options.pairs // 2 + 1)]
        idle = {mode: min(one(bench, mode, short)[1] for _ in range(3)) for mode in MODES}
        ratios = [sums[0] / events[0] for events, sums in rows]
        own = {mode: statistics.median(row[number][1] for row in rows) - idle[mode]
               for number, mode in enumerate(MODES)}
        name = f"hot 4 KiB pread, {threads} threads, mode profile by mode trace"
        yield f"{name}: traced time, median", statistics.median(ratios), "ratio", TRACED
        yield (f"{name}: traced time, best", min(sums[0] for _, sums in rows)
               / min(events[0] for events, _ in rows), "ratio", None)
        yield f"{name}: the tracer's own CPU", max(own["profile"], 0) / own["trace"], "ratio", OWN
        yield (f"{name}: bytes of the trace",
               statistics.median(sums[2] / events[2] for events, sums in rows), "ratio", OWN)
