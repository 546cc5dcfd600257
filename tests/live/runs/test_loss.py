# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Nothing is lost with the default buffers, and with tiny ones nothing is lost silently."""
import os
import re
import signal
import subprocess
import time
import unittest

import harness
from harness import Recording, account, faultline, machine, static_program, wait_until

ALONE = True  # one of its programs needs all CPUs, and its tracer one, too

FIRST_SCREEN = 24  # lines


class Loss(unittest.TestCase):
    def record(self, *work, arguments=(), threads=2):
        """Reads of a cached file by a program that makes no other pread64."""
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 1 << 20), f"{directory}/out.json"
        with open(data, "rb") as file:
            file.read()
        job = [static_program("hotread"), data, out, str(threads), *work]
        recording = Recording(job, *arguments)
        return recording, account(out)["reads"], data

    def test_full_speed(self):
        """Two threads of cached 4 KiB reads for ten seconds."""
        recording, reads, data = self.record("seconds", "10")
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        self.assertEqual(recording.operations()["pread64"], (reads, 0))
        self.assertEqual(recording.file(data)["read"]["count"], reads)
        self.assertEqual(recording.file(data)["read"]["bytes"], reads * 4096)
        self.assertLessEqual(
            os.path.getsize(recording.path) / reads, 8, "bytes an event in the trace"
        )

    def test_tiny_buffers(self):
        """Written plus lost equals the kernel's count, which equals the program's own."""
        for reads in ("300000", "1000000", "3000000"):
            recording, reads, _ = self.record("reads", reads, arguments=["--buffer", "4K"])
            lost = recording.report["trace"]["lost"]
            if lost["total"]:
                break
        self.assertGreater(lost["total"], 0, "nothing was lost: this tests nothing")
        self.assertIn(lost["cause"], ("buffers", "stopped"))
        self.check_adds_up(recording, reads)
        self.check_words(recording, lost["total"])

    def test_stopped(self):
        """The recorder is stopped for a while: the report names that as the cause of the loss."""
        directory = machine().new_dir()
        data, trace = harness.random_file(f"{directory}/data", 1 << 20), f"{directory}/trace.flt"
        wait = 'while [ ! -e "$0/%s" ]; do sleep 0.02; done'
        script = (f'touch "$0/begun"; {wait % "stopped"}; "$1" "$2" "$0/out" 2 reads 500000; '
                  f'touch "$0/read"; {wait % "goes_on"}')
        # Only the reads made while Faultline is stopped can fill a buffer of this size.
        run = machine().start(
            [machine().faultline, "run", "-q", "--buffer", "1M", "-o", trace, "--", "/bin/sh",
             "-c", script, directory, static_program("hotread"), data])
        self.assertTrue(wait_until(lambda: os.path.exists(f"{directory}/begun")))
        time.sleep(0.5)  # until it drains, which begins with the command
        os.kill(run.pid, signal.SIGSTOP)
        open(f"{directory}/stopped", "w").close()
        time.sleep(2)  # a shorter stop would not be one
        self.assertTrue(wait_until(lambda: os.path.exists(f"{directory}/read")))
        os.kill(run.pid, signal.SIGCONT)
        open(f"{directory}/goes_on", "w").close()
        self.assertEqual(run.wait(harness.LIMIT), 0)
        reported = harness.report_of(trace)["trace"]
        self.assertGreater(reported["notes"]["lost_while_stopped"], 0)
        self.assertEqual(reported["lost"]["cause"].split(",")[0], "stopped")

    def test_times_of_threads(self):
        """Times of threads are lower bounds, and shares are those of the time that is known, if
        records of times are lost."""
        for count in 2000, 5000, 10000:  # which end at once
            recording = Recording([machine().program("threads"), "crowd", str(count)],
                                  "--buffer", "4K", "--layers", "thread", "--stacks", "off")
            kinds = {row["kind"]: row for row in recording.trace.totals["kinds"]}
            if kinds["thread_time"]["lost"]:
                break
        else:
            self.skipTest("nothing was lost")
        self.assertEqual(kinds["thread_time"]["written"],
                         recording.trace.row_count("thread_time"))
        screen = faultline("report", recording.path).stdout.decode()
        self.assertRegex(screen, r"events were lost \(thread_time [\d,]+")
        self.assertIn("threads, of recorded time", screen)
        main = next(line for line in faultline("report", "--table", "threads", recording.path)
                    .stdout.decode().splitlines() if " main " in line)
        self.assertIn("≥", main)

    def test_many_threads(self):
        """Threads that take turns on few CPUs, with buffers that are too small and large enough."""
        for buffer in ("4K", "8M"):
            with self.subTest(buffer):
                recording, reads, _ = self.record(
                    "reads", "10000", arguments=["--buffer", buffer], threads=16
                )
                self.assertEqual(reads, 160000)
                self.check_adds_up(recording, reads)

    def check_adds_up(self, recording, reads):
        """Written plus lost equals the number generated, for each kind."""
        lost = recording.report["trace"]["lost"]
        self.assertEqual(recording.operations()["pread64"], (reads, 0))
        kinds = recording.trace.totals["kinds"]
        for kind in kinds:
            with self.subTest(kind["kind"]):
                self.assertEqual(kind["events"], kind["written"] + kind["lost"])
                if kind["kind"] != "environment":  # becomes part of other rows
                    self.assertEqual(kind["written"], recording.trace.row_count(kind["kind"]))
        self.assertEqual(lost["total"], sum(kind["lost"] for kind in kinds))
        self.assertEqual(lost["total"], sum(n or 0 for n in lost["by_layer"].values()))
        calls = sum(kind["events"] for kind in kinds if kind["kind"].startswith("syscall"))
        self.assertEqual(calls, sum(count for count, _ in recording.operations().values()))

    def flood(self, what, count):
        """A recording with tiny buffers, its losses by kind, and the directory."""
        directory = machine().new_dir()
        recording = Recording(
            [machine().program("flood"), what, directory, str(count)], "--buffer", "4K"
        )
        return recording, {k["kind"]: k for k in recording.trace.totals["kinds"]}, directory

    def test_identities_have_their_room(self):
        """Thousands of path calls are lost; no process is, nor a file's name."""
        count = 100
        recording, kinds, directory = self.flood("looks", count)
        self.assertGreater(kinds["syscall_path"]["lost"], 0, "nothing was lost: tests nothing")
        for kind in ("fork", "exec", "exit", "file"):
            self.assertEqual(kinds[kind]["lost"], 0, kind)
        self.assertGreaterEqual(kinds["exec"]["events"], count + 1)
        paths = {row["path"] for row in recording.trace.dicts("file")}
        wanted = {os.fsencode(f"{directory}/file-{i}") for i in range(count)}
        self.assertEqual(wanted - paths, set())

    def test_a_lost_name_is_sent_again(self):
        """Names of 3,000 bytes arrive while nothing drains; the next open of the file records it
        again."""
        count = 400
        recording, kinds, directory = self.flood("names", count)
        self.assertGreater(kinds["file"]["lost"], 0, "nothing was lost: tests nothing")
        below = os.path.join(os.fsencode(directory), *[b"d" * 250] * 12)
        paths = {row["path"] for row in recording.trace.dicts("file")}
        self.assertEqual({b"%s/file-%d" % (below, i) for i in range(count)} - paths, set())

    def test_the_longest_path_fits_the_smallest_buffer(self):
        path = f"{machine().new_dir()}/missing/" + "/".join(["y" * 99] * 39)
        path += "z" * (4090 - len(path))
        recording = Recording(["cat", path], "--buffer", "4K", status=1)
        looked = {row["path"] for row in recording.trace.dicts("syscall_path")}
        self.assertIn(os.fsencode(path), looked)

    def left_standing(self, times, read):
        """A recording, and the number of read in it."""
        recording = Recording([machine().program("standing"), str(times), str(read)])
        names = [operation["name"] for operation in recording.trace.header["operations"]]
        return recording, names.index("read")

    def test_a_call_left_standing(self):
        """The end of a call was missed: the next call is not mistaken for it, and it counts as
        lost."""
        times = 25
        alone, read = self.left_standing(0, 0)
        recording, _ = self.left_standing(times, read)
        lost = recording.report["trace"]["lost"]
        self.assertEqual(lost["by_layer"]["syscall"], times)
        self.assertEqual(lost["total"], times)
        reads = [
            sum(row["op"] == "read" for row in one.trace.calls()) for one in (recording, alone)
        ]
        self.assertEqual(reads[0], reads[1])
        self.assertEqual(recording.operations()["read"][0], alone.operations()["read"][0] + times)

    def test_lower_bounds(self):
        """If events were lost, times are marked as lower bounds; otherwise none is."""
        read = self.left_standing(0, 0)[1]
        for times, lossy in ((0, False), (1, True)):
            recording = self.left_standing(times, read)[0]
            trace = recording.report["trace"]
            self.assertEqual(trace["times_are_lower_bounds"], lossy)
            self.assertEqual(trace["unaccounted"], 0)
            text = faultline("report", recording.path).stdout.decode()
            self.assertEqual(bool(re.search(r"≥\d", text)), lossy, text)
            self.assertEqual("I/O ≥" in text, lossy, text)

    def check_words(self, recording, lost):
        """Both the run's summary and the report's first screen give the number."""
        done = faultline("report", recording.path)
        screen = b"\n".join(done.stdout.splitlines()[:FIRST_SCREEN]).decode()
        for where, text in (("run", recording.stderr), ("report", screen)):
            with self.subTest(where):
                output = [
                    re.sub(r"[,.' _]", "", line)
                    for line in text.splitlines()
                    if "lost" in line.lower()
                ]
                self.assertTrue(any(str(lost) in line for line in output), text)


if __name__ == "__main__":
    unittest.main()
