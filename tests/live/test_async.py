# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What goes by io_uring and libaio is not traced, and the report says how much that is."""
import unittest

import harness
from harness import Recording, account, faultline, machine


class Asynchronous(unittest.TestCase):
    def test_submissions_are_told(self):
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 64 << 10), f"{directory}/out.json"
        recording = Recording([machine().program("uring"), data, out], status=None)
        if recording.done.returncode == 77:
            self.skipTest("this kernel has no io_uring, or does not let us")
        self.assertEqual(recording.done.returncode, 0, recording.stderr)
        truth = account(out)
        told = recording.report["totals"]["async"]
        for name in ("io_uring", "libaio", "polled_rings"):
            self.assertEqual(told[name], truth[name], name)
        total = truth["io_uring"] + truth["libaio"]
        self.assertEqual(told["submissions_not_traced"], total)
        process = [row for row in recording.report["processes"] if row["pid"] == truth["pid"]]
        self.assertEqual([row["async_submissions"] for row in process], [total])
        self.assertEqual(recording.operations()["io_uring_enter"][1], 1, "errors")
        screen = faultline("report", recording.path).stdout.decode().split("\n\n")[0]
        screen = " ".join(screen.split())
        self.assertIn(f"io_uring: {truth['io_uring']} submissions, not traced", screen)
        self.assertIn(f"libaio: {truth['libaio']} submissions, not traced", screen)
        self.assertIn("1 ring was submitted to without a call", screen)

    def test_none(self):
        recording = Recording(["true"])
        self.assertEqual(recording.report["totals"]["async"]["submissions_not_traced"], 0)
        self.assertNotIn(b"io_uring", faultline("report", recording.path).stdout)


if __name__ == "__main__":
    unittest.main()
