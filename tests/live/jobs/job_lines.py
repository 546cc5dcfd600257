# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads and page faults from all kinds of Python code, each with its own offset, and the chain of
frames that sys._getframe saw there.

usage: job_lines.py DATA MAPPED TRUTH [child]      TRUTH: a directory; {site: [chain, ...]} by pid

Reads are long, so that each has a sample. MAPPED should not be in the page cache. Runs on any Python
from 3.8 on.
"""
import asyncio
import functools
import json
import mmap
import multiprocessing
import os
import subprocess
import sys
import threading

DATA, MAPPED, TRUTH = sys.argv[1:4]
READ_BYTES = 32 << 20
PAGE = mmap.PAGESIZE
SITE_BYTES = 1 << 20  # of the mapped file
descriptor = os.open(DATA, os.O_RDONLY)
mapping = mmap.mmap(os.open(MAPPED, os.O_RDONLY), 0, prot=mmap.PROT_READ)
mapping.madvise(mmap.MADV_RANDOM)
local = threading.local()
chains = {}


def note(site, lines=0):
    """Notes the caller's chain; the operation is that many lines below."""
    frame, chain = sys._getframe(1), []
    while frame:
        code = frame.f_code
        chain.append([code.co_filename, frame.f_lineno + (0 if chain else lines),
                      getattr(code, "co_qualname", code.co_name)])
        frame = frame.f_back
    text = json.dumps(chain)
    chains.setdefault(site, set()).add(text)


def buffers():
    if not hasattr(local, "buffers"):
        local.buffers = [bytearray(READ_BYTES)]
    return local.buffers


class Data:
    def __getitem__(self, index):
        note(1); return os.preadv(descriptor, buffers(), 1 * PAGE)

    @property
    def size(self):
        note(2); return os.preadv(descriptor, buffers(), 2 * PAGE)

    def __enter__(self):
        note(3); os.preadv(descriptor, buffers(), 3 * PAGE)

    def __exit__(self, *exception):
        note(4); os.preadv(descriptor, buffers(), 4 * PAGE)


class Made:
    def __init__(self):
        note(5); os.preadv(descriptor, buffers(), 5 * PAGE)


def generator():
    while True:
        note(6); yield os.preadv(descriptor, buffers(), 6 * PAGE)


def delegating():
    yield from generator()


def deep(depth, site):
    if depth:
        return deep(depth - 1, site)
    note(site); return os.preadv(descriptor, buffers(), site * PAGE)


def key(value):
    note(8); os.preadv(descriptor, buffers(), 8 * PAGE)
    return value


async def coroutine():
    note(9); os.preadv(descriptor, buffers(), 9 * PAGE)


def several_lines():
    target = buffers()
    note(10, 1)
    return os.preadv(descriptor,
                     target,
                     10 * PAGE)


def handled():
    try:
        raise ValueError
    except ValueError:
        note(11); os.preadv(descriptor, buffers(), 11 * PAGE)
    finally:
        note(12); os.preadv(descriptor, buffers(), 12 * PAGE)


def comprehended():
    return [(note(13), os.preadv(descriptor, buffers(), 13 * PAGE)) for _ in range(1)]


def reduced(left, right):
    note(14); os.preadv(descriptor, buffers(), 14 * PAGE)
    return right


def größe():
    note(15); os.preadv(descriptor, buffers(), 15 * PAGE)


def touch(site):
    total = 0
    first = (site - 20) * SITE_BYTES
    note(site, 2)
    for at in range(first, first + SITE_BYTES, PAGE):
        total += mapping[at]
    return total


compiled = {"note": note, "os": os, "descriptor": descriptor, "buffers": buffers, "PAGE": PAGE}
exec(compile("\n\ndef made():\n    note(16); os.preadv(descriptor, buffers(), 16 * PAGE)\n",
             "<string>", "exec"), compiled)
named = lambda: (note(17), os.preadv(descriptor, buffers(), 17 * PAGE))  # noqa: E731


def work():
    data, items = Data(), delegating()
    data[0]
    data.size
    with data:
        pass
    Made()
    next(items)
    deep(60, 7)
    deep(200, 18)
    sorted([1], key=key)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(coroutine())
    loop.close()
    several_lines()
    handled()
    comprehended()
    functools.reduce(reduced, [1, 2])
    größe()
    compiled["made"]()
    named()


def save():
    with open(f"{TRUTH}/{os.getpid()}.json", "w") as file:
        json.dump({site: sorted(found) for site, found in chains.items()}, file)


def in_child(what):
    child = os.fork()
    if not child:
        what()
        save()
        os._exit(0)
    os.waitpid(child, 0)


def in_thread(what, *arguments):
    thread = threading.Thread(target=what, args=arguments)
    thread.start()
    return thread


def work_and_save():
    work()
    save()


def in_worker(method):
    worker = multiprocessing.get_context(method).Process(target=work_and_save)
    worker.start()
    worker.join()
    assert not worker.exitcode


def main():
    if sys.argv[4:]:
        work()
        save()
        return
    threads = [in_thread(work), in_thread(work)]
    in_child(work)  # while other threads run
    for thread in threads:
        thread.join()
    in_child(lambda: in_thread(work).join())
    for site in range(20, 24):
        in_thread(touch, site).join()
    subprocess.run([sys.executable, *sys.argv, "child"], check=True)
    in_worker("spawn")
    in_worker("forkserver")
    work()
    save()


if __name__ == "__main__":
    main()
