# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""report --fail-above on recorded jobs: a job that reads more than before fails the check by
exactly the additional amount; a repeated run passes."""

import json
import unittest

from harness import Recording, faultline, machine, random_file

BLOCK = 65536
# Measures that are stable across runs of one program, however busy the machine.
STABLE = "read,written,operations,errors"


class Allowed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        path = machine().new_dir() + "/data"
        random_file(path, 40 * BLOCK)
        cls.once, cls.again, cls.more = (
            Recording(["dd", f"if={path}", "of=/dev/null", f"bs={BLOCK}", f"count={count}"])
            for count in (20, 20, 30)
        )

    def check(self, requested, status, now, before):
        done = faultline("report", "--format", "json", "--fail-above", requested, now.path,
                         *(["--against", before.path] if before else []))
        self.assertEqual(done.returncode, status, done.stderr)
        return {row["measure"]: row for row in json.loads(done.stdout)["allowed"]}

    def test_the_same_again(self):
        rows = self.check(STABLE, 0, self.again, self.once)
        self.assertEqual({row["state"] for row in rows.values()}, {"within"})

    def test_more(self):
        rows = self.check(STABLE, 3, self.more, self.once)
        self.assertEqual(rows["read"]["now"] - rows["read"]["before"], 10 * BLOCK)
        # dd reads and writes a block at a time; of=/dev/null is not a regular file
        self.assertEqual(rows["operations"]["now"] - rows["operations"]["before"], 10)
        states = {name: row["state"] for name, row in rows.items()}
        self.assertEqual(states, {"read": "worse", "operations": "worse", "written": "within",
                                  "errors": "within"})
        self.check(f"read={10 * BLOCK},operations=10", 0, self.more, self.once)
        self.check(f"read={10 * BLOCK - 1}", 3, self.more, self.once)
        self.check(STABLE, 0, self.once, self.more)

    def test_nothing_before(self):
        read = self.once.report["totals"]["read"]["bytes"]
        self.check(f"read={read}", 0, self.once, None)
        self.check(f"read={read - 1}", 3, self.once, None)
        self.check("time=1h", 0, self.once, None)


if __name__ == "__main__":
    unittest.main()
