# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The tracer's privileges: of its threads, its streams, and with setuid programs."""
import contextlib
import glob
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
import unittest

import harness
from bpf_maps import Array
from harness import NOBODY, Recording, faultline, machine, wait_until

# Capability numbers from <linux/capability.h>.
CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE, CAP_SYS_ADMIN = 2, 5, 19, 21
CAP_PERFMON, CAP_BPF = 38, 39
TRACING_CAPABILITIES = (CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF)


def threads_of(pid):
    """{tid: its /proc status}, for all threads of a process that have not ended by then."""
    threads = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open(f"/proc/{pid}/task/{tid}/status") as file:
            threads[int(tid)] = dict(line.rstrip("\n").split(":\t", 1) for line in file)
    return threads


def bits(hexadecimal):
    value = int(hexadecimal, 16)
    return {bit for bit in range(64) if value >> bit & 1}


class Threads(unittest.TestCase):
    def run_as(self, uid):
        """A run for a user in progress: {tid: status} of the tracer."""
        directory = machine().new_dir()
        os.chown(directory, uid, uid)
        tracer = machine().start(
            [machine().faultline, "run", "-o", f"{directory}/trace.flt", "--"]
            + ["sh", "-c", f"touch {directory}/started; sleep 100"],
            env={**os.environ, "SUDO_UID": str(uid), "SUDO_GID": str(uid)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.send_signal, signal.SIGTERM)
        started = lambda: os.path.exists(f"{directory}/started") or tracer.poll() is not None
        self.assertTrue(wait_until(started))
        # Each thread drops its privileges as it starts, the main one once the command runs.
        self.assertTrue(wait_until(lambda: self.settled(tracer.pid)), threads_of(tracer.pid))
        return threads_of(tracer.pid)

    def settled(self, pid):
        threads = threads_of(pid)
        return len(threads) >= 3 and not any(
            CAP_SYS_PTRACE in bits(thread["CapPrm"]) for thread in threads.values()
        )

    def test_capabilities(self):
        """Each thread keeps only what it needs; the writer nothing at all, and the thread that
        looks up cgroups by ID only the capability to open them."""
        allowed = {CAP_BPF, CAP_KILL}
        attaching = allowed | {CAP_PERFMON}  # to CPUs that come online
        for uid in (0, NOBODY):
            with self.subTest(uid):
                threads = self.run_as(uid)
                kept = [bits(thread["CapPrm"]) for thread in threads.values()]
                self.assertIn(set(), kept, "the thread that writes")
                if {CAP_DAC_READ_SEARCH} in kept:
                    kept.remove({CAP_DAC_READ_SEARCH})
                more = [capabilities for capabilities in kept if not capabilities <= allowed]
                self.assertLessEqual(len(more), 1, "more than one thread can attach")
                self.assertTrue(all(capabilities <= attaching for capabilities in more), more)

    def test_writer_is_the_owner(self):
        """The trace counts towards its owner's disk quota, and root's reserve is not used."""
        for uid, names in ((NOBODY, ("Uid", "Gid")), (0, ())):
            with self.subTest(uid):
                threads = self.run_as(uid)
                (writer,) = [t for t in threads.values()
                             if not bits(t["CapPrm"]) and t["Uid"].split()[3] != "0"]
                for name in names:
                    self.assertEqual(writer[name].split(), [str(uid)] * 4)


class Lent(unittest.TestCase):
    """A program with file capabilities, installed as in the README."""

    # Commands that wait for input; a command that traces needs its capabilities.
    READING = {"report": ["-"], "print": ["-"], "summarize": ["-o", "summary.flt", "-"],
               "export": ["--to", "csv", "-o", "tables", "-"]}
    TRACING = {"run", "attach", "monitor", "top", "check"}
    EXECUTING = {"mcp"}  # becomes Python, which has no capabilities

    def setUp(self):
        self.directory = machine().new_dir()
        os.chown(self.directory, NOBODY, NOBODY)
        self.program = shutil.copy(machine().faultline, f"{self.directory}/faultline")
        os.chmod(self.program, 0o755)
        both = sum(1 << capability for capability in TRACING_CAPABILITIES)
        value = struct.pack("<5I", 0x02000001, both & 0xFFFFFFFF, 0, both >> 32, 0)
        os.setxattr(self.program, "security.capability", value)

    def start(self, *arguments, **options):
        job = machine().start(
            [self.program, *arguments], user=NOBODY, group=NOBODY, extra_groups=[],
            cwd=self.directory, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, **options
        )
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        return job

    def check_powerless(self, job, runs=None):
        """Waits until all of its threads wait for input. `runs`: the program it becomes."""
        waits = lambda: all(t["State"].startswith("S") for t in threads_of(job.pid).values())
        is_there = runs or (lambda: self.is_ours(job))
        self.assertTrue(wait_until(lambda: job.poll() is not None or is_there() and waits()))
        self.assertIsNone(job.poll())
        for thread in threads_of(job.pid).values():
            for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                self.assertEqual(bits(thread[name]), set(), name)
            self.assertEqual(thread["Uid"].split(), [str(NOBODY)] * 4)

    def is_ours(self, job):
        return os.readlink(f"/proc/{job.pid}/exe") == self.program

    def test_commands_without_tracing(self):
        text = faultline("--help").stdout.decode().partition("Commands:\n")[2].partition("\n\n")[0]
        commands = {line.split()[0] for line in text.splitlines()}
        self.assertEqual(commands, set(self.READING) | self.TRACING | self.EXECUTING)
        for command, arguments in self.READING.items():
            with self.subTest(command):
                self.check_powerless(self.start(command, *arguments))

    def test_mcp(self):
        os.symlink(machine().program("python"), f"{self.directory}/python")
        with open(harness.random_file(f"{self.directory}/output", 0), "r+b") as stdout:
            job = machine().start(
                [self.program, "mcp", "."], user=NOBODY, group=NOBODY, extra_groups=[],
                cwd=self.directory, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.DEVNULL)
            self.addCleanup(job.communicate)
            self.addCleanup(job.kill)
            job.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
            job.stdin.flush()
            # It has answered, so Python waits for the next request.
            self.check_powerless(job, lambda: os.fstat(stdout.fileno()).st_size > 0)
            self.assertFalse(self.is_ours(job))

    def test_top_as_client(self):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"{self.directory}/socket")
            os.chown(f"{self.directory}/socket", NOBODY, NOBODY)
            server.listen()
            job = self.start("top", "--batch", "--connect", f"unix:{self.directory}/socket")
            server.settimeout(harness.LIMIT)
            with server.accept()[0]:
                self.check_powerless(job)

    def test_trace_of_another_user(self):
        trace = Recording(["true"], trace=f"{self.directory}/root.flt").path
        self.assertEqual(os.stat(trace).st_mode & 0o777, 0o600)
        for command, arguments in self.READING.items():
            with self.subTest(command):
                done = subprocess.run(
                    [self.program, command, *arguments[:-1], trace], user=NOBODY, group=NOBODY,
                    extra_groups=[], cwd=self.directory, capture_output=True,
                )
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(b"Permission denied", done.stderr)
        # Root needs no file capabilities.
        os.chown(trace, NOBODY, NOBODY)
        self.assertEqual(faultline("report", trace).returncode, 0)

    def tracers(self):
        """The commands that trace: their arguments."""
        target = machine().start(["sleep", "100"], user=NOBODY)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        return {"run": ["-o", "run.flt", "--", "sleep", "100"],
                "attach": ["-o", "attach.flt", "-p", str(target.pid)],
                "monitor": ["--listen", f"unix:{self.directory}/monitor"]}

    def test_tracers_cannot_be_traced(self):
        """The /proc entries of a process that its user may trace belong to that user."""
        for command, arguments in self.tracers().items():
            with self.subTest(command):
                job = self.start(command, *arguments)
                self.assertTrue(wait_until(lambda: self.is_ours(job)))
                # Before, while and after its main thread drops the capabilities to attach.
                self.assertTrue(wait_until(lambda: self.check_owner(job) and self.has_dropped(job)))
                for _ in range(10):
                    self.check_owner(job)
                    time.sleep(0.02)

    def check_owner(self, job):
        self.assertIsNone(job.poll())
        self.assertEqual(os.stat(f"/proc/{job.pid}/mem").st_uid, 0)
        return True

    def has_dropped(self, job):
        return CAP_SYS_PTRACE not in bits(threads_of(job.pid)[job.pid]["CapPrm"])

    def test_ambient(self):
        """Ambient capabilities leave /proc/PID owned by the user; Faultline makes it root's."""
        given = "+bpf,+perfmon,+sys_ptrace,+dac_read_search,+kill"
        for command, arguments in self.tracers().items():
            with self.subTest(command):
                job = machine().start(
                    ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
                     "--inh-caps", given, "--ambient-caps", given, machine().faultline, command,
                     *arguments], cwd=self.directory, stdin=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)
                self.addCleanup(job.wait)
                self.addCleanup(job.terminate)
                made = os.path.join(self.directory, arguments[1].removeprefix("unix:"))
                self.assertTrue(wait_until(lambda: os.path.exists(made) or job.poll() is not None))
                self.assertIsNone(job.poll())
                self.assertEqual(os.stat(f"/proc/{job.pid}/mem").st_uid, 0)


class Requests(unittest.TestCase):
    """SIGUSR2 asks a flight recorder for a trace. It must not kill any other command."""

    def ask(self, *arguments, **options):
        job, _ = machine().start_ready(*arguments, stderr=subprocess.PIPE, **options)
        job.send_signal(signal.SIGUSR2)
        return job

    def check(self, job):
        time.sleep(0.2)
        self.assertIsNone(job.poll())
        job.send_signal(signal.SIGINT)
        stderr = job.communicate()[1].decode()
        self.assertRegex(stderr, r"SIGUSR2 ignored: .*requires --flight SIZE")
        return stderr

    def test_attach_without_flight(self):
        target = machine().start(["sleep", "100"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.check(self.ask("attach", "-o", f"{machine().new_dir()}/a.flt", "-p", str(target.pid)))

    def test_monitor_without_flight(self):
        self.check(self.ask("monitor", "--listen", f"unix:{machine().new_dir()}/monitor"))

    def test_run_without_flight(self):
        """The job, which the signal would kill, does not get it."""
        directory = machine().new_dir()
        script = 'touch "$0/begun"; while [ ! -e "$0/go" ]; do sleep 0.02; done; touch "$0/ended"'
        with open(f"{directory}/messages", "w+") as messages:
            job = machine().start(
                [machine().faultline, "run", "-o", f"{directory}/a.flt", "--", "sh", "-c", script,
                 directory], stdin=subprocess.DEVNULL, stderr=messages,
            )
            self.assertTrue(wait_until(lambda: os.path.exists(f"{directory}/begun")))
            job.send_signal(signal.SIGUSR2)

            def stderr():
                messages.seek(0)
                return messages.read()

            self.assertTrue(wait_until(lambda: "SIGUSR2 ignored" in stderr()), stderr())
            self.assertIsNone(job.poll())
            open(f"{directory}/go", "w").close()
            self.assertEqual(job.wait(harness.LIMIT), 0, stderr())
        self.assertTrue(os.path.exists(f"{directory}/ended"))

    def test_how_to_request(self):
        """The printed command line works."""
        directory = machine().new_dir()
        script = f"touch {directory}/begun; exec sleep 100"
        job = machine().start(
            [machine().faultline, "run", "--flight", "8M", "-o", f"{directory}/%t.flt", "--",
             "sh", "-c", script],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        self.addCleanup(job.communicate)
        self.addCleanup(job.terminate)
        self.assertTrue(wait_until(lambda: os.path.exists(f"{directory}/begun")))
        line = next(line for line in iter(job.stderr.readline, b"") if b"kill -USR2" in line)
        command = line.decode().partition("'")[2].partition("'")[0]
        self.assertEqual(command, f"kill -USR2 {job.pid}")
        subprocess.run(["sh", "-c", command], check=True)
        self.assertTrue(wait_until(lambda: glob.glob(f"{directory}/*.flt")))


class Environment(unittest.TestCase):
    def test_secrets(self):
        """Only variables that give a rank are read, whatever the others are called."""
        secret, visible = os.urandom(16).hex(), os.urandom(16).hex()
        names = ("SECRET", "RANK_SECRET", "LOCAL_RANK_OF", "SLURM_PROCID_SECRET", "AWS_SECRET_ACCESS_KEY")
        recording = Recording(["sh", "-c", 'sh -c "exit 0"; : "$1"', "sh", visible],
                              env={**os.environ, "RANK": "3", **dict.fromkeys(names, secret)})
        self.assertEqual({row["rank"] for row in recording.trace.dicts("exec")}, {3})
        content = harness.run("zstd", "-dcq", recording.path)
        self.assertIn(visible.encode(), content)
        self.assertNotIn(secret.encode(), content)


class Privileged(unittest.TestCase):
    """setuid programs: their caller's trace must not reveal what they read."""

    def setUp(self):
        self.directory = machine().new_dir()
        self.secret = harness.random_file(f"{self.directory}/secret", 30_000)
        os.chmod(self.secret, 0o600)
        os.mkdir(f"{self.directory}/theirs")
        os.chown(f"{self.directory}/theirs", NOBODY, NOBODY)

    def program(self, name, mode, capability=None):
        """A copy of cat with a mode or file capabilities of its own."""
        path = f"{self.directory}/{name}"
        shutil.copy("/bin/cat", path)
        os.chmod(path, mode)
        if capability is not None:
            # struct vfs_cap_data: version 2 with the effective bit; permitted, inheritable.
            value = struct.pack("<5I", 0x02000001, 1 << capability, 0, 0, 0)
            os.setxattr(path, "security.capability", value)
        return path

    def record(self, command, uid, *arguments, **options):
        environment = {**os.environ, "SUDO_UID": str(uid), "SUDO_GID": str(uid)}
        if uid == 0:
            environment = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}
        return Recording(
            command, *arguments, trace=f"{self.directory}/theirs/{uid}.flt", env=environment,
            **options
        )

    def test_not_followed(self):
        """The plain program before and after it is recorded; its reads are not, although they
        happen."""
        plain = harness.random_file(f"{self.directory}/plain", 20_000)
        for name, mode, capability in (
            ("setuid", 0o4755, None),
            ("capable", 0o755, CAP_DAC_READ_SEARCH),
            ("unreadable", 0o4711, None),
        ):
            with self.subTest(name):
                program = self.program(name, mode, capability)
                script = 'cat "$1" >/dev/null; "$2" "$3" | wc -c; cat "$1" >/dev/null'
                recording = self.record(
                    ["sh", "-c", script, "sh", plain, program, self.secret], NOBODY, "--force"
                )
                self.assertEqual(recording.done.stdout.strip(), b"30000", "it read the secret")
                self.assertEqual(recording.file(plain)["read"]["bytes"], 40_000)
                self.assertEqual(recording.trace.file_ids(self.secret), set())
                (reported,) = recording.report["trace"]["not_followed"]
                self.assertRegex(reported, rf"^{name} \(\d+\)$")
                self.assertIn("not followed", recording.stderr)
                text = faultline("report", recording.path).stdout.decode()
                self.assertIn(reported, "\n".join(text.splitlines()[:24]))
                pid = int(reported.partition("(")[2][:-1])
                rows = [row for row in recording.trace.calls() if row["pid"] == pid]
                end = next(r["time"] for r in recording.trace.dicts("exec") if r["pid"] == pid
                           and r["comm"] == name.encode())
                self.assertEqual([row for row in rows if row["time"] > end], [])
                self.assertEqual([row for row in rows if row["time"] + row["dur"] > end], [],
                                 "the call that became the program lasts as long as it does")

    def test_slots(self):
        """A task that is no longer followed keeps nothing that others need."""
        program = self.program("setuid", 0o4755)
        ready = f"{self.directory}/theirs/ready"
        job = machine().start(
            [machine().faultline, "run", "-o", f"{self.directory}/theirs/trace.flt", "--", "sh",
             "-c", 'for i in 1 2 3; do "$0" "$1" >/dev/null; done; echo >"$2"; exec sleep 100',
             program, self.secret, ready],
            env={**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)},
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        self.addCleanup(job.wait)
        self.addCleanup(job.terminate)
        self.assertTrue(wait_until(lambda: os.path.exists(ready)))
        with Array(job.pid, "task_slots") as slots:
            heads = [struct.unpack_from("<QQQI", value) for value in slots.values()]
        held = [tid for owner, exited_ns, _, tid in heads if owner and not exited_ns]
        self.assertGreater(len(held), 0, "none is taken: the test does not test")
        self.assertEqual([tid for tid in held if not os.path.exists(f"/proc/{tid}")], [])

    def test_command_itself(self):
        program = self.program("setuid", 0o4755)
        recording = self.record([program, self.secret], NOBODY)
        self.assertEqual(len(recording.done.stdout), 30_000)
        self.assertEqual(recording.trace.calls(), [])
        self.assertEqual(len(recording.report["trace"]["not_followed"]), 1)

    def test_root_sees_all(self):
        """Nothing is hidden from root, and a user's own programs gain no privileges."""
        program = self.program("setuid", 0o4755)
        recording = self.record([program, self.secret], 0)
        self.assertEqual(recording.file(self.secret)["read"]["bytes"], 30_000)
        self.assertEqual(recording.report["trace"]["not_followed"], [])
        os.chown(program, NOBODY, NOBODY)
        os.chmod(program, 0o4755)
        os.chown(self.secret, NOBODY, NOBODY)
        recording = self.record([program, self.secret], NOBODY)
        self.assertEqual(recording.file(self.secret)["read"]["bytes"], 30_000)
        self.assertEqual(recording.report["trace"]["not_followed"], [])


class Streams(unittest.TestCase):
    def test_closed_streams(self):
        """Printed output never goes into the trace, and descriptors closed for the job stay
        closed."""
        data = harness.random_file(f"{machine().new_dir()}/data", 50_000)
        script = 'for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && echo $fd >&8; done; cat "$1" >&9'
        for redirections, closed in (
            ("2>&-", "2"),
            ("<&- >&- 2>&-", "012"),
            (">&-", "1"),
            ("<&-", "0"),
        ):
            with self.subTest(redirections):
                directory = machine().new_dir()
                done = subprocess.run(
                    ["sh", "-c", f'"$@" 8>"$OPEN" 9>/dev/null {redirections}', "sh"]
                    + [machine().faultline, "run", "-o", f"{directory}/trace.flt", "--"]
                    + ["sh", "-c", script, "sh", data],
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "OPEN": f"{directory}/open"},
                )
                self.assertEqual(done.returncode, 0)
                report = harness.report_of(f"{directory}/trace.flt")
                self.assertIs(report["trace"]["complete"], True)
                (row,) = [row for row in report["files"] if row["path"] == data]
                self.assertEqual(row["read"]["bytes"], 50_000)
                with open(f"{directory}/open") as file:
                    self.assertEqual(set(file.read().split()), set("012") - set(closed))

    def test_closed_output(self):
        """Output that cannot be printed is reflected in the exit status."""
        trace = Recording(["true"]).path
        done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", machine().faultline, "report", trace],
                              stderr=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
