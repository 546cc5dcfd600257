# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Spends most of its time in one way other than I/O, or in another.

usage: job_path.py NAME [ARGUMENT]
"""
import ctypes
import fcntl
import mmap
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


def compute(seconds):
    """Computes for that much CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def computes():
    compute(0.6)


def computes_in_span():
    """So long that the start of the program is a small part of it."""
    import faultline
    with faultline.span("step", category="compute"):
        compute(2)


def memory_of(size):
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def fresh_memory(keeps=""):
    """Touches 16 MiB of memory again and again: the same, or new memory each time."""
    kept = memory_of(16 << 20)
    for _ in range(100):
        memory = kept if keeps else memory_of(16 << 20)
        for offset in range(0, 16 << 20, 4096):
            memory[offset] = 1


def sends_arrays(numbers=""):
    """A worker sends 60 arrays of 16 MB through a queue, or as many numbers."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue(2)
    sender = context.Process(target=lambda: [queue.put(1 if numbers else bytearray(16_000_000))
                                             for _ in range(60)])
    sender.start()
    for _ in range(60):
        queue.get()
    sender.join()


def has_ranks(seconds="0.1"):
    """Three ranks, which meet after each step; rank 1 computes that long, the others 0.02 s."""
    ends = [socket.socketpair() for _ in range(2)]
    ranks = []
    for rank in range(3):
        own = [pair[0] for pair in ends] if rank == 0 else [ends[rank - 1][1]]
        fds = [str(end.fileno()) for end in own]
        ranks.append(subprocess.Popen(
            [sys.executable, __file__, "is_rank", seconds if rank == 1 else "0.02", *fds],
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "3"}, pass_fds=map(int, fds)))
    for rank in ranks:
        rank.wait()


def is_rank(seconds, *fds):
    others = [socket.socket(fileno=int(fd)) for fd in fds]
    for _ in range(10):
        compute(float(seconds))
        if os.environ["RANK"] != "0":
            others[0].sendall(b"x")
        for other in others:
            other.recv(1)
        if os.environ["RANK"] == "0":
            for other in others:
                other.sendall(b"y")


def work(_):
    compute(0.1)


def has_worker():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        for _ in pool.imap(work, range(6)):
            pass


def prepare_and_work(connection):
    compute(0.1)
    for _ in range(5):
        connection.send(b"x")
        compute(0.01)


def renews_workers(times="5"):
    """Forks a worker that often, and lets it work 5 times as long if it does so once."""
    for _ in range(int(times)):
        here, there = multiprocessing.Pipe()
        pid = os.fork()
        if not pid:
            for _ in range(5 // int(times)):
                prepare_and_work(there)
            os._exit(0)
        for _ in range(25 // int(times)):
            here.recv()
        os.waitpid(pid, 0)


def takes_turns(locks="1"):
    """Three processes that each hold a lock file while they sleep: the same one, or one each."""
    with tempfile.TemporaryDirectory() as directory:
        for number in range(3):
            if not os.fork():
                with open(f"{directory}/lock.{number % int(locks)}", "wb") as file:
                    for _ in range(12):
                        fcntl.flock(file, fcntl.LOCK_EX)
                        hold_it()
                        fcntl.flock(file, fcntl.LOCK_UN)
                os._exit(0)
        for _ in range(3):
            os.wait()


def hold_it():
    time.sleep(0.02)


def has_helper():
    """The main thread needs a lock that another one holds while it computes, without the GIL."""
    lock, done = threading.Lock(), threading.Event()
    sort, compare = ctypes.CDLL(None).qsort, ctypes.cast(ctypes.CDLL(None).strcmp, ctypes.c_void_p)
    data = os.urandom(1 << 20).hex().encode()

    def hold():
        while not done.is_set():
            text = ctypes.create_string_buffer(data)
            with lock:
                sort(text, len(data) // 16, 16, compare)
            time.sleep(0.002)

    holder = threading.Thread(target=hold)
    holder.start()
    for _ in range(20):
        time.sleep(0.001)
        with lock:
            pass
    done.set()
    holder.join()


def shares_cpu():
    """Three processes on one CPU, of which the first is the run's main thread."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    others = [multiprocessing.get_context("fork").Process(target=compute, args=(0.6,))
              for _ in range(2)]
    for other in others:
        other.start()
    compute(0.6)
    for other in others:
        other.kill()
        other.join()


def sleeps():
    for _ in range(12):
        time.sleep(0.05)
    compute(0.1)


def polls():
    """Sleeps only to see whether its child is done."""
    pid = os.fork()
    if not pid:
        compute(0.8)
        os._exit(0)
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        time.sleep(0.01)


def asks(path):
    """Asks a server, which takes 50 ms to answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        for _ in range(12):
            connection.sendall(b"x")
            connection.recv(1)


def asks_itself():
    """Asks a child, which computes its answers."""
    here, there = socket.socketpair()
    pid = os.fork()
    if not pid:
        here.close()
        while there.recv(1):
            compute(0.05)
            there.sendall(b"y")
        os._exit(0)
    there.close()
    for _ in range(12):
        here.sendall(b"x")
        here.recv(1)
    here.close()
    os.waitpid(pid, 0)


def stops():
    """A child stops it for a while."""
    pid = os.fork()
    if not pid:
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(os.getppid(), signal.SIGCONT)
        os._exit(0)
    os.waitpid(pid, 0)


def needs_futex(path):
    """Waits for a futex in shared memory that no thread of the run wakes."""
    import mmap
    with open(path, "r+b") as file:
        word, ready = (ctypes.c_int * 2).from_buffer(mmap.mmap(file.fileno(), 4096)), 1
    word[ready] = 1
    wait = ctypes.CDLL(None, use_errno=True).syscall
    while not word[0]:
        wait(202, word, 0, 0, None, None, 0)  # FUTEX_WAIT


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
