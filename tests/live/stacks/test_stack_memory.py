# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stacks of Python where PIDs come again, pages are in swap, and interpreters are stripped or mapped
twice."""
import glob
import os
import subprocess
import unittest

import harness
from harness import Recording, machine
from test_stacks import (
    CUT, NO_PYTHON, OTHERS, PAGE, PERIOD_NS, READ_BYTES, READS, UNREAD, Stacks, interpreters)
from test_stacks_hard import READ, SITES_MAX, Jobs

# usage: sh -c REUSE sh FIFO FIRST SECOND JOB DATA TRUTH      prints the number; 77: it was not free
REUSE = """
last=/proc/sys/kernel/ns_last_pid fifo=$1 first=$2 second=$3
shift 3
start() {
    tries=0
    while :; do
        echo $((pid - 1)) >$last
        (read line <"$fifo"; "$@") &
        [ $! = $pid ] && break
        kill $!; wait $!
        tries=$((tries + 1))
        [ $tries -lt 500 ] || exit 77
    done
    sleep 0.02
    echo >"$fifo"
    wait $pid
}
"$first" "$@" 1 &
pid=$!
wait $pid
start :
start "$second" "$@" 2
start :
echo $pid
"""


class Numbers(Jobs):
    def test_pid_comes_again(self):
        """A shell's child that executes nothing, and another Python, have the number that a Python
        had."""
        others = list(interpreters(*OTHERS))
        script, data, truth, fifo = (f"{self.directory}/{name}"
                                     for name in ("job.py", "data", "truth", "fifo"))
        with open(script, "w") as file:
            file.write(READ + "read(int(sys.argv[3]))")
        with open(data, "wb") as file:
            file.truncate(READ_BYTES + SITES_MAX * PAGE)
        os.mkfifo(fifo)
        recording = Recording(["sh", "-c", REUSE, "sh", fifo, harness.PYTHON,
                               others[-1] if others else harness.PYTHON, script, data, truth],
                              "--stacks", "python", status=None, stdin=subprocess.DEVNULL)
        if recording.done.returncode == 77:
            self.skipTest("the number was never free")
        self.assertEqual(recording.done.returncode, 0)
        pid, trace = int(recording.done.stdout), recording.trace
        stacks, noted, ids = Stacks(trace), self.noted(truth), trace.file_ids(data)
        samples = [row for row in stacks.samples if row["pid"] == pid]
        reads = [row for row in samples if row["file"] in ids and row["op"] in READS
                 and row["dur"] >= PERIOD_NS]
        self.assertEqual([[stacks.chain(row["stack"])] for row in reads], [noted[1], noted[2]])
        opens = [row for row in samples if row["state"] == b"pipe" and row["dur"] >= PERIOD_NS]
        self.assertGreaterEqual(len(opens), 3)
        self.assertEqual({(row["flags"], row["stack"]) for row in opens}, {(NO_PYTHON, 0)})


LIBRARY = """
#include <sys/mman.h>
#include <time.h>
struct range { char *start; unsigned long bytes; };
void out_and_wait(struct range *ranges, int count, void (*call)(void)) {
    struct timespec pause = { 0, 100000000 };
    for (int i = 0; i < count; i++)
        madvise(ranges[i].start, ranges[i].bytes, 21 /* MADV_PAGEOUT */);
    call ? call() : (void)nanosleep(&pause, 0);
}
"""

# usage: JOB LIBRARY TRUTH WHAT
PAGED_OUT = """
import ctypes, json, sys, time
library = ctypes.CDLL(sys.argv[1])
def ranges(what):
    found, is_own = [], False
    with open("/proc/self/maps") as file:
        for line in file:
            where, access, _, _, inode, *path = line.split()
            start, end = (int(part, 16) for part in where.split("-"))
            is_own = "python" in path[0] if path else is_own  # with the variables that are 0
            is_heap = path == ["[heap]"] or not path and not is_own
            if access == "rw-p" and (is_heap or is_own and what == "interpreter"):
                found += [start, end - start]
    return found
def inner(found, count):
    library.out_and_wait(found, count, callback)
@ctypes.CFUNCTYPE(None)
def sleeps():
    time.sleep(0.1)
callback = sleeps if sys.argv[3] == "callback" else None
def outer(depth, found, count):
    if depth:
        return outer(depth - 1, found, count)
    inner(found, count)
for i in range(4):
    found = ranges(sys.argv[3]) if i else []
    found = (ctypes.c_ulong * len(found))(*found)
    outer(120, found, len(found) // 2)
with open(sys.argv[2], "w") as file:
    own = sys._getframe().f_code
    lines = [[16, "inner"], [24, "outer"], *[[23, "outer"]] * 120, [28, "<module>"]]
    lines = [[19, "sleeps"]] * (callback is not None) + lines
    json.dump([[own.co_filename, *line] for line in lines], file)
"""


class PagedOut(Jobs):
    def check(self, what):
        """Frames that are swapped out are missing, and are not replaced by others. During the first
        wait, all memory is present."""
        group = harness.little_memory(self, 256 << 20)
        library, script, truth = (f"{self.directory}/{name}"
                                  for name in ("library.so", "job.py", "truth"))
        harness.run("gcc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", library,
                    input=LIBRARY.encode())
        with open(script, "w") as file:
            file.write(PAGED_OUT)
        command = harness.in_cgroup(group, harness.PYTHON, script, library, truth, what)
        wholes = harness.counted_right(lambda: self.are_whole(command, truth), any)
        self.assertTrue(any(wholes) and not all(wholes), wholes)

    def are_whole(self, command, truth):
        """Whether each stack that waited is known whole."""
        recording = Recording(command, "--stacks", "python")
        stacks, whole, wholes = Stacks(recording.trace), harness.account(truth), []
        for row in stacks.samples:
            # A thread that gets no CPU before it sleeps, sleeps for less.
            if row["state"] != b"sleep" or row["dur"] < PERIOD_NS:
                continue
            chain = stacks.chain(row["stack"])
            self.assertEqual(chain, whole[:len(chain)], row)
            wholes.append(chain == whole)
            self.assertEqual(row["flags"], 0 if wholes[-1] else CUT if chain else UNREAD, row)
        return wholes

    def test_heap(self):
        self.check("heap")

    def test_interpreter(self):
        """With the interpreter's own variables."""
        self.check("interpreter")

    def test_callback(self):
        """The frames of the waiting code, and those read ahead with them, are in memory again."""
        self.check("callback")


class Libraries(Jobs):
    """Other interpreters than those that the tests elsewhere run as they are."""

    def libraries(self):
        directory = os.path.expanduser("~/.pyenv/versions")
        found = sorted(glob.glob(f"{directory}/3.*/lib/libpython3.*.so.1.0"))
        if not found:
            self.skipTest("no libpython here")
        return found

    def test_second_library(self):
        """A program that maps the library of another version keeps its own lines."""
        libraries = self.libraries()
        for python in harness.PYTHON, *list(interpreters(*OTHERS))[:1]:
            with self.subTest(python=python):
                self.setUp()
                own = subprocess.run([python, "-V"], stdout=subprocess.PIPE, text=True).stdout
                other = [path for path in libraries
                         if f"/{own.split()[1].rpartition('.')[0]}." not in path][-1]
                self.check("import ctypes\nread(1)\n"
                           f"ctypes.CDLL({other!r})\n"
                           "read(2)\n"
                           "if not os.fork():\n    read(3)\n    os._exit(0)\n"
                           "os.wait()\n", python=python)

    def test_stripped(self):
        """Symbols for the dynamic linker are enough."""
        for path in self.libraries()[-2:]:
            with self.subTest(library=path):
                self.setUp()
                harness.run("strip", "-s", "-o", f"{self.directory}/{os.path.basename(path)}", path)
                python = f"{path.rpartition('/lib/')[0]}/bin/python3"
                trace, data, noted = self.record(
                    "import time\nfor site in range(40):\n    read(site)\n    time.sleep(0.05)\n",
                    python=python, env={**os.environ, "LD_LIBRARY_PATH": self.directory})
                stacks, ids = Stacks(trace), trace.file_ids(data)
                found = [row for row in stacks.samples if row["file"] in ids and row["stack"]
                         and row["op"] in READS and row["dur"] >= PERIOD_NS]
                self.assertGreater(len(found), 0)
                for row in found:
                    self.assertIn(stacks.chain(row["stack"]), noted[row["offset"] // PAGE])


if __name__ == "__main__":
    unittest.main()
