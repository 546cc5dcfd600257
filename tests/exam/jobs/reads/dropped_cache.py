# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: each epoch drops its data from the page cache and reads it from storage again. Change:
keep it."""
import os
from exam_job import blob, start


def make(d):
    with open(f"{d}/shard.bin", "wb") as file:
        data = blob(64 << 20)
        for _ in range(8):
            file.write(data)


def run(d, fixed):
    for _ in range(6):
        file = os.open(f"{d}/shard.bin", os.O_RDONLY)
        while os.read(file, 1 << 20):
            pass
        if not fixed:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


start(make, run)
