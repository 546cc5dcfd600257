# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: reads 6,000 small files one by one. Change: pack them into one file."""
import os
from exam_job import blob, start, write


def make(d):
    os.makedirs(f"{d}/samples")
    data = blob(20000)
    for i in range(6000):
        write(f"{d}/samples", f"{i:05d}.jpg", data)
    write(d, "packed.bin", data * 6000)


def run(d, fixed):
    total = 0
    if fixed:
        with open(f"{d}/packed.bin", "rb") as file:
            for _ in range(6000):
                total += file.read(20000)[0]
        return
    for i in range(6000):
        with open(f"{d}/samples/{i:05d}.jpg", "rb") as file:
            total += file.read()[0]


start(make, run)
