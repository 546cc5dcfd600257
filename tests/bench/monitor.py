# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service: its own cost, and its cost for watched and for unwatched programs.

A node is never quite idle: the number of processes started during a measurement is printed next to
the service's cost. Ratios are of pairs of one run, as everywhere.
"""
import http.client
import os
import re
import socket
import statistics
import time

from running import Failed, mapped_rss, start_ready, taken_so_far

IDLE_SHARE, IDLE_BYTES = 0.005, 64 * 2**20
COMPUTES, AS_EVENTS, OWN = 1.05, 1.02, 0.1
IDLE_SECONDS, SCRAPES = 10, 20


class Monitor:
    """The service, from the moment it watches."""

    def __init__(self, bench):
        self.socket = f"{bench.scratch}/monitor"
        self.process, said = start_ready(f"{bench.build}/faultline", "monitor", "-q",
                                         "--listen", f"unix:{self.socket}")
        if not said.startswith("watching"):
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
        maps = mapped_rss(monitor.process.pid, "bpf-map", "bpf_map")
        yield ("monitor: memory beside its maps", monitor.resident() - maps, "bytes", IDLE_BYTES)
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


def measure(bench, say):
    """Yields (name, value, unit, target or None)."""
    yield from idle(bench, say)
    yield from neighbours(bench, say)
    yield from watched(bench, say)
