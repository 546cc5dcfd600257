# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: one worker prepares all samples, and the main thread waits for it. Change: two workers."""
import multiprocessing
from exam_job import compute, start


def make(d):
    pass


def prepare(number):
    compute(0.04)
    return number


def run(d, fixed):
    with multiprocessing.get_context("fork").Pool(2 if fixed else 1) as pool:
        for _ in pool.imap(prepare, range(80)):
            pass


start(make, run)
