# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: the main thread waits for a lock that another thread holds while it computes. Change:
compute outside of the lock."""
import threading
from exam_job import compute, start

lock = threading.Lock()


def make(d):
    pass


def augment(fixed, done):
    while not done.is_set():
        with lock:
            if not fixed:
                compute(0.03)
        if fixed:
            compute(0.03)
        done.wait(0.002)


def run(d, fixed):
    done = threading.Event()
    other = threading.Thread(target=augment, args=(fixed, done))
    other.start()
    for _ in range(60):
        compute(0.01)
        with lock:
            pass
    done.set()
    other.join()


start(make, run)
