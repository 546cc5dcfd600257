# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: a worker sends large arrays through a queue, which pickles them and copies them through a
pipe. Change: they are in shared memory, and the queue carries numbers."""
import hashlib
import multiprocessing
from multiprocessing import shared_memory
from exam_job import blob, start

SIZE, COUNT, SLOTS = 24 << 20, 40, 3


def make(d):
    pass


def send(queue, free, name):
    data = bytearray(blob(SIZE))
    block = shared_memory.SharedMemory(name) if name else None
    for number in range(COUNT):
        data[:8] = number.to_bytes(8, "little")
        if block:
            slot = free.get()
            block.buf[slot * SIZE:(slot + 1) * SIZE] = data
            queue.put(slot)
        else:
            queue.put(data)
            data = bytearray(data)  # a queue pickles later


def run(d, fixed):
    queue, free = multiprocessing.Queue(2), multiprocessing.Queue()
    block = shared_memory.SharedMemory(create=True, size=SLOTS * SIZE) if fixed else None
    for slot in range(SLOTS):
        free.put(slot)
    sender = multiprocessing.Process(target=send,
                                     args=(queue, free, block.name if fixed else None))
    sender.start()
    for _ in range(COUNT):
        got = queue.get()
        data = block.buf[got * SIZE:(got + 1) * SIZE] if fixed else memoryview(got)
        hashlib.sha1(data[:1 << 20]).digest()
        data.release()
        if fixed:
            free.put(got)
    sender.join()
    if fixed:
        block.close()
        block.unlink()


start(make, run)
