# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: each chunk of an HDF5 file is larger than the chunk cache, so it is read and decompressed
for each row. Change: a larger chunk cache."""
import h5py
import numpy
from exam_job import start

ROWS, CHUNK_ROWS, WIDTH = 1024, 128, 8192


def make(d):
    words = numpy.random.default_rng(1).integers(0, 16, (ROWS, WIDTH), dtype="i4")
    with h5py.File(f"{d}/rows.h5", "w") as file:
        file.create_dataset("x", data=words, chunks=(CHUNK_ROWS, WIDTH), compression="gzip",
                            compression_opts=1)


def run(d, fixed):
    with h5py.File(f"{d}/rows.h5", "r", rdcc_nbytes=(64 << 20) if fixed else 1 << 20) as file:
        rows = file["x"]
        total = 0
        for row in range(0, ROWS, 8):
            total += int(rows[row].sum())


start(make, run)
