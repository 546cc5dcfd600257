# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: imports 3,000 modules that it does not need. Change: import none."""
import compileall
import importlib
import os
import sys
from exam_job import start, write


def make(d):
    for i in range(3000):
        os.makedirs(f"{d}/lib/package_{i}")
        write(f"{d}/lib/package_{i}", "__init__.py", b"VALUE = %d\n" % i)
    compileall.compile_dir(f"{d}/lib", quiet=1)


def run(d, fixed):
    sys.path.insert(0, f"{d}/lib")
    if not fixed:
        for i in range(3000):
            importlib.import_module(f"package_{i}")


start(make, run)
