# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The exam of the findings judges as documented, and its list of jobs matches the scripts."""
import os
import pathlib
import subprocess
import sys
import unittest

EXAM = pathlib.Path(__file__).parents[2] / "exam"
sys.path.insert(0, str(EXAM))
import exam  # noqa: E402  pylint: disable=wrong-import-position

SECOND = 1_000_000_000


def finding(name, severity="high", cost_ns=SECOND, **more):
    return {"id": name, "severity": severity, "cost_ns": cost_ns, "title": "of data.bin",
            "where": None, "says": "", "advice": "", **more}


class Exam(unittest.TestCase):
    job = exam.Job("a", ("small-reads-cached",), "data.bin")

    def verdict(self, *findings, saved=0.5, job=None, crowded=False):
        return exam.judge(job or self.job, list(findings), 2 * SECOND, saved, crowded)

    def test_promise(self):
        right = self.verdict(finding("small-reads-cached"))
        self.assertEqual((right.promised, right.right), (0.5, True))
        self.assertTrue(self.verdict(finding("small-reads-cached"), saved=0.34).right)
        for saved in (0.33, 0.76, 0, -1):
            self.assertFalse(self.verdict(finding("small-reads-cached"), saved=saved).right)
        self.assertFalse(self.verdict(finding("small-reads-cached", cost_ns=None)).right)

    def test_crowded(self):
        """Beside busy loops, what saves nothing need not be promised."""
        little = finding("small-reads-cached", cost_ns=SECOND // 10)
        self.assertTrue(self.verdict(little, saved=0, crowded=True).right)
        self.assertTrue(self.verdict(saved=0, crowded=True).right)
        self.assertFalse(self.verdict(little, saved=0).right)
        self.assertFalse(self.verdict(little, crowded=True).right)
        self.assertFalse(self.verdict(crowded=True).right)
        self.assertFalse(self.verdict(finding("small-reads-cached"), saved=0, crowded=True).right)

    def test_cause(self):
        self.assertFalse(self.verdict().right)
        self.assertFalse(self.verdict(finding("random-reads")).right)
        self.assertFalse(self.verdict(finding("random-reads"), finding("small-reads-cached")).right)
        self.assertFalse(self.verdict(finding("small-reads-cached", title="of other.bin")).right)
        # A note before it is skipped, unless the cause itself is a note.
        note = finding("cpu-bound", "note")
        self.assertTrue(self.verdict(note, finding("small-reads-cached")).right)
        self.assertFalse(self.verdict(note).right)
        self.assertTrue(self.verdict(note, job=exam.Job("b", ("cpu-bound",))).right)

    def test_sound(self):
        job = exam.Job("c", ())
        self.assertTrue(self.verdict(job=job).right)
        self.assertTrue(self.verdict(finding("cpu-bound", "note"), finding("flushes", "low"),
                                     finding("cold-start"), job=job).right)
        self.assertFalse(self.verdict(finding("flushes", "medium"), job=job).right)

    def test_jobs(self):
        scripts = sorted(path.stem for path in (EXAM / "jobs").glob("*/*.py"))
        self.assertEqual(sorted(job.name for job in exam.JOBS), scripts)
        listed = subprocess.run([os.environ["FAULTLINE"], "report", "--explain", "list"],
                                check=True, stdout=subprocess.PIPE, text=True).stdout
        known = {line.split()[0] for line in listed.splitlines() if line.strip()}
        for job in exam.JOBS:
            self.assertLessEqual({*job.causes, *(job.sums or ())} - {"none"}, known, job.name)


if __name__ == "__main__":
    unittest.main()
