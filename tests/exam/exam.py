#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Examines the findings: jobs with a known cause, recorded cold with default options.

A job passes if the first finding that is not a note names its cause, and the finding's cost is
within a factor of 1.5 of the time that the change saves, measured without Faultline. If the cause
is a note (the CPU), which promises nothing, the note must come first. A sound job passes if it has
no finding of medium or higher severity other than its cold start.

Beside busy loops, every job also waits for CPUs, which the exam leaves out. A change that needs
a CPU of its own then saves nothing: such a job passes if the finding promises next to nothing.

usage: exam.py [--only NAME,...] [--keep DIR] [--runs N] [--beside N]
As root, because it drops the page cache.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
FAULTLINE = pathlib.Path(os.environ.get("BUILD", HERE.parents[1] / "build")) / "faultline"
FACTOR = 1.5
NOTHING = 0.1  # share of the run; finding_path.c's THRESHOLD_PATH_SHARE


@dataclasses.dataclass
class Job:
    name: str           # of the script in jobs/
    causes: tuple       # findings that name the cause; none: the job is sound
    words: str = ""     # that the finding's title or place must contain
    beside: bool = False  # something else must run that the job waits for, or with


JOBS = [
    Job("small_files", ("many-small-files",), ".jpg"),
    Job("memmap_random", ("mmap-random",), "tokens.bin"),
    Job("index_parsed", ("opened-again", "read-again"), "index.json"),
    Job("fsync_each", ("fsync-often",), "log"),
    Job("checkpoint", ("save-waits",), "checkpoint"),
    Job("tiny_writes", ("small-writes",), "tokens.txt"),
    Job("tiny_reads", ("small-reads-cached", "small-reads-storage"), "records.bin"),
    Job("random_preads", ("random-reads", "small-reads-storage"), "records.bin"),
    Job("sleeps", ("sleeps",), "sleeps.py"),
    Job("lock", ("helper-bound",), "exam_job.py"),
    Job("fetches", ("peer-waits",), "fetches.py", beside=True),
    Job("decode", ("cpu-bound",), "decode.py"),
    Job("one_worker", ("worker-bound",), "exam_job.py"),
    Job("neighbors", ("cpu-starved",), beside=True),
    Job("dropped_cache", ("fetched-again",), "shard.bin"),
    Job("spawned_pools", ("worker-start",), "python3"),
    Job("listdir", ("listed-again",), "images"),
    Job("lookups", ("failed-lookups",)),
    Job("strided", ("mmap-strided",), "rows.bin"),
    Job("sync_file", ("sync-writes",), "metrics"),
    Job("partial_pages", ("partial-writes",), "table.bin"),
    Job("imports", ("imports",)),
    Job("program_each", ("worker-start",), "python3"),
    Job("sound_compute", ()),
    Job("sound_readahead", ()),
]


def cool_down():
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def command(job, what, directory):
    return [sys.executable, str(HERE / "jobs" / f"{job.name}.py"), what, str(directory)]


def run(arguments, **options):
    start = time.monotonic()
    subprocess.run(arguments, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   **options)
    return time.monotonic() - start


def seconds(job, directory, fixed, runs):
    """Returns the median time of cold runs without Faultline."""
    times = []
    for _ in range(runs):
        cool_down()
        times.append(run(command(job, "run", directory),
                         env=dict(os.environ, **({"FIX": "1"} if fixed else {}))))
    return statistics.median(times)


def findings_of(job, directory, trace):
    cool_down()
    run([FAULTLINE, "run", "-q", "--force", "-o", trace, "--",
         *command(job, "run", directory)])
    report = json.loads(subprocess.run([FAULTLINE, "report", "--format", "json", trace], check=True,
                                       stdout=subprocess.PIPE).stdout)
    return report["findings"], report["trace"]["duration_ns"]


@dataclasses.dataclass
class Verdict:
    finding: str = "none"
    promised: float | None = None  # shares of the run
    saved: float | None = None
    right: bool = False


def judge_sound(findings):
    loud = [f for f in findings if f["severity"] in ("medium", "high") and f["id"] != "cold-start"]
    return Verdict(loud[0]["id"] if loud else "none", right=not loud)


def judge(job, findings, duration_ns, saved, crowded):
    if not job.causes:
        return judge_sound(findings)
    if not findings:
        return Verdict(saved=saved)
    first = findings[0]
    if first["severity"] == "note" and first["id"] not in job.causes and len(findings) > 1:
        first = findings[1]
    verdict = Verdict(first["id"], saved=saved)
    named = first["title"] + (first["where"] or "") + first["says"]
    verdict.right = first["id"] in job.causes and job.words in named
    if first["severity"] == "note":
        return verdict
    if first["cost_ns"] is None:
        verdict.right = False
        return verdict
    verdict.promised = first["cost_ns"] / duration_ns
    low, high = sorted((verdict.promised, max(saved, 0.001)))
    if not crowded or high >= NOTHING:
        verdict.right &= high <= FACTOR * low
    return verdict


def examine(job, directory, runs, crowded):
    directory.mkdir()
    run(command(job, "make", directory))
    beside = None
    if job.beside:
        # In the same session: the scheduler divides CPUs among sessions first (autogroup).
        beside = subprocess.Popen(command(job, "beside", directory), stdout=subprocess.PIPE,
                                  process_group=0)
        beside.stdout.readline()
    try:
        findings, duration_ns = findings_of(job, directory, directory / "trace.flt")
        if crowded and not job.beside:  # true, and of the exam's own making
            findings = [f for f in findings if f["id"] != "cpu-starved"]
        if not job.causes:
            return judge(job, findings, duration_ns, None, crowded)
        before = seconds(job, directory, False, runs)
        if job.name == "neighbors":
            stop(beside)
        after = seconds(job, directory, True, runs)
        return judge(job, findings, duration_ns, 1 - after / before, crowded)
    finally:
        if beside:
            stop(beside)


def stop(process):
    if process.poll() is None:
        os.killpg(process.pid, 9)
        process.wait()


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True)
             for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            stop(loop)


def percent(share):
    return "-" if share is None else f"{100 * share:.0f}%"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="names of jobs, separated by commas")
    parser.add_argument("--keep", help="new directory for data and traces, which stay")
    parser.add_argument("--runs", type=int, default=3, help="timed runs of each kind (default: 3)")
    parser.add_argument("--beside", type=int, default=0, metavar="N",
                        help="run beside that many busy loops")
    options = parser.parse_args()
    jobs = [job for job in JOBS if not options.only or job.name in options.only.split(",")]
    right = 0
    print(f"{'job':16} {'first finding':20} {'promised':>8} {'saved':>6}", flush=True)
    with (tempfile.TemporaryDirectory(prefix="faultline-exam-", dir="/var/tmp") as scratch,
          busy_loops(options.beside)):
        root = pathlib.Path(options.keep or scratch)
        root.mkdir(exist_ok=True)
        for job in jobs:
            verdict = examine(job, root / job.name, options.runs, options.beside)
            right += verdict.right
            print(f"{job.name:16} {verdict.finding:20} {percent(verdict.promised):>8} "
                  f"{percent(verdict.saved):>6}  {'right' if verdict.right else 'WRONG'}",
                  flush=True)
            if not options.keep:
                subprocess.run(["rm", "-rf", root / job.name], check=True)
    print(f"{right} of {len(jobs)}")
    return 0 if right == len(jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
