# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: a pool gets tasks of a microsecond one by one. Change: 500 at once."""
import multiprocessing
from exam_job import start


def make(d):
    pass


def work(number):
    return number * 7919 & 1023


def run(d, fixed):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for _ in pool.imap(work, range(200000), chunksize=500 if fixed else 1):
            pass


start(make, run)
