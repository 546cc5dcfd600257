#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs several tracers at once, over and over, without an idle CPU, to find missed spans.

usage: BUILD=DIR tests/bench/soak_spans.py [--rounds 500] [--tracers 4]

Each round starts the tracers at the same moment, each with a program of sixty spans, and expects
all sixty in each trace. In turn, the program is the tracer's own command, runs behind a shell, and
loads the library at run time. Prints the missed spans and a sum; exits with 1 if any were missed.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests/live"), os.path.join(TOP, "tests/live/spans")]
sys.dont_write_bytecode = True

import harness  # noqa: E402
from harness import machine  # noqa: E402
from test_span_marks import library, program  # noqa: E402

SPANS = 60
SHELL = ["sh", "-c", '"$@"; exit $?', "sh"]
WAYS = (("built in", []), ("built in", SHELL), ("opened", []), ("opened", SHELL))


def start(directory, number, way, before):
    return machine().start(
        [machine().faultline, "run", "-q", "-o", f"{directory}/{number}.flt", "--"]
        + [*before, program(way), f"{directory}/{number}.json", "sixty"],
        env={**os.environ, "SPAN_LIBRARY": library()},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def outcome(path):
    """The number of the sixty in a trace: begun, unfinished, lost."""
    report = harness.report_of(path)
    rows = report["spans"] or []
    return (sum(row["count"] for row in rows), sum(row["unfinished"] for row in rows),
            report["trace"]["lost"]["total"])


def play(number, tracers):
    """One round; how many traces had each result."""
    directory = machine().new_dir()
    way, before = WAYS[number % len(WAYS)]
    jobs = [start(directory, i, way, before) for i in range(tracers)]
    seen = collections.Counter()
    for i, job in enumerate(jobs):
        output = job.communicate(timeout=10 * harness.LIMIT)[1]
        found = outcome(f"{directory}/{i}.flt") if not job.returncode else ("failed", output)
        seen[found] += 1
        if found != (SPANS, 0, 0):
            print(f"round {number}, {way}, {' '.join(before[:1])}: {found}", flush=True)
    machine().jobs.clear()
    shutil.rmtree(directory)
    return seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--tracers", type=int, default=4)
    options = parser.parse_args()
    program("built in"), program("opened")
    cpus = len(os.sched_getaffinity(0))
    busy = [subprocess.Popen(["nice", "sh", "-c", "while :; do :; done"]) for _ in range(cpus)]
    seen, began = collections.Counter(), time.monotonic()
    try:
        for number in range(options.rounds):
            seen += play(number, options.tracers)
    finally:
        for job in busy:
            job.kill()
            job.wait()
    whole = seen.pop((SPANS, 0, 0), 0)
    print(f"{whole} of {options.rounds * options.tracers} traces have all of {SPANS} spans "
          f"and nothing lost, in {time.monotonic() - began:.0f} s")
    for found, count in seen.items():
        print(f"{count} have {found}")
    return bool(seen)


sys.exit(main())
