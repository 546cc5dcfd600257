# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: one of two ranks has three times as many samples, and works on when the other has ended.
Change: each has as many."""
import os
import subprocess
import sys
from exam_job import compute, start


def make(d):
    pass


def run(d, fixed):
    if "RANK" in os.environ:
        for _ in range(40 if fixed else (20, 60)[int(os.environ["RANK"])]):
            compute(0.05)
        return
    ranks = [subprocess.Popen([sys.executable, *sys.argv],
                              env=dict(os.environ, RANK=str(rank), WORLD_SIZE="2"))
             for rank in range(2)]
    for rank in ranks:
        rank.wait()


start(make, run)
