# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: looks for the newest file of a tree in each epoch. Change: once."""
import os
from exam_job import compute, start, write


def make(d):
    for i in range(60):
        os.makedirs(f"{d}/images/{i}")
        for j in range(300):
            write(f"{d}/images/{i}", f"{j}.png", b"")


def newest(d):
    return max(os.path.getmtime(os.path.join(root, name))
               for root, _, names in os.walk(f"{d}/images") for name in names)


def run(d, fixed):
    found = None
    for _ in range(16):
        if found is None or not fixed:
            found = newest(d)
        compute(0.02)


start(make, run)
