# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A rank of an MPI job: computes in steps, while its worker process reads a file.

usage: mpirun -n N job_ranks.py DIR OUT    %r in OUT stands for the rank; creates DIR/data-RANK
"""
import json
import multiprocessing
import os
import sys
import time

from mpi4py import MPI

import faultline

STEPS = 4


def work(path, queue):
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, 5000):
        pass
    queue.put(os.getpid())


def main():
    directory, out = sys.argv[1:]
    world = MPI.COMM_WORLD
    rank = world.Get_rank()
    path = f"{directory}/data-{rank}"
    with open(path, "wb") as file:
        file.write(os.urandom(100_000))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    for step in range(STEPS):
        with faultline.span("step", category="compute", step=step):
            time.sleep(0.02 * (rank + 1))
            if step == 1:
                worker = context.Process(target=work, args=(path, queue))
                worker.start()
        with faultline.span("allreduce", category="comm"):
            world.allreduce(step)
    pid = queue.get()
    worker.join()
    with open(out.replace("%r", str(rank)), "w") as file:
        json.dump({"pid": os.getpid(), "worker": pid, "steps": STEPS}, file)


if __name__ == "__main__":
    main()
