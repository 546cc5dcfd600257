# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: reads a file from its end in small blocks, which no readahead serves. Change: from its
beginning."""
import os
from exam_job import blob, start

BLOCKS, BLOCK = 30000, 1 << 14


def make(d):
    with open(f"{d}/episodes.bin", "wb") as file:
        data = blob(64 << 20)
        for _ in range(8):
            file.write(data)


def run(d, fixed):
    file = os.open(f"{d}/episodes.bin", os.O_RDONLY)
    for i in range(BLOCKS):
        os.pread(file, BLOCK, (i if fixed else BLOCKS - 1 - i) * BLOCK)


start(make, run)
