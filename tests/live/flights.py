# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Flight recorders, and jobs whose last operations they write."""
import glob
import os
import signal
import subprocess
import time

import harness
from harness import Trace, machine

MIB = 1 << 20

# Reads byte after byte, so that the offset of each read is the number of earlier ones. Starts on a
# line of input, prints a line when done, ends on another line of input.
COUNTING = """
import os, sys
path, count = sys.argv[1], int(sys.argv[2])
f = os.open(path, os.O_RDONLY)
sys.stdin.readline()
for i in range(count):
    os.pread(f, 1, i)
os.write(1, b"done\\n")
sys.stdin.readline()
"""

# Faults pages of a file in by touching them, over and over, until killed.
FAULTING = """
import mmap, os, sys
f = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(f).st_size
while True:
    os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)
    memory = mmap.mmap(f, size, prot=mmap.PROT_READ)
    memory.madvise(mmap.MADV_RANDOM)
    for at in range(0, size, 4096):
        memory[at]
    memory.close()
"""


# Excludes faults on a program whose pages were evicted from the cache.
CALLS = ["--layers", "task,syscall"]


def python(script, *arguments):
    return [harness.PYTHON, "-S", "-c", script, *map(str, arguments)]


class Job:
    """A program that waits for a line before it begins, and for another before it ends."""

    def __init__(self, *command, **options):
        self.process = machine().start(
            [*command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
        )
        self.pid = self.process.pid

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def work(self):
        self.go()
        assert self.process.stdout.readline() == b"done\n"

    def end(self):
        self.process.communicate(b"\n", timeout=harness.LIMIT)
        return self.process.returncode


def whole(path):
    """A trace that has its end; None while it is being written."""
    try:
        trace = Trace(path)
    except (FileNotFoundError, StopIteration):
        return None
    return trace if trace.totals else None


class Recorder:
    """faultline attach --flight, from the moment it reports that it records."""

    def __init__(self, *arguments, output="flight.flt", command="attach", directory=None, ready="recording",
                 **options):
        self.directory = directory or machine().new_dir()
        self.process, line = machine().start_ready(
            command, "-o", f"{self.directory}/{output}", *arguments,
            stderr=subprocess.PIPE, **options,
        )
        if not line.startswith(ready):
            raise AssertionError(f"not ready: {self.end()}")

    def ask(self):
        self.process.send_signal(signal.SIGUSR2)

    def traces(self):
        return sorted(glob.glob(f"{self.directory}/*.flt"), key=os.path.getmtime)

    def ask_and_wait(self, count=1, again=False):
        """Waits for `count` complete traces and returns the last. `again`: repeats the request,
        since an earlier one may have been refused."""
        self.ask()

        def is_there():
            if len(self.whole()) >= count:
                return True
            if again:
                time.sleep(0.2)
                self.ask()
            return False

        assert harness.wait_until(is_there), self.directory
        return self.whole()[-1]

    def whole(self):
        return [trace for trace in map(whole, self.traces()) if trace]

    def end(self):
        """Ends the recording: status and messages."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        stderr = self.process.communicate(timeout=harness.LIMIT)[1]
        return self.process.returncode, stderr.decode(errors="replace")


def lost(trace):
    return sum(kind["lost"] for kind in trace.totals["kinds"])


def counted_bytes(directory, name="data", size=4 * MIB):
    """A file without disk blocks, whose bytes can be counted by reading them."""
    path = f"{directory}/{name}"
    with open(path, "w") as file:
        file.truncate(size)
    return path
