#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Examines the findings: jobs with a known cause, recorded cold with default options.

A job passes if the first finding that is not a note names its cause, and the finding's cost is
within a factor of 1.5 of the time that the change saves, measured without Faultline. If the cause
is a note (the CPU), which promises nothing, the note must come first. A sound job passes if it has
no finding of medium or higher severity other than its cold start. A summary must have the same
first finding, and so must a recording in mode profile if it can know the cause.

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
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
FAULTLINE = pathlib.Path(os.environ.get("BUILD", HERE.parents[1] / "build")) / "faultline"
FACTOR = 1.5
NOTHING = 0.1  # share of the run; shared/finding_threshold.h's THRESHOLD_MUCH_OF_RUN


@dataclasses.dataclass
class Job:
    name: str           # of the script, in a folder of jobs/
    causes: tuple       # findings that name the cause; none: the job is sound
    words: str = ""     # that the finding's title, place, evidence or advice must contain
    sums: tuple | None = None  # findings of mode profile, if it cannot know the cause
    beside: bool = False  # something else must run that the job waits for, or with


JOBS = [
    Job("small_files", ("many-small-files",), ".jpg"),
    Job("memmap_random", ("mmap-random",), "tokens.bin", sums=("mmap-faults",)),
    Job("index_parsed", ("opened-again", "read-again"), "index.json",
        sums=("opened-again", "read-again", "small-reads-storage")),
    Job("tar_scan", ("opened-again",), "scanned"),
    Job("fsync_each", ("fsync-often",), "log"),
    Job("checkpoint", ("save-waits",), "checkpoint"),
    Job("history_again", ("rewritten",), "history.jsonl",
        sums=("opened-again", "save-waits", "small-writes", "cpu-bound", "none")),
    Job("tiny_writes", ("small-writes",), "tokens.txt"),
    Job("tiny_reads", ("small-reads-cached", "small-reads-storage"), "records.bin"),
    Job("random_preads", ("random-reads", "small-reads-storage"), "records.bin"),
    Job("sleeps", ("sleeps",), "sleeps.py"),
    Job("lock", ("helper-bound",), "exam_job.py", sums=("cpu-bound", "none")),
    Job("file_lock", ("lock-wait",), "lock.0"),
    Job("fetches", ("peer-waits",), "fetches.py", beside=True),
    Job("decode", ("cpu-bound",), "decode.py"),
    Job("fresh_buffers", ("fresh-memory",), "fresh_buffers.py"),
    Job("queue_arrays", ("pickled-data",), "queue_arrays.py",
        sums=("fresh-memory", "cpu-bound", "none")),
    Job("one_worker", ("worker-bound",), "exam_job.py", sums=("none",)),
    Job("neighbors", ("cpu-starved",), beside=True),
    Job("dropped_cache", ("fetched-again",), "shard.bin"),
    Job("spawned_pools", ("worker-start",), "python3", sums=("cold-start",)),
    Job("listdir", ("listed-again",), "images"),
    Job("lookups", ("failed-lookups",), sums=("metadata-heavy",)),
    Job("strided", ("mmap-strided",), "rows.bin", sums=("mmap-faults",)),
    Job("sync_file", ("sync-writes",), "metrics", sums=("write-bound",)),
    Job("partial_pages", ("partial-writes",), "table.bin"),
    Job("imports", ("imports",), sums=("metadata-heavy",)),
    Job("program_each", ("worker-start",), "python3", sums=("metadata-heavy", "cold-start")),
    Job("unsharded", ("read-by-several",), "shard"),
    Job("chunk_cache", ("read-again",), "rdcc_nbytes"),
    Job("unpacked_again", ("read-again",), "train.npz"),
    Job("tiny_tasks", ("pickled-data",), "tiny_tasks.py", sums=("cpu-starved", "none")),
    Job("walked_again", ("metadata-heavy",), "images"),
    Job("backward", ("random-reads",), "episodes.bin", sums=("small-reads-storage",)),
    Job("two_programs", ("worker-start",), "1 more program",
        sums=("metadata-heavy", "cold-start", "many-small-files")),
    Job("resolved_paths", ("metadata-heavy",), "resolved_paths"),
    Job("process_each", ("workers-renewed",), sums=("none", "fresh-memory", "cpu-bound")),
    Job("rank_sleeps", ("rank-behind",), "rank 1"),
    Job("parsed_cache", ("read-again",), "boxes.pkl"),
    Job("unbuffered_lines", ("small-reads-cached",), "labels.txt"),
    Job("uneven_ranks", ("rank-behind",), "rank 1"),
    Job("sound_compute", ()),
    Job("sound_kept", ()),
    Job("sound_readahead", ()),
]


def cool_down():
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def command(job, what, directory):
    script, = HERE.glob(f"jobs/*/{job.name}.py")
    return [sys.executable, str(script), what, str(directory)]


def run(arguments, **options):
    start = time.monotonic()
    subprocess.run(arguments, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   **options)
    return time.monotonic() - start


def seconds(job, directory, fixed):
    """Returns the time of a cold run without Faultline."""
    cool_down()
    return run(command(job, "run", directory),
               env=dict(os.environ, **({"FIX": "1"} if fixed else {})))


def variation(times):
    """Returns the mean distance of times from their median, as a share of it; None for one time."""
    if len(times) < 2:
        return None
    median = statistics.median(times)
    return statistics.mean(abs(time - median) for time in times) / median


def saving(job, directory, runs, beside):
    """Returns the share of the time that the change saves, by medians, and how much times without
    the change vary. Runs with and without it alternate, because the speed of a device drifts."""
    before, after = [], []
    for _ in range(runs):
        before.append(seconds(job, directory, False))
        if job.name != "neighbors":
            after.append(seconds(job, directory, True))
    if job.name == "neighbors":
        stop(beside)
        after = [seconds(job, directory, True) for _ in range(runs)]
    return 1 - statistics.median(after) / statistics.median(before), variation(before)


def record(job, directory, trace, *options):
    cool_down()
    run([FAULTLINE, "run", "-q", "--force", "-o", trace, *options, "--",
         *command(job, "run", directory)])


def findings_of(trace, without):
    """Returns the findings, except the one named, and the run's duration."""
    report = json.loads(subprocess.run([FAULTLINE, "report", "--format", "json", trace], check=True,
                                       stdout=subprocess.PIPE).stdout)
    return ([f for f in report["findings"] if f["id"] != without], report["trace"]["duration_ns"])


def first_of(job, findings):
    """Returns the first finding that counts, or None: a note only if it is the cause."""
    return next((f for f in findings if f["severity"] != "note" or f["id"] in job.causes), None)


def names_of(job, findings):
    loud = [f for f in findings if f["severity"] in ("medium", "high") and f["id"] != "cold-start"]
    first = (loud[0] if loud else None) if not job.causes else first_of(job, findings)
    return first["id"] if first else "none"


def check_sums(job, directory, without, findings):
    """Returns what is wrong with the first finding of the summary, or of mode profile."""
    summary, sums = directory / "trace.sum", directory / "profile.flt"
    run([FAULTLINE, "summarize", "--force", "-o", summary, directory / "trace.flt"])
    name = names_of(job, findings_of(summary, without)[0])
    if name != names_of(job, findings):
        return f"summary: {name}"
    record(job, directory, sums, "--mode", "profile")
    name = names_of(job, findings_of(sums, without)[0])
    expected = job.sums or job.causes or ("none",)
    return "" if name in expected else f"profile: {name}"


@dataclasses.dataclass
class Verdict:
    finding: str = "none"
    promised: float | None = None  # shares of the run
    saved: float | None = None
    varies: float | None = None  # time of runs without the change
    right: bool = False
    sums: str = ""  # what is wrong with the summary or mode profile


def judge(job, findings, duration_ns, saved, crowded=False):
    if not job.causes:
        name = names_of(job, findings)
        return Verdict(name, right=name == "none")
    first = first_of(job, findings)
    if not first:
        return Verdict(saved=saved, right=crowded and saved < NOTHING)
    verdict = Verdict(first["id"], saved=saved)
    named = " ".join(first[key] or "" for key in ("title", "where", "says", "advice"))
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
        # True, and of the exam's own making.
        without = "cpu-starved" if crowded and not job.beside else None
        record(job, directory, directory / "trace.flt")
        findings, duration_ns = findings_of(directory / "trace.flt", without)
        sums = check_sums(job, directory, without, findings)
        saved, varies = saving(job, directory, runs, beside) if job.causes else (None, None)
        verdict = judge(job, findings, duration_ns, saved, crowded)
        verdict.sums, verdict.varies = sums, varies
        return verdict
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
    os.environ["PYTHONPATH"] = str(HERE)  # of exam_job
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the loops, too
    jobs = [job for job in JOBS if not options.only or job.name in options.only.split(",")]
    right = unlike = 0
    print(f"{'job':16} {'first finding':20} {'promised':>8} {'saved':>6} {'varies':>6}", flush=True)
    with (tempfile.TemporaryDirectory(prefix="faultline-exam-", dir="/var/tmp") as scratch,
          busy_loops(options.beside)):
        root = pathlib.Path(options.keep or scratch)
        root.mkdir(exist_ok=True)
        for job in jobs:
            verdict = examine(job, root / job.name, options.runs, options.beside)
            right += verdict.right
            unlike += bool(verdict.sums)
            print(f"{job.name:16} {verdict.finding:20} {percent(verdict.promised):>8} "
                  f"{percent(verdict.saved):>6} {percent(verdict.varies):>6}  "
                  f"{'right' if verdict.right else 'WRONG'}  "
                  f"{verdict.sums}".rstrip(), flush=True)
            if not options.keep:
                subprocess.run(["rm", "-rf", root / job.name], check=True)
    print(f"{right} of {len(jobs)}; {unlike} with another finding in a summary or mode profile")
    return 0 if right == len(jobs) and not unlike else 1


if __name__ == "__main__":
    sys.exit(main())
