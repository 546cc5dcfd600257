# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: spawns its workers again in each epoch. Change: keep them."""
import multiprocessing
from exam_job import start


def make(d):
    pass


def work(number):
    import numpy
    return int(numpy.arange(number).sum())


def run(d, fixed):
    context = multiprocessing.get_context("spawn")
    if fixed:
        with context.Pool(2) as pool:
            for _ in range(8):
                pool.map(work, range(64))
        return
    for _ in range(8):
        with context.Pool(2) as pool:
            pool.map(work, range(64))


if __name__ == "__main__":
    start(make, run)
