# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Calls interrupted by signals: one call of the program is one in the report, and a call that
never ends is reported up to where it was cut off."""
import unittest

from harness import Recording, account, machine

UNFINISHED = 1 << 12  # a call flag
EINTR = -4
SIGNALS = 4  # that each call of the program gets


class Interrupted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = machine().new_dir()
        out = f"{directory}/out.json"
        cls.lock, cls.fifo = f"{directory}/lock", f"{directory}/fifo"
        cls.recording = Recording(
            [machine().program("interrupted"), directory, out], "--file-types", "reg,dir,blk,fifo"
        )
        cls.account = account(out)

    def test_nothing_lost(self):
        self.assertEqual(self.recording.report["trace"]["lost"]["total"], 0)

    def test_locks(self):
        """Restarted after a handler, or failed with EINTR: as the program counts. Calls made by
        the handlers are separate calls."""
        ours = self.recording.operations()
        for call in ("flock", "fcntl_setlk", "fcntl_setlkw"):
            with self.subTest(call):
                self.assertEqual(list(ours[call]), self.account[call])
        fstats = self.recording.trace.calls(self.lock, op="fstat")
        self.assertEqual(len(fstats), self.account["fstat"][0])

    def test_reads(self):
        calls = self.recording.trace.calls(self.fifo, op="read")
        errors = [row for row in calls if row["result"] < 0]
        self.assertEqual([len(calls), len(errors)], self.account["read"])

    def test_results(self):
        """Kernel-internal restart codes (-512 etc.) are never results."""
        for row in self.recording.trace.calls():
            self.assertFalse(-600 < row["result"] < -133, row)
            if row["op"] in ("flock", "fcntl_setlkw"):
                self.assertIn(row["result"], (0, EINTR))

    def test_whole_time(self):
        """A restarted call lasts from its first start: all handlers ran inside it."""
        trace = self.recording.trace
        handlers = [row["time"] for row in trace.calls(self.lock, op="fstat")]
        for op in ("flock", "fcntl_setlkw"):
            inside = [
                sum(row["time"] < at < row["time"] + row["dur"] for at in handlers)
                for row in trace.calls(self.lock, op=op)
            ]
            with self.subTest(op):
                self.assertEqual(max(inside), 4)

    def test_killed(self):
        cut = self.cut()[-1]
        self.assertGreaterEqual(cut["dur"], self.account["waited_ns"])
        self.assertIn(cut["file"], self.recording.trace.file_ids(self.lock))

    def test_left(self):
        """A handler that jumps out leaves its call: its time is up to the signal."""
        rows = self.cut()[:-1]
        self.assertEqual(len(rows), SIGNALS)
        ends = [row["time"] + row["dur"] for row in rows]
        self.assertTrue(all(end < row["time"] for end, row in zip(ends, rows[1:])), rows)

    def cut(self):
        """The calls without an end, in order: those that handlers left, and the killed one."""
        rows = [row for row in self.recording.trace.calls() if row["flags"] & UNFINISHED]
        self.assertEqual({row["op"] for row in rows}, {"flock"})
        return sorted(rows, key=lambda row: row["time"])


if __name__ == "__main__":
    unittest.main()
