# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Marks spans from Python in one of several ways: in threads, tasks or processes; reads a file in
each.

usage: job_spans.py WAY DIR OUT

DIR holds files named 0, 1, ... of distinct lengths. OUT: the spans as this program saw them, and
which process or thread read which file. Works the same without the package `faultline`.
"""
import asyncio
import contextlib
import json
import multiprocessing
import os
import sys
import threading
import time

try:
    import faultline
except ImportError:
    faultline = None

WORKERS = 3


class Log:
    def __init__(self):
        self.spans, self.reads = [], []

    @contextlib.contextmanager
    def span(self, name, category, **arguments):
        row = {"name": name, "category": category, "pid": os.getpid()}
        row.update(tid=threading.get_native_id(), before=time.monotonic_ns())
        marked = faultline.span(name, category=category, **arguments) if faultline else None
        try:
            with marked or contextlib.nullcontext():
                row["begun"] = time.monotonic_ns()
                try:
                    yield
                finally:
                    row["ending"] = time.monotonic_ns()
        finally:
            row["after"] = time.monotonic_ns()
            self.spans.append(row)


log = Log()


def read(directory, number):
    fd = os.open(os.path.join(directory, str(number)), os.O_RDONLY)
    while os.read(fd, 5000):
        pass
    os.close(fd)
    log.reads.append([number, os.getpid(), threading.get_native_id()])


def way_nested(directory):
    with log.span("outer", "data", n=1):
        read(directory, 0)
        for number in (1, 2):
            with contextlib.suppress(KeyError), log.span("inner", "compute"):
                read(directory, number)
                raise KeyError


def way_threads(directory):
    def work(number):
        with log.span(f"thread {number}", "data"):
            read(directory, number)
            time.sleep(0.02)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def way_tasks(directory):
    """Spans of tasks that wait for each other on one thread: they overlap and do not nest."""

    async def work(number):
        with log.span(f"task {number}", "data"):
            await asyncio.sleep(0.02 * (number + 1))
            read(directory, number)
            await asyncio.sleep(0.03)

    async def all_of_them():
        await asyncio.gather(*(work(number) for number in range(WORKERS)))

    asyncio.run(all_of_them())


def work_apart(directory, number, queue):
    """Reads once outside any span of its own, and once inside one."""
    log.spans.clear()
    read(directory, number)
    with log.span(f"worker {number}", "data"):
        read(directory, WORKERS + number)
    queue.put((log.spans, log.reads))


def way_processes(directory, method):
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    found = []
    with log.span("waiting", "data"):
        workers = [
            context.Process(target=work_apart, args=(directory, n, queue)) for n in range(WORKERS)
        ]
        for worker in workers:
            worker.start()
        for _ in workers:
            found.append(queue.get())
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
    for spans, reads in found:
        log.spans += spans
        log.reads += reads


WAYS = {
    "nested": way_nested,
    "threads": way_threads,
    "tasks": way_tasks,
    "fork": lambda directory: way_processes(directory, "fork"),
    "spawn": lambda directory: way_processes(directory, "spawn"),
    "forkserver": lambda directory: way_processes(directory, "forkserver"),
}


def main():
    way, directory, out = sys.argv[1:]
    WAYS[way](directory)
    with open(out, "w") as file:
        json.dump({"pid": os.getpid(), "spans": log.spans, "reads": log.reads}, file)


if __name__ == "__main__":
    main()
