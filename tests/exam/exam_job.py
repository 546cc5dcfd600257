# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shared code of the exam's jobs. Each is run as `JOB make DIR`, then `JOB run DIR`; FIX=1 in the
environment makes the change."""
import os
import sys


def start(make, run):
    """Calls make(directory) or run(directory, fixed), depending on the command line."""
    what, directory = sys.argv[1:]
    if what == "make":
        make(directory)
    else:
        run(directory, bool(os.environ.get("FIX")))


def blob(size, seed=1):
    """Returns bytes that do not compress."""
    import random
    return random.Random(seed).randbytes(size)


def write(directory, name, data):
    with open(os.path.join(directory, name), "wb") as file:
        file.write(data)


def compute(seconds_of_one_cpu=0.001):
    """Computes in the C library, without I/O and without the GIL: about a millisecond each."""
    import hashlib
    data = b"x" * 1_000_000
    for _ in range(max(1, round(seconds_of_one_cpu / 0.001))):
        hashlib.sha1(data).digest()
