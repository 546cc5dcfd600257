# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One report of a thousand nodes: from all of their traces, and from a summary of each.

The traces are copies of those of eight real runs, so they have fewer distinct names and processes
than a thousand real nodes would.
"""
import os
import shutil

RUNS, NODES = 8, 1000


def measure(bench, say):
    """Yields (name, value, unit, target or None)."""
    say(f"{RUNS} runs of a loader, and a report of {NODES:,}")
    place = f"{bench.scratch}/nodes"
    os.mkdir(place)
    program = f"{bench.build}/faultline"
    paths = {"traces": [], "summaries": []}
    for run in range(RUNS):
        trace, summary = f"{place}/trace-{run}.flt", f"{place}/summary-{run}.flt"
        bench.time(["env", f"RANK={run}", program, "run", "-q", "-o", trace, "--",
                    f"{bench.build}/tests/bench/loader", f"{bench.scratch}/loader", "500", "0.5"])
        bench.reader_memory([program, "summarize", "-q", "-o", summary, trace])
        for kind, path in (("traces", trace), ("summaries", summary)):
            for node in range(run, NODES, RUNS):
                copy = f"{place}/{kind}-{node}.flt"
                shutil.copyfile(path, copy)
                paths[kind].append(copy)
    for kind, of in paths.items():
        size = sum(os.path.getsize(path) for path in of)
        peak, seconds = bench.reader_memory([program, "report", "-q", "--format", "json", *of])
        yield f"report of {NODES:,} {kind}: their size", size, "bytes", None
        yield f"report of {NODES:,} {kind}: processor time", seconds, "s", None
        yield f"report of {NODES:,} {kind}: peak memory", peak, "bytes", None
    shutil.rmtree(place)
