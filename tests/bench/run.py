#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The cost of tracing: self-timing programs, run untraced and traced in turn.

Ratios are medians over pairs A B A B of one run on one machine; absolute times are not judged. Next
to them are the ratio of the best traced to the best untraced time, which suffers less from other
load, and the same for empty programs attached where a tracer attaches, a lower bound for any
tracer. Prints tables, and writes the same as JSON to BUILD/bench.json.
"""
import argparse
import dataclasses
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import monitor
import profiles
import spans
import stacks
import summaries
import tracers
from running import (Failed, computed, last_line, mapped_rss, ns_each, peak_rss, remove, said_cpu,
                     wall)
from tables import (MIB, cost_row, figure, figures, print_costs, print_figures, print_rivals,
                    ratios)


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    program: str
    arguments: tuple  # {dir}: the scratch directory, {device}: a loop device, {s}: seconds to run
    calls: tuple = ()  # system calls that a rival must trace for the same information
    faults: bool = False
    target: float = None  # of the ratio; None: measured, not promised
    rivals: bool = False  # run the other tracers on it too
    times: int = 1  # run time relative to the others


WORKLOADS = [
    Workload("hot 4 KiB pread, 1 thread", "hotread", ("{dir}/hot", "1", "{s}"), ("pread64",),
             target=1.55, rivals=True),
    Workload("hot 4 KiB pread, 2 threads", "hotread", ("{dir}/hot", "2", "{s}"), ("pread64",),
             target=1.72),
    Workload("small files (4 calls each)", "smallfiles", ("{dir}/small", "1000", "{s}"),
             ("openat", "newfstatat", "read", "close"), target=1.55, rivals=True),
    Workload("minor file faults", "faults", ("{dir}/big", "minor", "{s}"), faults=True,
             rivals=True),
    Workload("major file faults, readahead", "faults", ("{dir}/big", "major", "{s}"), faults=True),
    Workload("cold random mmap, MADV_RANDOM", "faults", ("{dir}/big", "random", "{s}"), faults=True,
             target=1.10),
    Workload("io_uring, 4 KiB direct, 32 at once", "queue", ("{dir}/big", "direct", "{s}"),
             target=1.05),
    Workload("io_uring, 4 KiB cached, 32 at once", "queue", ("{dir}/big", "cached", "{s}")),
    Workload("loader of images, 2 workers", "loader", ("{dir}/loader", "500", "{s}"), faults=True,
             target=1.01, times=4),
]
# Additional cost of the block layer.
BLOCK_WORKLOADS = [
    Workload("block layer: 4 KiB direct pread, loop device", "queue", ("{device}", "single", "{s}"),
             target=1.05),
    Workload("block layer: io_uring, 4 KiB direct, 32 at once", "queue",
             ("{dir}/big", "direct", "{s}"), target=1.05),
]
# Additional cost of stacks.
STACK_WORKLOADS = [dataclasses.replace(workload, name=f"stacks: {workload.name}", target=1.02)
                   for workload in WORKLOADS
                   if workload.name.startswith(("hot 4 KiB pread, 1", "small", "cold", "loader"))]
BIG_FILE_BYTES = 256 * MIB
NEIGHBOUR, STARTING = "hot pread, untraced neighbour", "start and stop"
SWITCHES = "context switch"
SWITCH_NS, NEIGHBOUR_SWITCH_NS = 500, 100  # that the layer thread adds to a switch

BYTES_PER_EVENT = 8
RUN_MEMORY_BYTES = 64 * MIB
REPORT_EVENTS_PER_S = 20_000_000
REPORT_TWO_CPUS = 1.7  # speed-up over one CPU; also scales the one-CPU target
EXPORT_EVENTS_PER_S = 500_000
# Exports that use several CPUs: events per second of wall time, bytes of the file per event.
EXPORTS = [("perfetto", 3_000_000, 25), ("sqlite", 500_000, None)]
START_SECONDS = 0.12  # to start and to stop, above the command's own time
READER_GROWTH = 1.25  # maximum counted as "does not grow" for four times the events


class Bench:
    def __init__(self, options, scratch):
        self.options = options
        self.build = os.path.abspath(options.build)
        self.scratch = scratch
        self.faultline = tracers.Faultline(f"{self.build}/faultline")
        self.without_block = tracers.Faultline(
            f"{self.build}/faultline", "--layers", "task,syscall,fault,pagecache,span,async")
        self.without_thread = tracers.Faultline(
            f"{self.build}/faultline", "--layers", "task,syscall,fault,pagecache,span,async,block")
        self.without_stacks = tracers.Faultline(f"{self.build}/faultline", "--stacks", "off")
        self.device = None
        self.floors = [tracers.Floor(f"{self.build}/tests/bench/floor", kind)
                       for kind in ("empty", "clock")]
        self.trace = f"{scratch}/bench.flt"
        self.traced_events = self.traced_bytes = self.lost = 0

    # --- running programs ---

    def argv(self, workload, seconds):
        fill = {"dir": self.scratch, "device": self.device, "s": str(seconds * workload.times)}
        return [f"{self.build}/tests/bench/{workload.program}",
                *(argument.format(**fill) for argument in workload.arguments)]

    def time(self, argv):
        """Runs a program, possibly under a tracer; its own ns per operation."""
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return ns_each(argv, done)

    def own_cpu(self, argv):
        """For a self-measuring program under a tracer: its own ns per operation, the tracer's
        CPU seconds, including its start and end, and the run's seconds."""
        before, began = computed(), time.monotonic()
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        used, took = computed() - before, time.monotonic() - began
        return ns_each(argv, done), used - said_cpu(argv, done), took

    def start_and_stop(self):
        """Extra seconds that a command which does nothing takes under Faultline."""
        say("starting and stopping")
        pairs = [(wall(["true"]), wall(self.faultline.wrap(None, ["true"], self.trace)))
                 for _ in range(self.options.pairs)]
        remove(self.trace)
        return [traced - plain for plain, traced in pairs]

    def pairs(self, workload, tracer, seconds, count, after=lambda: None, beside=None):
        """Pairs of runs untraced, or under the tracer `beside`, and traced."""
        out = f"{self.scratch}/{'bench.flt' if tracer is self.faultline else 'rival.out'}"
        plain = self.argv(workload, seconds)
        traced = tracer.wrap(workload, plain, out)
        if beside:
            plain = beside.wrap(workload, plain, f"{self.scratch}/beside.flt")
        pairs = []
        for _ in range(count):
            pairs.append((self.time(plain), self.time(traced)))
            after()
        remove(out)
        remove(f"{self.scratch}/beside.flt")
        return pairs

    def time_traced(self, argv):
        """The same under Faultline; its recording is counted like the rest."""
        took = self.time(self.faultline.wrap(None, argv, self.trace))
        self.note_trace()
        return took

    def report_argv(self):
        return [f"{self.build}/faultline", "report", "-q", "--format", "json", self.trace]

    def export_argv(self):
        return [f"{self.build}/faultline", "export", "-q", "--to", "chrome", "-o", "-", self.trace]

    def report(self):
        """A report's data on the last trace."""
        done = subprocess.run(self.report_argv(), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["trace"]

    def note_trace(self):
        about = self.report()
        self.traced_events += about["events"]
        self.traced_bytes += os.path.getsize(self.trace)
        self.lost += about["lost"]["total"]

    # --- measurements ---

    def prepare(self):
        block = os.urandom(MIB)
        with open(f"{self.scratch}/big", "wb") as file:
            for _ in range(BIG_FILE_BYTES // MIB):
                file.write(block)
        os.sync()
        self.device = loop_device(f"{self.scratch}/big")
        # Makes the files, and finds out which do not work here.
        for workload in (*WORKLOADS, *STACK_WORKLOADS):
            if self.wants(workload.name):
                self.time(self.argv(workload, 0.1))

    def wants(self, row):
        return not self.options.only or any(text in row for text in self.options.only)

    def costs(self):
        for workload in WORKLOADS:
            if not self.wants(workload.name):
                continue
            say(f"{workload.name}: faultline")
            lost = self.lost
            pairs = self.pairs(workload, self.faultline, self.options.seconds, self.options.pairs,
                               self.note_trace)
            row = cost_row(workload.name, pairs, workload.target, self.lost - lost)
            for floor in self.floors:
                say(f"{workload.name}: {floor.kind} programs")
                row[floor.kind] = self.floor(workload, floor)
            yield row
        if self.wants(NEIGHBOUR):
            yield self.neighbour()
        for workload, without in [*((each, self.without_block) for each in BLOCK_WORKLOADS),
                                  *((each, self.without_stacks) for each in STACK_WORKLOADS)]:
            if not self.wants(workload.name):
                continue
            if "{device}" in workload.arguments and not self.device:
                say(f"{workload.name}: no loop device is available")
                continue
            say(workload.name)
            lost = self.lost
            pairs = self.pairs(workload, self.faultline, self.options.seconds, self.options.pairs,
                               self.note_trace, without)
            yield {**cost_row(workload.name, pairs, workload.target, self.lost - lost),
                   "empty": None, "clock": None}

    def close(self):
        if self.device:
            subprocess.run(["losetup", "-d", self.device], check=False)

    def floor(self, workload, floor):
        """The ratio of bests under empty programs; None if they cannot be attached."""
        try:
            return ratios(self.pairs(workload, floor, self.options.seconds,
                                     max(3, self.options.pairs // 2)))["best_ratio"]
        except Failed as failure:
            say(str(failure))
            return None

    def neighbour(self):
        """An unrelated process, while something else is traced."""
        workload = WORKLOADS[0]
        say("untraced neighbour")
        plain, pairs = self.argv(workload, self.options.seconds), []
        for _ in range(self.options.pairs):
            alone = self.time(plain)
            pairs.append((alone, self.time_beside(plain, self.faultline)))
        row = cost_row(NEIGHBOUR, pairs, None, 0)
        return {**row, "empty": self.floor(workload, self.floors[0]), "clock": None}

    def time_beside(self, argv, tracer):
        """Runs an untraced program while a tracer records another one."""
        other_job = ["sh", "-c", "echo traced; exec sleep 1000"]
        with subprocess.Popen(tracer.wrap(None, other_job, self.trace),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as other:
            other.stdout.readline()  # tracing has begun when the command runs
            took = self.time(argv)
            other.send_signal(signal.SIGTERM)
        return took

    def switches(self):
        """What the layer thread adds to a context switch: of the traced job, and of another."""
        argv = [f"{self.build}/tests/bench/switches", str(self.options.seconds)]
        tracers_of = self.without_thread, self.faultline
        for name, run, most in (
                ("traced", lambda tracer: self.time(tracer.wrap(None, argv, self.trace)), SWITCH_NS),
                ("untraced neighbour", lambda tracer: self.time_beside(argv, tracer),
                 NEIGHBOUR_SWITCH_NS)):
            say(f"{SWITCHES}, {name}")
            pairs = [[run(tracer) for tracer in tracers_of] for _ in range(self.options.pairs)]
            plain = statistics.median(without for without, _ in pairs)
            yield figure(f"{SWITCHES}, {name}, without layer thread", "ns", plain, None)
            yield figure(f"{SWITCHES}, {name}, added by layer thread", "ns",
                         statistics.median(traced - without for without, traced in pairs), most)
        remove(self.trace)
        say(f"{SWITCHES}, empty programs")
        floor = tracers.Floor(f"{self.build}/tests/bench/floor", "switch").wrap(None, argv, "")
        try:
            pairs = [[self.time(argv), self.time(floor)] for _ in range(self.options.pairs)]
        except Failed as failure:
            say(str(failure))
            return
        yield figure(f"{SWITCHES}, added by two empty programs", "ns",
                     statistics.median(floored - plain for plain, floored in pairs), None)

    def rivals(self):
        for workload in WORKLOADS:
            for rival in tracers.RIVALS if workload.rivals else ():
                row = {"tool": rival.name, "workload": workload.name}
                reason = rival.why_not(workload)
                if not reason:
                    say(f"{workload.name}: {rival.name}")
                    try:
                        pairs = self.pairs(workload, rival, min(0.5, self.options.seconds), 3)
                    except Failed as failure:
                        reason = str(failure)
                yield {**row, "skipped": reason} if reason else {**row, **ratios(pairs)}

    def starting(self):
        seconds = self.start_and_stop()
        yield figure(f"{STARTING}, best", "s", min(seconds), START_SECONDS)
        yield figure(f"{STARTING}, median", "s", statistics.median(seconds), None)

    def figures(self):
        loop = next(workload for workload in WORKLOADS if workload.program == "loader")
        argv = self.argv(loop, self.options.seconds)
        _, cpu, took = self.own_cpu(self.faultline.wrap(loop, argv, self.trace))
        yield figure(f"{loop.name}: the tracer's own CPU time in {took:.1f} s", "s", cpu, None)
        hot = WORKLOADS[1]
        say(f"{hot.name}, {self.options.long_seconds} s: nothing lost?")
        self.time(self.faultline.wrap(hot, self.argv(hot, self.options.long_seconds), self.trace))
        self.note_trace()
        yield figure("trace, bytes an event", "bytes", self.traced_bytes / self.traced_events,
                     BYTES_PER_EVENT)
        yield figure("events lost, of all above", "events", self.lost, 0)

        peaks = {"report": [], "export": []}
        for events in (self.options.events // 4, self.options.events):
            say(f"a trace of {events:,} events")
            peak, rings = self.run_memory(events)
            yield figure(f"run, peak memory less {rings / MIB:.0f} MiB of rings, {events:,} events",
                         "bytes", peak - rings, RUN_MEMORY_BYTES)
            count = self.report()["events"]
            if events == self.options.events and len(os.sched_getaffinity(0)) > 1:
                one, two = self.two_cpus(self.report_argv())
                yield figure(f"report, as fast on two CPUs as on one, {count:,} events", "ratio",
                             one / two, REPORT_TWO_CPUS, at_least=True)
                yield figure(f"report, events a second on two CPUs, {count:,} events", "events/s",
                             count / two, REPORT_TWO_CPUS * REPORT_EVENTS_PER_S, at_least=True)
            for name, argv, least in (("report", self.report_argv(), REPORT_EVENTS_PER_S),
                                      ("export", self.export_argv(), EXPORT_EVENTS_PER_S)):
                peak, seconds = self.reader_memory(argv)
                peaks[name].append(peak)
                yield figure(f"{name}, events a second and core, {count:,} events", "events/s",
                             count / seconds, least, at_least=True)
        yield from self.exports(count)
        yield from self.many_kinds()
        for name, (small, large) in peaks.items():
            memory = f"{name}, peak memory"
            yield figure(f"{memory}, {self.options.events // 4:,} events", "bytes", small, None)
            yield figure(f"{memory}, {self.options.events:,} events", "bytes", large,
                         small * READER_GROWTH)

    def two_cpus(self, argv):
        """Seconds that a command takes on one CPU and on two: the best of alternating pairs."""
        cpus = sorted(os.sched_getaffinity(0))[:2]
        times = {1: [], 2: []}
        for _ in range(self.options.pairs):
            for count, taken in times.items():
                taken.append(wall(argv, stdout=subprocess.DEVNULL,
                                  preexec_fn=lambda: os.sched_setaffinity(0, cpus[:count])))
        return min(times[1]), min(times[2])

    def exports(self, count):
        """Speed and size of exports of the last trace, which has this many events."""
        out = f"{self.scratch}/exported"
        for to, least, most_bytes in EXPORTS:
            say(f"export to {to}")
            argv = [f"{self.build}/faultline", "export", "-q", "--force", "--to", to, "-o", out,
                    self.trace]
            taken = [wall(argv) for _ in range(min(3, self.options.pairs))]
            yield figure(f"export to {to}, events a second, {count:,} events", "events/s",
                         count / min(taken), least, at_least=True)
            yield figure(f"export to {to}, bytes an event", "bytes", os.path.getsize(out) / count,
                         most_bytes)
            remove(out)

    def many_kinds(self):
        """Reports on synthetic traces: calls, faults and failed opens of many processes in turn,
        and the same with spans."""
        say("reports of traces of many kinds")
        argv = [f"{self.build}/tests/bench/bench_report", str(self.options.events), self.scratch]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        speeds = re.findall(r"([0-9.]+) M events/s", done.stdout)
        if done.returncode or len(speeds) != 4:
            raise Failed(f"bench_report: {last_line(done.stderr)}")
        for name, speed in (("many kinds", speeds[1]), ("half of them spans", speeds[3])):
            yield figure(f"report, events a second and core, {name}", "events/s",
                         float(speed) * 1e6, REPORT_EVENTS_PER_S, at_least=True)

    def spans(self):
        say("spans: untraced")
        of_all = self.traced_events, self.traced_bytes, self.lost
        self.traced_events = self.traced_bytes = self.lost = 0
        try:
            yield from figures(spans.measure(self, say))
            yield figure("events lost, of spans", "events", self.lost, 0)
            yield figure("trace, bytes an event, of spans", "bytes",
                         self.traced_bytes / self.traced_events, BYTES_PER_EVENT)
        finally:
            self.traced_events, self.traced_bytes, self.lost = of_all

    def sizes(self):
        """Measurements other than ratios of one program's time: in parts that can run
        separately."""
        parts = [(SWITCHES, self.switches), ("spans", self.spans)]
        for name, measure in (("stacks: trace size", stacks.measure),
                              ("modes trace and profile", profiles.measure),
                              ("flight recorder", profiles.measure_flight),
                              ("summaries", summaries.measure), ("monitor", monitor.measure),
                              ("monitor, many cgroups", monitor.measure_swarm)):
            parts.append((name, lambda measure=measure: figures(measure(self, say))))
        parts += [(STARTING, self.starting), ("reports and exports", self.figures)]
        return [part for name, part in parts if self.wants(name)]

    def run_memory(self, events):
        """Peak resident memory of `faultline run`, and the rings' share, in bytes."""
        argv = [f"{self.build}/tests/bench/hotread", f"{self.scratch}/hot", "2", "0",
                str(events // 2)]
        peak = rings = 0
        with subprocess.Popen(self.faultline.wrap(None, argv, self.trace), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) as run:
            while run.poll() is None:
                peak = max(peak, peak_rss(run.pid))
                rings = max(rings, mapped_rss(run.pid, "bpf-map", "bpf_map"))
                time.sleep(0.02)
        return peak, rings

    def reader_memory(self, argv):
        """Peak resident memory of a command that reads the last trace, bytes, and its CPU time,
        s."""
        reader = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        peak = pid = 0
        while not pid:
            peak = max(peak, peak_rss(reader.pid))
            time.sleep(0.002)
            pid, status, usage = os.wait4(reader.pid, os.WNOHANG)
        reader.returncode = os.waitstatus_to_exitcode(status)
        if reader.returncode:
            raise Failed(f"faultline {argv[1]}: exit status {reader.returncode}")
        return peak, usage.ru_utime + usage.ru_stime


def loop_device(path):
    """A loop device over a file; None if unavailable."""
    try:
        done = subprocess.run(["losetup", "--find", "--show", "--direct-io=on", path],
                              capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def measured(part, failures):
    """The rows of a part; if it fails, the other parts and its own earlier rows are kept."""
    rows = []
    try:
        for row in part():
            rows.append(row)
    except (Failed, subprocess.CalledProcessError) as failure:
        say(f"{failure}")
        failures.append(failure)
    return rows


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description="What tracing costs, as ratios paired in one run.")
    parser.add_argument("--build", default="build", help="where make put things (build)")
    parser.add_argument("--dir", help="where to put some hundred MiB of files, on a real file "
                        "system (BUILD)")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of runs a row (%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run (%(default)s)")
    parser.add_argument("--events", type=int, help="in the longest trace (8 million)")
    parser.add_argument("--full", action="store_true", help="15 pairs of 1 s, 50 million events")
    parser.add_argument("--only", action="append", metavar="TEXT", help="those rows of what "
                        "faultline costs, and those parts of the rest, whose names hold it; may be "
                        "given again")
    parser.add_argument("--no-rivals", action="store_true", help="leave the other tracers out")
    options = parser.parse_args()
    if options.full:
        options.pairs, options.seconds = 15, 1.0
    options.events = options.events or (50_000_000 if options.full else 8_000_000)
    options.long_seconds = 10
    return options


def main():
    options = arguments()
    if os.geteuid() != 0:
        sys.exit("bench: only root may trace: sudo make bench")
    for name in ("SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND"):
        os.environ.pop(name, None)  # traced programs run as root, as untraced ones do
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"load average {load:.1f}: others are at work on this machine; ratios will be noisy")
    scratch = tempfile.mkdtemp(prefix="bench.", dir=options.dir or options.build)
    bench = Bench(options, scratch)
    failures = []
    try:
        bench.prepare()
        costs = measured(bench.costs, failures)
        rivals = [] if options.no_rivals or options.only else measured(bench.rivals, failures)
        sizes = [row for part in bench.sizes() for row in measured(part, failures)]
    except Failed as failure:
        sys.exit(f"bench: {failure}")
    finally:
        bench.close()
        shutil.rmtree(scratch)

    if costs:
        print_costs(costs)
    if rivals:
        print_rivals(rivals, costs)
    if sizes:
        print_figures(sizes)
    if failures:
        sys.exit("\n".join(["", *(f"bench: {failure}" for failure in failures)]))
    if options.only:
        return
    result = f"{options.build}/bench.json"
    with open(result, "w") as file:
        json.dump({"kernel": platform.release(), "machine": platform.machine(),
                   "cpus": os.cpu_count(), "load": load,
                   "pairs": options.pairs, "seconds": options.seconds, "costs": costs,
                   "rivals": rivals, "figures": sizes}, file, indent=1)
    print(f"\nThe same as JSON: {result}")


if __name__ == "__main__":
    main()
