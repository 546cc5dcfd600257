# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The flight recorder: its traces are the end of what programs did, by their own account."""
import glob
import os
import signal
import struct
import subprocess
import unittest

import bpf_maps
import harness
from flights import CALLS, COUNTING, FAULTING, MIB, Job, Recorder, counted_bytes, lost, python, whole
from harness import faultline, machine, static_program
from test_device_findings import throttle

BIO_END_UNSEEN = 4  # NOTE_BIO_END_UNSEEN of bpf/records/event.h
UNFINISHED = 1 << 12  # TRACE_OP_UNFINISHED


class Flight(unittest.TestCase):
    ALONE = False  # each attaches to its own job only

    def check_end(self, offsets, count):
        """The last reads, without a gap."""
        first = min(offsets)
        self.assertEqual(sorted(offsets), list(range(first, count)))
        return first

    def test_end(self):
        """Overwritten records are counted; those left are the last ones, with their names."""
        count = 800_000
        path = counted_bytes(machine().new_dir())
        job = Job(*python(COUNTING, path, count), env={**os.environ, "RANK": "3"})
        recorder = Recorder("--flight", "1M", "-p", str(job.pid), *CALLS)
        job.work()
        trace = recorder.ask_and_wait()
        job.end()
        self.assertEqual(recorder.end()[0], 0)
        reads = trace.calls(path, op="pread64")
        first = self.check_end([row["offset"] for row in reads], count)
        self.assertGreater(first, 0)
        self.assertEqual(lost(trace), 0)
        flight = trace.header["flight"]
        self.assertEqual(flight["reason"], "SIGUSR2")
        self.assertEqual(flight["overwritten"], first)  # it made no other call on a file
        ends = [row["time"] + row["dur"] for row in reads]
        self.assertLessEqual(flight["complete_from_ns"], min(ends))
        self.assertEqual(trace.totals["start_ns"], flight["complete_from_ns"])
        report = harness.report_of(recorder.traces()[0])
        self.assertEqual(report["trace"]["flight"]["overwritten"], flight["overwritten"])
        self.assertEqual(report["trace"]["unaccounted"], 0)
        (process,) = harness.followed(report)
        self.assertEqual((process["pid"], process["rank"]), (job.pid, 3))
        self.assertIn(path, process["command"])
        (row,) = [row for row in report["operations"] if row["op"] == "pread64"]
        self.assertEqual((row["count"], row["bytes"]), (count - first, count - first))
        text = faultline("report", recorder.traces()[0]).stdout.decode()
        self.assertIn("flight recorder", text)
        self.assertIn("SIGUSR2", text)

    def test_notes(self):
        """Data that the kernel side could not see is noted in the trace of the same period."""
        job = Job(*python(COUNTING, counted_bytes(machine().new_dir()), 100))
        recorder = Recorder("--flight", "4M", "--flight-every", "0", "-p", str(job.pid), *CALLS)
        before = recorder.ask_and_wait()
        # One per CPU.
        cpus = bpf_maps.libbpf.libbpf_num_possible_cpus()
        with bpf_maps.Array(recorder.process.pid, "notes", 8 * cpus) as notes:
            notes.put(BIO_END_UNSEEN, struct.pack("<Q", 1) * cpus)
        job.work()
        after = recorder.ask_and_wait(2)
        job.end()
        recorder.end()
        self.assertEqual(before.totals["notes"], [])
        self.assertEqual(
            after.totals["notes"], [{"name": "bios_ended_unseen", "count": cpus}])
        self.assertEqual((lost(before), lost(after)), (0, 0))

    def test_all(self):
        """Without wrapping, every call is present: the same counts as strace's."""
        job = Job("sh", "-c", 'read line; "$0" "$1"; echo done; read line', machine().program("calls"), machine().new_dir())
        recorder = Recorder("--flight", "16M", "-p", str(job.pid))
        job.work()
        trace = recorder.ask_and_wait()
        job.end()
        recorder.end()
        self.assertEqual((trace.header["flight"]["overwritten"], lost(trace)), (0, 0))
        found = {}
        for row in trace.calls():
            if row["pid"] == job.pid:
                continue
            number, errors = found.get(row["op"], (0, 0))
            found[row["op"]] = (number + 1, errors + (-4096 < row["result"] < 0))
        number, errors = found["execve"]
        found["execve"] = (number - 1, errors)  # one by the shell: strace begins after it
        expected = harness.expected_counts(machine().program("calls"))
        for call, counts in found.items():
            self.assertEqual(counts, expected.get(call), call)
        self.assertGreater(len(found), 40)
        totals = {
            operation["name"]: total["count"]
            for operation, total in zip(trace.header["operations"], trace.totals["operations"])
            if operation["layer"] == "syscall" and total["count"]
        }
        self.assertGreaterEqual(totals["pread64"], found["pread64"][0])
        report = harness.report_of(recorder.traces()[0])
        self.assertEqual(report["trace"]["unaccounted"], 0)
        self.assertFalse([row for row in report["files"] if not row["path"]])

    def test_while_they_write(self):
        """Traces written while all CPUs are active have no uncounted gaps and no torn records."""
        count = 1_000_000
        directory = machine().new_dir()
        paths = [counted_bytes(directory, f"data{number}") for number in range(3)]
        jobs = [Job(*python(COUNTING, path, count)) for path in paths]
        recorder = Recorder("--flight", "4M", "--flight-every", "0", "-p",
                            ",".join(str(job.pid) for job in jobs))
        for job in jobs:
            job.go()
        for number in range(1, 5):
            recorder.ask_and_wait(number)
        for job in jobs:
            job.process.kill()
        self.assertEqual(recorder.end()[0], 0)
        seen = 0
        for trace in recorder.whole():
            missing = 0
            for path, job in zip(paths, jobs):
                # The last call may be unfinished if it was preempted for long.
                offsets = [row["offset"] for row in trace.calls(path, op="pread64")
                           if not row["flags"] & UNFINISHED]
                seen += len(offsets)
                self.assertEqual(offsets, sorted(set(offsets)))
                missing += offsets[-1] - offsets[0] + 1 - len(offsets) if offsets else 0
            self.assertLessEqual(missing, lost(trace))
        self.assertGreater(seen, 0)

    def test_past(self):
        """A process, a file and a span from long before the trace begins have names."""
        count = 800_000
        directory = machine().new_dir()
        path = counted_bytes(directory)
        job = Job("sh", "-c", 'read line; exec "$0" "$@"', *python(COUNTING, path, count))
        recorder = Recorder("--flight", "1M", "-p", str(job.pid), *CALLS)
        job.go()  # which becomes Python
        job.work()
        trace = recorder.ask_and_wait()
        job.end()
        recorder.end()
        self.check_end([row["offset"] for row in trace.calls(path, op="pread64")], count)
        (process,) = [row for row in trace.dicts("exec") if row["pid"] == job.pid]
        self.assertIn(path.encode(), process["command"])
        report = harness.report_of(recorder.traces()[0])
        self.assertEqual([row["path"] for row in report["files"]], [path])

    def test_twice(self):
        """One a minute: another request is refused with a message."""
        job = Job(*python(COUNTING, counted_bytes(machine().new_dir()), 10))
        recorder = Recorder("--flight", "4M", "-p", str(job.pid))
        job.work()
        recorder.ask_and_wait()
        recorder.ask()
        job.end()
        status, output = recorder.end()
        self.assertEqual(status, 0)
        self.assertEqual(len(recorder.traces()), 1)
        self.assertIn("too soon", output)

    def test_keep(self):
        """The last two stay, and so do other files of the directory."""
        job = Job(*python(COUNTING, counted_bytes(machine().new_dir()), 10))
        directory = machine().new_dir()
        with open(f"{directory}/flight-1.flt", "w") as file:
            file.write("somebody's")
        recorder = Recorder("--flight", "4M", "--flight-every", "0", "--flight-keep", "2", "-p",
                            str(job.pid), directory=directory)
        job.work()
        for number in range(2, 6):
            recorder.ask()
            self.assertTrue(harness.wait_until(
                lambda: whole(f"{directory}/flight-{number}.flt")))
        job.end()
        recorder.end()
        self.assertEqual(
            sorted(os.listdir(directory)), ["flight-1.flt", "flight-4.flt", "flight-5.flt"]
        )
        with open(f"{directory}/flight-1.flt") as file:
            self.assertEqual(file.read(), "somebody's")

    def test_run(self):
        """For a command: the signal is handled here, others are passed on, and its status is
        returned."""
        directory = machine().new_dir()
        run = machine().start(
            [machine().faultline, "run", "--flight", "4M", "-o", f"{directory}/f.flt", "--", "sh",
             "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdout.readline()
        run.send_signal(signal.SIGUSR2)
        self.assertTrue(harness.wait_until(lambda: whole(f"{directory}/f-1.flt")))
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=harness.LIMIT)
        self.assertEqual(run.returncode, 7)

    def test_owner(self):
        """A command of another user: the traces belong to that user."""
        directory = machine().new_dir()
        os.chown(directory, harness.NOBODY, harness.NOBODY)
        run = machine().start(
            [machine().faultline, "run", "-u", "nobody", "--flight", "4M", "-o",
             f"{directory}/f.flt", "--", "sh", "-c", "echo ready; read line"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdout.readline()
        run.send_signal(signal.SIGUSR2)
        self.assertTrue(harness.wait_until(lambda: glob.glob(f"{directory}/f-1.flt")))
        run.communicate(b"\n", timeout=harness.LIMIT)
        found = os.stat(f"{directory}/f-1.flt")
        self.assertEqual((found.st_uid, found.st_mode & 0o777), (harness.NOBODY, 0o600))

    def test_full_disk(self):
        """The failure is reported, the job unharmed, and the next trace complete once there is
        space."""
        directory = machine().mount("-t", "tmpfs", "-o", "size=64k", "none")
        with open(f"{directory}/filler", "wb") as file:
            file.write(bytes(40 << 10))
        job = Job(*python(COUNTING, counted_bytes(machine().new_dir()), 50_000))
        recorder = Recorder("--flight", "4M", "--flight-every", "0", "-p", str(job.pid),
                            directory=directory)
        job.work()
        recorder.ask()
        for line in b"flight recorder: process", b"recording":  # ready
            self.assertIn(line, recorder.process.stderr.readline())
        output = recorder.process.stderr.readline()
        self.assertIn(b"No space left", output)
        harness.run("mount", "-o", "remount,size=8m", directory)
        trace = recorder.ask_and_wait(1 + len(recorder.whole()), again=True)
        self.assertEqual(lost(trace), 0)
        job.end()
        self.assertEqual(recorder.end()[0], 0)

    def test_no_directory(self):
        """The failure is reported, and the recorder continues."""
        directory = machine().new_dir()
        job = Job(*python(COUNTING, counted_bytes(machine().new_dir()), 10))
        recorder = Recorder("--flight", "4M", "--flight-every", "0", "-p", str(job.pid),
                            directory=f"{directory}/later")
        job.work()
        recorder.ask()
        for line in b"flight recorder: process", b"recording":  # ready
            self.assertIn(line, recorder.process.stderr.readline())
        self.assertIn(b"directory does not exist", recorder.process.stderr.readline())
        self.assertIn(b"recording continues", recorder.process.stderr.readline())
        os.mkdir(f"{directory}/later")
        self.assertEqual(lost(recorder.ask_and_wait(again=True)), 0)
        job.end()
        self.assertEqual(recorder.end()[0], 0)

    def test_bad_options(self):
        for options in (
            ("--flight", "0"),
            ("--flight", "64K"),
            ("--flight", "much"),
            ("--flight", "4M", "--flight-slower", "0"),
            ("--flight", "4M", "--flight-when", "load=3:1"),
            ("--flight", "4M", "--flight-when", "stall=0:1"),
            ("--flight", "4M", "--flight-when", "stall=50%:100ms"),
            ("--flight", "4M", "--flight-when", "major-faults=x:5"),
            ("--flight", "4M", "--flight-keep", "0"),
            ("--flight", "4M", "--flight-keep", "2X"),
            ("--flight", "4M", "--mode", "auto"),
            ("--flight", "4M", "--force"),
            ("--flight", "4M", "-o", "-"),
            ("--flight-slower", "1"),
            ("--flight-when", "stall=50%:5"),
        ):
            done = faultline("attach", *options, "-p", str(os.getpid()))
            self.assertEqual(done.returncode, 2, options)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Triggers(unittest.TestCase):
    def watch(self, pid, *arguments):
        return Recorder("--flight", "4M", "-p", str(pid), *arguments)

    def test_slow(self):
        """A read that waits long for its device triggers; one that does not, does not."""
        device = machine().new_device(64 * MIB)
        group = throttle(self, device, 1)
        cached = harness.random_file(f"{machine().new_dir()}/data", MIB)
        read = 'read line; for i in 1 2 3 4; do dd if="$0" of=/dev/null bs=4k count=1 %s '
        read += "status=none & done; wait; echo done; read line"
        sound = Job("sh", "-c", read % "", cached)
        slow = Job("sh", "-c", f"echo $$ >{group}/cgroup.procs; " + read % "iflag=direct", device)
        recorders = [self.watch(job.pid, "--flight-slower", "1.5s") for job in (sound, slow)]
        for job in sound, slow:
            job.work()
        self.assertTrue(harness.wait_until(recorders[1].whole))
        for job in sound, slow:
            job.end()
        for recorder in recorders:
            self.assertEqual(recorder.end()[0], 0)
        self.assertEqual(recorders[0].traces(), [])
        (trace,) = recorders[1].whole()
        self.assertRegex(trace.header["flight"]["reason"], r"^read by process \d+ \(\[?dd\b.*\) (took|has not returned for) ")
        self.assertGreater(
            max(row["dur"] for row in trace.calls(device, op="read")), 1_500_000_000)

    def test_major_faults(self):
        """A process that faults all the time triggers, one that does not, does not."""
        data = harness.random_file(f"{machine().new_dir('ext4')}/data", 2 * MIB)
        harness.cool(data)
        faulting = machine().start(python(FAULTING, data))
        quiet = Job(*python(COUNTING, data, 10))
        trigger = ("--interval", "500ms", "--flight-when", "major-faults=1:1s")
        recorders = [self.watch(pid, *trigger) for pid in (quiet.pid, faulting.pid)]
        quiet.work()
        self.assertTrue(harness.wait_until(recorders[1].whole))
        faulting.kill()
        quiet.end()
        for recorder in recorders:
            recorder.end()
        self.assertEqual(recorders[0].traces(), [])
        trace = recorders[1].whole()[0]
        self.assertRegex(trace.header["flight"]["reason"], "major-faults a second for 1.0 s")
        faults = trace.rows("fault")
        self.assertGreater(int((faults.flags & 1).sum()), 0)

    def test_stall(self):
        """A process that does nothing but read triggers, one that waits for input does not."""
        data = harness.random_file(f"{machine().new_dir()}/data", MIB)
        out = f"{machine().new_dir()}/out.json"
        busy = machine().start([static_program("hotread"), data, out, "2", "seconds", "60"])
        quiet = Job(*python(COUNTING, data, 10))
        trigger = ("--interval", "500ms", "--flight-when", "stall=0.1%:1s")
        recorders = [self.watch(pid, *trigger) for pid in (quiet.pid, busy.pid)]
        quiet.work()
        self.assertTrue(harness.wait_until(recorders[1].whole))
        busy.kill()
        quiet.end()
        for recorder in recorders:
            recorder.end()
        self.assertEqual(recorders[0].traces(), [])
        self.assertRegex(recorders[1].whole()[0].header["flight"]["reason"], "^.*: stall of ")


if __name__ == "__main__":
    unittest.main()
