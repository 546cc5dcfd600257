# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Traces through pipes, for example from the run to a report on another machine."""
import json
import os
import subprocess
import unittest

import harness
from harness import machine


class Pipes(unittest.TestCase):
    def setUp(self):
        self.directory = machine().new_dir()
        self.data = harness.random_file(f"{self.directory}/data", 123_456)
        self.run_it = [machine().faultline, "run", "-o", "-", "--", "sh", "-c"]
        self.run_it += ['cat "$0" >/dev/null; echo printed', self.data]

    def check(self, report):
        self.assertIs(report["trace"]["complete"], True)
        self.assertEqual(report["trace"]["exit_code"], 0)
        (row,) = [row for row in report["files"] if row["path"] == self.data]
        self.assertEqual(row["read"]["bytes"], 123_456)

    def test_run_to_report(self):
        """The job's standard output goes elsewhere, and not into the trace."""
        with open(f"{self.directory}/stderr", "wb") as stderr:
            tracer = machine().start(
                self.run_it, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr
            )
            report = subprocess.run([machine().faultline, "report", "--format", "json", "-"],
                                    stdin=tracer.stdout, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, timeout=harness.LIMIT)
            tracer.stdout.close()
            self.assertEqual(tracer.wait(harness.LIMIT), 0)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.check(json.loads(report.stdout))
        with open(f"{self.directory}/stderr") as file:
            messages = file.read()
        self.assertIn("printed\n", messages)
        self.assertIn("standard output", messages)
        self.assertEqual(os.listdir(self.directory).count("data"), 1)
        self.assertNotIn("-", os.listdir(os.getcwd()))

    def test_to_file(self):
        """A trace that came through a pipe is an ordinary one; standard input may be a file."""
        path = f"{self.directory}/trace.flt"
        for output in ('"$@" | cat >"$OUT"', '"$@" >"$OUT"', '"$@" >>"$OUT"'):
            with self.subTest(output):
                if os.path.exists(path):
                    os.unlink(path)
                subprocess.run(["sh", "-c", output, "sh", *self.run_it],
                               env={**os.environ, "OUT": path}, stdin=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=True)
                self.check(harness.report_of(path))
                with open(path, "rb") as file:
                    printed = harness.faultline("print", "-", stdin=file)
                self.assertEqual(printed.returncode, 0, printed.stderr)
                self.assertIn(self.data.encode(), printed.stdout)

    def test_reader_goes(self):
        """The pipe's reader is gone: the job continues."""
        done = subprocess.run(
            ["bash", "-c", '"$@" | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}', "sh", *self.run_it[:-2]]
            + ['for i in 1 2 3 4 5 6 7 8 9; do cat "$0" >/dev/null; sleep 0.3; done; exit 5']
            + [self.data],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(b"Broken pipe", done.stderr)

    def test_refused(self):
        master, slave = os.openpty()
        for command, words in (
            (self.run_it, b"terminal"),
            ([machine().faultline, "report", "-"], b"terminal"),
        ):
            with self.subTest(command):
                done = subprocess.run(command, stdin=slave, stdout=slave, stderr=subprocess.PIPE)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)
        os.close(master)
        os.close(slave)
        trace = harness.Recording(["true"]).path
        with open(trace, "rb") as file:
            done = harness.faultline("report", "-", "-", stdin=file)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"once", done.stderr)
        for given in (b"", b"no trace at all\n" * 100):
            done = harness.faultline("report", "-", stdin=None, input=given)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
