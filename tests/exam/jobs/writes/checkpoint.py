# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: the loop waits while a checkpoint is written and synced. Change: write it in a thread."""
import os
import threading
from exam_job import compute, start


def make(d):
    for step in range(6):  # an earlier run's: to replace a file takes less time than to make one
        save(d, step, bytes(128 << 20))


def save(d, step, state):
    with open(f"{d}/checkpoint-{step}", "wb") as file:
        file.write(state)
        file.flush()
        os.fsync(file.fileno())


def run(d, fixed):
    state = b"w" * (128 << 20)
    saving = None
    for step in range(6):
        for _ in range(3):
            compute(0.1)
        if saving:
            saving.join()
        if fixed:
            saving = threading.Thread(target=save, args=(d, step, state))
            saving.start()
        else:
            save(d, step, state)
    if saving:
        saving.join()


start(make, run)
