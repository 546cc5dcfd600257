# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: each batch gets new memory, as large NumPy arrays do. Change: keep one buffer."""
import mmap
from exam_job import start

SIZE = 64 << 20


def make(d):
    pass


def memory():
    block = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    block.madvise(mmap.MADV_HUGEPAGE)
    return block


def run(d, fixed):
    data = b"x" * SIZE
    kept = memory()
    for _ in range(100):
        batch = kept if fixed else memory()
        batch[:] = data


start(make, run)
