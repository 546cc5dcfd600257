# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: lists a large directory for each sample. Change: list it once."""
import os
from exam_job import start, write


def make(d):
    os.makedirs(f"{d}/images")
    for i in range(20000):
        write(f"{d}/images", f"{i}.jpg", b"")


def run(d, fixed):
    names = None
    for i in range(150):
        if not names or not fixed:
            names = os.listdir(f"{d}/images")
        os.stat(f"{d}/images/{names[i]}")


start(make, run)
