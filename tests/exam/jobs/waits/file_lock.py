# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: four processes hold one lock file in turns while they work. Change: a lock file each."""
import fcntl
import os
from exam_job import compute, start


def make(d):
    for number in range(4):
        open(f"{d}/lock.{number}", "wb").close()


def work(d, number):
    with open(f"{d}/lock.{number}", "rb") as lock:
        for _ in range(20):
            fcntl.flock(lock, fcntl.LOCK_EX)
            compute(0.02)
            fcntl.flock(lock, fcntl.LOCK_UN)
            compute(0.002)


def run(d, fixed):
    children = []
    for number in range(4):
        children.append(os.fork())
        if not children[-1]:
            work(d, number if fixed else 0)
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)


start(make, run)
