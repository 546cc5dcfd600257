# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: each of three workers reads and parses all shards, and uses a third of the records.
Change: shards of its own."""
import os
import struct
from exam_job import start

SHARDS, WORKERS = 12, 3


def make(d):
    for shard in range(SHARDS):
        with open(f"{d}/shard-{shard:02}.rec", "wb") as file:
            for i in range(24000):
                file.write(struct.pack("<I", 800 + i % 100) + bytes(800 + i % 100))


def records(path):
    with open(path, "rb") as file:
        while head := file.read(4):
            yield file.read(struct.unpack("<I", head)[0])


def work(d, worker, fixed):
    total = 0
    for shard in range(SHARDS):
        if fixed and shard % WORKERS != worker:
            continue
        for i, record in enumerate(records(f"{d}/shard-{shard:02}.rec")):
            if fixed or i % WORKERS == worker:
                total += len(record)


def run(d, fixed):
    workers = []
    for worker in range(WORKERS):
        workers.append(os.fork())
        if not workers[-1]:
            work(d, worker, fixed)
            os._exit(0)
    for worker in workers:
        os.waitpid(worker, 0)


start(make, run)
