# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Threads that wait in several ways for as long as the job lasts.

usage: job_hangs.py DIR SECONDS      DIR gets the file "waits" once all of them wait
"""
import fcntl
import os
import subprocess
import sys
import threading
import time

directory, seconds = sys.argv[1], float(sys.argv[2])
lock = threading.Lock()
pipe = os.pipe()


def wants_lock():
    lock.acquire()


def reads_pipe():
    os.read(pipe[0], 1)


def locks_file():
    with open(f"{directory}/lock", "w") as held, open(f"{directory}/lock", "w") as wanted:
        fcntl.flock(held, fcntl.LOCK_EX)
        fcntl.flock(wanted, fcntl.LOCK_EX)


def waits_for_child():
    subprocess.run(["sleep", str(seconds)], check=False)


def is_deep(depth=200):
    if depth:
        is_deep(depth - 1)
    else:
        time.sleep(seconds)


def generates():
    def each():
        yield time.sleep(seconds)

    list(each())


def sleeps():
    time.sleep(seconds)


def all_others_wait():
    states = set()
    for tid in set(os.listdir("/proc/self/task")) - {str(os.getpid())}:
        with open(f"/proc/self/task/{tid}/stat") as file:
            states.add(file.read().rpartition(")")[2].split()[0])
    return states == {"S"}


lock.acquire()
for waits in (wants_lock, reads_pipe, locks_file, waits_for_child, is_deep, generates):
    threading.Thread(target=waits, daemon=True).start()
seen = 0
while seen < 3:  # once, they may wait only for the interpreter, which this thread holds
    time.sleep(0.1)
    seen = seen + 1 if all_others_wait() else 0
open(f"{directory}/waits", "w").close()
sleeps()
os._exit(0)
