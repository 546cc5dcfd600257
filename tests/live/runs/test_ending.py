# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""How a run ends: the job is never harmed, and everything recorded until then is readable."""
import fcntl
import os
import re
import signal
import subprocess
import tempfile
import termios
import time
import unittest

import harness
from harness import Recording, Trace, account, faultline, machine, report_of, wait_until


def parent_of(pid):
    with open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and parent_of(name) == pid:
                found.append(int(name))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def is_alive(pid):
    """True if it is running, not just a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


class Running:
    """A job of a few seconds under faultline, caught while it is running."""

    def __init__(self, seconds, at_signal="default", arguments=(), **options):
        self.directory = machine().new_dir()
        data = harness.random_file(f"{self.directory}/data", 64 * 4096)
        self.path, self.out = f"{self.directory}/trace.flt", f"{self.directory}/out.json"
        self.stderr = tempfile.TemporaryFile(dir=self.directory)
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": self.stderr,
                   **options}
        self.tracer = machine().start(
            [machine().faultline, "run", "-o", self.path, *arguments, "--",
             machine().program("pacer"), data, self.out, str(seconds), at_signal],
            **options,
        )
        if not wait_until(
            lambda: os.path.exists(f"{data}.started") or self.tracer.poll() is not None, 30
        ):
            raise AssertionError("the job did not start")
        if self.tracer.poll() is not None:
            raise AssertionError(f"the job did not start: {self.talk()}")
        # A tracer may have threads or helpers; the job is the process that was execed.
        self.job = next(
            pid
            for pid in children_of(self.tracer.pid)
            if os.readlink(f"/proc/{pid}/exe") == machine().program("pacer")
        )

    def talk(self):
        self.stderr.seek(0)
        return self.stderr.read().decode(errors="replace")

    def wait(self):
        return self.tracer.wait(harness.LIMIT)

    def report(self):
        return report_of(self.path)


class Ending(unittest.TestCase):
    def check_whole(self, running, status):
        report = running.report()
        self.assertIs(report["trace"]["complete"], True)
        self.assertEqual(report["trace"]["exit_code"], status)
        self.assertEqual(report["trace"]["lost"]["total"], 0)

    def test_kill_tracer(self):
        """The job continues and ends normally; everything up to shortly before is readable."""
        running = Running(300, "exit")
        programs = self.programs_of(running.tracer.pid)
        self.assertGreater(len(programs), 0)
        # Events after the start reach the file while the job runs, without any request.
        begun_ns = time.monotonic_ns()

        def is_flushed():
            rows = Trace(running.path).rows("syscall")
            return rows is not None and rows.time[-1] > begun_ns

        self.assertTrue(wait_until(is_flushed), "flushed about every second")
        running.tracer.kill()
        running.tracer.wait()
        self.assertTrue(is_alive(running.job))
        self.assertTrue(
            wait_until(lambda: not self.loaded(programs)), "programs stay in the kernel"
        )
        os.kill(running.job, signal.SIGTERM)
        self.assertTrue(wait_until(lambda: not is_alive(running.job)))
        truth = account(running.out)
        self.assertEqual((truth["bytes"], truth["signals"]), (truth["reads"] * 4096, 1))

        report = running.report()
        self.assertIs(report["trace"]["complete"], False)
        self.assertIsNone(report["trace"]["exit_code"])
        text = faultline("report", running.path)
        self.assertEqual(text.returncode, 0)
        self.assertIn(b"incomplete", b" ".join(text.stdout.splitlines()[:24]).lower())

    def test_kill_idle(self):
        """If a job was idle at the end, its known duration extends to the last flush."""
        directory = machine().new_dir()
        started_ns = time.monotonic_ns()
        tracer = machine().start(
            [machine().faultline, "run", "-o", f"{directory}/trace.flt", "--", "sleep", "60"],
            stderr=subprocess.DEVNULL,
        )
        path = f"{directory}/trace.flt"

        def written():
            there = os.path.exists(path) and os.path.getsize(path)
            return there and Trace(path).flushed > started_ns + 3_000_000_000

        self.assertTrue(wait_until(written))
        job = children_of(tracer.pid)
        tracer.kill()
        tracer.wait()
        for pid in job:
            os.kill(pid, signal.SIGKILL)
        report = report_of(path)
        trace = Trace(path)
        every = [trace.rows(kind) for kind in trace.blocks]
        start = min(int(rows.time[0]) for rows in every)
        # events after the last complete flush may have been written, too
        end = max(int((rows.time + getattr(rows, "dur", 0)).max()) for rows in every)
        self.assertIs(report["trace"]["complete"], False)
        self.assertEqual(report["trace"]["duration_ns"], max(trace.flushed, end) - start)

    def programs_of(self, pid):
        """IDs of the BPF programs that a process holds."""
        programs = set()
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            with open(f"/proc/{pid}/fdinfo/{fd}") as file:
                programs |= {int(line.split()[1]) for line in file if line.startswith("prog_id:")}
        return programs

    def loaded(self, programs):
        tool = "/usr/sbin/bpftool"
        return [
            program
            for program in programs
            if subprocess.run([tool, "prog", "show", "id", str(program)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode
            == 0
        ]

    def test_kill_job(self):
        running = Running(30)
        os.kill(running.job, signal.SIGKILL)
        self.assertEqual(running.wait(), 128 + signal.SIGKILL)
        self.check_whole(running, 128 + signal.SIGKILL)

    def test_signals_reach_job(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                running = Running(30)
                running.tracer.send_signal(number)
                self.assertEqual(running.wait(), 128 + number)
                self.assertFalse(is_alive(running.job))
                self.check_whole(running, 128 + number)

    def test_job_answers_signal(self):
        """A job that handles a signal in its own way keeps its own exit status."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                running = Running(30, "exit")
                running.tracer.send_signal(number)
                self.assertEqual(running.wait(), 3)
                self.assertEqual(account(running.out)["signals"], 1)
                self.check_whole(running, 3)

    def test_other_signals(self):
        """SIGUSR1 is passed on and would end the job; SIGWINCH and SIGCHLD harm nothing."""
        running = Running(30)
        for number in (signal.SIGWINCH, signal.SIGCHLD, signal.SIGCONT):
            running.tracer.send_signal(number)
        time.sleep(0.3)
        self.assertTrue(is_alive(running.job))
        running.tracer.send_signal(signal.SIGUSR1)
        self.assertEqual(running.wait(), 128 + signal.SIGUSR1)

    def test_terminal_interrupt(self):
        """Ctrl-C in a terminal reaches the job once, though the terminal signals both."""
        master, slave = os.openpty()
        self.addCleanup(os.close, master)

        def take_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        running = Running(8, "ignore", preexec_fn=take_terminal, pass_fds=[slave])
        os.close(slave)
        os.write(master, b"\x03")
        self.assertEqual(running.wait(), 0)
        self.assertEqual(account(running.out)["signals"], 1)
        self.check_whole(running, 0)

    def test_second_interrupt(self):
        """The tracer ends at once with a complete trace; a job that ignores the signal
        continues."""
        running = Running(60, "ignore")
        running.tracer.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(running.tracer.poll(), "one is the job's to answer")
        running.tracer.send_signal(signal.SIGINT)
        try:
            status = running.tracer.wait(30)
            self.assertNotEqual(status, 0)
            self.assertFalse(os.path.exists(running.out), "the job had ended before")
            self.assertIs(running.report()["trace"]["complete"], True)
        finally:
            if is_alive(running.job):
                os.kill(running.job, signal.SIGKILL)

    def record_on_full_disk(self, small=None):
        small = small or machine().mount("-t", "tmpfs", "-o", "size=1M", "tmpfs")
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 1 << 20), f"{directory}/out.json"
        recording = Recording(
            [machine().program("hotread"), data, out, "2", "reads", "1000000", "7"],
            trace=f"{small}/trace.flt",
            status=7,
        )
        return recording, account(out)["reads"], data

    def test_disk_full(self):
        """The job continues; one line reports it and names the file; the part written is
        readable, and the totals are complete."""
        recording, reads, data = self.record_on_full_disk()
        self.assertEqual(reads, 2_000_000)
        output = [line for line in recording.stderr.splitlines() if "No space left" in line]
        self.assertEqual(len(output), 1, recording.stderr)
        self.assertIn(recording.path, output[0])
        self.assertIn(f"faultline report {recording.path}", recording.stderr.splitlines()[-1])
        trace = recording.report["trace"]
        self.assertIs(trace["complete"], True)
        self.assertEqual(trace["exit_code"], 7)
        self.assertGreater(trace["lost"]["total"], 0)
        self.assertEqual(trace["lost"]["cause"], "disk")
        self.assertGreaterEqual(recording.report["totals"]["read"]["count"], reads)
        kept = recording.file(data)["read"]["count"]
        self.assertGreater(kept, 0)
        self.assertGreaterEqual(trace["lost"]["by_layer"]["syscall"], reads - kept)

    def test_disk_full_before(self):
        """A job that fills the disk at once leaves the space reserved for the totals."""
        small = machine().mount("-t", "tmpfs", "-o", "size=4M", "tmpfs")
        data = harness.random_file(f"{machine().new_dir()}/data", 1 << 20)
        script = 'cat /dev/zero >"$0/fill" 2>/dev/null; exec "$@" 9'
        recording = Recording(
            ["sh", "-c", script, small, machine().program("hotread"), data]
            + [f"{machine().new_dir()}/out.json", "2", "reads", "500000"],
            trace=f"{small}/trace.flt",
            status=9,
        )
        self.assertIs(recording.report["trace"]["complete"], True)
        self.assertEqual(recording.report["trace"]["exit_code"], 9)
        self.assertGreaterEqual(recording.report["totals"]["read"]["count"], 1_000_000)

    def test_room_again(self):
        """When there is space again, the trace continues."""
        small = machine().mount("-t", "tmpfs", "-o", "size=4M", "tmpfs")
        harness.random_file(f"{small}/filler", 3 << 20)
        directory = machine().new_dir()
        first, second = (harness.random_file(f"{directory}/{name}", 1 << 20) for name in "ab")
        script = (
            '"$1" "$2" "$0/a.json" 2 reads 1000000; rm "$4"; '
            '"$1" "$3" "$0/b.json" 1 reads 20000'
        )
        recording = Recording(
            ["sh", "-c", script, directory, machine().program("hotread"), first, second]
            + [f"{small}/filler"],
            trace=f"{small}/trace.flt",
        )
        self.assertIs(recording.report["trace"]["complete"], True)
        self.assertGreater(recording.report["trace"]["lost"]["total"], 0)
        self.assertIn("space available", recording.stderr)
        self.assertGreater(recording.file(first)["read"]["count"], 0)
        self.assertGreater(recording.file(second)["read"]["count"], 0)
        self.assertEqual(recording.trace.totals["exit_code"], 0)

    def test_root_reserve(self):
        """Blocks reserved for root are not used for traces, not even root's."""
        image = f"{machine().new_dir()}/image"
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        harness.run("mkfs.ext4", "-q", "-F", "-m", "30", image)
        small = machine().mount("-o", "loop", image)
        before = os.statvfs(small)
        reserve = before.f_bfree - before.f_bavail
        self.assertGreater(reserve * before.f_bsize, 1 << 20)
        with open(f"{small}/filler", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, (before.f_bavail - 800) * before.f_bsize)
        recording, reads, _ = self.record_on_full_disk(small)
        self.assertGreater(recording.report["trace"]["lost"]["total"], 0)
        after = os.statvfs(small)
        self.assertGreaterEqual(after.f_bfree, reserve)

    def test_truncated_trace_has_names(self):
        """Files and processes are written before the rows that use them: a truncated trace has
        names for all its rows."""
        recording, _, data = self.record_on_full_disk()
        rows = recording.trace.rows("syscall")
        self.assertEqual(set(rows.file.tolist()) - {0} - set(recording.trace.files), set())
        self.assertGreater(recording.file(data)["read"]["count"], 0)
        self.assertIn("hotread", {row["comm"] for row in recording.report["processes"]})

    def test_exit_status(self):
        for script, status in (
            ("exit 0", 0),
            ("exit 3", 3),
            ("exit 255", 255),
            ("kill -TERM $$", 143),
            ("kill -SEGV $$", 139),
            ("exit 125", 125),
        ):
            with self.subTest(script):
                recording = Recording(["sh", "-c", script], status=status)
                self.assertIs(recording.report["trace"]["complete"], True)
                self.assertEqual(recording.report["trace"]["exit_code"], status)

    def test_bad_memory_access(self):
        """Faults that end in a signal end the job as they would without a tracer."""
        cut = (
            "import mmap, os\n"
            "f = open(os.environ['DATA'], 'r+b')\n"
            "m = mmap.mmap(f.fileno(), 0)\n"
            "m[5]\n"
            "os.truncate(os.environ['DATA'], 0)\n"
            "m[70000]\n"
        )
        data = harness.random_file(f"{machine().new_dir()}/data", 100_000)
        for script, status in (
            (cut, 128 + signal.SIGBUS),
            ("import ctypes; ctypes.string_at(0)", 139),
        ):
            with self.subTest(script):
                recording = Recording(
                    [harness.PYTHON, "-c", script], status=status, env={**os.environ, "DATA": data}
                )
                self.assertIs(recording.report["trace"]["complete"], True)

    def test_streams(self):
        """stdin, stdout and stderr belong to the job."""
        data = os.urandom(1 << 20)
        recording = Recording(["sh", "-c", "cat; echo to stderr >&2"], "-q", stdin=None, input=data)
        self.assertEqual(recording.done.stdout, data)
        self.assertEqual(recording.stderr, "to stderr\n")

    def test_summary(self):
        """Without a terminal, prints nothing but the closing summary, on stderr."""
        recording = Recording(["true"])
        self.assertEqual(recording.done.stdout, b"")
        self.assertIn(recording.path, recording.stderr)
        self.assertNotIn("\r", recording.stderr)
        self.assertNotIn("\x1b", recording.stderr)

    def test_recorded_for_a_time(self):
        """The recording ends early and is complete; faultline exits with the command's status."""
        directory = machine().new_dir()
        early, late = (harness.random_file(f"{directory}/{name}", 5000)
                       for name in ("early", "late"))
        script = 'cat "$0" >&2; while [ ! -s "$2" ]; do sleep 0.05; done; cat "$1" >&2; exit 7'
        trace = f"{directory}/job.flt"
        job = machine().start(
            [machine().faultline, "run", "-o", trace, "-d", "0.5", "--", "sh", "-c", script, early,
             late, f"{directory}/go"], stderr=subprocess.PIPE)
        self.assertTrue(harness.wait_until(lambda: self.is_whole(trace)))
        self.assertIsNone(job.poll())
        with open(f"{directory}/go", "w") as file:
            file.write("go")
        output = job.communicate()[1]
        self.assertEqual(job.returncode, 7)
        self.assertIn(b"the command continues untraced", output)
        report = harness.report_of(trace)
        paths = {row["path"] for row in report["files"]}
        self.assertIn(early, paths)
        self.assertNotIn(late, paths)

    def is_whole(self, trace):
        done = faultline("report", trace)
        return not done.returncode and b"incomplete" not in done.stderr

    def test_delay(self):
        """Activity before the delay is not recorded; processes forked before it are followed."""
        directory = machine().new_dir()
        for name in ("before", "after", "child"):
            harness.random_file(f"{directory}/{name}", 4096)
        script = """cat "$0/before"
            (while [ ! -e "$0/go" ]; do sleep 0.05; done; cat "$0/child"; : >"$0/done") &
            while [ ! -e "$0/go" ]; do sleep 0.05; done; cat "$0/after"; wait; exit 3"""
        trace = f"{directory}/trace.flt"
        run = machine().start([machine().faultline, "run", "-q", "--delay", "1", "-o", trace, "--",
                               "sh", "-c", script, directory], stdout=subprocess.DEVNULL)
        # Its header is written at the start, then existing processes are searched.
        self.addCleanup(lambda: open(f"{directory}/go", "w").close())
        self.assertTrue(wait_until(lambda: os.path.exists(trace) and os.path.getsize(trace) > 0))
        time.sleep(1)
        open(f"{directory}/go", "w").close()
        self.assertEqual(run.wait(harness.LIMIT), 3)
        recorded = Trace(trace)
        self.assertEqual(recorded.calls(f"{directory}/before"), [])
        for name in ("after", "child"):
            self.assertEqual([row["result"] for row in recorded.calls(f"{directory}/{name}", op="read")], [4096, 0])
        self.assertEqual(recorded.totals["exit_code"], 3)
        self.assertEqual(recorded.header["command"][:2], ["sh", "-c"])
        run = faultline("run", "--delay", "60", "-o", f"{directory}/none.flt", "--", "sh", "-c", "exit 4")
        self.assertEqual(run.returncode, 4)
        self.assertIn(b"nothing was recorded", run.stderr)
        self.assertFalse(os.path.exists(f"{directory}/none.flt"))

    def test_one_duration(self):
        """The run's summary and the report agree on how long the command ran."""
        recording = Recording(["true"])
        screen = faultline("report", recording.path).stdout.decode()
        duration = re.search(r"^Ran (.+?), \d+ process", screen, re.MULTILINE).group(1)
        self.assertIn(f"faultline: {duration}, ", recording.stderr)

    def test_job_sees_no_difference(self):
        """Descriptors, signals, limits, environment: as without a tracer, except for the
        variable that tells marker libraries where to connect."""
        script = """
            ls -l /proc/self/fd | awk '{ print $9 }'
            grep -E '^(Sig|Shd|Cap|NoNew|Seccomp|Umask|Groups|Uid|Gid|Cpus_allowed)' \\
                /proc/self/status | grep -v SigQ
            cat /proc/self/limits /proc/self/oom_score_adj
            nice; pwd; umask; env | sort | grep -v ^_="""
        options = {"cwd": machine().new_dir(), "stderr": subprocess.DEVNULL}
        command = ["sh", "-c", script]
        alone = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **options)
        recording = Recording(command, **options)
        seen = recording.done.stdout.decode().splitlines()
        (variable,) = [line for line in seen if line.startswith("FAULTLINE_RUN=")]
        seen.remove(variable)
        self.assertEqual(seen, alone.stdout.decode().splitlines())

    def test_ignored_children(self):
        """The caller ignores SIGCHLD: Faultline still notices exits, and its command finds it
        ignored."""
        command = ["grep", "SigIgn", "/proc/self/status"]
        options = {"stdout": subprocess.PIPE, "timeout": harness.LIMIT,
                   "preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}
        alone = subprocess.run(command, **options).stdout
        self.assertNotEqual(int(alone.split()[1], 16) & 1 << signal.SIGCHLD - 1, 0)
        self.assertEqual(Recording(command, **options).done.stdout, alone)

    def test_calls_beyond_the_end(self):
        """Processes that outlive the command make calls while programs are detached one by one:
        no call is lost."""
        program = (
            "import os, time\n"
            "file = os.open('/dev/null', os.O_RDONLY)\n"
            "if not os.fork():\n"
            "    end = time.monotonic() + 0.6\n"
            "    while time.monotonic() < end:\n"
            "        for _ in range(20):\n"
            "            os.fstat(file)\n"
            "        time.sleep(0.0002)\n"
            "    os._exit(0)\n"
            "time.sleep(0.05)\n"
        )
        for _ in range(4):
            recording = Recording([harness.PYTHON, "-c", program], "--file-types", "all")
            self.assertEqual(recording.report["trace"]["lost"]["by_layer"]["syscall"], 0)
            time.sleep(0.6)

    def test_children_that_outlive(self):
        """The run ends with the command; the summary names the processes still running."""
        directory = machine().new_dir()
        recording = Recording(
            ["sh", "-c", 'sleep 60 >/dev/null 2>&1 & echo $! >"$0/pid"', directory]
        )
        with open(f"{directory}/pid") as file:
            pid = int(file.read())
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.assertTrue(is_alive(pid), "the run waited for it, or ended it")
        self.assertIn("sleep", recording.stderr)
        self.assertIn(str(pid), recording.stderr)
        self.assertEqual(list(recording.trace.totals["survivors"]), [pid])
        self.assertIs(recording.report["trace"]["complete"], True)

    def test_wait_children(self):
        directory = machine().new_dir()
        data = harness.random_file(f"{directory}/data", 12345)
        command = ["sh", "-c", '(sleep 1; cat "$0" >/dev/null) & exit 5', data]
        recording = Recording(command, "--wait-children", status=5)
        self.assertEqual(recording.file(data)["read"]["bytes"], 12345)
        self.assertEqual(list(recording.trace.totals["survivors"]), [])
        recording = Recording(command, status=5)
        self.assertEqual([row for row in recording.report["files"] if row["path"] == data], [])


if __name__ == "__main__":
    unittest.main()
