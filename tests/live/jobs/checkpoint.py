# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes, and saves a checkpoint every few steps: in its way, or beside it by a thread.

usage: checkpoint.py sync|async DIR OUT [--steps N] [--mib N]

Its author marked the phases with Faultline's spans; the program's own log of them goes to OUT.
"""
import argparse
import contextlib
import json
import os
import threading
import time

import numpy

import faultline

SIDE, EVERY = 192, 3


class Job:
    def __init__(self, options):
        self.options, self.phases = options, []
        self.weights = numpy.random.default_rng(5).standard_normal((SIDE, SIDE))
        self.ballast = os.urandom(options.mib << 20)

    @contextlib.contextmanager
    def phase(self, name, category, step):
        """A span, and the same in the program's own log."""
        start = time.monotonic_ns()
        with faultline.span(name, category=category, step=step):
            yield
        self.phases.append([name, step, start, time.monotonic_ns()])

    def compute(self, seconds=0.1):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.weights = numpy.tanh(self.weights @ self.weights)

    def save(self, step):
        with self.phase("checkpoint", "checkpoint", step):
            path = f"{self.options.dir}/checkpoint-{step}"
            with open(path, "wb", buffering=0) as file:
                for at in range(0, len(self.ballast), 1 << 20):
                    file.write(self.ballast[at : at + (1 << 20)])
                os.fsync(file.fileno())

    def run(self):
        savers = []
        for step in range(self.options.steps):
            with self.phase("step", "compute", step):
                self.compute()
            if step % EVERY == 0:
                if self.options.how == "sync":
                    self.save(step)
                else:
                    savers.append(threading.Thread(target=self.save, args=(step,)))
                    savers[-1].start()
        for saver in savers:
            saver.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=("sync", "async"))
    parser.add_argument("dir")
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--mib", type=int, default=16)
    options = parser.parse_args()
    job = Job(options)
    job.run()
    with open(options.out, "w") as file:
        json.dump({"pid": os.getpid(), "phases": job.phases}, file)


if __name__ == "__main__":
    main()
