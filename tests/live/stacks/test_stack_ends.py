# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The line at which a process ended, compared with the line that it noted itself."""
import json
import os
import unittest

import harness
from harness import Recording, faultline, machine

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_ends.py")
ENDS = {"segfault", "segfault_with_handler", "crash", "bus_error", "aborts", "exits", "leave",
        "kills_itself", "is_killed", "is_killed_with_threads", "is_terminated", "handle"}


class Ends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = machine().new_dir()
        cls.recording = Recording([harness.PYTHON, JOB, directory])
        cls.truth = {}  # {pid: [how, line]}
        for name in os.listdir(directory):
            if name.isdigit():
                with open(f"{directory}/{name}") as file:
                    cls.truth[int(name)] = json.load(file)

    def test_lines(self):
        """Processes that end of their own accord, with status 0 or by an exception, have none."""
        self.assertEqual({how for how, _ in self.truth.values()}, ENDS)
        for row in self.recording.report["processes"]:
            if row["pid"]:
                how, line = self.truth.get(row["pid"], ("", None))
                with self.subTest(how, exit=row["exit_code"]):
                    self.assertEqual(row["ended_at"], line)

    def test_one_thread_of_each(self):
        with_stack = [row["pid"] for row in self.recording.trace.dicts("exit") if row["stack"]]
        self.assertEqual(sorted(with_stack), sorted(self.truth))

    def test_first_screen(self):
        """The warning names the line of the first process that died by each signal."""
        done = faultline("report", self.recording.path)
        text = " ".join(done.stdout.decode().split())
        lines = {how: line for how, line in self.truth.values()}
        for signal, how in (("SIGBUS", "bus_error"), ("SIGABRT", "aborts"),
                            ("SIGSEGV", "segfault"), ("SIGKILL", "kills_itself")):
            self.assertIn(f"died: {signal}, python3, line {lines[how]}", text)


if __name__ == "__main__":
    unittest.main()
