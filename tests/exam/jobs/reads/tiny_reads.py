# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: reads cached records of 16 bytes with a call each. Change: read in large pieces."""
import os
from exam_job import blob, start, write


def make(d):
    write(d, "records.bin", blob(32 << 20))


def run(d, fixed):
    step = 1 << 20 if fixed else 16
    file = os.open(f"{d}/records.bin", os.O_RDONLY)
    while os.read(file, step):
        pass


start(make, run)
