# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The program, called with traces of tests/golden."""

import json
import os
import subprocess

from _directory import InDirectory

BUILD = os.environ.get("BUILD", "build")
FAULTLINE = os.path.abspath(os.environ.get("FAULTLINE", "build/faultline"))
SAMPLE = os.path.join("tests", "golden", "sample.flt")
SPANS = os.path.join("tests", "golden", "spans.flt")


def call(*arguments, columns=100, **options):
    options.setdefault("stdout", subprocess.PIPE)
    environment = {**os.environ, "TZ": "UTC", "COLUMNS": str(columns)}
    return subprocess.run([FAULTLINE, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=environment, **options)


def events(*arguments, trace=SAMPLE):
    done = call("print", "--format", "json", *arguments, trace)
    assert done.returncode == 0 and done.stderr == b"", done
    return [json.loads(line) for line in done.stdout.splitlines()]


class Command(InDirectory):
    def refused(self, *arguments, naming, status=2, **options):
        """Nothing on stdout, one line on stderr that names the culprit."""
        done = call(*arguments, **options)
        self.assertEqual(done.returncode, status, done)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(naming.encode(), done.stderr)

    def report(self, *options, trace=SAMPLE):
        done = call("report", "--format", "json", *options, trace)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return json.loads(done.stdout)
