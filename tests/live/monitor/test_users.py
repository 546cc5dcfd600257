# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run as users do: under sudo, with file capabilities, in a terminal. The job's environment must
be as without a tracer."""
import fcntl
import importlib.util
import os
import shutil
import signal
import struct
import subprocess
import termios
import unittest

import harness
from harness import NOBODY, below_root, captured, in_cgroup, machine, static_program, wait_until
from watched import ROOM, Watched

# Capabilities that `run` needs, as numbers of <linux/capability.h>: DAC_READ_SEARCH, SYS_PTRACE,
# PERFMON, BPF; and SYS_ADMIN for spans, with which the kernel ignores the thread limit.
CAPABILITIES = (2, 19, 38, 39)
SYS_ADMIN = 21
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def capable(directory, numbers=CAPABILITIES + (SYS_ADMIN,)):
    """A copy of the program with file capabilities."""
    program = f"{directory}/faultline"
    shutil.copy(machine().faultline, program)
    low = sum(1 << number for number in numbers if number < 32)
    high = sum(1 << number - 32 for number in numbers if number >= 32)
    os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000001, low, 0, high, 0))
    return program


class Environment(unittest.TestCase):
    """sudo and the dynamic loader remove variables that a job needs; it gets them back."""

    ALONE = False
    MINE = {
        "RANK": "7",
        "SLURM_PROCID": "7",
        "PYTHONPATH": "/my/python",
        "LD_LIBRARY_PATH": "/my/libraries",
        "OMP_NUM_THREADS": "3",
        "VIRTUAL_ENV": "/my/venv",
        "TMPDIR": "/var/tmp",
        "HOME": "/my/home",
        "USER": "me",
        "EMPTY": "",
        "LINES_OF": "one\ntwo=2",
    }

    def setUp(self):
        self.directory = machine().new_dir()
        os.chown(self.directory, NOBODY, NOBODY)
        self.own = f"{self.directory}/bin"
        os.mkdir(self.own)
        # Exists only in the user's PATH; root's PATH has another program of that name.
        with open(f"{self.own}/ls", "w") as file:
            file.write("#!/bin/sh\nenv -0\n")
        os.chmod(f"{self.own}/ls", 0o755)
        self.environment = {**self.MINE, "PATH": f"{self.own}:/usr/sbin:/usr/bin:/sbin:/bin"}

    def as_nobody(self, command, **more):
        """Runs a command as a user without root's privileges, who may use sudo without a
        password."""
        sudoers = f"{machine().new_dir()}/sudoers"
        with open(sudoers, "w") as file:
            file.write(
                "Defaults env_reset, secure_path=/usr/sbin:/usr/bin:/sbin:/bin\n"
                f"#{NOBODY} ALL=(ALL) NOPASSWD: SETENV: ALL\nroot ALL=(ALL) NOPASSWD: ALL\n"
            )
        os.chmod(sudoers, 0o440)
        script = (
            'mount --bind "$1" /etc/sudoers && shift && '
            f"exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --inh-caps=-all "
            'env -i "$@"'
        )
        assigned = [f"{name}={value}" for name, value in {**self.environment, **more}.items()]
        return captured("unshare", "--mount", "--propagation", "unchanged", "sh", "-c",
                        "mount --make-rprivate / 2>/dev/null; " + script, "sh", sudoers, *assigned,
                        *command, cwd=self.directory)

    def seen(self, done):
        """The environment that the job printed, without what `env` and a tracer add."""
        self.assertEqual(done.returncode, 0, done.stderr)
        pairs = [entry.partition(b"=") for entry in done.stdout.split(b"\0") if entry]
        seen = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
        for name in ("_", "PWD", "OLDPWD", "SHLVL", "FAULTLINE_TRACER", "FAULTLINE_RUN"):
            seen.pop(name, None)
        return seen

    def sudo(self, *arguments, tracer=(), **more):
        if not shutil.which("sudo"):
            self.skipTest("sudo is not installed")
        trace = f"{self.directory}/trace.flt"
        return self.as_nobody(
            ["sudo", "-n", *tracer, machine().faultline, "run", "--force", "-o", trace]
            + [*arguments, "--", "ls"],
            **more,
        )

    def test_sudo(self):
        done = self.sudo()
        self.assertEqual(self.seen(done), self.environment)
        trace = harness.Trace(f"{self.directory}/trace.flt")
        self.assertEqual({row["rank"] for row in trace.dicts("exec")}, {7})
        self.assertEqual({row["uid"] for row in trace.dicts("exec")}, {NOBODY})

    def test_set_for_the_job(self):
        """Variables set on sudo's command line, or after it, are meant for the job."""
        done = self.sudo(tracer=["GIVEN=1", "env", "RANK=9"])
        self.assertEqual(self.seen(done), {**self.environment, "GIVEN": "1", "RANK": "9"})

    def test_turned_off(self):
        """As sudo made it, and found in the PATH that sudo gave."""
        done = self.sudo("--env-from-sudo=no")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"trace.flt", done.stdout, "the ls of root's PATH")

    def test_other_user(self):
        """A user other than the one who called sudo gets none of the caller's variables."""
        for user in ("root", "daemon"):
            with self.subTest(user):
                shutil.rmtree(f"{self.directory}/out", ignore_errors=True)
                os.mkdir(f"{self.directory}/out")
                os.chmod(f"{self.directory}/out", 0o777)
                done = self.as_nobody(
                    ["sudo", "-n", machine().faultline, "run", "-u", user]
                    + ["-o", f"{self.directory}/out/trace.flt", "--", "env", "-0"]
                )
                seen = self.seen(done)
                self.assertEqual([name for name in seen if name in ("RANK", "PYTHONPATH")], [])

    def test_root_changed_its_mind(self):
        """If root itself sets the target user, that user gets none of anyone else's variables."""
        uid = "1"
        done = self.sudo(tracer=["env", f"SUDO_UID={uid}"])
        self.assertNotIn(b"/my/python", done.stdout)
        os.chmod(self.directory, 0o777)
        done = self.as_nobody(
            ["sudo", "-n", "sh", "-c"]
            + [f'SUDO_UID={uid} "$0" run -o "$1" -- env -0', machine().faultline]
            + [f"{self.directory}/other.flt"]
        )
        self.assertNotIn("PYTHONPATH", self.seen(done))

    def test_file_capabilities(self):
        """The loader removes LD_LIBRARY_PATH etc. from a program with capabilities; the job has
        no capabilities and gets them."""
        program = capable(self.directory)
        command = [program, "run", "--force", "-o", f"{self.directory}/trace.flt", "--", "ls"]
        done = self.as_nobody(command)
        self.assertEqual(self.seen(done), self.environment)
        capabilities = self.as_nobody(command[:-1] + ["grep", "Cap...:", "/proc/self/status"])
        for line in capabilities.stdout.decode().splitlines():
            if not line.startswith("CapBnd"):
                self.assertEqual(int(line.split()[1], 16), 0, line)


@unittest.skipUnless(importlib.util.find_spec("prometheus_client"), "no python3-prometheus-client")
class WholeNode(unittest.TestCase):
    """The service reports other users' activity to callers who were granted capabilities, not to
    callers of a program with file capabilities."""

    CHOSEN = "+bpf,+perfmon,+sys_ptrace,+dac_read_search"

    def reads_told(self, *by):
        """Of 4,321 reads each by this user and by root: the number reported, by user."""
        watched = Watched(by=[*AS_NOBODY, *by], *ROOM)
        self.addCleanup(watched.end)
        known = {}
        for name, command in (("nobody", AS_NOBODY), ("root", [])):
            group, directory = harness.new_cgroup(self), machine().new_dir()
            os.chmod(directory, 0o777)
            data = harness.random_file(f"{directory}/data", 1 << 20)
            subprocess.run(in_cgroup(group, *command, static_program("hotread"), data,
                                     f"{directory}/out.json", "1", "reads", "4321"),
                           check=True, stdin=subprocess.DEVNULL, timeout=harness.LIMIT)
            known[name] = watched.scrape().sum(
                "faultline_io_operations_total", cgroup=below_root(group), user=name, op="read",
                command="hotread-static", method="syscall")
        return known, watched.messages()

    def test_file_capabilities(self):
        known, stderr = self.reads_told(capable(machine().new_dir(), CAPABILITIES))
        self.assertEqual(known, {"nobody": 4321, "root": 0})
        self.assertIn("only this user's processes", stderr)

    def test_set_by_the_caller(self):
        """Also if the program has file capabilities, which then replace the granted ones."""
        for program in machine().faultline, capable(machine().new_dir(), CAPABILITIES):
            with self.subTest(program):
                known, stderr = self.reads_told(f"--inh-caps={self.CHOSEN}",
                                             f"--ambient-caps={self.CHOSEN}", program)
                self.assertEqual(known, {"nobody": 4321, "root": 4321})
                self.assertNotIn("only this user's processes", stderr)


class Threads(unittest.TestCase):
    ALONE = False
    # A dedicated UID: the thread limit counts everything that runs as that user.
    USER = 48131

    def test_too_few(self):
        """However low the user's thread limit: either the command is not run, with 125 and a
        message, or it is run and recorded. Nothing is left of a refused one."""
        directory = machine().new_dir()
        program = capable(directory, CAPABILITIES)
        os.chown(directory, self.USER, self.USER)
        mark, trace = f"{directory}/was-run", f"{directory}/trace.flt"
        refused = 0
        for most in range(1, 21):  # 8 are enough, and those that are still exiting
            with self.subTest(most):
                done = subprocess.run(
                    ["setpriv", f"--reuid={self.USER}", f"--regid={self.USER}", "--clear-groups"]
                    + ["prlimit", f"--nproc={most}"]
                    + [program, "run", "--force", "-o", trace, "--", "touch", mark],
                    capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.LIMIT,
                )
                if done.returncode == 125:
                    refused += 1
                    self.assertIn(b"Resource temporarily unavailable", done.stderr)
                    self.assertEqual(sorted(os.listdir(directory)), ["faultline"])
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(os.path.exists(mark))
                self.assertIs(harness.report_of(trace)["trace"]["complete"], True)
                os.unlink(mark)
                os.unlink(trace)
        self.assertTrue(0 < refused < 20, refused)


class Terminal(unittest.TestCase):
    ALONE = False

    def start(self, command, stdout=None, *arguments):
        """A run that leads the session of its own terminal; and the terminal's other end."""
        master, slave = os.openpty()
        directory = machine().new_dir()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup around the tests ignores it

        tracer = machine().start(
            [machine().faultline, "run", "-o", f"{directory}/trace.flt", *arguments, "--"]
            + ["sh", "-c", command, "sh", directory],
            stdin=slave,
            stdout=stdout or slave,
            stderr=slave,
            preexec_fn=take_terminal,
        )
        os.close(slave)
        return tracer, master, directory

    def test_hangup(self):
        """The terminal goes away: the job gets SIGHUP, as without a tracer in between."""
        script = 'trap "echo hup >$1/told; exit 4" HUP; touch $1/started; while :; do sleep 0.1; done'
        tracer, master, directory = self.start(script)
        self.assertTrue(wait_until(lambda: os.path.exists(f"{directory}/started")))
        os.close(master)
        self.assertEqual(tracer.wait(harness.LIMIT), 4)
        self.assertTrue(os.path.exists(f"{directory}/told"))
        self.assertIs(harness.report_of(f"{directory}/trace.flt")["trace"]["complete"], True)

    def printed_by(self, command, *runs):
        """What the terminal of each run shows; all run at the same time."""
        return [self.printed(*run) for run in [self.start(command, *run) for run in runs]]

    def printed(self, tracer, master, directory):
        text = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the other end has been closed
                break
            if not piece:
                break
            text += piece
        os.close(master)
        self.assertEqual(tracer.wait(harness.LIMIT), 0)
        return text

    def test_live_line(self):
        """It stays out of the job's output, unless requested."""
        wait = "echo begins; sleep 2.5; echo ends"
        with tempfile_in(machine().new_dir()) as file:
            plain, *shown, quiet = self.printed_by(
                wait, (None,), (None, "--progress"), (None, "-v"), (file,), (file, "-q"))
        self.assertNotIn(b"\x1b[K", plain)
        self.assertIn(b"begins\r\nends\r\n", plain)
        for text in shown:
            self.assertIn(b"events/s", text)
        self.assertNotIn(b"events/s", quiet)


def tempfile_in(directory):
    return open(f"{directory}/stdout", "wb")


if __name__ == "__main__":
    unittest.main()
