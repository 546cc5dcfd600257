# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Processes that end in several ways, each at a line that it notes just before.

usage: job_ends.py DIR      DIR gets a file for each process, by pid: how it ends, and the line
"""
import ctypes
import faulthandler
import json
import mmap
import os
import signal
import sys
import threading
import time

directory = sys.argv[1]


def note(how):
    with open(f"{directory}/{os.getpid()}", "w") as file:
        json.dump([how, f"job_ends.py:{sys._getframe(1).f_lineno} in {how}"], file)


def segfault():
    note("segfault"), ctypes.string_at(0)


def segfault_with_handler():
    faulthandler.enable(file=open(os.devnull, "w"))
    note("segfault_with_handler"), ctypes.string_at(0)


def crash():
    note("crash"), ctypes.string_at(0)


def segfault_in_thread():
    threading.Thread(target=crash).start()
    time.sleep(60)


def bus_error():
    with open(f"{directory}/mapped", "wb+") as file:
        file.truncate(mmap.PAGESIZE)
        mapped = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        file.truncate(0)
    note("bus_error"), mapped[0]


def aborts():
    note("aborts"), os.abort()


def exits():
    note("exits"), os._exit(3)


def leave():
    note("leave"), os._exit(4)


def exits_in_thread():
    threading.Thread(target=leave).start()
    time.sleep(60)


def kills_itself():
    note("kills_itself"), os.kill(os.getpid(), signal.SIGKILL)


def is_killed():
    note("is_killed"), signal.pause()


def is_killed_with_threads():
    for _ in range(3):
        threading.Thread(target=time.sleep, args=(60,)).start()
    note("is_killed_with_threads"), time.sleep(60)


def is_terminated():
    note("is_terminated"), time.sleep(60)


def exits_normally():
    os._exit(0)


def raises():
    sys.stderr = open(os.devnull, "w")
    raise RuntimeError


def handle(*_):
    note("handle"), os._exit(5)


def handles_signal():
    signal.signal(signal.SIGUSR1, handle)
    os.kill(os.getpid(), signal.SIGUSR1)


def is_stopped():
    """Neither a stop nor an ignored signal ends anything."""
    os.kill(os.getpid(), signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGURG)
    os._exit(0)


def state_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def wait_until_it_waits(pid):
    """The call that waits follows the note on the same line."""
    path = f"{directory}/{pid}"
    while not os.path.exists(path) or not os.path.getsize(path) or state_of(pid) != "S":
        time.sleep(0.01)


SENT = {
    is_killed: signal.SIGKILL,
    is_killed_with_threads: signal.SIGKILL,
    is_terminated: signal.SIGTERM,
}

for end in (segfault, segfault_with_handler, segfault_in_thread, bus_error, aborts, exits,
            exits_in_thread, kills_itself, is_killed, is_killed_with_threads, is_terminated,
            exits_normally, raises, handles_signal, is_stopped):
    sys.stdout.flush()
    child = os.fork()
    if not child:
        end()
    if end in SENT:
        wait_until_it_waits(child)
        os.kill(child, SENT[end])
    if end is is_stopped:
        os.waitpid(child, os.WUNTRACED)
        os.kill(child, signal.SIGCONT)
    os.waitpid(child, 0)
