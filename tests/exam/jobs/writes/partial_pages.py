# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: writes parts of pages that are not cached, so each write reads its page first. Change:
write whole pages."""
import os
import random
from exam_job import blob, start


def make(d):
    with open(f"{d}/table.bin", "wb") as file:
        data = blob(64 << 20)
        for _ in range(16):
            file.write(data)


def run(d, fixed):
    out = os.open(f"{d}/table.bin", os.O_RDWR)
    order = random.Random(7)
    row = b"r" * (4096 if fixed else 512)
    for _ in range(15000):
        os.pwrite(out, row, order.randrange(1 << 18) << 12)


start(make, run)
