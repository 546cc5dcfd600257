# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: one of two ranks sleeps in each step, and the other waits for it. Change: no sleep."""
import os
import socket
import subprocess
import sys
import time
from exam_job import compute, start


def make(d):
    pass


def train(rank, peer, fixed):
    for _ in range(25):
        compute(0.02)
        if rank == 1 and not fixed:
            time.sleep(0.1)
        peer.send(b"x")
        peer.recv(1)


def run(d, fixed):
    if "RANK" in os.environ:
        train(int(os.environ["RANK"]), socket.socket(fileno=0), fixed)
        return
    ranks = [subprocess.Popen([sys.executable, *sys.argv], stdin=end,
                              env=dict(os.environ, RANK=str(rank), WORLD_SIZE="2"))
             for rank, end in enumerate(socket.socketpair())]
    for rank in ranks:
        rank.wait()


start(make, run)
