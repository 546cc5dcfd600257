# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sound: a thread reads the next shard while the main thread computes."""
import queue
import threading
from exam_job import blob, compute, start, write


def make(d):
    data = blob(16 << 20)
    for i in range(12):
        write(d, f"{i}.bin", data)


def read(d, shards):
    for i in range(12):
        with open(f"{d}/{i}.bin", "rb") as file:
            shards.put(file.read())


def run(d, fixed):
    shards = queue.Queue(2)
    threading.Thread(target=read, args=(d, shards), daemon=True).start()
    for _ in range(12):
        shards.get()
        compute(0.2)


start(make, run)
