# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Bad input gets one clear line on stderr and the right exit status, and no job is run."""
import os
import re
import resource
import shutil
import stat
import subprocess
import unittest

import harness
from harness import NOBODY, Recording, as_user, captured, faultline, machine

USAGE, NO_TRACING, NOT_RUNNABLE, NOT_FOUND = 2, 125, 126, 127


class Input(unittest.TestCase):
    def refused(self, done, status, *words):
        """The command failed as expected, and gave the reason in one line that holds these
        words."""
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith("faultline: "), text)
        self.assertEqual(done.stdout, b"")
        for word in words:
            self.assertIn(word.lower(), text.lower())

    def run_for(self, *arguments, **options):
        """faultline run, with a command that would leave a mark."""
        self.mark = os.path.join(machine().new_dir(), "was-run")
        return faultline("run", *arguments, "--", "touch", self.mark, **options)

    def not_run(self, done, status, *words):
        self.refused(done, status, *words)
        self.assertFalse(os.path.exists(self.mark), "the command was run")

    # --- run ---

    def test_no_command(self):
        for arguments in ([], ["--"], ["-q", "--"], ["-o", "x.flt"]):
            with self.subTest(arguments):
                self.refused(faultline("run", *arguments), NO_TRACING, "command")
        self.refused(faultline(), USAGE)
        self.refused(faultline("walk"), USAGE, "walk")

    def test_output_without_a_name(self):
        self.not_run(self.run_for("-o", ""), NO_TRACING, "-o", "empty")

    def test_small_stack(self):
        """256 KiB of stack are less than the longest possible list of groups."""
        directory = machine().new_dir()
        os.chown(directory, NOBODY, NOBODY)
        small = lambda: resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))
        Recording(["true"], "-u", "nobody", trace=f"{directory}/trace.flt", preexec_fn=small)

    def limited(self, what, soft, hard):
        """The options of a command with this limit."""
        return {"preexec_fn": lambda: resource.setrlimit(what, (soft, hard))}

    def test_limits(self):
        """Limits that are too low are reported as such; limits are raised up to the hard limit,
        for Faultline only."""
        for layers in ("all", "task"):
            few = self.limited(resource.RLIMIT_NOFILE, 20, 20)
            done = self.run_for("--layers", layers, **few)
            self.not_run(done, NO_TRACING, "ulimit -n", "20")
            least = int(re.search(rb"at least (\d+)", done.stderr)[1])
            few = self.limited(resource.RLIMIT_NOFILE, least - 1, least - 1)
            self.not_run(self.run_for("--layers", layers, **few), NO_TRACING, str(least))
            Recording(["true"], "--layers", layers,
                      **self.limited(resource.RLIMIT_NOFILE, least, least))
        short = self.limited(resource.RLIMIT_FSIZE, 100 << 10, 100 << 10)
        self.not_run(self.run_for(**short), NO_TRACING, "ulimit -f", str(100 << 10))
        raised = self.limited(resource.RLIMIT_NOFILE, 20, 1000)
        done = Recording(["sh", "-c", "ulimit -S -n"], stdout=subprocess.PIPE, **raised).done
        self.assertEqual(done.stdout, b"20\n")

    def test_not_found(self):
        directory = machine().new_dir()
        for name in ("no-such-command", "/no/such/command", ""):
            with self.subTest(name):
                done = faultline("run", "-o", f"{directory}/trace.flt", "--force", "--", name)
                self.refused(done, NOT_FOUND, name)

    def test_not_executable(self):
        directory = machine().new_dir()
        plain = harness.random_file(f"{directory}/plain", 100)
        for path in (plain, directory):
            with self.subTest(path):
                done = faultline("run", "-o", f"{directory}/trace.flt", "--force", "--", path)
                self.refused(done, NOT_RUNNABLE, path)

    def test_script_without_interpreter(self):
        """Runs as env and the shells run it."""
        path = f"{machine().new_dir()}/script"
        with open(path, "w") as file:
            file.write("echo ran; exit 4\n")
        os.chmod(path, 0o755)
        for command in (["env", path], [path]):
            with self.subTest(command):
                recording = Recording(command, status=4)
                self.assertEqual(recording.done.stdout, b"ran\n")

    def test_not_root(self):
        directory = machine().new_dir()
        os.chown(directory, NOBODY, NOBODY)
        mark = f"{directory}/was-run"
        done = captured(*as_user(NOBODY, machine().faultline, "run", "-o", f"{directory}/trace.flt",
                                 "--", "touch", mark))
        self.refused(done, NO_TRACING, "CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "root")
        self.assertEqual(os.listdir(directory), [], "neither the command's mark nor an empty trace")

    def test_root_of_a_namespace(self):
        """Root only in a user namespace has all capabilities in name."""
        inside = ["unshare", "--user", "--map-root-user"]
        if captured(*inside, "true").returncode:
            self.skipTest("no user namespaces can be made here")
        output = f"{machine().new_dir()}/trace.flt"
        for status, *command in (NO_TRACING, "run", "-o", output, "--", "true"), (1, "check"):
            done = captured(*inside, machine().faultline, *command)
            self.assertEqual(done.returncode, status)
            self.assertIn(b"user namespace", done.stdout + done.stderr)

    def test_not_root_best_effort(self):
        """Better no trace than no job."""
        directory = machine().new_dir()
        os.chown(directory, NOBODY, NOBODY)
        done = captured(*as_user(NOBODY, machine().faultline, "run", "--best-effort", "-o",
                                 f"{directory}/trace.flt", "--", "sh", "-c", "echo ran; exit 5"))
        self.assertEqual((done.returncode, done.stdout), (5, b"ran\n"))
        self.assertIn(b"CAP_BPF", done.stderr)

    def test_check(self):
        done = faultline("check")
        self.assertEqual(done.returncode, 0, done.stderr)
        for layer in (b"task", b"syscall", b"fault", b"pagecache"):
            self.assertIn(layer, done.stdout)
        narrow = faultline("check", env={**os.environ, "COLUMNS": "60"}).stdout.decode()
        self.assertLessEqual(max(map(len, narrow.splitlines())), 60)
        done = captured(*as_user(NOBODY, machine().faultline, "check"))
        self.assertNotIn(done.returncode, (0, 139))
        self.assertIn(b"CAP_BPF", done.stdout + done.stderr)

    def test_no_type_information(self):
        """A kernel without BTF, simulated by a mount that hides it."""
        mark = os.path.join(machine().new_dir(), "was-run")
        hidden = 'mount --make-rprivate /sys && mount -t tmpfs none /sys/kernel/btf && exec "$@"'
        # Other propagations are impossible for the root of a chroot.
        done = captured("unshare", "--mount", "--propagation", "unchanged", "sh", "-c", hidden, "sh",
                        machine().faultline, "run", "-o", f"{mark}.flt", "--", "touch", mark)
        self.refused(done, NO_TRACING, "CONFIG_DEBUG_INFO_BTF", "/sys/kernel/btf/vmlinux")
        self.assertFalse(os.path.exists(mark))
        self.assertFalse(os.path.exists(f"{mark}.flt"))

    def test_old_kernel(self):
        """The verifier's answer to helpers that loop before 5.13, simulated."""
        mark = os.path.join(machine().new_dir(), "was-run")
        done = captured(f"{machine().bin}/oldkernel", machine().faultline, "run", "-o",
                        f"{mark}.flt", "--", "touch", mark)
        self.refused(done, NO_TRACING, "too old", "bpf_for_each_map_elem", "5.14")
        self.assertFalse(os.path.exists(mark))

    def test_output(self):
        directory = machine().new_dir()
        done = self.run_for("-o", f"{directory}/no/dir/x.flt")
        self.not_run(done, NO_TRACING, f"{directory}/no/dir")
        self.not_run(self.run_for("-o", directory), NO_TRACING, directory)
        self.not_run(self.run_for("-o", ""), NO_TRACING)
        self.not_run(self.run_for("-o", f"{directory}/%z"), NO_TRACING, "%z")

    def test_output_exists(self):
        path = harness.random_file(f"{machine().new_dir()}/there", 100)
        with open(path, "rb") as file:
            before = file.read()
        self.not_run(self.run_for("-o", path), NO_TRACING, path, "--force")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(self.run_for("-o", path, "--force").returncode, 0)
        self.assertEqual(faultline("report", path).returncode, 0)

    def test_output_not_writable(self):
        directory = machine().new_dir()
        directory = machine().mount("--bind", directory)
        harness.run("mount", "-o", "remount,bind,ro", directory)
        self.not_run(self.run_for("-o", f"{directory}/x.flt"), NO_TRACING, f"{directory}/x.flt")
        self.not_run(self.run_for(cwd=directory), NO_TRACING)  # the default name, in such a directory

    def test_output_best_effort(self):
        """Better no trace than no job: it runs untraced, and the existing file stays."""
        directory = machine().new_dir()
        there = harness.random_file(f"{directory}/there", 100)
        with open(there, "rb") as file:
            before = file.read()
        for output in (there, f"{directory}/no/dir/x.flt", directory, ""):
            with self.subTest(output):
                done = faultline("run", "--best-effort", "-o", output, "--", "sh", "-c",
                                 "echo ran; exit 6")
                self.assertEqual((done.returncode, done.stdout), (6, b"ran\n"))
                messages = done.stderr.decode()
                self.assertEqual(len(messages.splitlines()), 2, messages)
                self.assertIn("without tracing", messages)
        with open(there, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(os.listdir(directory), ["there"])

    def test_output_is_the_users(self):
        """Root writes for the user who called sudo, and nowhere that the user could not write."""
        directory = machine().new_dir()
        environment = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
        self.not_run(self.run_for("-o", f"{directory}/x.flt", env=environment), NO_TRACING)
        self.assertEqual(os.listdir(directory), [])
        secret = harness.random_file(f"{directory}/secret", 100)
        os.chmod(secret, 0o600)
        theirs = machine().new_dir()
        os.chown(theirs, NOBODY, NOBODY)
        os.symlink(secret, f"{theirs}/x.flt")
        self.run_for("-o", f"{theirs}/x.flt", "--force", env=environment)
        self.assertEqual((os.stat(secret).st_size, os.stat(secret).st_uid), (100, 0))

    def test_options(self):
        for arguments, word in (
            (["--layers", "syscall,nonsense"], "nonsense"),
            (["--layers", ""], "layer"),
            (["--file-types", "reg,odd"], "odd"),
            (["--no-such-option"], "no-such-option"),
            (["-Z"], "-Z"),
            (["--mode", "sideways"], "sideways"),
            (["-o"], "-o"),
            (["--buffer", "lots"], "lots"),
            (["-u", "no-such-user"], "no-such-user"),
        ):
            with self.subTest(arguments):
                done = self.run_for(*arguments) if arguments != ["-o"] else faultline("run", "-o")
                self.refused(done, NO_TRACING, word)

    def test_help(self):
        for command in ((), ("run",), ("report",), ("print",), ("check",)):
            with self.subTest(command):
                done = faultline(*command, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertIn(b"Usage: faultline", done.stdout)

    # --- the command's user, and the trace's owner ---

    def test_sudo(self):
        directory = machine().new_dir()
        os.chown(directory, NOBODY, NOBODY)
        path = f"{directory}/trace.flt"
        environment = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY),
                       "SUDO_USER": "nobody"}
        recording = Recording(["sh", "-c", "id -u; id -g; id -G; grep CapEff /proc/self/status"],
                              trace=path, env=environment)
        fields = recording.done.stdout.decode().split()
        self.assertEqual(fields[:3], [str(NOBODY)] * 3)
        self.assertEqual(int(fields[-1], 16), 0, "capabilities are left to the command")
        self.assertEqual((os.stat(path).st_uid, os.stat(path).st_gid), (NOBODY, NOBODY))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual({row["uid"] for row in recording.trace.dicts("exec")}, {NOBODY})

    def test_sudo_leaves_nothing(self):
        """A command that cannot be run leaves no trace in the directory of the user who called
        sudo."""
        directory = machine().new_dir()
        os.chown(directory, NOBODY, NOBODY)
        done = faultline("run", "-o", f"{directory}/trace.flt", "--", "/no/such/command",
                         env=dict(os.environ, SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY)))
        self.refused(done, NOT_FOUND, "/no/such/command")
        self.assertEqual(os.listdir(directory), [])

    def test_user_option(self):
        environment = {**os.environ, "SUDO_UID": "1", "SUDO_GID": "1"}
        for user in ("nobody", str(NOBODY)):
            with self.subTest(user):
                directory = machine().new_dir()
                os.chown(directory, NOBODY, NOBODY)
                recording = Recording(
                    ["id", "-u"], "-u", user, trace=f"{directory}/trace.flt", env=environment
                )
                self.assertEqual(recording.done.stdout.decode().strip(), str(NOBODY))
        recording = Recording(["id", "-u"], "-u", "root", env=environment)
        self.assertEqual(recording.done.stdout, b"0\n")

    def test_mode_of_trace(self):
        recording = Recording(["true"])
        self.assertEqual(stat.S_IMODE(os.stat(recording.path).st_mode), 0o600)

    def test_default_name(self):
        directory = machine().new_dir()
        done = faultline("run", "--", "true", cwd=directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        (name,) = os.listdir(directory)
        self.assertRegex(name, rf"^faultline-{os.uname().nodename}-\d+\.flt$")
        self.assertIn(name, done.stderr.decode())

    def test_name_pattern(self):
        directory = machine().new_dir()
        done = faultline("run", "-o", f"{directory}/a-%h-%p-%t-%%.flt", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(os.listdir(directory)[0],
                         rf"^a-{os.uname().nodename}-\d+-\d{{10}}-%\.flt$")

    # --- report and print ---

    def test_no_trace(self):
        directory = machine().new_dir()
        for name, content in (
            ("empty", b""),
            ("text", b"hello\n" * 1000),
            ("random", os.urandom(5000)),
            ("zeros", bytes(4096)),
        ):
            with open(f"{directory}/{name}", "wb") as file:
                file.write(content)
        subprocess.run(["zstd", "-q", f"{directory}/text"], check=True)
        for command in ("report", "print"):
            for name in ("empty", "text", "random", "zeros", "text.zst", "missing", "."):
                with self.subTest(command=command, name=name):
                    done = faultline(command, f"{directory}/{name}")
                    self.refused(done, USAGE, f"{directory}/{name}")
                    if name == "empty":  # the remains of a recording that was killed early
                        self.assertIn(b"before it could write", done.stderr)
            with self.subTest(command=command):
                self.refused(faultline(command), USAGE, "trace")
                done = faultline(command, "--format", "xml", f"{directory}/text")
                self.refused(done, USAGE, "xml")

    def test_cut_trace(self):
        """Truncated anywhere, it is read as far as possible, with a note; or is refused with one
        line."""
        recording = Recording(["sh", "-c", "ls /usr/bin | wc -l"])
        size = os.path.getsize(recording.path)
        cut = f"{machine().new_dir()}/cut.flt"
        with open(recording.path, "rb") as file:
            whole = file.read()
        for length in (1, 4, 30, size // 4, size // 2, size * 3 // 4, size - 100, size - 20,
                       size - 1):
            with self.subTest(length=length, size=size):
                with open(cut, "wb") as file:
                    file.write(whole[:length])
                done = faultline("report", "--format", "json", cut)
                if done.returncode == 0:
                    self.assertIn(b'"complete": false', done.stdout)
                else:
                    self.refused(done, USAGE, cut)
                self.assertEqual(faultline("print", cut).returncode, done.returncode)

    def test_two_traces(self):
        """Traces of one job are reported together."""
        directory = machine().new_dir()
        data = harness.random_file(f"{directory}/data", 50_000)
        for name in "ab":
            Recording(["cat", data], trace=f"{directory}/{name}.flt")
        shutil.copy(f"{directory}/a.flt", f"{directory}/c.flt")
        done = faultline("report", "--format", "json", f"{directory}/a.flt", f"{directory}/b.flt")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = harness.json.loads(done.stdout)
        self.assertEqual(report["trace"]["files"], [f"{directory}/a.flt", f"{directory}/b.flt"])
        read = [row["read"]["bytes"] for row in report["files"] if row["path"] == data]
        self.assertEqual(sum(read), 100_000)


if __name__ == "__main__":
    unittest.main()
