# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A thread that maps anonymous memory while another one fills some waits for the lock of the
process's mappings, not for storage."""
import unittest

import harness
from harness import Recording

JOB = """
import ctypes, mmap, threading, time
libc, ended = ctypes.CDLL(None), False
libc.mmap.restype, libc.munmap.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_size_t)
def fresh(size, flags=0):
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags
    libc.munmap(libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, kind, -1, 0), size)
def fill():
    while not ended: fresh(64 << 20, mmap.MAP_POPULATE)
def off_cpu(): return time.monotonic_ns() - time.thread_time_ns()
threading.Thread(target=fill).start()
before = off_cpu()
while off_cpu() - before < 500_000_000: fresh(4096)
ended = True
"""


class Mappings(unittest.TestCase):
    def check(self, *arguments):
        recording = Recording([harness.PYTHON, "-S", "-c", JOB], *arguments)
        main, = {row["pid"] for row in recording.trace.dicts("thread_time")}
        rows = [row for row in recording.trace.dicts("thread_time") if row["tid"] == main]
        storage, other = (sum(row[name] for row in rows) for name in ("storage", "other"))
        # It reads its modules, too.
        self.assertGreater(other, storage)

    def test_wait(self):
        self.check()

    def test_only_this_layer(self):
        self.check("--layers", "thread")


if __name__ == "__main__":
    unittest.main()
