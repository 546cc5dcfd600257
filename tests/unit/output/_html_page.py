# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shared by the tests of report --html: a page of a made trace in a headless Chromium, whose console
must stay empty."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import _browser  # noqa: E402

FAULTLINE = os.environ.get("FAULTLINE", "build/faultline")
BUILD = os.environ.get("BUILD", "build")


def call(*arguments, **options):
    return subprocess.run([FAULTLINE, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          check=True, **options).stdout


def make(option, path):
    """Makes a trace: see test_output_html.c."""
    subprocess.run([os.path.join(BUILD, "tests", "unit", "test_output_html"), option, path], check=True)


def main():
    if not _browser.chromium():
        print("chromium is not installed")
        sys.exit(77)
    unittest.main()


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="faultline-page-")
        cls.trace = os.path.join(cls.directory.name, "made.flt")
        cls.page = os.path.join(cls.directory.name, "page.html")
        make("--make", cls.trace)
        call("report", "--html", cls.page, cls.trace)
        made = os.path.join(cls.directory.name, "findings")
        os.mkdir(made)
        subprocess.run([os.path.join(BUILD, "tests", "unit", "test_findings_rules"), "--make", made],
                       check=True)
        make("--make-faults", os.path.join(made, "mmap-faults.flt"))  # totals only
        cls.made = {name.split(".")[0]: os.path.join(made, name) for name in sorted(os.listdir(made))}
        cls.report = json.loads(call("report", "--format", "json", cls.trace))
        cls.browser = _browser.Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.directory.cleanup()

    def setUp(self):
        self.browser.problems.clear()
        self.browser.resize(1280, 900)
        self.browser.open(self.page)

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])

    def count(self, selector):
        return self.browser.value(f"document.querySelectorAll({json.dumps(selector)}).length")

    def text(self, selector):
        return self.browser.value(f"document.querySelector({json.dumps(selector)}).textContent")

    def of_program(self, expression):
        """Runs the page's program once more, and evaluates an expression within it."""
        program = self.browser.value("document.scripts[document.scripts.length - 1].textContent")
        return self.browser.value(f"{program.rpartition('})();')[0]}return {expression};}})();")

    def rows(self, table):
        """Shows all rows of a table and returns their number."""
        self.browser.value(
            "(() => { const d = document.querySelector('details[data-table=%s]'); d.open = true; "
            "const m = d.querySelector('button.more'); "
            "if (m && !m.hidden && m.textContent.includes('all')) m.click(); })()" % table)
        return self.count(f"details[data-table={table}] tbody tr")

    def cell(self, table, row, column):
        return self.browser.value(
            "(() => { const d = document.querySelector('details[data-table=%s]'); const heads = "
            "[...d.querySelectorAll('thead button')].map((b) => b.dataset.column); "
            "return d.querySelectorAll('tbody tr')[%d].children[heads.indexOf(%s)].textContent; })()"
            % (table, row, json.dumps(column)))

    def choose(self, first, last):
        """Selects the buckets from `first` to `last`; returns the times."""
        return self.browser.value(
            "(() => { [%d, %d].forEach((at, i) => { const slider = document.querySelectorAll('.sliders input')[i]; "
            "slider.value = at; slider.dispatchEvent(new Event('input')); }); "
            "const { fine, coarse, fine_ns } = JSON.parse(document.getElementById('data')"
            ".textContent).pictures; return [%d, %d].map((at) => at * fine_ns * fine / coarse); })()"
            % (first, last, first, last))
