# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service: its job metrics match the jobs' own accounts, and strace's."""
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import unittest

import harness
from harness import account, below_root, in_cgroup, machine, static_program
from watched import Watched
from watching import Watching

READS = ("read", "pread64", "readv", "preadv", "preadv2")
WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")
SYNCS = ("fsync", "fdatasync", "msync", "sync_file_range", "syncfs")
SPANS = """
import json, os, sys, time
import faultline
clock = time.monotonic_ns
within = around = 0
# Whoever marks spans is listened to once its library has been seen.
deadline = clock() + 100 * 10 ** 9
while not faultline.enabled() and clock() < deadline:
    time.sleep(0.01)
for i in range(20):
    begin = clock()
    with faultline.span("fetch", category="data"):
        inner = clock()
        time.sleep(0.001)
        within += clock() - inner
    around += clock() - begin
faultline.span("epoch", category="epoch").__enter__()
with open(sys.argv[1], "w") as file:
    json.dump({"count": 20, "within_ns": within, "around_ns": around}, file)
print("marked", flush=True)
sys.stdin.readline()
os._exit(0)
"""
READS_AS_TOLD = """
import os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
print(flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        os.pread(file, 4096, 0)
    print(flush=True)
"""


@unittest.skipUnless(importlib.util.find_spec("prometheus_client"), "no python3-prometheus-client")
class Monitor(Watching):
    # --- metrics ---

    def test_calls_as_strace(self):
        """Operations and their errors by kind, of processes and threads."""
        watched, group = self.watch(), harness.new_cgroup(self)
        # Without a dynamic loader, whose calls on one file the shell makes under the same PID, too.
        expected = harness.expected_counts(static_program("calls"))
        self.run_in(group, static_program("calls"), machine().new_dir())
        samples = watched.scrape()
        for op, calls in ("read", READS), ("write", WRITES), ("sync", SYNCS):
            counts = [expected[call] for call in calls if call in expected]
            for number, name in (0, "operations"), (1, "errors"):
                found = sum(samples.sum(f"faultline_io_{name}_total", cgroup=below_root(group),
                                        command=command, op=op, method=method)
                            for command in ("calls-static", "exe") for method in ("syscall", "direct"))
                self.assertEqual(found, sum(count[number] for count in counts), (op, name))
        self.assertEqual(watched.end(), 0)

    def test_bytes_as_accounted(self):
        """Bytes by method are the sum of the calls' results, including O_DIRECT and sendfile;
        the histogram has every operation."""
        watched, group = self.watch(), harness.new_cgroup(self)
        directory, out = machine().new_dir("ext4"), f"{machine().new_dir()}/out.json"
        self.run_in(group, static_program("sums"), directory, out)
        samples, truth = watched.scrape(), account(out)
        job = {"cgroup": below_root(group)}
        for op in ("read", "write"):
            mine = {**job, "op": op, "command": "sums-static"}
            direct = truth[f"direct_{op}"]
            self.assertEqual(samples.sum("faultline_io_operations_total", method="direct", **mine),
                             direct["count"])
            self.assertEqual(samples.sum("faultline_io_bytes_total", method="direct", **mine),
                             direct["bytes"])
            self.assertEqual(samples.sum("faultline_io_bytes_total", method="splice", **mine),
                             truth["transfer"]["bytes"])
            self.assertEqual(
                samples.sum("faultline_io_latency_seconds_count", method="direct", op=op, **job),
                direct["count"])
            self.assertEqual(
                samples.sum("faultline_io_latency_seconds_bucket", method="direct", op=op, le="+Inf",
                            **job), direct["count"])
        written = samples.sum("faultline_io_bytes_total", method="syscall", op="write",
                              command="sums-static", **job)
        read = samples.sum("faultline_io_bytes_total", method="syscall", op="read", command="sums-static",
                           **job)
        # Plus reading /proc/self/io, and writing the account.
        for seen, op in (read, "read"), (written, "write"):
            self.assertGreaterEqual(seen, truth[op]["bytes"])
            self.assertLess(seen, truth[op]["bytes"] + 4096)
        (labels,) = {value for key in samples.find("faultline_io_bytes_total", **job)
                     for name, value in key if name == "user"},
        self.assertEqual(labels, {"root"})

    def test_faults(self):
        """Major faults match getrusage; the bytes they fetched match mincore."""
        watched, directory = self.watch(), machine().new_dir("ext4")
        data = harness.random_file(f"{directory}/data", 8 << 20)
        out = f"{directory}/out.json"

        def touch():
            group = harness.new_cgroup(self)
            harness.cool(data)
            self.run_in(group, machine().program("mapper"), "random", data, out,
                        f"{directory}/other")
            return {"cgroup": below_root(group), "command": "mapper"}, account(out)

        mine, truth = harness.undisturbed(touch, lambda seen: seen[1]["resident_before"] == 0)
        samples = watched.scrape()
        self.assertGreaterEqual(
            samples.sum("faultline_page_faults_total", kind="major", **mine), truth["major"])
        fetched = samples.sum("faultline_mmap_fetched_bytes_total", **mine)
        self.assertGreaterEqual(fetched, truth["resident"] * truth["page_bytes"])
        self.assertGreater(truth["major"], 0)

    def test_spans(self):
        """Spans marked by a program, with durations by its own clock, including an open one."""
        watched = self.watch("--layers", "task,syscall,fault,pagecache,span")
        group, out = harness.new_cgroup(self), f"{machine().new_dir()}/out"
        job = machine().start(
            in_cgroup(group, harness.PYTHON, "-c", SPANS, out), env=harness.python_path(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(job.stdout.readline(), b"marked\n")
        job_labels = {"cgroup": below_root(group), "name": "fetch", "category": "data"}
        samples, truth = watched.scrape(), account(out)
        self.assertEqual(samples.sum("faultline_spans_total", **job_labels), truth["count"])
        seconds = samples.sum("faultline_span_seconds_total", **job_labels)
        self.assertGreaterEqual(seconds, truth["within_ns"] / 1e9)
        self.assertLessEqual(seconds, truth["around_ns"] / 1e9)
        # the open one
        job_labels = {**job_labels, "name": "epoch", "category": "epoch"}
        first = samples.sum("faultline_span_seconds_total", **job_labels)
        self.assertGreater(watched.scrape().sum("faultline_span_seconds_total", **job_labels), first)
        self.assertEqual(samples.sum("faultline_spans_total", **job_labels), 0)
        job.communicate()  # it ends in the meantime
        self.assertEqual(watched.scrape().sum("faultline_spans_total", **job_labels), 1)
        self.assertEqual(watched.end(), 0)

    def test_devices_as_diskstats(self):
        """Bytes by device, for a dedicated one."""
        watched, device = self.watch(), machine().new_device(4 << 20)
        name = os.path.basename(device)

        def diskstats():
            with open(f"/sys/block/{name}/stat") as file:
                fields = [int(field) for field in file.read().split()]
            return {"read": fields[2] * 512, "write": fields[6] * 512}

        def metrics():
            recorded = watched.scrape()
            return {op: recorded.sum("faultline_storage_bytes_total", device=name, op=op)
                    for op in ("read", "write")}

        def read():
            """By the kernel's count, and by ours."""
            before, first = diskstats(), metrics()
            subprocess.run(["dd", f"if={device}", "of=/dev/null", "bs=256k", "iflag=direct"],
                           check=True, stderr=subprocess.DEVNULL)
            after, last = diskstats(), metrics()
            return tuple({op: new[op] - old[op] for op in new}
                         for old, new in ((before, after), (first, last)))

        kernels, ours = harness.counted_right(read, lambda moved: moved[0] == moved[1])
        self.assertGreaterEqual(kernels["read"], 4 << 20)
        self.assertEqual(ours, kernels)

    # --- attribution ---

    def test_labels(self):
        """Containers, pods and batch jobs, in cgroup v1 and v2 hierarchies."""
        watched, number = self.watch(), "0123456789abcdef" * 4
        uid = "6f1e1d2c-0a1b-4c2d-8e3f-0123456789ab"
        groups = {
            harness.new_cgroup(self, "", f"/docker-{number}.scope"): {"container_id": number},
            harness.new_cgroup(self, "", f"/kubepods/pod{uid}/{number}"):
                {"container_id": number, "pod_uid": uid},
            harness.new_cgroup(self, "", "/slurmstepd.scope/job_42/step_batch"):
                {"slurm_job": "42", "slurm_step": "batch"},
            harness.new_cgroup(self, ""): {},
        }
        for hierarchy in ("pids", "name=systemd"):
            if self.has_hierarchy(hierarchy):
                groups[harness.new_cgroup(self, hierarchy)] = {}
                groups[harness.new_cgroup(self, hierarchy, "/slurm/uid_0/job_7")] = {"slurm_job": "7"}
        jobs = []
        for count, group in enumerate(groups, 100):
            # The path of a v1 cgroup is unknown once all its processes have exited.
            jobs.append(machine().start(in_cgroup(group, "sh", "-c", '"$0" "$@"; echo; read line',
                                                  *self.hotread(count)),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        for job in jobs:
            self.assertEqual(job.stdout.readline(), b"\n")
        samples = watched.scrape()
        for job in jobs:
            job.communicate()
        for count, (group, wanted) in enumerate(groups.items(), 100):
            self.assertEqual(self.reads_of(samples, group), count, group)
            self.assertEqual(self.reads_of(samples, group, **wanted), count, group)
            for labels in samples.find("faultline_io_operations_total", cgroup=below_root(group)):
                have = {name for name, _ in labels} - {"cgroup", "user", "command", "method", "op"}
                self.assertEqual(have, set(wanted), group)

    def has_hierarchy(self, name):
        with open("/proc/self/mountinfo") as file:
            return any(" - cgroup cgroup " in line and name in line.split()[-1].split(",")
                       for line in file)

    def test_moved(self):
        """A process that already ran and is moved counts in its current cgroup."""
        group = harness.new_cgroup(self)
        gate = 'read line; exec "$0" "$@"'
        job = machine().start(["sh", "-c", gate, *self.hotread(300)], stdin=subprocess.PIPE)
        watched = self.watch()
        with open(f"{group}/cgroup.procs", "w") as file:
            file.write(str(job.pid))
        job.communicate(b"\n")
        self.assertEqual(self.reads_of(watched.scrape(), group), 300)

    def test_moved_between_readings(self):
        """A process moved to and fro without an exec counts in its current cgroup at once."""
        watched, groups = self.watch("--interval", "60s"), [harness.new_cgroup(self) for _ in "ab"]
        data = harness.random_file(f"{machine().new_dir()}/data", 1 << 20)
        job = machine().start(in_cgroup(groups[0], sys.executable, "-c", READS_AS_TOLD, data),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(job.stdout.readline(), b"\n")
        wanted = [self.all_reads_of(watched.scrape(), group) for group in groups]
        for turn in range(1, 8):
            at = turn % 2
            with open(f"{groups[at]}/cgroup.procs", "w") as file:
                file.write(str(job.pid))
            job.stdin.write(b"%d\n" % (100 * turn))
            job.stdin.flush()
            self.assertEqual(job.stdout.readline(), b"\n")
            wanted[at] += 100 * turn
            samples = watched.scrape()
            self.assertEqual([self.all_reads_of(samples, group) for group in groups], wanted)
        job.communicate()

    def all_reads_of(self, samples, group):
        return samples.sum("faultline_io_operations_total", cgroup=below_root(group), op="read",
                           method="syscall")

    def start_as(self, pid, group, command):
        """Starts a command with that PID; None if another process got it."""
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(pid - 1))
        job = machine().start(["sh", "-c", 'read line; echo $$ >"$0/cgroup.procs" && exec "$@"',
                               group, "taskset", "-c", "0", *command], stdin=subprocess.PIPE)
        if job.pid == pid:
            return job
        job.kill()
        job.wait()
        return None

    def reuse_pid(self, watched, between):
        """Two programs of two jobs under one PID, on one file and CPU: the amounts booked on
        each."""
        first, second = harness.new_cgroup(self), harness.new_cgroup(self)
        data = harness.random_file(f"{machine().new_dir()}/data", 1 << 20)
        job = machine().start(in_cgroup(first, "taskset", "-c", "0", *self.hotread(1000, data)))
        pid = job.pid
        self.assertEqual(job.wait(harness.LIMIT), 0)
        before = between()
        for _ in range(200):
            job = self.start_as(pid, second, self.hotread(2000, data))
            if job:
                break
        else:
            self.skipTest("the pid was never free")
        job.communicate(b"\n")
        self.assertEqual(job.returncode, 0)
        samples = watched.scrape()
        return (before, samples, self.reads_of(samples, first), self.reads_of(samples, second))

    def test_pid_comes_again(self):
        watched = self.watch()
        *_, first, second = self.reuse_pid(watched, watched.scrape)
        self.assertEqual((first, second), (1000, 2000))

    def test_pid_reused_between_readings(self):
        """They are distinguished by start time, with no reading in between."""
        watched = self.watch("--interval", "60s")
        *_, first, second = self.reuse_pid(watched, lambda: None)
        self.assertEqual((first, second), (1000, 2000))

    def test_short_processes(self):
        """Hundreds that exit before any reading, in two concurrent jobs: each job has its own."""
        watched = self.watch()
        groups = {harness.new_cgroup(self): 300, harness.new_cgroup(self): 200}
        data = harness.random_file(f"{machine().new_dir()}/data", 1 << 20)
        script = 'i=0; while [ $i -lt "$0" ]; do "$@"; i=$((i + 1)); done'
        jobs = [machine().start(in_cgroup(group, "sh", "-c", script, str(count),
                                          *self.hotread(7, data)))
                for group, count in groups.items()]
        for job in jobs:
            self.assertEqual(job.wait(harness.LIMIT), 0)
        samples = watched.scrape()
        for group, count in groups.items():
            self.assertEqual(self.reads_of(samples, group), 7 * count)

    def test_many_cgroups(self):
        """A thousand cgroups, with thousands of short-lived processes in turn: the service keeps
        reading, and each has its own reads. Uncertain operations are attributed to none."""
        watched, parent = self.watch(), harness.new_cgroup(self)
        for number in range(1000):
            os.mkdir(f"{parent}/{number}")
            self.addCleanup(os.rmdir, f"{parent}/{number}")
        directory = machine().new_dir()
        swarm = machine().start([static_program("swarm"),
                                 harness.random_file(f"{directory}/data", 4096),
                                 f"{directory}/out", parent, "1000", "4000", "0"])
        first = json.loads(watched.get("/jobs?jobs=0")[2])["readings"]
        while swarm.poll() is None:
            readings = json.loads(watched.get("/jobs?jobs=0")[2])["readings"]
        self.assertEqual(swarm.returncode, 0)
        self.assertGreater(readings, first + 1)
        time.sleep(0.05)
        recorded = json.loads(watched.get("/jobs?jobs=4096&processes=0&files=0")[2])
        own = {job["cgroup"]: sum(row["count"] for row in job["methods"]
                                  if (row["op"], row["method"]) == ("read", "syscall"))
               for job in recorded["jobs"]}
        expected = account(f"{directory}/out")
        uncertain = 0
        for number, reads in enumerate(expected):
            has = own.get(below_root(f"{parent}/{number}"), 0)
            self.assertLessEqual(has, reads, number)
            uncertain += reads - has
        self.assertLessEqual(uncertain, recorded["node"]["uncertain_operations"])
        self.assertLess(uncertain, sum(expected) / 10)

    # --- long runs ---

    def test_only_grows(self):
        watched, group = self.watch(), harness.new_cgroup(self)
        job = machine().start(in_cgroup(group, static_program("hotread"), *self.hotread(1)[1:3], "2",
                                        "seconds", "2"))
        before, readings = watched.scrape().counters(), 0
        while job.poll() is None:
            now = watched.scrape().counters()
            for key, value in before.items():
                self.assertGreaterEqual(now.get(key, value), value, key)
            before, readings = now, readings + 1
        self.assertGreater(readings, 3)

    def test_stopped(self):
        """While it is stopped sums continue: none is lost, and each is booked on its owner."""
        watched = self.watch()
        groups = [harness.new_cgroup(self) for _ in range(2)]
        watched.scrape()
        watched.process.send_signal(signal.SIGSTOP)
        for count, group in enumerate(groups, 5000):
            self.run_in(group, *self.hotread(count))
        time.sleep(1)
        watched.process.send_signal(signal.SIGCONT)
        samples = watched.scrape()
        for count, group in enumerate(groups, 5000):
            self.assertEqual(self.reads_of(samples, group), count)

    def test_stopped_among_short_processes(self):
        """Processes that began and ended while it was stopped, and whose records met full
        buffers: the sums identify them."""
        def lost_of(samples):
            return samples.sum("faultline_events_lost_total", kind="exec")

        watched, parent = self.watch("--buffer", "64K"), harness.new_cgroup(self)
        for number in range(10):
            os.mkdir(f"{parent}/{number}")
            self.addCleanup(os.rmdir, f"{parent}/{number}")
        directory = machine().new_dir()
        data = harness.random_file(f"{directory}/data", 4096)
        before = lost_of(watched.scrape())
        watched.process.send_signal(signal.SIGSTOP)
        harness.run(static_program("swarm"), data, f"{directory}/out", parent, "10", "1000", "0",
                    env=dict(os.environ, FILLS="buffers " * 500))
        watched.process.send_signal(signal.SIGCONT)
        self.assertTrue(harness.wait_until(lambda: lost_of(watched.scrape()) > before + 100))
        samples = watched.scrape()
        for number, reads in enumerate(account(f"{directory}/out")):
            self.assertEqual(samples.sum("faultline_io_operations_total", op="read", method="syscall",
                                         cgroup=below_root(f"{parent}/{number}"), user="root",
                                         command="swarm-static"), reads, number)

    def test_cgroup_vanishes(self):
        """Removed before any reading: its path was taken when it was created."""
        watched, parent = self.watch(), harness.new_cgroup(self)
        group, work = f"{parent}/gone", self.hotread(321)
        os.mkdir(group)
        watched.process.send_signal(signal.SIGSTOP)
        self.run_in(group, *work)
        harness.wait_until(lambda: not open(f"{group}/cgroup.procs").read())
        os.rmdir(group)
        watched.process.send_signal(signal.SIGCONT)
        samples = watched.scrape()
        self.assertEqual(self.reads_of(samples, group), 321)
        self.assertEqual(self.reads_of(samples, os.path.dirname(group)), 0)
        self.assertEqual(watched.end(), 0)

    def test_cgroups_of_one_command(self):
        """A hundred that are created, used once and removed: each has its own reads."""
        watched, parent = self.watch(), harness.new_cgroup(self)
        data = harness.random_file(f"{machine().new_dir()}/data", 1 << 20)
        before = watched.scrape().sum("faultline_uncertain_operations_total")
        for number in range(100):
            group = f"{parent}/{number}"
            os.mkdir(group)
            self.run_in(group, *self.hotread(10 + number, data))
            os.rmdir(group)
        samples = watched.scrape()
        for number in range(100):
            self.assertEqual(self.reads_of(samples, f"{parent}/{number}"), 10 + number)
        # unattributed operations are counted: here they can only be other processes'
        self.assertLess(samples.sum("faultline_uncertain_operations_total") - before, 1000)

    def test_killed_and_started_again(self):
        """Nothing is left behind; counters restart."""
        group, work = harness.new_cgroup(self), self.hotread(100)
        first = self.watch()
        self.run_in(group, *work)
        self.assertEqual(self.reads_of(first.scrape(), group), 100)
        pinned = sorted(os.listdir("/sys/fs/bpf")) if os.path.isdir("/sys/fs/bpf") else []
        self.assertEqual(first.end(signal.SIGKILL), -9)
        self.assertEqual(
            sorted(os.listdir("/sys/fs/bpf")) if os.path.isdir("/sys/fs/bpf") else [], pinned)
        second = self.watch(listen=first.address)  # the socket still exists
        samples = second.scrape()
        self.assertEqual(self.reads_of(samples, group), 0)
        self.run_in(group, *work)
        self.assertEqual(self.reads_of(second.scrape(), group), 100)
        self.assertEqual(second.end(), 0)

    def test_hangup_is_survived(self):
        watched = self.watch()
        watched.process.send_signal(signal.SIGHUP)
        self.assertEqual(watched.get("/metrics")[0], 200)
        self.assertEqual(watched.end(signal.SIGINT), 0)
        self.assertIn("ended by SIGINT", watched.messages())

    def test_jobs_go(self):
        """Some time after its last process exits a job is no longer reported; until then it is."""
        watched, group = self.watch("--retire", "2s"), harness.new_cgroup(self)
        self.run_in(group, *self.hotread(50))
        self.assertEqual(self.reads_of(watched.scrape(), group), 50)
        self.assertTrue(harness.wait_until(
            lambda: not watched.scrape().find("faultline_io_operations_total",
                                              cgroup=below_root(group))))
        self.assertGreater(watched.scrape().sum("faultline_jobs_ended_total"), 0)

    def test_series_are_bounded(self):
        """However many jobs there are: those beyond the limit are grouped."""
        watched = Watched("--max-series", "1000", "--profile-slots", "131072")
        self.addCleanup(self.stop, watched)
        parent, data = harness.new_cgroup(self), harness.random_file(
            f"{machine().new_dir()}/data", 1 << 20)
        for number in range(60):
            group = f"{parent}/{number}"
            os.mkdir(group)
            self.addCleanup(os.rmdir, group)
            self.run_in(group, *self.hotread(10, data))
        samples = watched.scrape()
        self.assertLessEqual(len(samples.all), 1000)
        own = sum(self.reads_of(samples, f"{parent}/{number}") for number in range(60))
        self.assertLess(own, 600)
        others = samples.sum("faultline_io_operations_total", cgroup="(other)", op="read",
                             method="syscall")
        self.assertGreaterEqual(own + others, 600)
        self.assertGreater(samples.sum("faultline_series_folded_total"), 0)
