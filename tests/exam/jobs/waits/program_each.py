# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: starts a program for each sample. Change: do its work in the process."""
import subprocess
import sys
from exam_job import start


def make(d):
    pass


CODE = "import json, decimal, hashlib; print(len(json.dumps(list(range(1000)))))"


def run(d, fixed):
    for _ in range(40):
        if fixed:
            exec(CODE)
        else:
            subprocess.run([sys.executable, "-c", CODE], check=True)


start(make, run)
