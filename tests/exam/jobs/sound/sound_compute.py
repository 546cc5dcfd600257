# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sound: computes."""
from exam_job import compute, start


def make(d):
    pass


def run(d, fixed):
    compute(2)


start(make, run)
