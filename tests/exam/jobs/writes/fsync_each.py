# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: syncs a log after each record. Change: sync once at the end."""
import os
from exam_job import start


def make(d):
    pass


def run(d, fixed):
    with open(f"{d}/log", "wb", buffering=0) as log:
        for i in range(4000):
            log.write(b"step %d\n" % i)
            if not fixed:
                os.fsync(log.fileno())
        os.fsync(log.fileno())


start(make, run)
