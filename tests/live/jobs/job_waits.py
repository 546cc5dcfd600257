# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Waits of several kinds and computation, each in a function of its own.

usage: job_waits.py TRUTH      TRUTH: {function: [least ns, most ns]} of each
"""
import json
import os
import subprocess
import sys
import threading
import time

truth = {}


def timed(function, least_ns):
    """Runs a function, whose wait lasts for at least so long."""
    start = time.monotonic_ns()
    function()
    truth[function.__name__] = [least_ns, time.monotonic_ns() - start]


def sleeps_long():
    time.sleep(0.05)


def sleeps_often():
    for _ in range(300):
        time.sleep(0.0004)


def waits_for_lock():
    lock.acquire()


def reads_pipe():
    os.read(pipe[0], 1)


def waits_for_child():
    subprocess.run(["sleep", "0.05"], check=True)


def computes():
    end = time.thread_time() + 2
    while time.thread_time() < end:
        pass


def later(function, *arguments):
    """Runs a function 200 ms from now, in another thread, when the caller surely waits."""
    timer = threading.Timer(0.2, function, arguments)
    timer.start()
    return timer


lock = threading.Lock()
pipe = os.pipe()
timed(sleeps_long, 50000000)
timed(sleeps_often, 300 * 400000)
lock.acquire()
timer = later(lock.release)
timed(waits_for_lock, 0)
timer.join()
timer = later(os.write, pipe[1], b"x")
timed(reads_pipe, 0)
timer.join()
timed(waits_for_child, 0)
timed(computes, 1000000000)
with open(sys.argv[1], "w") as file:
    json.dump(truth, file)
