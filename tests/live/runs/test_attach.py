# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Attaching to running processes: records exactly what they do from then on, by their own
account."""
import ctypes
import mmap
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import Attached, account, machine
from test_device_findings import limit_reads, throttle

ALONE = True  # attaches to all processes

COUNTED = 17  # length of reads that a job counts
BEFORE = 1 << 13  # flag of a call
FAULT_BEFORE = 1 << 11
PRESENT, JOINED = 2, 4  # flags of an exec


class Shared:
    """Memory shared with a job: struct shared of present.c."""

    def __init__(self, path):
        self.path = path
        with open(path, "w+b") as file:
            file.truncate(mmap.PAGESIZE)
            self.map = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.words = (ctypes.c_uint * 4).from_buffer(self.map)
        self.count = ctypes.c_ulonglong.from_buffer(self.map, 16)

    def ready(self):
        self.words[0] = 1

    def stop(self):
        self.words[1] = 1

    @property
    def started(self):
        return self.words[2]

    @property
    def counted(self):
        return self.count.value


class Attach(unittest.TestCase):
    def job(self, mode, size=1 << 20, env=None):
        """A workload that waits for its start: (process, path of its file, shared memory,
        account)."""
        directory = machine().new_dir()
        path = harness.random_file(f"{directory}/data", size)
        shared = Shared(f"{directory}/shared")
        command = [machine().program("present"), mode, path, shared.path, f"{directory}/out.json"]
        job = machine().start(command, env={**os.environ, **(env or {})},
                              stdout=subprocess.DEVNULL)
        wanted = 4 if mode == "storm" else 1
        self.assertTrue(harness.wait_until(lambda: shared.started >= wanted))
        return job, path, shared, f"{directory}/out.json"

    def counted(self, trace, path):
        return [row for row in trace.calls(path, op="pread64") if row["asked"] == COUNTED]

    def finish(self, attached, job, number=None, alone=True):
        """`alone`: nothing but the test's own operations was recorded."""
        status, stderr = attached.end(number)
        self.assertEqual(status, 0, stderr)
        self.assertEqual(job.wait(timeout=harness.LIMIT), 0)
        if alone:
            self.assertEqual(attached.report["trace"]["lost"]["total"], 0)
        self.assertEqual(attached.report["trace"]["unaccounted"], 0)
        return stderr

    def test_work_from_then_on(self):
        """Reads of three threads and the faults of a fourth, on a file opened and mapped
        beforehand."""
        job, path, shared, out = self.job("work", 8 << 20, {"RANK": "3"})
        harness.cool(path)
        attached = Attached("-p", str(job.pid))
        shared.ready()
        stderr = self.finish(attached, job)
        self.assertIn("has ended", stderr)
        expected, trace, report = account(out), attached.trace, attached.report
        reads = self.counted(trace, path)
        self.assertEqual(len(reads), shared.counted)
        self.assertEqual(len({row["tid"] for row in reads}), 3)
        ids = trace.file_ids(path)
        faults = [row for row in trace.dicts("fault")
                  if row["file"] in ids and expected["start"] <= row["time"] <= expected["end"]]
        major = sum(row["flags"] & 1 for row in faults)
        self.assertEqual(major, expected["major"])
        self.assertLessEqual(len(faults), expected["major"] + expected["minor"])
        self.assertGreater(len(faults), 0)
        row = next(row for row in report["processes"] if row["pid"] == expected["pid"])
        self.assertEqual(row["command"][1:3], ["work", path])
        self.assertEqual((row["comm"], row["rank"], row["ppid"]), ("present", 3, os.getpid()))
        self.assertEqual(row["exit_code"], 0)
        about = report["trace"]
        self.assertEqual((about["start"], about["exit_code"]), ("attach", None))
        self.assertIn(f"process {job.pid} (", about["targets"][0])

    def test_in_a_namespace_of_pids(self):
        """As in a container: the PID is relative to the caller's namespace, and the right
        process is recorded."""
        unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
        if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("this machine does not allow new namespaces")
        directory = machine().new_dir()
        path = harness.random_file(f"{directory}/data", 1 << 20)
        shared, out = Shared(f"{directory}/shared"), f"{directory}/namespace.flt"
        script = ('RANK=5 "$1" work "$2" "$3" "$4" >&2 & '
                  '"$0" attach -o "$5" -p $! --ready-fd 3 3>&1 1>&2; exit $?')
        tracer = machine().start(
            [*unshare, "sh", "-c", script, machine().faultline, machine().program("present"), path,
             shared.path, f"{directory}/out.json", out],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(b"recording", tracer.stdout.readline())
        shared.ready()
        output = tracer.communicate(timeout=harness.LIMIT)[1].decode()
        self.assertEqual(tracer.returncode, 0, output)
        self.assertIn("recording process 2 (", output)
        reads = self.counted(harness.Trace(out), path)
        self.assertEqual(len(reads), shared.counted)
        (row,) = harness.report_of(out)["processes"]
        self.assertEqual((row["command"][1:3], row["rank"]), (["work", path], 5))
        self.assertEqual({read["pid"] for read in reads}, {row["pid"]})

    def test_summed_up(self):
        job, path, shared, _ = self.job("work")
        attached = Attached("-p", str(job.pid), "--mode", "profile")
        shared.ready()
        self.finish(attached, job)
        row = next(row for row in attached.report["files"] if row["path"] == path)
        self.assertEqual((row["read"]["count"], row["read"]["bytes"]),
                         (shared.counted, COUNTED * shared.counted))

    def test_first_screen(self):
        job, _, shared, _ = self.job("work")
        attached = Attached("-p", str(job.pid))
        shared.ready()
        self.finish(attached, job)
        text = harness.faultline("report", attached.path).stdout.decode()
        self.assertTrue(text.startswith("attached to "), text[:200])
        self.assertIn("earlier activity is not included", text)
        self.assertNotIn("exit unknown", text)
        start = next(row for row in attached.trace.dicts("exec") if row["pid"] == job.pid)
        self.assertEqual(start["flags"], PRESENT)
        self.assertLess(start["started_ns"], start["time"])

    def check_storm(self, *arguments):
        for _ in range(3):
            job, path, shared, _ = self.job("storm")
            attached = Attached(*(word.format(pid=job.pid) for word in arguments))
            shared.ready()
            time.sleep(0.3)
            shared.stop()
            job.wait(timeout=harness.LIMIT)
            if "--all" in arguments:
                attached.process.send_signal(signal.SIGINT)
            self.finish(attached, job, alone="--all" not in arguments)
            self.assertGreater(shared.counted, 100)
            self.assertEqual(len(self.counted(attached.trace, path)), shared.counted)

    def test_not_itself(self):
        """With --all, neither Faultline nor its own children are recorded."""
        attached = Attached("--all")
        time.sleep(0.3)
        status, stderr = attached.end(signal.SIGINT)
        self.assertEqual(status, 0, stderr)
        ours, rows = {attached.process.pid}, list(attached.trace.dicts("exec"))
        for row in rows + list(attached.trace.dicts("fork")):
            self.assertNotIn(row["pid"], ours)
            self.assertNotIn(row.get("ppid"), ours)
            self.assertNotIn(attached.path.encode(), row.get("command", b""))

    def test_storm_of_processes(self):
        """Processes and threads born during the attach: none is missed."""
        self.check_storm("-p", "{pid}")

    def test_whole_machine(self):
        self.check_storm("--all")

    def test_call_that_began_before(self):
        job, path, shared, out = self.job("wait")
        self.assertTrue(harness.wait_until(lambda: self.stands_in(job.pid, "flock")))
        attached = Attached("-p", str(job.pid))
        time.sleep(0.3)
        shared.ready()
        self.finish(attached, job)
        locks = [row for row in attached.trace.calls(path, op="flock")]
        before = [row for row in locks if row["flags"] & BEFORE]
        self.assertEqual(len(before), 1)
        self.assertEqual((before[0]["dur"], before[0]["result"]), (0, 0))
        self.assertEqual([row["flags"] & BEFORE for row in locks].count(0), 1)  # the unlocking one
        self.assertEqual(len(self.counted(attached.trace, path)), shared.counted)
        printed = harness.faultline("print", "--op", "flock", attached.path).stdout.decode()
        self.assertIn("before", printed)

    def hold(self, where):
        """A cgroup whose reads of a device (or a file's device) block, and a function to release
        them."""
        group = throttle(self, where, 1, "bps")
        return group, lambda: limit_reads(group, where, 0, "bps")

    def test_fault_that_began_before(self):
        """A fault waiting for its page since before the attach: flagged, without a time, and
        reported once."""
        directory = machine().new_dir("ext4")
        path, out = harness.random_file(f"{directory}/data", 1 << 20), f"{directory}/out.json"
        shared = Shared(f"{machine().new_dir()}/shared")
        harness.cool(path)
        group, go_on = self.hold(path)
        job = machine().start(harness.in_cgroup(group, machine().program("present"), "touch", path,
                                                shared.path, out))

        def waits():
            with open(f"/proc/{job.pid}/stat") as file:
                return shared.started and file.read().rpartition(")")[2].split()[0] == "D"

        self.assertTrue(harness.wait_until(waits))
        attached = Attached("-p", str(job.pid))
        go_on()
        self.finish(attached, job)
        ids = attached.trace.file_ids(path)
        faults = [row for row in attached.trace.dicts("fault") if row["file"] in ids]
        before = [row for row in faults if row["flags"] & FAULT_BEFORE]
        self.assertEqual([(row["dur"], row["offset"]) for row in before], [(0, 0)])
        self.assertEqual(sum(row["flags"] & 1 for row in faults if row not in before),
                         account(out)["major"])

    def test_operations_that_were_in_flight(self):
        """io_uring requests submitted before the attach are counted as such; all others are
        reported."""
        device, out = machine().new_device(4 << 20), f"{machine().new_dir()}/out.json"
        group, go_on = self.hold(device)
        job = machine().start(harness.in_cgroup(group, machine().program("uring"), device, out, "direct"))
        self.assertTrue(harness.wait_until(
            lambda: job.poll() is not None or self.stands_in(job.pid, "io_uring_enter")))
        if job.poll() == 77:
            self.skipTest("this kernel has no io_uring, or does not let us")
        attached = Attached("-p", str(job.pid))
        go_on()
        self.finish(attached, job)
        truth, report = account(out), attached.report
        in_flight = report["trace"]["notes"]["async_begun_before"]
        self.assertEqual(in_flight, truth["io_uring"] / truth["rounds"])
        wanted = {"io_uring": truth["io_uring"] + truth["polled"] - in_flight,
                  "libaio": truth["libaio"]}
        for method, count in wanted.items():
            (row,) = [row for row in report["methods"] if (row["method"], row["op"]) == (method, "read")]
            self.assertEqual((row["count"], row["bytes"]), (count, count * truth["block_bytes"]))
        enters = [row for row in attached.trace.calls(op="io_uring_enter") if row["flags"] & BEFORE]
        self.assertEqual([row["dur"] for row in enters], [0])

    def stands_in(self, pid, call):
        """True if a thread of the process is blocked in the call."""
        number = {"flock": "73" if os.uname().machine == "x86_64" else "32",
                  "io_uring_enter": "426"}[call]
        for tid in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{tid}/syscall") as file:
                    if file.read().split()[0] == number:
                        return True
            except OSError:
                pass
        return False

    def test_children_and_what_they_execute(self):
        """An already running shell starts programs."""
        directory = machine().new_dir()
        path = harness.random_file(f"{directory}/data", 50_000)
        os.mkfifo(f"{directory}/go")
        job = machine().start(["sh", "-c", 'read go <"$0/go"; cat "$0/data" >/dev/null; '
                               '(cat "$0/data" | wc -c) >/dev/null', directory])
        attached = Attached("-p", str(job.pid))
        with open(f"{directory}/go", "w") as file:
            file.write("go\n")
        self.finish(attached, job)
        row = next(row for row in attached.report["files"] if row["path"] == path)
        self.assertEqual((row["read"]["bytes"], row["processes"]), (100_000, 2))
        names = sorted(row["comm"] for row in harness.followed(attached.report))
        self.assertEqual([name for name in names if name != "sh"], ["cat", "cat", "wc"])

    def test_forked_before(self):
        """Workers that were forked before belong to the main thread; a program is its own."""
        script = ("import os, subprocess\n"
                  "pids = []\n"
                  "for _ in range(2):\n"
                  "    pids.append(os.fork())\n"
                  "    if not pids[-1]: os.read(0, 1); os._exit(0)\n"
                  "other = subprocess.Popen(['sh', '-c', 'read line'])\n"
                  "print(*pids, other.pid, flush=True)\n"
                  "other.wait()\n"
                  "for pid in pids: os.waitpid(pid, 0)\n")
        job = machine().start([harness.PYTHON, "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
        *workers, other = map(int, job.stdout.readline().split())
        attached = Attached("-p", str(job.pid))
        job.stdin.close()
        self.finish(attached, job)
        kinds = {row["tid"]: row["kind"] for row in attached.report["threads"]}
        self.assertEqual(kinds, {job.pid: "main", other: "main",
                                 **dict.fromkeys(workers, "worker")})

    # --- ending ---

    def test_ends_by_signal_and_the_target_continues(self):
        job, _, shared, _ = self.job("storm")
        for number in (signal.SIGINT, signal.SIGTERM):
            attached = Attached("-p", str(job.pid))
            status, stderr = attached.end(number)
            self.assertEqual(status, 0, stderr)
            self.assertTrue(attached.report["trace"]["complete"])
        self.assertIsNone(job.poll())
        shared.stop()
        self.assertEqual(job.wait(timeout=harness.LIMIT), 0)

    def test_duration(self):
        job, _, shared, _ = self.job("storm")
        attached = Attached("-p", str(job.pid), "-d", "0.5")
        self.assertEqual(attached.end()[0], 0)
        self.assertGreaterEqual(attached.report["trace"]["duration_ns"], 500_000_000)
        self.assertIsNone(job.poll())
        self.assertGreater(attached.report["trace"]["processes"], 4)
        shared.stop()

    def test_target_is_killed(self):
        job, path, shared, _ = self.job("work")
        attached = Attached("-p", str(job.pid))
        job.kill()
        self.assertEqual(attached.end()[0], 0)
        row = next(row for row in attached.report["processes"] if row["pid"] == job.pid)
        self.assertEqual((row["exit_code"], row["signal"]), (128 + 9, 9))

    def test_target_ends_during_the_attach(self):
        """Whenever it ends: either it was attached in time, or one line says that it was not."""
        for tenths in range(6):
            job = machine().start(["sleep", str(tenths / 10)])
            path = f"{machine().new_dir()}/trace.flt"
            done = harness.faultline("attach", "-o", path, "-p", str(job.pid))
            self.assertEqual(job.wait(timeout=harness.LIMIT), 0)
            if done.returncode == 0:
                self.assertTrue(harness.report_of(path)["trace"]["complete"])
                continue
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertRegex(done.stderr.decode(), r"\A[^\n]*(has ended|no such process)[^\n]*\n\Z")

    # --- cgroups ---

    def cgroup(self, hierarchy, name=""):
        return harness.new_cgroup(self, hierarchy, name)

    def check_cgroup(self, hierarchy):
        """Processes in the cgroup and those that join it, but no others."""
        group = self.cgroup(hierarchy)
        jobs = [self.job("work") for _ in range(3)]
        inside, late, outside = jobs
        self.move(inside[0].pid, group)
        attached = Attached("--cgroup", group)
        sleeper = machine().start(["sleep", "1000"])
        self.move(late[0].pid, group)
        self.move(sleeper.pid, group)
        for job, _, shared, _ in jobs:
            shared.ready()
            job.wait(timeout=harness.LIMIT)
        self.finish(attached, inside[0], signal.SIGINT)
        sleeper.kill()
        sleeper.wait()
        trace = attached.trace
        self.assertEqual(len(self.counted(trace, inside[1])), inside[2].counted)
        # Its threads are found slightly later than the process's main thread.
        first = [row for row in trace.dicts("exec") if row["pid"] == late[0].pid]
        self.assertEqual([row["flags"] for row in first], [JOINED])
        row = next(row for row in trace.dicts("exec") if row["pid"] == sleeper.pid)
        self.assertEqual((row["flags"], row["command"]), (JOINED, b"sleep\x001000"))
        self.assertEqual(self.counted(trace, outside[1]), [])
        self.assertEqual({row["pid"] for row in harness.followed(attached.report)},
                         {inside[0].pid, late[0].pid, sleeper.pid})

    def test_cgroup_vanishes(self):
        """When the last process has left: the recording ends and is complete."""
        for hierarchy in "", "pids":
            group = self.cgroup(hierarchy)
            sleeper = machine().start(["sleep", "1000"])
            self.move(sleeper.pid, group)
            attached = Attached("--cgroup", group)
            sleeper.kill()
            sleeper.wait()
            os.rmdir(group)
            status, stderr = attached.end()
            self.assertEqual(status, 0, stderr)
            self.assertTrue(attached.report["trace"]["complete"])
            self.assertEqual([row["pid"] for row in harness.followed(attached.report)],
                             [sleeper.pid])

    def move(self, pid, group):
        with open(f"{group}/cgroup.procs", "w") as file:
            file.write(str(pid))

    def test_cgroup_of_the_second_version(self):
        self.check_cgroup("")

    def test_cgroup_of_the_first_version(self):
        self.check_cgroup("pids")

    def test_cgroup_without_controllers(self):
        self.check_cgroup("name=systemd")

    def test_moves_itself_and_reads(self):
        """As container engines do: into the cgroup, then exec."""
        group = self.cgroup("")
        path = harness.random_file(f"{machine().new_dir()}/data", 30_000)
        holder = machine().start(["sleep", "60"])
        self.move(holder.pid, group)
        attached = Attached("--cgroup", group)
        for _ in range(20):
            subprocess.run(["sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec cat "$1"', group, path],
                           stdout=subprocess.DEVNULL, check=True)
        holder.kill()
        holder.wait()
        status, stderr = attached.end()
        self.assertEqual(status, 0, stderr)
        self.assertIn("has no processes left", stderr)
        row = next(row for row in attached.report["files"] if row["path"] == path)
        self.assertEqual((row["read"]["bytes"], row["processes"]), (600_000, 20))

    def test_container_and_job_by_name(self):
        number = os.urandom(32).hex()
        job_number = str(int.from_bytes(os.urandom(3), "big") + 10_000_000)
        for below, option, value in (
            (f"/docker-{number}.scope", "--container", number[:12]),
            (f"/kubepods.slice/kubepods-pod1.slice/cri-containerd-{number[::-1]}.scope",
             "--container", number[::-1]),
            (f"/slurm/uid_7/job_{job_number}", "--slurm-job", job_number),
        ):
            with self.subTest(below):
                group = self.cgroup("", below)
                job, path, shared, _ = self.job("work")
                self.move(job.pid, group)
                attached = Attached(option, value)
                shared.ready()
                self.finish(attached, job)
                self.assertEqual(len(self.counted(attached.trace, path)), shared.counted)

    # --- spans ---

    def test_spans_of_what_runs(self):
        """Spans that begin afterwards are recorded; the one already open is reported as such."""
        directory = machine().new_dir()
        os.mkfifo(f"{directory}/go")
        script = (
            "import sys, faultline\n"
            "with faultline.span('open', category='step'):\n"
            "    open(sys.argv[1] + '/here', 'w').close()\n"
            "    open(sys.argv[1] + '/go').read()\n"
            "for i in range(5):\n"
            "    with faultline.span('later', category='step', i=i):\n"
            "        pass\n")
        job = machine().start([harness.PYTHON, "-c", script, directory], env=harness.python_path())
        self.assertTrue(harness.wait_until(lambda: os.path.exists(f"{directory}/here")))
        attached = Attached("-p", str(job.pid))
        with open(f"{directory}/go", "w") as file:
            file.write("go")
        self.finish(attached, job)
        spans = [(row["name"], row["count"]) for row in attached.report["spans"]]
        self.assertEqual(spans, [("later", 5)])
        self.assertLessEqual(attached.report["trace"]["notes"]["spans_begun_before"], 1)

    # --- bad input ---

    def refused(self, *arguments, status=2):
        done = harness.faultline("attach", "-o", f"{machine().new_dir()}/trace.flt", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def test_bad_input(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        me = str(os.getpid())
        self.assertIn("no such process", self.refused("-p", str(gone.pid)))
        self.assertIn("is a kernel thread", self.refused("-p", "2"))
        self.assertIn("no target given", self.refused())
        self.assertIn("mutually exclusive", self.refused("-p", me, "--cgroup", "/"))
        self.assertIn("mutually exclusive", self.refused("--all", "--container", "abcdef123456"))
        self.assertIn("duration must be positive", self.refused("-p", me, "-d", "0"))
        self.assertIn("either with -p or as arguments", self.refused("-p", me, me))
        self.assertIn("not a comma-separated PID list", self.refused("sleep"))
        self.assertIn("no such process", self.refused(str(gone.pid)))
        self.assertIn("not an open file descriptor", self.refused("-p", me, "--ready-fd", "77"))
        for pids in ("", "x", "1,", "-1", "0", "1 2", "99999999999"):
            self.assertIn("not a comma-separated PID list", self.refused("-p", pids))
        self.assertIn("not a job ID", self.refused("--slurm-job", "12.x"))
        self.assertIn("on this node", self.refused("--slurm-job", "4000000000"))
        self.assertIn("on this node", self.refused("--container", "0123456789ab"))
        self.assertIn("No such file", self.refused("--cgroup", "/no/such/cgroup"))
        self.assertIn("not a cgroup", self.refused("--cgroup", "/tmp"))
        self.assertIn("the path is empty", self.refused("--cgroup", ""))
        self.assertIn("has no processes", self.refused("--cgroup", self.cgroup("")))

    def test_other_users_processes(self):
        if os.getuid():
            self.skipTest("needs root")
        line = harness.as_user(harness.NOBODY, machine().faultline, "attach", "-o", "/dev/null",
                               "-p", str(os.getpid()))
        done = subprocess.run(line, stderr=subprocess.PIPE, timeout=harness.LIMIT)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"belongs to another user", done.stderr)


if __name__ == "__main__":
    unittest.main()
