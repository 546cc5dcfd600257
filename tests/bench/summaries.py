# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One report of a thousand nodes: from all of their traces, and from a summary of each.

The traces are copies of those of eight real runs, so they have fewer distinct names and processes
than a thousand real nodes would. Of the summaries, each has a host, a rank and files of its own.
"""
import os
import shutil
import time

from renaming import Summary
from tables import MIB

RUNS, NODES = 8, 1000
REPORT_S, REPORT_BYTES = 10, 1024 * MIB  # of the summaries, on two CPUs


def make_runs(bench, directory):
    """Records and summarizes real runs. Yields their (trace, summary)."""
    program = f"{bench.build}/faultline"
    for run in range(RUNS):
        trace, summary = f"{directory}/trace-{run}.flt", f"{directory}/summary-{run}.flt"
        bench.time(["env", f"RANK={run}", program, "run", "-q", "-o", trace, "--",
                    f"{bench.build}/tests/bench/loader", f"{bench.scratch}/loader", "500", "0.5"])
        bench.reader_memory([program, "summarize", "-q", "-o", summary, trace])
        yield trace, Summary(summary)


def measure(bench, say):
    """Yields (name, value, unit, target or None)."""
    say(f"{RUNS} runs of a loader, and a report of {NODES:,}")
    directory = f"{bench.scratch}/nodes"
    os.mkdir(directory)
    runs = list(make_runs(bench, directory))
    paths = {kind: [f"{directory}/{kind}-{node}.flt" for node in range(NODES)]
             for kind in ("traces", "summaries")}
    for node in range(NODES):
        trace, summary = runs[node % RUNS]
        shutil.copyfile(trace, paths["traces"][node])
        summary.write(paths["summaries"][node], f"node{node:04}", node,
                      (f"{bench.scratch}/loader", f"/scratch/{node}"))
    for kind, of in paths.items():
        size = sum(os.path.getsize(path) for path in of)
        began = time.monotonic()
        peak, seconds = bench.reader_memory([f"{bench.build}/faultline", "report", "-q", "--format",
                                             "json", *of])
        took = time.monotonic() - began
        limits = (REPORT_S, REPORT_BYTES) if kind == "summaries" else (None, None)
        yield f"report of {NODES:,} {kind}: their size", size, "bytes", None
        yield f"report of {NODES:,} {kind}: time", took, "s", limits[0]
        yield f"report of {NODES:,} {kind}: processor time", seconds, "s", None
        yield f"report of {NODES:,} {kind}: peak memory", peak, "bytes", limits[1]
    shutil.rmtree(directory)
