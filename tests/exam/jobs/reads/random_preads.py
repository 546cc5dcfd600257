# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: reads random records from storage, one after the other. Change: ask for the next 64 ahead."""
import os
import random
from exam_job import blob, start


def make(d):
    with open(f"{d}/records.bin", "wb") as file:
        data = blob(64 << 20)
        for _ in range(32):
            file.write(data)


def run(d, fixed):
    file = os.open(f"{d}/records.bin", os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    order = random.Random(5)
    places = [order.randrange(1 << 19) << 12 for _ in range(20000)]
    for i, at in enumerate(places):
        if fixed and i % 64 == 0:
            for next_at in places[i:i + 64]:
                os.posix_fadvise(file, next_at, 4096, os.POSIX_FADV_WILLNEED)
        os.pread(file, 4096, at)


start(make, run)
