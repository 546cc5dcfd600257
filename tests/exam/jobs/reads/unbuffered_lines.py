# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: a small file is read line by line without a buffer, a byte at a time. Change: with one."""
from exam_job import compute, start


def make(d):
    with open(f"{d}/labels.txt", "w", encoding="ascii") as file:
        for i in range(9000):
            file.write(f"{i} a label of the data\n")


def run(d, fixed):
    total = 0
    with open(f"{d}/labels.txt", "rb", buffering=-1 if fixed else 0) as file:
        while line := file.readline():
            total += int(line.split()[0])
    compute(0.2)


start(make, run)
