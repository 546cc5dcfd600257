# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: looks for each sample in thirty directories. Change: remember where it is."""
import os
from exam_job import start, write


def make(d):
    for i in range(30):
        os.makedirs(f"{d}/part-{i}")
    for i in range(2000):
        write(f"{d}/part-29", f"{i}.txt", b"x")


def run(d, fixed):
    for _ in range(12):
        for i in range(2000):
            for part in range(29 if fixed else 0, 30):
                try:
                    os.stat(f"{d}/part-{part}/{i}.txt")
                    break
                except FileNotFoundError:
                    pass


start(make, run)
