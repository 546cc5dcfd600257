# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: the main thread decompresses each sample. Change: store the samples uncompressed."""
import zlib
from exam_job import start, write


def make(d):
    data = bytes(i * i >> 3 & 255 for i in range(1 << 20)) * 32
    write(d, "data.z", zlib.compress(data, 9))
    write(d, "data.raw", data)


def run(d, fixed):
    for _ in range(40):
        with open(f"{d}/data.{'raw' if fixed else 'z'}", "rb") as file:
            data = file.read()
        if not fixed:
            data = zlib.decompress(data)


start(make, run)
