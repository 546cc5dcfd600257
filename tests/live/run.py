#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs the live tests: prints a line for each, with failures below it, and a summary.

usage: BUILD=DIR tests/live/run.py [-v] [--once] [NAME...]

NAMEs select tests whose full names (test_faults.Faults.test_threads) contain one of them. Needs
root, the workloads (make programs), strace, and loop devices; harness.py describes the tests.

A virtual machine sometimes loses an event or pauses a CPU. So a few failed tests run once more, in a
new process with new recordings. Those that pass then are counted as unsteady: look for the cause.
With --once, they fail.
"""
import os
import re
import subprocess
import sys
import time
import traceback
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = sorted(entry.path for entry in os.scandir(HERE)
                 if entry.is_dir() and not entry.name.startswith("_"))
sys.path[:0] = [HERE, *FOLDERS]  # modules have unique names, whichever folder they are in
sys.dont_write_bytecode = True
MOST_UNSTEADY = 3  # more failures than this are no accident


class Lines(unittest.TestResult):
    """A line for each test as it ends; failed subtests follow below it."""

    def __init__(self):
        super().__init__()
        self.passed, self.failed = 0, []  # full names of failed tests

    def startTest(self, test):
        super().startTest(test)
        self.started, self.troubles, self.reason = time.monotonic(), [], None

    def addFailure(self, test, error):
        if isinstance(test, unittest.TestCase):
            self.troubles.append((test, error))
        else:  # class-level setup failed; its tests are not run
            self.startTest(test)
            self.troubles.append((test, error))
            self.stopTest(test)

    addError = addFailure

    def addSubTest(self, test, part, error):
        if error:
            self.troubles.append((part, error))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.reason = reason

    def addExpectedFailure(self, test, error):
        raise NotImplementedError("a test is passed, failed or skipped")

    def stopTest(self, test):
        seconds = time.monotonic() - self.started
        word = "FAIL" if self.troubles else "skip" if self.reason else "ok"
        if self.troubles:
            # setUpClass (test_faults.Faults) is the name of a failed setup.
            self.failed.append(re.sub(r".*\((.+)\)$", r"\1", test.id()))
        self.passed += word == "ok"
        tail = f": {self.reason}" if word == "skip" else ""
        print(f"{word:<5} {test.id():<66} {seconds:5.1f} s{tail}")
        for part, (kind, value, trace) in self.troubles:
            name = part._subDescription() if hasattr(part, "_subDescription") else ""
            place = [
                frame for frame in traceback.extract_tb(trace) if "/tests/live/" in frame.filename
            ]
            where = f"{os.path.basename(place[-1].filename)}:{place[-1].lineno}" if place else "?"
            text = str(value).strip() or kind.__name__
            if not issubclass(kind, AssertionError):
                text = f"{kind.__name__}: {text}"
            for line in f"{where} {name} {text}".splitlines():
                print(f"      {line[:400]}")
        sys.stdout.flush()


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def pass_once_more(names):
    """Runs the failed tests again; returns whether all of them passed."""
    print(f"Once more: {' '.join(names)}", flush=True)
    return subprocess.run([sys.executable, __file__, "--once", *names]).returncode == 0


def main(names, once):
    if os.geteuid() != 0:
        print("the live tests need root", file=sys.stderr)
        return 1
    import harness

    tests = unittest.TestSuite(
        unittest.TestLoader().discover(folder, top_level_dir=folder) for folder in [HERE, *FOLDERS]
    )
    chosen = unittest.TestSuite(
        t for t in each(tests) if not names or any(n in t.id() for n in names)
    )
    if not chosen.countTestCases():
        print(f"no test is called {' or '.join(names)}", file=sys.stderr)
        return 1
    result = Lines()
    try:
        harness.machine()
        chosen.run(result)
    except harness.Broken as error:
        print(f"FAIL  {error}")
        once, result.failed = True, result.failed + [str(error)]
    finally:
        if harness.machine.cache_info().currsize:
            harness.machine().remove()
    failed, unsteady = len(result.failed), 0
    if not once and 0 < failed <= MOST_UNSTEADY and pass_once_more(result.failed):
        failed, unsteady = 0, failed
    tail = f", {unsteady} unsteady" if unsteady else ""
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped{tail}")
    return 1 if failed else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(main([name for name in arguments if name[0] != "-"], "--once" in arguments))
