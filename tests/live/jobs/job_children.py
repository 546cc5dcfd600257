# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A job that reads files in the workers of Python's multiprocessing.

usage: job_children.py METHOD DIR OUT     METHOD: fork, spawn, forkserver

Each worker reads DIR/N for its own N. OUT: {N: PID of the worker}.
"""
import json
import multiprocessing
import os
import sys

WORKERS = 4


def work(directory, number, queue):
    with open(os.path.join(directory, str(number)), "rb", buffering=0) as file:
        while file.read(5000):
            pass
    queue.put((number, os.getpid()))


def main():
    method, directory, out = sys.argv[1:]
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    workers = [context.Process(target=work, args=(directory, n, queue)) for n in range(WORKERS)]
    for worker in workers:
        worker.start()
    pids = dict(queue.get() for _ in workers)
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    with open(out, "w") as file:
        json.dump(pids, file)


if __name__ == "__main__":
    main()
