# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""--redact: no name of a job's own is in the trace, and the same files, lines and calls are."""
import os
import subprocess
import unittest

import harness
from flights import FAULTING, Job, Recorder, python
from harness import Attached, Recording, faultline, machine

SECRET = b"sesame"
# Its class, functions, threads, files, missing files and arguments are secret.
SCRIPT = """
import os, sys, threading, time
class Sesame:
    def sesame_load(self, path, count):
        fd = os.open(path, os.O_RDONLY)
        for i in range(count):
            os.pread(fd, 4096, i * 4096)
        os.close(fd)
        for i in range(count):
            try: os.stat(f"{path}/sesame-missing")
            except OSError: pass
        os.rename(path, path + ".sesame"), os.rename(path + ".sesame", path)
        time.sleep(0.05)
sesame = Sesame()
print("ready", flush=True)
sys.stdin.readline()
thread = threading.Thread(target=sesame.sesame_load, args=(sys.argv[1], 60))
thread.start(), thread.join()
sesame.sesame_load(sys.argv[1], 40)
print("done", flush=True)
sys.stdin.readline()
"""


def content(path):
    return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout


class Redact(unittest.TestCase):
    def setUp(self):
        self.directory = f"{machine().new_dir()}/sesame-dir"
        os.mkdir(self.directory)
        self.script, self.data = f"{self.directory}/sesame.py", f"{self.directory}/sesame.bin"
        with open(self.script, "w") as file:
            file.write(f"#!{harness.PYTHON}\n{SCRIPT}")
        os.chmod(self.script, 0o755)
        harness.random_file(self.data, 1 << 20)

    def record(self, *arguments):
        return Recording([self.script, self.data, "--token=sesame"], "--redact", *arguments,
                         stdin=subprocess.DEVNULL)

    def data_row(self, trace):
        """The report's row of the file of data, which has no name any more."""
        found = [row for row in trace.report["files"] if row["path"].endswith(".bin")]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def check(self, recording):
        found = content(recording.path).lower().find(SECRET)
        self.assertEqual(found, -1, content(recording.path)[max(found - 40, 0):found + 40])
        row = self.data_row(recording)
        self.assertEqual(row["read"]["count"], 100)
        return row["path"]

    def test_run(self):
        plain = Recording([self.script, self.data, "--token=sesame"], stdin=subprocess.DEVNULL)
        self.assertIn(SECRET, content(plain.path))
        hidden = self.record()
        self.check(hidden)
        self.assertEqual(hidden.report["trace"]["command"], ["(redacted)"])
        self.assertIn("(redacted)", faultline("report", hidden.path).stdout.decode())
        # Both see the same calls, by line, and files by directory and ending.
        counts = [{op: run.operations()[op] for op in ("pread64", "rename", "newfstatat", "close")}
                  for run in (plain, hidden)]
        self.assertEqual(*counts)
        lines = [sorted({row["line"] for row in run.report["lines"] or []
                         if (row["file"] or "").endswith(".py") and row["state"] == "sleep"})
                 for run in (plain, hidden)]
        self.assertEqual(*lines)
        self.assertTrue(lines[0])

    def test_keys(self):
        key = f"{self.directory}/key"
        with open(key, "w") as file:
            file.write("open, and 16 bytes")
        names = [self.check(self.record(*arguments)) for arguments in
                 ((), (), ("--redact-key", key), ("--redact-key", key))]
        self.assertEqual(len(set(names)), 3, names)
        self.assertEqual(names[2], names[3])

    def test_attach(self):
        job = Job(harness.PYTHON, self.script, self.data)
        self.assertEqual(job.process.stdout.readline(), b"ready\n")
        trace = Attached("--redact", "-p", str(job.pid))
        job.work()
        job.end()
        self.assertEqual(trace.end()[0], 0)
        self.check(trace)

    def test_flight(self):
        job = Job(harness.PYTHON, self.script, self.data)
        self.assertEqual(job.process.stdout.readline(), b"ready\n")
        recorder = Recorder("--redact", "--flight", "4M", "-p", str(job.pid))
        job.work()
        recorder.ask_and_wait()
        job.end()
        recorder.end()
        recorder.path = recorder.traces()[-1]
        recorder.report = harness.report_of(recorder.path)
        self.check(recorder)

    def test_reasons(self):
        """Why a flight recorder writes a trace names a process, or a cgroup."""
        for arguments in (("--flight-slower", "1us"),
                          ("--interval", "200ms", "--flight-when", "major-faults=1:400ms")):
            job = machine().start(python(FAULTING, self.data))
            recorder = Recorder("--redact", "--flight", "4M", *arguments, "-p", str(job.pid))
            self.assertTrue(harness.wait_until(recorder.whole), arguments)
            job.kill()
            recorder.end()
            self.assertNotIn(SECRET, content(recorder.traces()[-1]).lower())
            reason = recorder.whole()[-1].header["flight"]["reason"]
            self.assertRegex(reason, "process [0-9]+|cgroup")

    def test_monitor(self):
        """Traces of the service's flight recorder."""
        recorder = Recorder("--redact", "--flight", "4M", "--listen",
                            f"unix:{machine().new_dir()}/socket", command="monitor",
                            ready="watching ")
        job = Job(harness.PYTHON, self.script, self.data)
        self.assertEqual(job.process.stdout.readline(), b"ready\n")
        job.work()
        recorder.ask_and_wait()
        job.end()
        self.assertEqual(recorder.end()[0], 0)
        found = content(recorder.traces()[-1]).lower()
        self.assertNotIn(SECRET, found)
        self.assertIn(b"(redacted)", found)

    def test_refusals(self):
        short = f"{self.directory}/short"
        with open(short, "w") as file:
            file.write("secret")
        for arguments, output in ((("--redact-key", short), "--redact-key requires --redact"),
                                (("--redact", "--redact-key", short), "at least 16 bytes"),
                                (("--redact", "--redact-key", "/missing"), "cannot read /missing")):
            done = faultline("run", "-o", f"{self.directory}/o.flt", *arguments, "--", "true")
            self.assertEqual(done.returncode, 125)
            self.assertIn(output, done.stderr.decode())
            self.assertFalse(os.path.exists(f"{self.directory}/o.flt"))
        done = faultline("monitor", "--redact")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--redact requires --flight SIZE", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
