# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: the main thread decompresses and verifies samples. Change: store them ready for use."""
import hashlib
import zlib
from exam_job import start, write

SAMPLES = 1024
SIZE = 1 << 15  # small enough for the C library to keep its memory


def make(d):
    samples = [bytes((i * i + number) >> 3 & 255 for i in range(SIZE)) for number in range(16)]
    write(d, "samples.raw", b"".join(samples))
    packed = [zlib.compress(sample, 9) for sample in samples]
    write(d, "samples.z", b"".join(data.ljust(SIZE) for data in packed))


def run(d, fixed):
    with open(f"{d}/samples.{'raw' if fixed else 'z'}", "rb", buffering=0) as file:
        for number in range(20 * SAMPLES):
            file.seek(number % 16 * SIZE)
            data = file.read(SIZE)
            if not fixed:
                hashlib.sha256(zlib.decompressobj().decompress(data)).digest()


start(make, run)
