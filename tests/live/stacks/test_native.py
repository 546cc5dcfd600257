# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Native stacks, compared with backtrace(3) of the program itself at the same call."""
import bisect
import os
import re
import shutil
import subprocess
import unittest

import harness
from harness import Attached, Recording, Traced, machine
from test_stacks import CUT, PERIOD_NS, READ_BYTES, Stacks

NO_PYTHON, NO_THREAD = 2, 4
PAGE = 4096
NOTES = "whole", "cut", "failed", "dropped"


def name_of(path):
    return os.path.basename(path)


class Functions:
    """Functions of a program by address, from nm."""

    def __init__(self, path):
        listed = subprocess.run(["nm", "-n", "--defined-only", path], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        rows = [line.split() for line in listed.splitlines()]
        self.all = [(int(address, 16), name) for address, kind, name in rows if kind in "tTW"]

    def at(self, address):
        return self.all[bisect.bisect(self.all, (address + 1,)) - 1][1]


def callers(output):
    """{offset: [(file, address)]} from what the program has printed."""
    found = {}
    for line in output.splitlines():
        offset, *chain = line.split(" ")
        if offset != "map:":
            found[int(offset[:-1])] = [
                (path, int(address, 16)) for path, address in
                (entry.rsplit("+", 1) for entry in chain)]
    return found


def notes_of(recording):
    notes = recording.report["trace"]["notes"]
    return {name: notes[f"native_stacks_{name}"] for name in NOTES}


def reads_of(recording, path):
    """(sample, chain) of each read of a period or more."""
    stacks, ids = Stacks(recording.trace), recording.trace.file_ids(path)
    for sample in stacks.samples:
        if (sample["file"] in ids and sample["dur"] >= PERIOD_NS and sample["state"] == b"io" and
                sample["op"] != "fault"):
            yield sample, stacks.chain(sample["stack"])


class Native(unittest.TestCase):
    def setUp(self):
        self.data = harness.random_file(f"{machine().new_dir()}/data", READ_BYTES + (1 << 20))
        self.program = machine().program("native_stacks")

    def record(self, mode, program=None):
        """The recording, what the program said, and its reads."""
        recording = Recording([program or self.program, mode, self.data], "--stacks", "native")
        output = callers(recording.done.stdout.decode())
        reads = list(reads_of(recording, self.data))
        self.assertEqual({sample["offset"] for sample, _ in reads}, set(output))
        return recording, output, reads

    def check_files(self, chain, wanted):
        """The innermost frame is the C library's, then come the callers, file by file."""
        self.assertIn("libc.so", name_of(chain[0][0]))
        self.assertEqual([name_of(path) for path, _, _ in chain[1:]],
                         [name_of(path) for path, _ in wanted])

    def check_functions(self, chain, wanted):
        """The program's own functions are those of backtrace(3)."""
        functions = Functions(self.program)
        own = name_of(self.program)
        self.assertEqual(
            [function for path, _, function in chain if name_of(path) == own],
            [functions.at(address) for path, address in wanted if name_of(path) == own])

    def check_whole(self, mode):
        recording, output, reads = self.record(mode)
        for sample, chain in reads:
            self.assertEqual(sample["flags"], NO_PYTHON)
            self.assertEqual([line for _, line, _ in chain], [0] * len(chain))
            self.check_files(chain, output[sample["offset"]])
            self.check_functions(chain, output[sample["offset"]])
            self.assertIn("pread", chain[0][2])
        self.assertGreaterEqual(notes_of(recording)["whole"], len(reads))
        return recording, reads

    def test_chains(self):
        """At each depth, and called back by the C library."""
        recording, reads = self.check_whole("chains")
        self.assertEqual(len(reads), 9)
        lines = [row for row in recording.report["lines"] if row["state"] == "io"]
        self.assertEqual((name_of(lines[0]["file"]), lines[0]["function"]),
                         ("native_stacks", "read_here"))

    def test_thread(self):
        self.check_whole("thread")

    def test_mangled(self):
        """Functions of C++ and Rust have the names of their source."""
        _, output, reads = self.record("mangled")
        ((_, chain),) = reads
        self.check_files(chain, output[0])
        self.assertEqual([function for _, _, function in chain[1:4]],
                         ["read_here", "data::Loader<int>::next", "tokenizers::encode"])

    def test_deep(self):
        """A stack that is deeper than the copy has its innermost frames, and says so."""
        recording, output, reads = self.record("deep")
        for sample, chain in reads:
            wanted = output[sample["offset"]]
            self.assertEqual(sample["flags"], NO_PYTHON | CUT)
            self.assertGreater(len(chain), 3)
            self.assertLess(len(chain), len(wanted))
            self.check_files(chain, wanted[:len(chain) - 1])
            self.check_functions(chain, wanted[:len(chain) - 1])
        self.assertGreaterEqual(notes_of(recording)["cut"], 1)
        text = harness.faultline("report", recording.path).stdout.decode()
        self.assertIn("deeper than the part that was copied", text)

    def test_stripped(self):
        """Code without symbols has the name of its file."""
        program = f"{machine().new_dir()}/native_stacks"
        subprocess.run(["strip", "-s", "-o", program, self.program], check=True)
        _, output, reads = self.record("chains", program)
        for sample, chain in reads:
            wanted = output[sample["offset"]]
            self.check_files(chain, wanted)
            self.assertEqual({function for path, _, function in chain if path == program},
                             {"[native_stacks]"})

    def split(self):
        """A copy of the program without symbols, and a file that has them, as it is named there."""
        directory = machine().new_dir()
        program, symbols = f"{directory}/native_stacks", f"{directory}/native_stacks.debug"
        harness.run("objcopy", "--only-keep-debug", self.program, symbols)
        os.chmod(symbols, 0o644)
        harness.run("objcopy", "--strip-all", f"--add-gnu-debuglink={symbols}", self.program,
                    program)
        return program, symbols

    def check_named(self, program, *before):
        path = f"{machine().new_dir()}/trace.flt"
        done = harness.captured(*before, machine().faultline, "run", "-o", path, "--stacks",
                                "native", program, "chains", self.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        traced, output = Traced(), callers(done.stdout.decode())
        traced.path = path
        reads = list(reads_of(traced, self.data))
        self.assertEqual({sample["offset"] for sample, _ in reads}, set(output))
        for sample, chain in reads:
            self.check_functions(chain, output[sample["offset"]])

    def test_debug_link(self):
        """Symbols are in a file that the program names, next to it or in .debug."""
        program, symbols = self.split()
        self.check_named(program)
        os.mkdir(f"{os.path.dirname(program)}/.debug")
        os.rename(symbols, f"{os.path.dirname(program)}/.debug/{name_of(symbols)}")
        self.check_named(program)

    def test_other_debug_file(self):
        """Symbols of another build are not used."""
        program, symbols = self.split()
        harness.run("objcopy", "--only-keep-debug", machine().program("threads"), symbols)
        _, _, reads = self.record("chains", program)
        self.assertEqual({function for _, chain in reads for path, _, function in chain
                          if path == program}, {"[native_stacks]"})

    def test_build_id(self):
        """Symbols are where distributions install them, by the program's build ID."""
        program, symbols = self.split()
        number = re.search(r"Build ID: (\w+)", harness.run("readelf", "-n", program).decode())[1]
        directory = f"/usr/lib/debug/.build-id/{number[:2]}"
        script = ('mkdir -p /usr/lib/debug; mount -t tmpfs tmpfs /usr/lib/debug && mkdir -p "$0" '
                  '&& mv "$1" "$0/$2.debug" && shift 2 && exec "$@"')
        self.check_named(program, "unshare", "-m", "sh", "-c", script, directory, symbols, number[2:])

    def test_jit(self):
        """Functions that the program compiled itself are named by its perf map."""
        recording = Recording([self.program, "jit", self.data], "--stacks", "native")
        path = recording.done.stdout.decode().rsplit("map: ", 1)[1].strip()
        self.addCleanup(os.unlink, path)
        (_, chain), = reads_of(recording, self.data)
        functions = [function for _, _, function in chain]
        self.assertEqual(functions[1:5], ["read_here", "jitted reader", "jit", "main"])

    def test_other_owner(self):
        """A perf map that the process's user does not own is not read."""
        script = ("import os, sys; pid = os.fork()\n"
                  "if not pid:\n"
                  "    path = f'/tmp/perf-{os.getpid()}.map'\n"
                  "    open(path, 'w').write('0 ffffffffffffffff not his own\\n')\n"
                  "    os.setresuid(65534, 65534, 65534)\n"
                  "    os.execv(sys.argv[1], sys.argv[1:])\n"
                  "os.waitpid(pid, 0); os.unlink(f'/tmp/perf-{pid}.map')")
        os.chmod(self.data, 0o644)
        directory = os.path.dirname(self.data)
        os.chmod(directory, 0o755)
        program = shutil.copy(self.program, directory)
        recording = Recording([harness.PYTHON, "-c", script, program, "jit", self.data],
                              "--stacks", "native", "-u", "root")
        (_, chain), = reads_of(recording, self.data)
        self.assertEqual([function for _, _, function in chain][1:5],
                         ["read_here", "[unknown]", "jit", "main"])

    def test_attach(self):
        script = "read line; exec \"$@\""
        job = machine().start(["sh", "-c", script, "sh", self.program, "chains", self.data],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        attached = Attached("-p", str(job.pid), "--stacks", "native")
        output = callers(job.communicate("\n")[0])
        self.assertEqual(attached.end()[0], 0)
        reads = list(reads_of(attached, self.data))
        self.assertEqual({sample["offset"] for sample, _ in reads}, set(output))
        for sample, chain in reads:
            self.check_functions(chain, output[sample["offset"]])

    def test_short_process(self):
        """Of a process that ends at once, too."""
        script = f"for i in 1 2 3 4 5; do {self.program} thread {self.data}; done"
        recording = Recording(["sh", "-c", script], "--stacks", "native")
        reads = list(reads_of(recording, self.data))
        self.assertEqual(len(reads), 5)
        for _, chain in reads:
            self.assertIn("in_thread", [function for _, _, function in chain])


LIBRARY = """
#include <pthread.h>
#include <unistd.h>
#define KEPT __attribute__((noinline, noclone))
#define AFTER_CALL() asm volatile("" ::: "memory")
static char buffer[33 << 20];
KEPT long library_inner(int fd, long offset) {
    long got = pread(fd, buffer, 32 << 20, offset); AFTER_CALL(); return got + 1; }
long library_read(int fd, long offset) {
    long got = library_inner(fd, offset); AFTER_CALL(); return got + 1; }
long library_call(void (*call)(int), int fd) { call(fd); AFTER_CALL(); return 1; }
static void *library_thread(void *fd) {
    library_inner((long)fd, 3 * 4096); AFTER_CALL(); return NULL; }
long library_start(long fd) {
    pthread_t made; pthread_create(&made, NULL, library_thread, (void *)fd);
    return pthread_join(made, NULL); }
"""

SCRIPT = """
import ctypes, functools, os, sys
library = ctypes.CDLL(sys.argv[1])
library.library_read.argtypes = ctypes.c_int, ctypes.c_long
descriptor = os.open(sys.argv[2], os.O_RDONLY)
buffer = [bytearray(32 << 20)]
def direct():
    library.library_read(descriptor, 0)
@ctypes.CFUNCTYPE(None, ctypes.c_int)
def called(descriptor):
    library.library_read(descriptor, 4096)
def calls_back():
    library.library_call(called, descriptor)
def key(item):
    os.preadv(descriptor, buffer, 8192) if item == 1 else None
    return item
def sorts():
    sorted([1, 2], key=functools.partial(key))
def main():
    direct()
    calls_back()
    sorts()
    library.library_start(ctypes.c_long(descriptor))
main()
"""
# {offset: frames of the script, as lines, and of the library, as functions; innermost first}
MIXED = {
    0: ["library_inner", "library_read", 8, 20, 24],
    4096: ["library_inner", "library_read", 11, "library_call", 13, 21, 24],
    8192: [15, 18, 22, 24],
    3 * 4096: ["library_inner", "library_thread"],
}
THREAD = 3 * 4096


COMPRESS = """import os, time, zlib
data, end = os.urandom(1 << 20), time.thread_time() + 2
def compresses():
    while time.thread_time() < end:
        zlib.compress(data)
compresses()
"""


class Mixed(unittest.TestCase):
    def check(self, python):
        directory = machine().new_dir()
        data = harness.random_file(f"{directory}/data", READ_BYTES + (1 << 20))
        script, library = f"{directory}/script.py", f"{directory}/library.so"
        with open(script, "w") as file:
            file.write(SCRIPT)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-pthread", "-x", "c", "-", "-o", library],
                       input=LIBRARY, text=True, check=True)
        recording = Recording([python, script, library, data], "--stacks", "native")
        seen = set()
        for sample, chain in reads_of(recording, data):
            own = [line if path == script else function for path, line, function in chain
                   if path in (script, library)]
            self.assertEqual(own, MIXED[sample["offset"]], chain)
            self.assertIn("libc.so", name_of(chain[0][0]))
            self.assertEqual(sample["flags"], NO_THREAD if sample["offset"] == THREAD else 0)
            if sample["offset"] != THREAD:
                self.assertEqual(chain[-1][2], "<module>")
            seen.add(sample["offset"])
        self.assertEqual(seen, set(MIXED))
        places = {(row["file"], row["line"], row["function"]) for row in recording.report["lines"]}
        self.assertIn((script, 8, "direct"), places)
        self.assertIn((library, None, "library_inner"), places)
        return recording

    def test_debian(self):
        self.check(harness.PYTHON)

    def test_computation(self):
        """CPU time in a native library, at the line of Python that calls it."""
        script = f"{machine().new_dir()}/script.py"
        with open(script, "w") as file:
            file.write(COMPRESS)
        recording = Recording([harness.PYTHON, script], "--stacks", "native")
        rows = [row for row in recording.report["lines"] if row["state"] == "cpu"]
        total = sum(row["time_ns"] for row in rows)
        inside = sum(row["time_ns"] for row in rows
                     if (row["file"], row["line"], row["function"]) == (script, 5, "compresses")
                     and " in libz.so" in (row["library"] or ""))
        self.assertGreater(total, 1_000_000_000)
        self.assertGreater(inside, total / 2)
        row, = [row for row in recording.report["functions"]
                if (row["file"], row["function"]) == (script, "compresses")
                and row["state"] == "cpu"]
        self.assertGreaterEqual(row["time_ns"], inside)

    def test_others(self):
        """Not those that are fetched: libdw 0.188 cannot unwind their libffi."""
        from test_stacks import for_others
        for_others(self, self.check)


if __name__ == "__main__":
    harness.main()
