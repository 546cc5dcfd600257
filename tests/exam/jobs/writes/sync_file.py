# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: a file is open with O_SYNC, so each write waits for storage. Change: without it."""
import os
from exam_job import start


def make(d):
    pass


def run(d, fixed):
    out = os.open(f"{d}/metrics", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | (0 if fixed else os.O_SYNC))
    for _ in range(1500):
        os.write(out, b"m" * 4096)


start(make, run)
