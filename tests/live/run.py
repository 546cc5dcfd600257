#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs the live tests: prints a line for each, with failures below it, and a summary.

usage: BUILD=DIR [LIVE_JOBS=N] tests/live/run.py [--once] [NAME...]

NAMEs select tests whose full names (test_faults.Faults.test_threads) contain one of them. Needs
root, the workloads (make programs), strace, and loop devices; harness.py describes the tests.

Two classes run at a time (LIVE_JOBS): most tests wait. Those that watch the whole machine, or change
it, follow one by one: modules and classes that set ALONE, and others of the folder monitor unless they
set it to False.

A virtual machine sometimes loses an event or pauses a CPU. So a few failed tests run once more, in a
new process with new recordings. Those that pass then are counted as unsteady: look for the cause.
With --once, they fail.
"""
import argparse
import concurrent.futures
import contextlib
import ctypes
import fcntl
import multiprocessing
import multiprocessing.util
import os
import re
import signal
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
JOBS = 2
PR_SET_PDEATHSIG = 1


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
        """Prints all lines at once: several processes do."""
        seconds = time.monotonic() - self.started
        word = "FAIL" if self.troubles else "skip" if self.reason else "ok"
        if self.troubles:
            # setUpClass (test_faults.Faults) is the name of a failed setup.
            self.failed.append(re.sub(r".*\((.+)\)$", r"\1", test.id()))
        self.passed += word == "ok"
        tail = f": {self.reason}" if word == "skip" else ""
        lines = [f"{word:<5} {test.id():<66} {seconds:5.1f} s{tail}"]
        for part, (kind, value, trace) in self.troubles:
            name = part._subDescription() if hasattr(part, "_subDescription") else ""
            frames = [
                frame for frame in traceback.extract_tb(trace) if "/tests/live/" in frame.filename
            ]
            where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"
            text = str(value).strip() or kind.__name__
            if not issubclass(kind, AssertionError):
                text = f"{kind.__name__}: {text}"
            lines += [f"      {line[:400]}" for line in f"{where} {name} {text}".splitlines()]
        print("\n".join(lines), flush=True)


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def pass_once_more(names):
    """Runs the failed tests again, one by one; returns whether all of them passed."""
    print(f"Once more: {' '.join(names)}", flush=True)
    return subprocess.run([sys.executable, __file__, "--once", *names],
                          env={**os.environ, "LIVE_JOBS": "1"}).returncode == 0


# --- several processes ---------------------------------------------------------------------------


def by_class(suite, names):
    """Suites of the chosen tests of each class, which share what the class sets up."""
    found = {}
    for test in each(suite):
        if not names or any(name in test.id() for name in names):
            found.setdefault(type(test), unittest.TestSuite()).addTest(test)
    return found


def is_alone(test_class):
    module = sys.modules[test_class.__module__]
    return getattr(test_class, "ALONE", getattr(module, "ALONE", "/monitor/" in module.__file__))


def run_suite(suite):
    """Returns the tests that passed, the names of those that failed, and the tests skipped."""
    import harness

    result = Lines()
    try:
        harness.machine()
        suite.run(result)
    except harness.Broken as error:
        print(f"FAIL  {error}", flush=True)
        return result.passed, [*result.failed, BROKEN], len(result.skipped)
    return result.passed, result.failed, len(result.skipped)


def remove_machine():
    import harness

    if harness.machine.cache_info().currsize:
        harness.machine().remove()


def end_process(*_):
    remove_machine()
    os._exit(1)


def begin_process():
    """Cleans up at its end, which comes with that of the runner at the latest."""
    multiprocessing.util.Finalize(None, remove_machine, exitpriority=1)
    signal.signal(signal.SIGTERM, end_process)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def run_numbered(number):
    return run_suite(SUITES[number])


def run_side_by_side(suites, jobs):
    """Yields the results of suites, which may end in any order."""
    SUITES.extend(suites)
    with concurrent.futures.ProcessPoolExecutor(
            jobs, multiprocessing.get_context("fork"), begin_process) as pool:
        try:
            done = [pool.submit(run_numbered, number) for number in range(len(suites))]
            for future in concurrent.futures.as_completed(done):
                yield future.result()
        except concurrent.futures.process.BrokenProcessPool as error:
            print(f"FAIL  {error}", flush=True)
            yield 0, [BROKEN], 0
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


SUITES = []  # numbered, for processes that are forked later
BROKEN = "the machine or the runner"


@contextlib.contextmanager
def whole_machine():
    """Keeps out the unit tests that a tracer of everything disturbs: see tests/run.sh."""
    with open(os.environ.get("MACHINE_LOCK", os.devnull)) as lock:
        if lock.name != os.devnull:
            time.sleep(0.05)  # lets those go first that waited for the previous test
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_all(chosen, jobs):
    beside = [suite for kind, suite in chosen.items() if not is_alone(kind)]
    serial = [suite for kind, suite in chosen.items() if is_alone(kind)]
    if jobs > 1 and len(beside) > 1:
        for result in run_side_by_side(beside, jobs):
            yield result
            if BROKEN in result[1]:
                return
    else:
        serial = beside + serial
    for suite in serial:
        with whole_machine():
            result = run_suite(suite)
        yield result


def main(names, once):
    if os.geteuid() != 0:
        print("the live tests need root", file=sys.stderr)
        return 1
    tests = unittest.TestSuite(
        unittest.TestLoader().discover(folder, top_level_dir=folder) for folder in [HERE, *FOLDERS]
    )
    chosen = by_class(tests, names)
    if not chosen:
        print(f"no test is called {' or '.join(names)}", file=sys.stderr)
        return 1
    passed, failed, skipped, unsteady = 0, [], 0, 0
    try:
        for result in run_all(chosen, int(os.environ.get("LIVE_JOBS", JOBS))):
            passed, failed, skipped = passed + result[0], failed + result[1], skipped + result[2]
            if BROKEN in result[1]:
                once = True
    finally:
        remove_machine()
    if not once and 0 < len(failed) <= MOST_UNSTEADY and pass_once_more(failed):
        failed, unsteady = [], len(failed)
    tail = f", {unsteady} unsteady" if unsteady else ""
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped{tail}")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--once", action="store_true", help="do not run failed tests once more")
    parser.add_argument("names", nargs="*", metavar="NAME", help="part of a test's full name")
    options = parser.parse_args()
    sys.exit(main(options.names, options.once))
