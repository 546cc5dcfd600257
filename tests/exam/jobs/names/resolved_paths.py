# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: resolves the path of each sample in each epoch: a call for each of its directories, and
more work in Python than in the kernel. Change: resolve the root once."""
import os
from exam_job import start, write


def make(d):
    os.makedirs(f"{d}/a/b/c/d/e/f")
    for i in range(1000):
        write(f"{d}/a/b/c/d/e/f", f"{i}.png", b"x")


def run(d, fixed):
    for _ in range(30):
        root = os.path.realpath(d)
        for i in range(1000):
            path = f"{root}/a/b/c/d/e/f/{i}.png"
            if not fixed:
                os.path.realpath(path)


start(make, run)
