# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: a million unbuffered writes of a few bytes. Change: buffer them."""
from exam_job import start


def make(d):
    pass


def run(d, fixed):
    with open(f"{d}/tokens.txt", "wb", buffering=1 << 20 if fixed else 0) as out:
        for i in range(1_000_000):
            out.write(b"token\n")


start(make, run)
