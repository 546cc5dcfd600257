# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sound: fills memory that it keeps, as a program that loads a data set does. Such faults cannot be
saved by reusing buffers."""
from exam_job import compute, start


def make(d):
    pass


def run(d, fixed):
    kept = []
    for i in range(80):
        kept.append(bytes([i]) * (8 << 20))
        compute(0.01)


start(make, run)
