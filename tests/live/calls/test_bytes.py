# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Bytes read and written, compared with the program's own sums and the kernel's /proc/self/io."""
import os
import unittest

import harness
from harness import Recording, machine, static_program


class Bytes(unittest.TestCase):
    maxDiff = None

    def check(self, where):
        directory = machine().new_dir(where)
        out = f"{directory}.json"
        recording = Recording([static_program("sums"), directory, out])
        sums, report = harness.account(out), recording.report
        # The program also read /proc/self/io twice and wrote its account with a single call.
        sums["read"]["bytes"] += sums["proc_bytes"]
        sums["read"]["count"] += 2
        sums["write"]["bytes"] += os.path.getsize(out)
        sums["write"]["count"] += 1

        methods = {(row["method"], row["op"]): (row["bytes"], row["count"]) for row in report["methods"]}
        for method, op, key in (
            ("syscall", "read", "read"),
            ("syscall", "write", "write"),
            ("direct", "read", "direct_read"),
            ("direct", "write", "direct_write"),
            ("splice", "read", "transfer"),
            ("splice", "write", "transfer"),
        ):
            with self.subTest(method=method, op=op):
                self.assertEqual(methods.get((method, op)),
                                 (sums[key]["bytes"], sums[key]["count"]), "(bytes, count)")
        with self.subTest("/proc/self/io"):
            self.assertEqual(report["totals"]["read"]["bytes"], sums["rchar"] + sums["proc_bytes"])
            self.assertEqual(
                report["totals"]["write"]["bytes"], sums["wchar"] + os.path.getsize(out)
            )
        with self.subTest("processes"):
            mine = [row for row in report["processes"] if row["comm"] == "sums-static"]
            self.assertEqual(len(mine), 3)
            for op in ("read", "write"):
                self.assertEqual(
                    sum(row[op]["bytes"] for row in mine), report["totals"][op]["bytes"]
                )
        with self.subTest("files"):
            for op in ("read", "write"):
                self.assertEqual(
                    sum(row[op]["bytes"] for row in report["files"]), report["totals"][op]["bytes"]
                )
        with self.subTest("size classes"):
            for row in report["operations"]:
                if row["layer"] == "syscall" and row["op"] in ("read", "pread64", "pwritev2"):
                    self.assertEqual(sum(row["sizes"].values()), row["count"], row["op"])

    def test_root(self):
        self.check("root")

    def test_xfs(self):
        self.check("xfs")


if __name__ == "__main__":
    unittest.main()
