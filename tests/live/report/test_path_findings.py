# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Findings about runs that wait for something other than I/O, each with a sibling that does not; and
the critical path against the lives of the main threads."""
import ctypes
import mmap
import os
import socket
import threading
import time
import unittest

import harness
from harness import Recording, python_path

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_path.py")


def record(*arguments):
    return Recording([harness.PYTHON, JOB, *arguments], env=python_path())


class PathFindings(unittest.TestCase):
    def check_path(self, report):
        """Without ranks, the times on the path add up to the life of the command's main thread."""
        rows = report["critical_path"]
        life, = (row["time_ns"] for row in report["threads"]
                 if row["pid"] == row["tid"] == rows_root(report))
        self.assertAlmostEqual(sum(row["time_ns"] for row in rows) / life, 1, delta=0.01)
        for row in rows:
            parts = [value for name, value in row.items()
                     if name.endswith("_ns") and name != "io_runnable_ns"]
            self.assertEqual(sum(parts), 2 * row["time_ns"], row)

    def findings(self, *arguments):
        report = record(*arguments).report
        self.check_path(report)
        return {row["id"]: row for row in report["findings"]}

    def check(self, name, job, sibling, where=None):
        found = harness.undisturbed(lambda: self.findings(*job), lambda rows: name in rows)
        self.assertIn(name, found)
        if where:
            self.assertIn(where, found[name]["where"] or "")
        found = harness.undisturbed(lambda: self.findings(*sibling), lambda rows: name not in rows)
        self.assertNotIn(name, found)

    def test_cpu_bound(self):
        self.check("cpu-bound", ["computes"], ["computes_in_span"], "job_path.py")

    def test_fresh_memory(self):
        """Some hypervisors handle most of a page fault: its time in the kernel is a small part."""
        report = record("fresh_memory").report
        if report["totals"]["anonymous_faults"]["time_ns"] < report["trace"]["duration_ns"] / 5:
            self.skipTest("the kernel spends little time in page faults")
        self.check("fresh-memory", ["fresh_memory"], ["fresh_memory", "kept"], "in fresh_memory")

    def test_pickled_data(self):
        self.check("pickled-data", ["sends_arrays"], ["sends_arrays", "numbers"], "sends_arrays")

    def test_worker_bound(self):
        """More workers save nothing where no CPU is free: then the run is short of CPUs."""
        if "cpu-starved" in self.findings("has_worker"):
            self.skipTest("other programs keep the CPUs busy")
        self.check("worker-bound", ["has_worker"], ["computes"], "in compute")

    def test_workers_renewed(self):
        self.check("workers-renewed", ["renews_workers"], ["renews_workers", "1"], "in compute")

    def test_rank_behind(self):
        """Each rank has a main thread of its own."""
        def findings():
            return {row["id"]: row for row in record("has_ranks").report["findings"]}

        found = harness.undisturbed(findings, lambda rows: "rank-behind" in rows)
        self.assertEqual(found["rank-behind"]["evidence"]["rank"], 1)
        self.assertIn("in compute", found["rank-behind"]["where"] or "")
        self.assertNotIn("rank-behind", self.findings("has_worker"))

    def test_helper_bound(self):
        self.check("helper-bound", ["has_helper"], ["computes"], "hold")

    def test_cpu_starved(self):
        found = harness.undisturbed(lambda: self.findings("shares_cpu"),
                                    lambda rows: "cpu-starved" in rows)
        self.assertIn("cpu-starved", found)

    def test_cpu_quota(self):
        """The kernel's own count says that the quota held the job back. It includes the start of the
        recording, which the note does not. The quota is less than what other programs leave."""
        quota = harness.CpuQuota(self, 0.2)
        recording = Recording([harness.PYTHON, JOB, "computes"], env=python_path(),
                              preexec_fn=quota.enter)
        trace = recording.report["trace"]
        self.assertEqual(trace["cpu_limit"], 0.2)
        self.assertLessEqual(trace["notes"]["cpu_throttled_ns"], quota.throttled_ns())
        self.assertGreater(trace["notes"]["cpu_throttled_ns"], 0)
        found, = (row for row in recording.report["findings"] if row["id"] == "cpu-starved")
        self.assertEqual(found["evidence"]["limited_cpus"], 0.2)
        self.assertTrue(found["advice"].startswith("Raise its limit of 0.2 CPUs"), found["advice"])

    def test_sleeps(self):
        """To poll for one's child is at most worth a note."""
        self.check("sleeps", ["sleeps"], ["computes"], "in sleeps")
        found = self.findings("polls").get("sleeps")
        self.assertTrue(not found or (found["severity"] == "note" and found["evidence"]["peer"]),
                        found)

    def test_lock_wait(self):
        """What the lock costs, although the critical path goes on with its holder."""
        def findings():
            report = record("takes_turns").report
            self.check_path(report)
            found = {row["id"]: row for row in report["findings"]}
            return found, found.get("lock-wait", {}).get("cost_ns", 0) > \
                report["trace"]["duration_ns"] / 4

        found, is_much = harness.undisturbed(findings, lambda result: result[1])
        self.assertTrue(is_much, found.get("lock-wait"))
        self.assertIn("lock.0", found["lock-wait"]["title"])
        self.assertIn("in takes_turns", found["lock-wait"]["where"])
        self.assertIn("in hold_it", found["lock-wait"]["evidence"]["held_at"])
        self.assertNotIn("lock-waits", found)
        self.assertNotIn("lock-wait", self.findings("takes_turns", "3"))

    def test_peer_waits(self):
        path = f"{harness.machine().new_dir()}/server"
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen()

        def serve():
            while True:
                try:
                    connection = server.accept()[0]
                except OSError:
                    return
                with connection:
                    while connection.recv(1):
                        time.sleep(0.05)
                        connection.sendall(b"y")

        threading.Thread(target=serve, daemon=True).start()
        self.check("peer-waits", ["asks", path], ["asks_itself"], "in asks")

    def test_stopped(self):
        self.check("stopped", ["stops"], ["sleeps"])

    def test_lock_waits(self):
        """The lock's holder is not traced."""
        path = f"{harness.machine().new_dir()}/word"
        with open(path, "wb") as file:
            file.write(bytes(4096))
        with open(path, "r+b") as file:
            word = (ctypes.c_int * 2).from_buffer(mmap.mmap(file.fileno(), 4096))
        syscall = ctypes.CDLL(None).syscall

        def release():
            if harness.wait_until(lambda: word[1]):
                time.sleep(0.6)
            word[0] = 1
            for _ in range(200):  # it may just be about to wait
                syscall(202, word, 1, 1, None, None, 0)  # FUTEX_WAKE
                time.sleep(0.01)

        def found():
            word[0] = word[1] = 0
            thread = threading.Thread(target=release)
            thread.start()
            rows = self.findings("needs_futex", path)
            thread.join()
            return rows

        self.assertIn("lock-waits", harness.undisturbed(found, lambda rows: "lock-waits" in rows))


def rows_root(report):
    """The process of the command: the first that the table of threads has."""
    return min(report["threads"], key=lambda row: row["start_ns"])["pid"]


if __name__ == "__main__":
    unittest.main()
