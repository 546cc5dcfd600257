#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs the live tests: prints a line for each, with failures below it, and a summary.

usage: BUILD=DIR tests/live/run.py [-v] [-j N] [NAME...]

NAMEs select tests whose full names (test_faults.Faults.test_threads) contain one of them. Needs
root, the workloads (make programs), strace, and loop devices; harness.py describes the tests.
With -j, N classes run at a time, then those that run alone, one after the other.
"""
import argparse
import os
import signal
import sys
import time
import traceback
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = sorted(entry.path for entry in os.scandir(HERE)
                 if entry.is_dir() and not entry.name.startswith("_"))
sys.path[:0] = [HERE, *FOLDERS]  # modules have unique names, whichever folder they are in
sys.dont_write_bytecode = True

# They record or change the whole machine, or need a device, the page cache or a CPU to themselves.
ALONE = ("attach", "block", "device_findings", "findings", "fio", "flight_service", "loss", "machine",
         "monitor", "monitor_formats", "monitor_unit", "populate", "readahead", "start", "stores", "top",
         "users", "writeback")


class Lines(unittest.TestResult):
    """A line for each test as it ends; failed subtests follow below it."""

    def __init__(self):
        super().__init__()
        self.passed = self.failed = 0

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
        self.failed += word == "FAIL"
        self.passed += word == "ok"
        tail = f": {self.reason}" if word == "skip" else ""
        lines = [f"{word:<5} {test.id():<66} {seconds:5.1f} s{tail}"]
        for part, (kind, value, trace) in self.troubles:
            name = part._subDescription() if hasattr(part, "_subDescription") else ""
            place = [
                frame for frame in traceback.extract_tb(trace) if "/tests/live/" in frame.filename
            ]
            where = f"{os.path.basename(place[-1].filename)}:{place[-1].lineno}" if place else "?"
            text = str(value).strip() or kind.__name__
            if not issubclass(kind, AssertionError):
                text = f"{kind.__name__}: {text}"
            lines += [f"      {line[:400]}" for line in f"{where} {name} {text}".splitlines()]
        sys.stdout.write("\n".join(lines) + "\n")  # at once: other processes write, too
        sys.stdout.flush()


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def run(suites, result):
    """Runs test classes in this process, and removes what they created."""
    import harness

    try:
        for suite in suites:
            harness.machine()
            suite.run(result)
    except harness.Broken as error:
        print(f"FAIL  {error}", flush=True)
        result.failed += 1
    finally:
        if harness.machine.cache_info().currsize:
            harness.machine().remove()


def worker(suites, queue, results):
    """Runs classes whose numbers it takes from a pipe, and writes how many tests passed, failed and
    were skipped to another."""
    result = Lines()
    status = 1
    try:
        run((suites[number[0]] for number in iter(lambda: os.read(queue, 1), b"")), result)
        os.write(results, f"{result.passed} {result.failed} {len(result.skipped)}\n".encode())
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)


def run_together(suites, jobs):
    """(passed, failed, skipped) of classes that run concurrently, each in one of `jobs` processes."""
    queue, feed = os.pipe()
    read, results = os.pipe()
    os.write(feed, bytes(range(len(suites))))
    os.close(feed)
    workers = []
    try:
        for _ in range(jobs):
            pid = os.fork()
            if not pid:
                worker(suites, queue, results)
            workers.append(pid)
        os.close(results)
        with os.fdopen(read) as lines:
            counts = [tuple(map(int, line.split())) for line in lines]
        broken = jobs - len(counts)
        if broken:
            print(f"FAIL  {broken} processes that run tests ended early", flush=True)
        while workers:
            os.waitpid(workers[-1], 0)
            workers.pop()
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGTERM)
        for pid in workers:
            os.waitpid(pid, 0)
    passed, failed, skipped = map(sum, zip(*counts, (0, broken, 0)))
    return passed, failed, skipped


def main(jobs, names):
    if os.geteuid() != 0:
        print("the live tests need root", file=sys.stderr)
        return 1
    classes = {}
    for folder in [HERE, *FOLDERS]:
        for test in each(unittest.TestLoader().discover(folder, top_level_dir=folder)):
            if not names or any(name in test.id() for name in names):
                classes.setdefault(test.id().rsplit(".", 1)[0], unittest.TestSuite()).addTest(test)
    if not classes:
        print(f"no test is called {' or '.join(names)}", file=sys.stderr)
        return 1
    alone = {name for name in classes if jobs < 2 or name.split(".")[0][len("test_"):] in ALONE}
    together = [suite for name, suite in classes.items() if name not in alone]
    counts = run_together(together, min(jobs, len(together))) if together else (0, 0, 0)
    result = Lines()
    run((suite for name, suite in classes.items() if name in alone), result)
    passed, failed, skipped = map(sum, zip(counts, (result.passed, result.failed, len(result.skipped))))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-v", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sys.exit(main(options.j, options.names))
