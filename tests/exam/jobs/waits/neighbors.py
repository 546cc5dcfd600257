# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: other programs use the CPUs. Change: stop them."""
import multiprocessing
import sys
from exam_job import compute, start


def make(d):
    pass


def run(d, fixed):
    for _ in range(40):
        compute(0.05)


def burn():
    while True:
        compute(1)


if sys.argv[1] == "beside":
    for _ in range(multiprocessing.cpu_count() * 2 - 1):
        multiprocessing.Process(target=burn, daemon=True).start()
    print("ready", flush=True)
    burn()
start(make, run)
