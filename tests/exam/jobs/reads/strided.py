# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: reads one column of a mapped row-major matrix. Change: store it column-major."""
import mmap
from exam_job import blob, start

ROWS, COLUMNS = 128, 16 << 20


def make(d):
    row = blob(COLUMNS)
    with open(f"{d}/rows.bin", "wb") as file:
        for _ in range(ROWS):
            file.write(row)
    with open(f"{d}/columns.bin", "wb") as file:
        for _ in range(COLUMNS // 1024):
            file.write(bytes(ROWS * 1024))


def run(d, fixed):
    with open(f"{d}/{'columns' if fixed else 'rows'}.bin", "rb") as file:
        matrix = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    for column in range(3):
        if fixed:
            sum(matrix[column * ROWS:(column + 1) * ROWS])
        else:
            sum(matrix[row * COLUMNS + column * 5000000] for row in range(ROWS))


start(make, run)
