# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service's flight recorder: its traces are the end of what programs did, by
their own account."""
import json
import os
import signal
import subprocess
import time
import unittest

import harness
from flights import COUNTING, MIB, Job, Recorder, counted_bytes, lost, python
from harness import faultline, machine
from watched import OverSocket

# Two processes that read alternately, each for a while; prints their PIDs.
BY_TURNS = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
(from_other, to_other), (from_first, to_first) = os.pipe(), os.pipe()
other = os.fork()
mine, theirs = (from_other, to_first) if other else (from_first, to_other)
if other:
    print(os.getpid(), other, flush=True)
    os.write(to_other, b".")
while os.read(mine, 1):
    end = time.monotonic() + 1
    while time.monotonic() < end: os.pread(file, 1 << 20, 0)
    os.write(theirs, b".")
"""

# A read of a cached file stalls only while it has a CPU: its share of the time falls with every
# other program that wants one.
STALL = "stall=1%"


class Monitor(unittest.TestCase):
    """The same for the whole machine, where others are active, too."""

    def setUp(self):
        self.directory = machine().new_dir()
        self.socket = f"{self.directory}/socket"

    def recorder(self, *arguments):
        return Recorder("--listen", f"unix:{self.socket}", "--flight", "32M", *arguments,
                        output="f.flt", command="monitor", directory=self.directory, ready="watching ")

    def post(self):
        return self.request("POST", "/flight")

    def metrics(self):
        """Metrics of the flight recorder."""
        lines = self.request("GET", "/metrics")[1].decode().splitlines()
        return {name.removeprefix("faultline_flight_"): float(number) for name, number in
                (line.rsplit(" ", 1) for line in lines if line.startswith("faultline_flight_"))}

    def living(self, cgroup):
        """Number of living processes that the service lists in a cgroup."""
        reported = json.loads(self.request("GET", "/jobs?jobs=4096&processes=0&files=0")[1])
        return sum(job["living"] for job in reported["jobs"] if job["cgroup"] == cgroup)

    def request(self, *what):
        connection = OverSocket(self.socket)
        connection.request(*what)
        answer = connection.getresponse()
        messages = answer.read()
        connection.close()
        return answer.status, messages

    def test_end(self):
        """On request and on a signal, for a program that already ran and a new one; counters
        continue."""
        count = 5000
        paths = [counted_bytes(self.directory, name) for name in ("one", "two")]
        jobs = [Job(*python(COUNTING, paths[0], count))]
        recorder = self.recorder("--flight-every", "0")
        jobs.append(Job(*python(COUNTING, paths[1], count)))
        for job in jobs:
            job.work()
        self.assertEqual(self.post()[0], 202)
        self.assertTrue(harness.wait_until(recorder.whole))
        recorder.ask_and_wait(2)
        for job in jobs:
            job.end()
        self.assertEqual(recorder.end()[0], 0)
        first, second = recorder.whole()
        self.assertEqual(first.header["flight"]["reason"], "POST /flight")
        self.assertEqual(second.header["flight"]["reason"], "SIGUSR2")
        self.assertEqual(first.header["targets"], ["all processes"])
        for path, job in zip(paths, jobs):
            offsets = [row["offset"] for row in first.calls(path, op="pread64")]
            if not offsets:  # others have done that much
                self.assertGreater(first.header["flight"]["overwritten"], 0)
                continue
            self.assertEqual(max(offsets), count - 1)
            self.assertLessEqual(count - min(offsets) - len(offsets), lost(first))
            (process,) = [row for row in first.dicts("exec") if row["pid"] == job.pid][-1:]
            self.assertIn(path.encode(), process["command"])

    def test_of_chosen_jobs(self):
        """Only the chosen cgroup's activity: of processes already in it, those that enter, and
        their children; the buffers are theirs, whatever others do."""
        chosen, other = [harness.new_cgroup(self) for _ in range(2)]
        count = 2000
        names = ("before", "late", "child", "others")
        paths = {name: counted_bytes(self.directory, name) for name in names}

        def job(group, name, *front):
            return Job(*harness.in_cgroup(group, *front, *python(COUNTING, paths[name], count)))

        jobs = [job(chosen, "before")]
        recorder = self.recorder("--flight-of", f"cgroup={harness.below_root(chosen)}*")
        jobs += [job(chosen, "late"), job(other, "others"), job(chosen, "child", "sh", "-c", '"$@"; :', "sh")]
        # A moved process is noticed at its next exec; the shell of "child" is the fourth.
        self.assertTrue(harness.wait_until(lambda: self.living(harness.below_root(chosen)) == 4))
        for each in jobs:
            each.work()
        self.assertEqual(self.post()[0], 202)
        self.assertTrue(harness.wait_until(recorder.whole))
        for each in jobs:
            each.end()
        self.assertEqual(recorder.end()[0], 0)
        (trace,) = recorder.whole()
        self.assertEqual(trace.header["targets"], [f"cgroup={harness.below_root(chosen)}*"])
        self.assertEqual((trace.header["flight"]["overwritten"], lost(trace)), (0, 0))
        for name in "before", "late", "child":
            offsets = [row["offset"] for row in trace.calls(paths[name], op="pread64")]
            self.assertEqual(sorted(offsets), list(range(count)), name)
        self.assertEqual(trace.calls(paths["others"]), [])

    def test_limits_of_chosen_jobs(self):
        """Includes programs that have ended by the time sums are read."""
        chosen = harness.new_cgroup(self)
        data = harness.random_file(f"{self.directory}/data", 8 * MIB)
        recorder = self.recorder("--flight-of", f"cgroup={harness.below_root(chosen)}*", "--interval",
                                 "500ms", "--flight-when", f"{STALL}:1s")
        job = machine().start(harness.in_cgroup(
            chosen, "sh", "-c", 'while :; do dd if="$0" of=/dev/null bs=64k status=none; done', data))
        self.assertTrue(harness.wait_until(recorder.whole))
        job.kill()
        self.assertEqual(recorder.end()[0], 0)
        self.assertRegex(recorder.whole()[0].header["flight"]["reason"], "stall of ")

    def test_limits_of_cgroups(self):
        """A cgroup of short-lived programs, chosen by path."""
        group = harness.new_cgroup(self)
        data = harness.random_file(f"{self.directory}/data", 8 * MIB)
        recorder = self.recorder("--flight-of", f"cgroup={harness.below_root(group)}", "--interval",
                                 "500ms", "--flight-when", f"{STALL}:1s", "--flight-every", "0",
                                 "--flight-keep", "4")
        job = machine().start(harness.in_cgroup(
            group, "sh", "-c", 'while :; do dd if="$0" of=/dev/null bs=64k status=none; done', data))
        wanted = f"cgroup {harness.below_root(group)}: stall of "
        self.assertTrue(harness.wait_until(
            lambda: any(trace.header["flight"]["reason"].startswith(wanted)
                        for trace in recorder.whole())))
        job.kill()
        self.assertEqual(recorder.end()[0], 0)

    def test_limits_of_cgroups_moved_into(self):
        """By the processes' current cgroups. None reads continuously for long."""
        group = harness.new_cgroup(self)
        data = harness.random_file(f"{self.directory}/data", 8 * MIB)
        # If several exceed the limit at once, only one is named: leave out the others.
        recorder = self.recorder("--flight-of", f"cgroup={harness.below_root(group)}", "--interval",
                                 "200ms", "--flight-when", f"{STALL}:2s", "--flight-every", "0",
                                 "--flight-keep", "4")
        job = machine().start(python(BY_TURNS, data), stdout=subprocess.PIPE)
        pids = job.stdout.readline().split()
        for pid in pids:
            with open(f"{group}/cgroup.procs", "wb") as file:
                file.write(pid)
        wanted = f"cgroup {harness.below_root(group)}: stall of "
        found = harness.wait_until(
            lambda: any(trace.header["flight"]["reason"].startswith(wanted)
                        for trace in recorder.whole()))
        for pid in pids:
            os.kill(int(pid), signal.SIGKILL)
        job.communicate()
        self.assertTrue(found)
        self.assertEqual(recorder.end()[0], 0)

    def test_too_soon(self):
        recorder = self.recorder()
        self.assertEqual(self.post()[0], 202)
        self.assertTrue(harness.wait_until(recorder.whole))
        status, messages = self.post()
        self.assertEqual(status, 429)
        self.assertIn(b"too soon", messages)
        self.assertEqual(recorder.end()[0], 0)
        self.assertEqual(len(recorder.traces()), 1)

    def test_none(self):
        """Without a recorder no trace is offered."""
        recorder = Recorder("--listen", f"unix:{self.socket}", command="monitor", ready="watching ",
                            directory=self.directory)
        self.assertEqual(self.post()[0], 404)
        self.assertEqual(recorder.end()[0], 0)

    def test_restart(self):
        """A restarted service keeps its limit of traces, including earlier ones, and none of
        anyone else's; requests and their results are metrics."""
        with open(f"{self.directory}/f-1.flt", "w") as file:
            file.write("somebody's")
        started = time.time()
        recorder = self.recorder("--flight-every", "0", "--flight-keep", "2")
        for number in 2, 3:
            self.assertEqual(self.post()[0], 202)
            self.assertTrue(harness.wait_until(
                lambda: self.metrics()["traces_total"] == number - 1))
        reported = self.metrics()
        self.assertEqual(reported['requests_total{cause="request"}'], 2)
        self.assertEqual(reported['requests_total{cause="when"}'], 0)
        self.assertEqual((reported["requests_refused_total"], reported["traces_failed_total"]), (0, 0))
        self.assertTrue(started - 1 <= reported["last_trace_time_seconds"] <= time.time() + 1, reported)
        self.assertEqual(recorder.end()[0], 0)
        recorder = self.recorder("--flight-every", "1h", "--flight-keep", "2")
        self.assertEqual(self.metrics()["last_trace_time_seconds"], 0)
        self.assertEqual(self.post()[0], 202)
        # A request made before it is written is answered with the same trace.
        self.assertTrue(harness.wait_until(lambda: self.metrics()["traces_total"] == 1))
        self.assertEqual(self.post()[0], 429)
        reported = self.metrics()
        self.assertEqual(
            (reported['requests_total{cause="request"}'], reported["requests_refused_total"]), (2, 1)
        )
        self.assertEqual(recorder.end()[0], 0)
        self.assertEqual(sorted(name for name in os.listdir(self.directory) if ".flt" in name),
                         ["f-1.flt", "f-3.flt", "f-4.flt"])

    def test_bad_options(self):
        for options in (("--flight-slower", "1"), ("--flight", "0"), ("--flight", "1K"),
                        ("--flight-of", "user=root"), ("--flight", "4M", "--flight-of", "root"),
                        ("--flight", "4M", "--flight-of", "user="),
                        ("--flight", "4M", "--flight-of", "command=x"),
                        ("--flight", "4M", "--flight-when", "stall=1%:100ms")):
            done = faultline("monitor", "--listen", "none", *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
