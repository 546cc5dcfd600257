# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service: its own cost, and its cost for watched and for unwatched programs.

A node is never quite idle: the number of processes started during a measurement is printed next to
the service's cost. Ratios are of pairs of one run, as everywhere.
"""
import http.client
import os
import re
import resource
import socket
import statistics
import subprocess
import time

from running import Failed, last_line, mapped_rss, start_ready, taken_so_far

IDLE_SHARE, IDLE_BYTES = 0.005, 64 * 2**20
COMPUTES, AS_EVENTS, OWN = 1.05, 1.02, 0.1
IDLE_SECONDS, SCRAPES = 10, 20
CGROUPS, PROCESSES, SWARM_SECONDS, SWARM_BYTES = 2000, 50_000, 60, 64 * 2**20


class Monitor:
    """The service, from the moment it watches."""

    def __init__(self, bench):
        self.socket = f"{bench.scratch}/monitor"
        self.process, output = start_ready(f"{bench.build}/faultline", "monitor", "-q",
                                         "--listen", f"unix:{self.socket}")
        if not output.startswith("watching"):
            raise Failed("faultline monitor does not watch")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def cpu(self):
        """CPU seconds that it has used."""
        return taken_so_far(self.process.pid)

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) * 1024

    def beside_maps(self):
        """Resident bytes without the kernel's maps."""
        return self.resident() - mapped_rss(self.process.pid, "bpf-map", "bpf_map")

    def scrape(self):
        """Seconds, and the text."""
        began, connection = time.monotonic(), http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(60)
        connection.sock.connect(self.socket)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return time.monotonic() - began, text

    def lost(self):
        """Lost records and sums."""
        return sum(float(line.rsplit(" ", 1)[1]) for line in self.scrape()[1].splitlines()
                   if line.startswith("faultline_events_lost_total{"))


def forks():
    with open("/proc/stat") as file:
        return int(re.search(r"^processes (\d+)", file.read(), re.M).group(1))


def idle(bench, say):
    say(f"monitor: {IDLE_SECONDS} s beside nothing of ours")
    with Monitor(bench) as monitor:
        time.sleep(2)
        before, began, started = monitor.cpu(), time.monotonic(), forks()
        time.sleep(IDLE_SECONDS)
        took = time.monotonic() - began
        rate = (forks() - started) / took
        yield (f"monitor: share of a processor, {rate:.0f} processes started per second",
               (monitor.cpu() - before) / took, "share", IDLE_SHARE)
        yield "monitor: memory beside its maps", monitor.beside_maps(), "bytes", IDLE_BYTES
        scrapes = [monitor.scrape() for _ in range(SCRAPES)]
        yield (f"monitor: a scrape of {len(scrapes[-1][1].splitlines()):,} lines, median",
               statistics.median(seconds for seconds, _ in scrapes), "s", None)


def neighbours(bench, say):
    program, seconds = f"{bench.build}/tests/bench/neighbour", str(bench.options.seconds)
    rows = (("computes", "a neighbour that computes", COMPUTES),
            ("asks", "a neighbour whose calls do no I/O (getppid)", None))
    for what, name, target in rows:
        say(f"monitor: {name}")
        pairs = []
        for _ in range(bench.options.pairs):
            alone = bench.time([program, what, seconds])
            with Monitor(bench):
                pairs.append((alone, bench.time([program, what, seconds])))
        yield (f"monitor: {name}, of pairs", statistics.median(b / a for a, b in pairs), "ratio",
               target)
        yield (f"monitor: {name}, of bests", min(b for _, b in pairs) / min(a for a, _ in pairs),
               "ratio", None)


def watched(bench, say):
    """Hot preads of two threads: events of a run and sums of the monitor, alternating. Subtracts
    the service's idle cost, and a run's cost of starting and ending."""
    say("monitor: hot 4 KiB pread, 2 threads, and as events")
    program = f"{bench.build}/tests/bench/hotread"
    argv, short = ([program, f"{bench.scratch}/hot", "2", seconds] for seconds in ("2", "0.001"))
    begins = min(bench.own_cpu(bench.faultline.wrap(None, short, bench.trace))[1]
                 for _ in range(3))
    ratios, own, lost = [], [], 0
    for _ in range(bench.options.pairs // 2 + 1):
        events, events_cpu, _ = bench.own_cpu(bench.faultline.wrap(None, argv, bench.trace))
        with Monitor(bench) as monitor:
            lost -= monitor.lost()
            idle_cpu, before = -monitor.cpu(), time.monotonic()
            time.sleep(2)
            idle_cpu, took = idle_cpu + monitor.cpu(), time.monotonic() - before
            cpu, before = -monitor.cpu(), time.monotonic()
            ratios.append(bench.time(argv) / events)
            cpu += monitor.cpu() - idle_cpu * (time.monotonic() - before) / took
            own.append(max(cpu, 0) / (events_cpu - begins))
            lost += monitor.lost()
    yield ("monitor: hot 4 KiB pread, 2 threads, by events of a run", statistics.median(ratios),
           "ratio", AS_EVENTS)
    yield ("monitor: its own CPU time beside them, by that of a run", statistics.median(own),
           "ratio", OWN)
    yield "monitor: records and sums lost beside them", lost, "events", 0


def cgroup_mount():
    with open("/proc/mounts") as mounts:
        return next((line.split()[1] for line in mounts if line.split()[2] == "cgroup2"), None)


def beside(monitor, argv):
    """Runs a program. Returns the monitor's peak memory, the longest scrape, and its lines."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                     (limit, limit)))
    peak = longest = lines = 0
    while program.poll() is None:
        time.sleep(1)
        peak = max(peak, monitor.beside_maps())
        took, text = monitor.scrape()
        longest, lines = max(longest, took), max(lines, text.count("\n"))
    if program.returncode:
        raise Failed(f"{argv[0]}: {last_line(program.stderr.read())}")
    return peak, longest, lines


def measure_swarm(bench, say):
    """A node that starts a process for each small task, in one of many cgroups, for a minute."""
    if not (mount := cgroup_mount()):
        say("monitor, many cgroups: there is no cgroup v2 here")
        return
    parent, data = f"{mount}/faultline-bench-{os.getpid()}", f"{bench.scratch}/swarm-data"
    with open(data, "wb") as file:
        file.write(bytes(4096))
    groups = [parent, *(f"{parent}/{number}" for number in range(CGROUPS))]
    try:
        for group in groups:
            os.mkdir(group)
        say(f"monitor: {PROCESSES:,} processes in {CGROUPS:,} cgroups, {SWARM_SECONDS} s")
        with Monitor(bench) as monitor:
            began = time.monotonic()
            peak, longest, lines = beside(monitor, [
                f"{bench.build}/tests/live/swarm", data, f"{bench.scratch}/swarm-out", parent,
                str(CGROUPS), str(PROCESSES), str(SWARM_SECONDS)])
            rate = PROCESSES / (time.monotonic() - began) * 60
            lost = monitor.lost()
    finally:
        for group in reversed(groups):
            if os.path.isdir(group):
                os.rmdir(group)
    of = f"{CGROUPS:,} cgroups, {rate:,.0f} processes a minute"
    yield f"monitor: peak memory beside its maps, {of}", peak, "bytes", SWARM_BYTES
    yield f"monitor: longest scrape of {lines:,} lines", longest, "s", None
    yield "monitor: records and sums lost beside them", lost, "events", None


def measure(bench, say):
    """Yields (name, value, unit, target or None)."""
    yield from idle(bench, say)
    yield from neighbours(bench, say)
    yield from watched(bench, say)
