# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: a process with much memory is forked for each small task. Change: a pool of processes."""
import multiprocessing
from exam_job import compute, start


def make(d):
    pass


def task(number):
    compute(0.002)
    return number


def run(d, fixed):
    context = multiprocessing.get_context("fork")
    index = bytearray(400 << 20)
    index[::4096] = bytes([1]) * len(index[::4096])
    if fixed:
        with context.Pool(2) as pool:
            for _ in pool.imap(task, range(150)):
                pass
        return
    for i in range(150):
        process = context.Process(target=task, args=(i,))
        process.start()
        process.join()


start(make, run)
