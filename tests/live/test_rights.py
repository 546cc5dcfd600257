# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the tracer may do, and with whose rights: its threads, its streams, programs that gain rights."""
import os
import shutil
import signal
import struct
import subprocess
import unittest

import harness
from harness import NOBODY, Recording, faultline, machine, wait_until

# Numbers of capabilities, as in <linux/capability.h>.
CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE, CAP_SYS_ADMIN = 2, 5, 19, 21
CAP_PERFMON, CAP_BPF = 38, 39


def threads_of(pid):
    """{tid: what /proc says of it}, of all threads of a process."""
    threads = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status") as file:
            threads[int(tid)] = dict(line.rstrip("\n").split(":\t", 1) for line in file)
    return threads


def bits(hexadecimal):
    value = int(hexadecimal, 16)
    return {bit for bit in range(64) if value >> bit & 1}


class Threads(unittest.TestCase):
    def run_as(self, uid):
        """A run for a user in full course, as {tid: status} of the tracer."""
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
        # Each gives its own up as it begins, the first one when the command has begun.
        self.assertTrue(wait_until(lambda: self.settled(tracer.pid)), threads_of(tracer.pid))
        return threads_of(tracer.pid)

    def settled(self, pid):
        threads = threads_of(pid)
        return len(threads) >= 3 and not any(
            CAP_SYS_PTRACE in bits(thread["CapPrm"]) for thread in threads.values()
        )

    def test_capabilities(self):
        """Each thread keeps what it needs; the one that writes nothing at all, the one that looks control
        groups up by their numbers what opens them."""
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
                self.assertLessEqual(len(more), 1, "but the one that attaches")
                self.assertTrue(all(capabilities <= attaching for capabilities in more), more)

    def test_writer_is_the_owner(self):
        """Whose trace it is, is whose disk quota counts; and root's reserve is not touched."""
        for uid, names in ((NOBODY, ("Uid", "Gid")), (0, ())):
            with self.subTest(uid):
                threads = self.run_as(uid)
                # Who looks cgroups up has no capability either, and writes no file.
                (writer,) = [t for t in threads.values()
                             if not bits(t["CapPrm"]) and t["Uid"].split()[3] != "0"]
                for name in names:
                    self.assertEqual(writer[name].split(), [str(uid)] * 4)


class Privileged(unittest.TestCase):
    """Programs that gain rights at their exec: their caller's trace must not tell what they read."""

    def setUp(self):
        self.directory = machine().new_dir()
        self.secret = harness.random_file(f"{self.directory}/secret", 30_000)
        os.chmod(self.secret, 0o600)
        os.mkdir(f"{self.directory}/theirs")
        os.chown(f"{self.directory}/theirs", NOBODY, NOBODY)

    def program(self, name, mode, capability=None):
        """A reader of files with a mode, or file capabilities, of its own."""
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
        """The plain program before and after it is recorded; what it reads is not, even though it
        does read it."""
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
                (told,) = recording.report["trace"]["not_followed"]
                self.assertRegex(told, rf"^{name} \(\d+\)$")
                self.assertIn("not followed", recording.stderr)
                text = faultline("report", recording.path).stdout.decode()
                self.assertIn(told, "\n".join(text.splitlines()[:24]))
                pid = int(told.partition("(")[2][:-1])
                rows = [row for row in recording.trace.calls() if row["pid"] == pid]
                end = next(r["time"] for r in recording.trace.dicts("exec") if r["pid"] == pid
                           and r["comm"] == name.encode())
                self.assertEqual([row for row in rows if row["time"] > end], [])

    def test_command_itself(self):
        program = self.program("setuid", 0o4755)
        recording = self.record([program, self.secret], NOBODY)
        self.assertEqual(len(recording.done.stdout), 30_000)
        self.assertEqual(recording.trace.calls(), [])
        self.assertEqual(len(recording.report["trace"]["not_followed"]), 1)

    def test_root_sees_all(self):
        """To root nothing is hidden; and a user's own programs gain nothing."""
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
        """What is printed never goes into the trace, and the job finds closed what was closed."""
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
        """What cannot be printed is said by the exit status."""
        trace = Recording(["true"]).path
        done = subprocess.run(
            ["sh", "-c", '"$@" >&-', "sh", machine().faultline, "report", trace],
            stderr=subprocess.DEVNULL,
        )
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
