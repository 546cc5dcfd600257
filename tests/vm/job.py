# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A guest job: a workload under `faultline run` and an independent account of the same work, with
which the trace that the guest leaves is compared.

Numbers that readahead or scheduling may change are only compared with an account of the same run.
"""
import glob
import json
import os
import subprocess

VARIANTS = {
    "task": ["tp_btf", "tp_btf*3"],
    "syscall": ["tp_btf", "tp"],
    "fault": ["fentry", "raw_tp+perf", "tp+perf", "kprobe+perf"],
    "pagecache": ["tp_btf", "tp_btf*3"],
    "block": ["tp_btf", "tp_btf*3"],
    "async": ["tp_btf", "tp"],
    "vfs": ["fentry", "kprobe"],
    "fuse": ["tp_btf", "tp_btf*3", "fentry", "kprobe"],
    "nfs": ["raw_tp", "raw_tp*3"],
    "9p": ["tp_btf", "tp_btf*3"],
    "netfs": ["tp_btf", "tp_btf*3"],
}
ATTACHED = " is attached to "  # printed by faultline -v for each program
LIMIT = 900  # seconds for one job; only to end hanging ones
WORKLOAD_ABSENT = "77"  # exit status of tests/live/workloads/io_uring/uring.c if it cannot run
TOOL_ABSENT = "76"  # exit status of `need` in a guest, whose last words name the missing tool
WORKLOAD_BROKEN = "99"  # exit status of tests/live/workloads/live.h
# Maximum share of a job's events that may be lost on kernels that skip no program.
LOST_MAX = 0.1


class Wrong(Exception):
    """Faultline's output is wrong."""


def check(condition, text):
    if not condition:
        raise Wrong(text)


def equal(got, expected, what):
    check(got == expected, f"{what}: {got}, expected {expected}")


class Absent(Exception):
    """The kernel lacks the variant's hook; the text gives the reason."""


class NotRun(Exception):
    """The guest was too slow for it, or an assumption of the job did not hold."""


class Results:
    """A job's files, and Faultline's output on its trace."""

    def __init__(self, outcome, job, faultline, passed_over=False):
        """`passed_over`: the kernel skips a program that is being preempted."""
        self.outcome, self.job, self.faultline = outcome, job, faultline
        self.passed_over = passed_over

    def text(self, name):
        return self.outcome.read(self.job, name)

    def names(self, pattern):
        """The job's files that match a pattern."""
        return [os.path.basename(path) for path in glob.glob(self.outcome.path(self.job, pattern))]

    def messages(self):
        """The job's stderr, without the lines on attached programs."""
        lines = (self.text("stderr") or "").splitlines()
        return "\n".join(line for line in lines if ATTACHED not in line).strip()

    def attached(self):
        """The names of the programs that were attached."""
        lines = (self.text("stderr") or "").splitlines()
        return {line.split()[1] for line in lines if ATTACHED in line}

    def ended_well(self):
        """Checks the job's exit status, or raises the reason its variant is unavailable on this
        kernel."""
        status, stderr = (self.text("status") or "").strip(), self.messages()
        if status == "125" and "does not exist in this kernel" in stderr:
            raise Absent(stderr.split(" is off: ")[-1].splitlines()[0])
        if not status:
            raise NotRun("no time was left for it")
        if status == WORKLOAD_ABSENT:
            raise Absent("what the workload uses")
        if status == TOOL_ABSENT:
            raise NotRun(f"a tool is missing: {stderr.splitlines()[-1]}")
        if status == WORKLOAD_BROKEN:
            raise NotRun(f"the workload could not do its work: {stderr}")
        equal(status, "0", f"exit status ({stderr})")

    def chosen(self, job):
        """The variant, if Faultline chose it."""
        if job.variant != "chosen" or job.layer not in VARIANTS:
            return ""
        return f" ({self.report()['trace']['layers'][job.layer]['attach']})"

    def account(self, name="account"):
        text = self.text(name)
        check(text, f"no {name}: {self.messages()}")
        return json.loads(text)

    def call(self, *arguments, trace="trace.flt"):
        path = self.outcome.path(self.job, trace)
        check(os.path.exists(path), f"no trace: {self.messages()}")
        done = subprocess.run([self.faultline, *arguments, path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        check(done.returncode == 0, f"{arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def report(self, trace="trace.flt"):
        return json.loads(self.call("report", "--format", "json", trace=trace))

    def printed(self, layer):
        text = self.call("print", "--format", "json", "--layer", layer)
        return [json.loads(line) for line in text.splitlines()]


def attach_of(report, layer):
    return report["trace"]["layers"][layer]["attach"]


def call_counts(report):
    return {
        row["op"]: (row["count"], row["errors"])
        for row in report["operations"]
        if row["layer"] == "syscall" and row["count"]
    }


def strace_counts(text):
    counts = {}
    for line in (text or "").splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdigit() and words[0] != "total":
            counts[words[0]] = (int(words[1]), int(words[2]) if len(words) > 2 else 0)
    return counts


def file_row(report, path):
    found = [row for row in report["files"] or [] if row["path"] == path]
    equal(len(found), 1, f"rows of {path}")
    return found[0]


def fetched(row):
    """Bytes brought into the page cache for a file, by any operation or none."""
    return row["fetched_bytes"] + row["created_bytes"]


def reported_losses(results, report):
    """Events reported as lost. If the kernel skips preempted programs, the number depends on
    preemption: only bounds hold."""
    lost, events = report["trace"]["lost"], report["trace"]["events"]
    check(results.passed_over or lost["total"] <= LOST_MAX * events,
          f"{lost['total']} of {events} events lost ({lost['by_layer']})")
    return lost["total"]


class Job:
    """`judge` takes the Results, and returns the message for success."""

    def __init__(self, layer, variant, name, script, judge):
        self.layer, self.variant, self.name = layer, variant, name
        self.script, self.judge = script, judge

    @property
    def id(self):
        return "-".join((self.layer, self.variant, self.name)).replace("*", "x").replace("+", "_")

    def plan(self):
        """The guest's command line."""
        force = f"--force-variant {self.layer}={self.variant}" if self.variant != "chosen" else ""
        head = f"RUN='/bin/faultline run -v -o trace.flt {force}'; "
        script = (head + self.script).replace("'", "'\\''")
        return f"job {self.id} {LIMIT} '{script}'\n"
