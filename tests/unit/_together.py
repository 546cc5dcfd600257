# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""unittest.main() for tests that mostly wait: runs the methods in several processes. With arguments,
it is unittest.main()."""
import concurrent.futures
import multiprocessing
import sys
import unittest

PROCESSES = 6


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test.id().split(".", 1)[1]


def load(name=None):
    module, loader = sys.modules["__main__"], unittest.defaultTestLoader
    return loader.loadTestsFromName(name, module) if name else loader.loadTestsFromModule(module)


def run(name):
    """The tracebacks of a test's failures, and whether it was skipped."""
    result = unittest.TestResult()
    load(name).run(result)
    if not result.testsRun and not result.errors:
        return ["it did not run"], False
    return [text for _, text in result.failures + result.errors], bool(result.skipped)


def main():
    if len(sys.argv) > 1:
        unittest.main()
    names, failed, skipped = list(each(load())), 0, 0
    with concurrent.futures.ProcessPoolExecutor(
            PROCESSES, multiprocessing.get_context("fork")) as pool:
        for name, (texts, was_skipped) in zip(names, pool.map(run, names)):
            for text in texts:
                print(f"FAIL: {name}\n{text}", file=sys.stderr)
            failed, skipped = failed + bool(texts), skipped + was_skipped
    print(f"Ran {len(names)} tests, {failed} failed, {skipped} skipped", file=sys.stderr)
    sys.exit(1 if failed or not names else 0)
