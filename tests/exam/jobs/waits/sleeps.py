# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: waits for a fixed time between steps, to poll. Change: do not sleep."""
import time
from exam_job import compute, start


def make(d):
    pass


def run(d, fixed):
    for _ in range(40):
        compute(0.02)
        if not fixed:
            time.sleep(0.05)


start(make, run)
