# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Does one thing that a finding is about, or its sound sibling, with existing data.

usage: job_findings.py NAME (bad|sound) DIR

DIR/large (64 MiB) and DIR/small (1 MiB) are files; `prepare` says which cases need them cold.
Marks spans, if the package `faultline` is available, for the cases about phases.
"""
import contextlib
import ctypes
import fcntl
import mmap
import os
import random
import struct
import sys
import threading
import time

try:
    from faultline import span
except ImportError:

    def span(*_, **__):
        return contextlib.nullcontext()


MIB = 1 << 20
LARGE, SMALL = 64 * MIB, MIB
COLD = {"cold-start", "mmap-random", "mmap-faults", "mmap-single", "readahead-unused",
        "mmap-in-order", "mmap-strided", "partial-writes", "small-reads-storage", "random-reads",
        "loader-io", "fetched-again", "epoch-from-storage", "epoch-from-memory"}


class Job:
    def __init__(self, directory, bad):
        self.directory, self.bad = directory, bad

    def open(self, name="large", flags=os.O_RDONLY):
        return os.open(f"{self.directory}/{name}", flags, 0o644)

    def preads(self, size, fd=None, total=LARGE):
        fd = self.open() if fd is None else fd
        for at in range(0, total, size):
            os.pread(fd, size, at)

    def map(self, flags=mmap.MAP_PRIVATE, rights=mmap.PROT_READ):
        return mmap.mmap(self.open(), 0, flags, rights)

    def processes(self, count, work):
        """Runs work(number) in `count` concurrent processes."""
        pids = []
        for number in range(count):
            pid = os.fork()
            if not pid:
                work(number)
                os._exit(0)
            pids.append(pid)
        for pid in pids:
            os.waitpid(pid, 0)

    # --- mappings

    def mmap_random(self):
        memory = self.map()
        if not self.bad:
            memory.madvise(mmap.MADV_RANDOM)
        numbers = random.Random(1)
        for _ in range(60):
            memory[numbers.randrange(LARGE)]

    def mmap_faults(self):
        """For aggregated faults: the order does not matter."""
        self.mmap_random()

    def mmap_single(self):
        memory = self.map()
        memory.madvise(mmap.MADV_RANDOM if self.bad else mmap.MADV_WILLNEED)
        numbers = random.Random(1)
        for _ in range(600):
            memory[numbers.randrange(LARGE)]

    def readahead_unused(self):
        memory = self.map()
        if not self.bad:
            memory.madvise(mmap.MADV_RANDOM)
        for at in range(LARGE - 4096, 0, -LARGE // 80):
            memory[at]

    def mmap_strided(self):
        """A column of a matrix stored by rows, or the whole matrix."""
        memory = self.map()
        for row in range(0, LARGE, 256 << 10):
            if self.bad:
                memory[row + 3 * mmap.PAGESIZE]
            else:
                for at in range(row, row + (256 << 10), mmap.PAGESIZE):
                    memory[at]

    def mmap_in_order(self):
        memory = self.map(mmap.MAP_PRIVATE | (0 if self.bad else 0x8000))  # MAP_POPULATE
        for at in range(0, LARGE, mmap.PAGESIZE):
            memory[at]

    def mmap_minor_faults(self):
        """A fault may map up to 2 MiB: at least 32 faults per mapping."""
        for _ in range(400 if self.bad else 1):
            memory = self.map()
            for at in range(0, LARGE, 16 * mmap.PAGESIZE):
                memory[at]

    def mmap_copied(self):
        """Weights changed in place, or in memory that they were read into."""
        memory = bytearray(LARGE)
        if self.bad:
            memory = self.map(rights=mmap.PROT_READ | mmap.PROT_WRITE)
        else:
            os.preadv(self.open(), [memory], 0)
        for at in range(0, LARGE, mmap.PAGESIZE):
            memory[at] = 1

    # --- reads

    def small_reads_storage(self):
        self.preads(4096 if self.bad else MIB)

    def small_reads_cached(self):
        if self.bad:
            self.preads(512)
        else:
            self.preads(MIB)

    def random_reads(self):
        fd, numbers = self.open(), random.Random(1)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        offsets = [numbers.randrange(LARGE // 4096) * 4096 for _ in range(500)]
        for offset in offsets if self.bad else sorted(offsets):
            os.pread(fd, 4096, offset)

    def read_again(self):
        for _ in range(3 if self.bad else 1):
            self.preads(MIB)

    def read_by_several(self):
        def work(number):
            fd = self.open()
            for at in range(0, LARGE, MIB):
                if self.bad or at // MIB % 3 == number:
                    os.pread(fd, MIB, at)

        self.processes(3, work)

    def fetched_again(self):
        fd = self.open()
        for _ in range(2):
            self.preads(MIB, fd)
            if self.bad:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def load_waits(self):
        """In a concurrent thread while the program waits, or before that; O_DIRECT, which leaves
        nothing in the cache."""
        fd, memory = self.open(flags=os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 4 * MIB)

        def load():
            began = time.monotonic()
            while time.monotonic() < began + 0.5:
                for at in range(0, LARGE, 4 * MIB):
                    os.preadv(fd, [memory], at)
            return time.monotonic() - began

        loader = threading.Thread(target=load)
        took = 0.5
        if self.bad:
            took = load()
        else:
            loader.start()
        time.sleep(0.5 * took)
        if not self.bad:
            loader.join()

    def cold_start(self):
        with open(f"{self.directory}/{'large.so' if self.bad else 'large'}", "rb") as file:
            while file.read(MIB):
                pass

    # --- opening and looking up

    def many_small_files(self):
        for number in range(700):
            with open(f"{self.directory}/{number if self.bad else 0}.jpg", "rb",
                      buffering=0) as file:
                file.read(4000)

    def opened_again(self):
        fd = self.open("small")
        for _ in range(2000):
            if self.bad:
                os.close(self.open("small"))
            else:
                os.pread(fd, 100, 0)

    def listed_again(self):
        """Lists a directory of 500 files to look for new ones, or lists it once."""
        directory = f"{self.directory}/listed"
        os.makedirs(directory, exist_ok=True)
        for number in range(500):
            with open(f"{directory}/{number}", "w"):
                pass
        for _ in range(500 if self.bad else 1):
            os.listdir(directory)

    def metadata_heavy(self):
        for _ in range(30000 if self.bad else 10):
            os.stat(f"{self.directory}/small")

    def failed_lookups(self):
        for number in range(3000 if self.bad else 10):
            os.path.exists(f"{self.directory}/none/{number}")

    def imports(self):
        """Opens modules over and over, as restarting workers do, or some of them once."""
        from importlib.machinery import SourceFileLoader

        directory = f"{self.directory}/lib/python3"
        os.makedirs(directory, exist_ok=True)
        paths = [f"{directory}/{number}.py" for number in range(20)]
        for path in paths:
            with open(path, "w"):
                pass
        for _ in range(3000 if self.bad else 1):
            for path in paths:
                SourceFileLoader("module", path).get_data(path)

    def worker_start(self):
        """Runs a program that imports some modules over and over, or once and then works longer
        itself."""
        import subprocess
        import sys

        for _ in range(8 if self.bad else 1):
            subprocess.run([sys.executable, "-c", "import asyncio, json, unittest"], check=True)
        sum(range(0 if self.bad else 30_000_000))

    # --- writes, and calls that cost time but move little data

    def fsync_often(self):
        fd = self.open("log", os.O_WRONLY | os.O_CREAT)
        for _ in range(100 if self.bad else 1):
            os.write(fd, b"x" * 5000)
            os.fsync(fd)

    def save_waits(self):
        """While it computes, simulated by waiting, or concurrently with that."""

        fd, state = self.open("saved", os.O_WRONLY | os.O_CREAT), bytes(32 * MIB)

        def save():
            began = time.monotonic()
            while time.monotonic() < began + 0.5:
                os.pwrite(fd, state, 0)
                os.fsync(fd)
            return time.monotonic() - began

        saver = threading.Thread(target=save)
        if self.bad:
            took = save()
        else:
            took = 0.5
            saver.start()
        time.sleep(1.2 * took)
        if not self.bad:
            saver.join()

    def sync_writes(self):
        fd = self.open("log", os.O_WRONLY | os.O_CREAT | (os.O_DSYNC if self.bad else 0))
        for _ in range(150):
            os.write(fd, b"x" * 5000)

    def partial_writes(self):
        fd, numbers = self.open(flags=os.O_RDWR), random.Random(1)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        for _ in range(400):
            at = numbers.randrange(LARGE // mmap.PAGESIZE) * mmap.PAGESIZE
            os.pwrite(fd, bytes(1000 if self.bad else mmap.PAGESIZE), at)

    def small_writes(self):
        fd = self.open("log", os.O_WRONLY | os.O_CREAT)
        for _ in range(20000 if self.bad else 1):
            os.write(fd, b"x" * 100)

    def rewritten(self):
        """Keeps a history of results: all of it again for each result, or only that."""
        records = []
        for number in range(300):
            records.append(b"%d %s\n" % (number, b"x" * 5000))
            with open(f"{self.directory}/history", "wb" if self.bad else "ab") as file:
                file.write(b"".join(records) if self.bad else records[-1])

    def shared_writes(self):
        """Each writes its own part, of a shared file or of its own file."""
        def work(number):
            fd = self.open("results" if self.bad else f"results{number}",
                           os.O_WRONLY | os.O_CREAT)
            for at in range(16):
                os.pwrite(fd, bytes(2 * MIB), (number * 16 + at) * 2 * MIB)

        self.processes(3, work)

    def for_a_while(self, work):
        """Half a second of work(), or of none."""
        began = time.monotonic()
        while time.monotonic() < began + 0.5:
            work() if self.bad else time.sleep(0.1)

    def read_bound(self):
        """New parts of a large sparse file, with O_DIRECT, in child processes."""
        def work(number):
            fd = self.open("sparse", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
            memory = mmap.mmap(-1, 32 * MIB)
            os.ftruncate(fd, 1 << 40)
            offsets = iter(range(number << 39, 1 << 40, 32 * MIB))
            self.for_a_while(lambda: os.preadv(fd, [memory], next(offsets)))

        self.processes(2, work)

    def mmap_bound(self):
        """New parts of a large sparse file, populated while the program waits."""
        fd = self.open("mapped", os.O_RDWR | os.O_CREAT)
        os.ftruncate(fd, 1 << 40)
        offsets = iter(range(0, 1 << 40, 32 * MIB))

        def populate():
            offset = next(offsets)
            mmap.mmap(fd, 32 * MIB, mmap.MAP_SHARED | 0x8000, mmap.PROT_READ,  # MAP_POPULATE
                      offset=offset).close()
            os.posix_fadvise(fd, offset, 32 * MIB, os.POSIX_FADV_DONTNEED)

        self.for_a_while(populate)

    def write_bound(self):
        """Overwrites the same few pages, in child processes."""
        def work(number):
            fd, data = self.open(f"results{number}", os.O_WRONLY | os.O_CREAT), bytes(MIB)
            self.for_a_while(lambda: os.pwrite(fd, data, 0))

        self.processes(2, work)

    def mmap_store_faults(self):
        fd = self.open("state", os.O_RDWR | os.O_CREAT)
        os.ftruncate(fd, LARGE)
        memory = mmap.mmap(fd, LARGE)
        for _ in range(3):
            for at in range(0, LARGE, MIB):
                if self.bad:
                    for page in range(at, at + MIB, mmap.PAGESIZE):
                        memory[page] = 1
                else:
                    os.pwrite(fd, bytes(MIB), at)
            os.fsync(fd)

    def small_direct(self):
        size = 4096 if self.bad else MIB
        fd, memory = self.open(flags=os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, MIB)
        for number in range(2000 if self.bad else 20):
            os.preadv(fd, [memoryview(memory)[:size]], number * size % LARGE)

    def lock_wait(self):
        """One holds the lock until the other waits for it."""
        locked, unlocked = os.pipe(), os.pipe()

        def is_waited_for(inode):
            with open("/proc/locks") as locks:
                return any("->" in line and f":{inode} " in line for line in locks)

        def hold(fd):
            fcntl.flock(fd, fcntl.LOCK_EX)
            os.write(locked[1], b"x")
            for _ in range(1000):  # ms; do not hang if /proc/locks cannot show it
                if is_waited_for(os.fstat(fd).st_ino):
                    break
                time.sleep(0.001)
            time.sleep(0.005)
            fcntl.flock(fd, fcntl.LOCK_UN)
            os.read(unlocked[0], 1)

        def wait(fd):
            os.read(locked[0], 1)
            fcntl.flock(fd, fcntl.LOCK_EX)
            fcntl.flock(fd, fcntl.LOCK_UN)
            os.write(unlocked[1], b"x")

        def work(number):
            fd = self.open("small")
            for _ in range(20 if self.bad else 0):
                (wait if number else hold)(fd)

        self.processes(2, work)

    def failed_calls(self):
        fd = os.open(self.directory, os.O_RDONLY)
        for _ in range(30000 if self.bad else 0):
            with contextlib.suppress(IsADirectoryError):
                os.pread(fd, 100, 0)

    def short_reads(self):
        fd = self.open("small")
        for _ in range(20000):
            os.pread(fd, 4096, SMALL if self.bad else SMALL - 100)

    # --- the trace itself

    def async_not_traced(self):
        if self.bad:  # io_uring_setup, then io_uring_enter with one operation: a no-op of zeros
            libc, parameters = ctypes.CDLL(None), (ctypes.c_uint32 * 30)()
            ring = libc.syscall(425, 8, parameters)
            head = mmap.mmap(ring, 4096, mmap.MAP_SHARED)
            mmap.mmap(ring, 4096, mmap.MAP_SHARED, offset=0x10000000)
            tail = parameters[11]  # sq_off.tail
            head[tail : tail + 4] = (1).to_bytes(4, sys.byteorder)
            libc.syscall(426, ring, 1, 0, 0, None, 0)

    def shallow_queue(self):
        """Direct reads through libaio, large enough to take a while on any device: one at a time,
        or many."""
        size = 128 << 10
        setup, submit, getevents = {"aarch64": (0, 2, 4)}.get(os.uname().machine, (206, 209, 208))
        depth, libc = 1 if self.bad else 16, ctypes.CDLL(None, use_errno=True)
        fd, memory = self.open(flags=os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, depth * size)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        context = ctypes.c_ulong()
        if libc.syscall(setup, depth, ctypes.byref(context)):
            raise OSError(ctypes.get_errno(), "io_setup")
        blocks = [ctypes.create_string_buffer(64) for _ in range(depth)]
        events = ctypes.create_string_buffer(32 * depth)
        for first in range(0, 4000, depth):
            for i, block in enumerate(blocks):
                offset = (first + i) * 40503 % (LARGE // size) * size
                struct.pack_into("<QIIHHIQQq", block, 0, 0, 0, 0, 0, 0, fd,
                                 address + i * size, size, offset)
            pointers = (ctypes.c_void_p * depth)(*(ctypes.addressof(b) for b in blocks))
            libc.syscall(submit, context, depth, pointers)
            libc.syscall(getevents, context, depth, depth, events, None)

    # --- phases

    def epochs(self, cold):
        fd = self.open()
        for number in range(2):
            with span("epoch", epoch=number):
                self.preads(MIB, fd)
            if cold:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def epoch_from_storage(self):
        self.epochs(cold=self.bad)

    def epoch_from_memory(self):
        self.epochs(cold=not self.bad)

    def sync_checkpoint(self):
        def compute():
            with span("step", category="compute"):
                time.sleep(0.1)

        thread = threading.Thread(target=compute)
        if not self.bad:
            thread.start()
            time.sleep(0.01)
        with span("save", category="checkpoint"):
            time.sleep(0.05)
        if self.bad:
            thread.start()
        thread.join()

    def loop(self, fetch, compute_s, count=10):
        for number in range(count):
            with span("fetch", category="data"):
                fetch(number)
            with span("forward", category="compute"):
                time.sleep(compute_s)

    def read_part(self, fd, number):
        os.pread(fd, 4 * MIB, number * 4 * MIB)

    def loader_io(self):
        fd = self.open(flags=os.O_RDONLY | os.O_DIRECT)
        memory = mmap.mmap(-1, 4 * MIB)
        if self.bad:
            self.loop(lambda number: [os.preadv(fd, [memory], at * MIB) for at in range(0, 60, 4)],
                      0.001)
        else:
            self.loop(lambda number: time.sleep(0.02), 0.001)

    def loader_preprocessing(self):
        self.loop(lambda number: time.sleep(0.02) if self.bad else None, 0.02)

    def loader_idle(self):
        def work():
            for _ in range(3 if self.bad else 0):
                with span("item", category="data"):
                    time.sleep(0.001)

        with span("train"):
            self.processes(1, lambda number: work())
            self.loop(lambda number: None, 0.1)

    def worker_slow(self):
        def work(number):
            for _ in range(5):
                with span("batch", category="data"):
                    time.sleep(0.1 if number == 1 and self.bad else 0.02)

        with span("train"):
            self.processes(3, work)
            self.loop(lambda number: time.sleep(0.02), 0.01)

    def accelerator_idle(self):
        for _ in range(5):
            with span("forward", category="compute"):
                time.sleep(0.2 if self.bad else 0.5)
            time.sleep(0.3 if self.bad else 0)

    def straggler(self):
        fd = self.open("small")

        def work(rank):
            os.environ["RANK"] = str(rank)
            code = ("import os, sys, time, faultline\n"
                    "with faultline.span('step'):\n"
                    f" fd = os.open({self.directory + '/large'!r}, os.O_RDONLY)\n"
                    f" for i in range({300 if rank and self.bad else 0}):\n"
                    "  os.pread(fd, 1 << 20, (i % 64) << 20)\n")
            os.execv(sys.executable, [sys.executable, "-c", code])

        os.close(fd)
        self.processes(2 if self.bad else 1, work)

    def ranks_uneven(self):
        """No rank marks spans; one reads eight times as much as the others, or all read as much
        as it does."""
        def work(rank):
            os.environ["RANK"] = str(rank)
            count = 2400 if rank == 2 else 300 if self.bad else 2400
            code = (f"import os\nfd = os.open({self.directory + '/large'!r}, os.O_RDONLY)\n"
                    f"for i in range({count}):\n os.pread(fd, 1 << 20, (i % 64) << 20)\n")
            os.execv(sys.executable, [sys.executable, "-S", "-c", code])

        self.processes(4, work)


def prepare(name, directory):
    """Creates the cases' files, cached; returns the files that must be cold."""
    for file, size in (("large", LARGE), ("small", SMALL)):
        path = f"{directory}/{file}"
        if not os.path.exists(path):
            with open(path, "wb") as made:
                for _ in range(size // MIB):
                    made.write(os.urandom(MIB))
    if name == "cold-start" and not os.path.exists(f"{directory}/large.so"):
        os.link(f"{directory}/large", f"{directory}/large.so")
    if name == "many-small-files":
        for number in range(700):
            with open(f"{directory}/{number}.jpg", "wb") as made:
                made.write(b"x" * 3000)
    if name in COLD:
        return [f"{directory}/large"]
    with open(f"{directory}/large", "rb", buffering=0) as large:
        while large.read(MIB):
            pass
    return []


if __name__ == "__main__":
    case, kind, directory = sys.argv[1:]
    getattr(Job(directory, kind == "bad"), case.replace("-", "_"))()
