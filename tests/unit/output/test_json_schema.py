#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""report --json-schema describes every report: of events, summaries and several runs."""
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FAULTLINE = os.environ.get("FAULTLINE", os.path.join(TOP, "build/faultline"))
sys.path.insert(0, os.path.join(TOP, "tests"))

import jsonschema  # noqa: E402
import report_schema  # noqa: E402

GOLDEN = [os.path.join(TOP, "tests/golden", name) for name in ("sample.flt", "spans.flt")]


def report(*arguments):
    return json.loads(subprocess.check_output([FAULTLINE, "report", "--format", "json", *arguments]))


class Schema(unittest.TestCase):
    def test_events(self):
        for trace in GOLDEN:
            report_schema.check(report(trace))

    def test_summary_and_several_runs(self):
        with tempfile.TemporaryDirectory() as directory:
            summary = os.path.join(directory, "sum.flt")
            subprocess.run([FAULTLINE, "summarize", "-q", "-o", summary, GOLDEN[0]], check=True)
            report_schema.check(report(summary))
            report_schema.check(report(summary, GOLDEN[1]))

    def test_every_table_and_column(self):
        schema = report_schema.validator().schema
        for table in report(GOLDEN[0]):
            self.assertIn(table, schema["required"])
            self.assertTrue(table == "schema" or schema["properties"][table]["description"], table)

    def test_mismatches(self):
        """A wrong type, a negative count, a missing table, an unknown column."""
        right = report(GOLDEN[0])
        for change in (lambda r: r["totals"]["read"].update(bytes="many"),
                       lambda r: r["files"][0].update(opens=-1),
                       lambda r: r.pop("findings"), lambda r: r.update(schema=1)):
            wrong = copy.deepcopy(right)
            change(wrong)
            with self.assertRaises(jsonschema.ValidationError):
                report_schema.check(wrong)
        right["files"][0]["not_in_the_schema"] = 1
        with self.assertRaisesRegex(AssertionError, r"report.files\[\].not_in_the_schema"):
            report_schema.check(right)

    def test_column_lists(self):
        """--list-columns without a table has each table's columns."""
        text = subprocess.check_output([FAULTLINE, "report", "--list-columns"]).decode()
        for table, about in report_schema.validator().schema["properties"].items():
            if table != "schema":
                self.assertIn(f"\n{table} (", "\n" + text)
                self.assertIn(f": {about['description']}\n", text)


if __name__ == "__main__":
    unittest.main()
