# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: touches random samples of a mapped file, and each fault reads ahead far more than the
sample. Change: MADV_RANDOM."""
import mmap
import random
from exam_job import blob, start, write


def make(d):
    with open(f"{d}/tokens.bin", "wb") as file:
        data = blob(64 << 20)
        for _ in range(24):
            file.write(data)


def run(d, fixed):
    with open(f"{d}/tokens.bin", "rb") as file:
        tokens = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    if fixed:
        tokens.madvise(mmap.MADV_RANDOM)
    order = random.Random(3)
    total = 0
    for _ in range(600):
        at = order.randrange(len(tokens) - 4096)
        total += sum(tokens[at:at + 2048:64])


start(make, run)
