# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stacks of Python where they are hard to get. Each read has an offset of its own, and notes what
sys._getframe sees."""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import bpf_maps
import harness
from harness import Attached, Recording, machine
from test_stacks import (
    FETCHED, LOST, MANY_THREADS, OTHERS, PAGE, PERIOD_NS, READ_BYTES, READS, Stacks, interpreters)

SITES_MAX = 1000


def child_named(parent, name):
    """A process's child of this name."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{pid}/stat") as file:
                comm, _, rest = file.read().partition("(")[2].rpartition(")")
            if comm == name and int(rest.split()[1]) == parent:
                return int(pid)
    raise AssertionError(f"{parent} has no child {name}")


# usage: JOB DATA TRUTH
READ = """
import json, os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY)
truth = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
buffers = [bytearray(32 << 20)]
def read(site):
    frame, chain = sys._getframe(), []
    while frame:
        code = frame.f_code
        chain.append([code.co_filename, frame.f_lineno if chain else 14,
                      getattr(code, "co_qualname", code.co_name)])
        frame = frame.f_back
    os.write(truth, (json.dumps([site, chain]) + "\\n").encode())
    os.preadv(descriptor, buffers, site * 4096)
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        self.directory = machine().new_dir()

    def record(self, job, python=harness.PYTHON, before=(), **options):
        """Records a job, of which `read` is a part. Returns the trace and the noted chains."""
        script = f"{self.directory}/job.py"
        with open(script, "w") as file:
            file.write(READ + job)
        data, truth = f"{self.directory}/data", f"{self.directory}/truth"
        with open(data, "wb") as file:
            file.truncate(READ_BYTES + SITES_MAX * PAGE)
        recording = Recording([*before, python, script, data, truth], "--stacks", "python",
                              **options)
        return recording.trace, data, self.noted(truth)

    def noted(self, truth):
        noted = collections.defaultdict(list)
        with open(truth) as file:
            for line in file:
                site, chain = json.loads(line)
                noted[site].append(chain)
        return noted

    def check(self, job, **options):
        """Each read of a period or more has one sample, with the stack that was noted."""
        trace, data, noted = self.record(job, **options)
        self.assertGreater(len(noted), 0)
        stacks, ids = Stacks(trace), trace.file_ids(data)
        samples = {(sample["tid"], sample["time"]): sample for sample in stacks.samples
                   if sample["file"] in ids and sample["op"] in READS}
        self.assertEqual([row for row in stacks.samples if row["flags"] & LOST], [])
        seen = set()
        for row in trace.calls(data):
            if row["op"] not in READS or row["dur"] < PERIOD_NS:
                continue
            site = row["offset"] // PAGE
            sample = samples[row["tid"], row["time"]]
            self.assertEqual((sample["flags"], sample["dur"]), (0, row["dur"]), f"site {site}")
            self.assertIn(stacks.chain(sample["stack"]), noted[site], f"site {site}")
            seen.add(site)
        self.assertEqual(seen, set(noted))
        return trace


class Reused(Jobs):
    """Code objects, texts and tables of lines come and go at the same addresses."""

    def test_code(self):
        """Only one part of each differs from the one before."""
        self.check("""
def run(source, path, site):
    exec(compile(source, path, "exec"), {"read": read, "site": site})
tail = "x" * 80
for i in range(40):
    run("read(site)", f"job_{i:02}.py", i)
    run("read(site)", f"{i:02}{tail}", 40 + i)
    run("read(site)", f"ö{i:02}{tail}", 80 + i)
for i in range(40):
    run("0\\n" * i + "read(site)", "module.py", 120 + i)
for i in range(40):
    run("def f():\\n" + " 0\\n" * i + " read(site)\\nf()", "function.py", 160 + i)
for i in range(40):
    run(f"def f_{i:02}{tail}(): read(site)\\nf_{i:02}{tail}()", "name.py", 200 + i)
""")

    def test_forks(self):
        """The children of a process have the same addresses."""
        self.check("""
for i in range(12):
    if not os.fork():
        exec(compile("\\n" * (i % 3) + "def f(): read(site)\\nf()", f"job_{i:02}{'x' * 80}", "exec"),
             {"read": read, "site": i})
        os._exit(0)
    os.wait()
""")

    def test_modules(self):
        """A module of the same size, loaded from its cache, has other lines."""
        self.check("""
import importlib.util, py_compile
def load(source):
    with open("{0}.py".format(sys.argv[2]), "w") as file:
        file.write(source)
    made = py_compile.compile(file.name, doraise=True)
    spec = importlib.util.spec_from_file_location("module", made)
    module = importlib.util.module_from_spec(spec)
    module.read, module.site = read, site
    spec.loader.exec_module(module)
for site in range(40):
    load("0\\n" * (site % 8) + "read(site)" + "\\n0" * (8 - site % 8) + "\\n")
""")


SUBINTERPRETERS = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
with open(__file__) as file:
    start = f"import sys; sys.argv = {sys.argv}" + file.read().split("try:")[0]
first, second = interpreters.create(), interpreters.create()
read(1)
interpreters.run_string(first, start + "\\ndef f(): read(2)\\nf()")
read(3)
interpreters.run_string(second, start + "\\nread(4)")
interpreters.run_string(first, "read(5)")
read(6)
interpreters.destroy(first)
read(7)
"""


class Hard(Jobs):
    def test_import_from_archive(self):
        self.check("""
import zipfile
path = sys.argv[2] + ".zip"
with zipfile.ZipFile(path, "w") as archive:
    archive.writestr("inner/__init__.py", "def load(read):\\n    read(1)\\n")
sys.path.insert(0, path)
import inner
inner.load(read)
""")

    def test_strings(self):
        trace = self.check("""
exec("\\n\\nread(1)")
eval("[read(2)\\nfor _ in range(1)]")
""")
        self.assertIn(["<string>", 3, "<module>"], Stacks(trace).frames.values())

    def test_subinterpreters(self):
        """A thread runs in one interpreter after the other, and in one within another."""
        for python in interpreters(harness.PYTHON, FETCHED):
            with self.subTest(python=python):
                self.setUp()
                self.check(SUBINTERPRETERS, python=python)

    def test_threads_of_c(self):
        """Such a thread has a state of the interpreter only while it calls back."""
        self.check("""
import ctypes
libc, CALLBACK = ctypes.CDLL(None), ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
@CALLBACK
def first(argument):
    read(1)
@CALLBACK
def second(argument):
    list(map(read, [2]))
for call in first, second, first:
    thread = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(thread), None, call, None)
    libc.pthread_join(thread, None)
read(3)
""")

    def test_fork_in_threads(self):
        """The forking thread becomes the only one of the child, which starts others."""
        self.check("""
import threading
def start(what):
    thread = threading.Thread(target=what)
    thread.start()
    return thread
def fork():
    if os.fork():
        return os.wait()
    read(1)
    start(lambda: read(2)).join()
    read(3)
    os._exit(0)
other = start(lambda: read(4))
start(fork).join()
other.join()
read(5)
""")

    def test_greenlets(self):
        """A greenlet has frames of its own, and those of its parent do not call them. One that
        waits for another is on no stack."""
        if harness.captured(harness.PYTHON, "-c", "import greenlet").returncode:
            self.skipTest("no python3-greenlet")
        self.check("""
import greenlet, threading
def inner(site):
    read(site)
    greenlet.getcurrent().parent.switch()
    read(site + 1)
def outer(site):
    child = greenlet.greenlet(inner)
    child.switch(site)
    read(site + 2)
    child.switch()
    read(site + 3)
def switch(site):
    made = [greenlet.greenlet(outer) for _ in range(2)]
    for i, one in enumerate(made):
        one.switch(site + 10 * i)
    read(site + 4)
switch(1)
thread = threading.Thread(target=switch, args=[31])
thread.start()
thread.join()
""")

    def test_short_threads(self):
        """1,000 of them, which only sleep: each wait has a sample, with its own stack. A thread
        that gets no CPU in time sleeps less; short waits are added up, and are no rows."""
        trace, _, noted = self.record("""
import threading, time
def first():
    note(); time.sleep(0.002)
def second():
    note(); time.sleep(0.002)
def note():
    code = sys._getframe(1).f_code
    chain = [code.co_filename, code.co_firstlineno + 1, code.co_name]
    os.write(truth, (json.dumps([threading.get_native_id(), chain]) + "\\n").encode())
for _ in range(20):
    threads = [threading.Thread(target=[first, second][i % 2]) for i in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""")
        self.assertEqual(len(noted), 1000)
        slept = {row["tid"] for row in trace.dicts("wait") if row["state"] == b"sleep"}
        stacks, seen = Stacks(trace), set()
        for sample in stacks.samples:
            if sample["tid"] in noted and sample["state"] == b"sleep":
                chain = stacks.chain(sample["stack"])
                self.assertTrue(chain, sample)
                self.assertIn(chain[0], noted[sample["tid"]])
                self.assertEqual(chain[-1][2], "Thread._bootstrap")
                if sample["dur"] >= PERIOD_NS:
                    seen.add(sample["tid"])
        self.assertGreater(len(seen), 0)
        self.assertEqual(seen, slept & set(noted))

    def test_more_threads_than_searched(self):
        """The oldest of 4,500 threads has no stack, and that is said."""
        script = ("import _thread, os, sys\n"
                  "_thread.stack_size(128 << 10)\n"
                  "count = [0]\n"
                  "def waits(lock):\n"
                  "    count[0] += 1\n"
                  "    lock.acquire()\n"
                  "    count[0] -= 1\n"
                  "locks = [_thread.allocate_lock() for _ in range(4500)]\n"
                  "for lock in locks: lock.acquire(), _thread.start_new_thread(waits, (lock,))\n"
                  "def until(wanted):\n"
                  "    while count[0] != wanted: os.sched_yield()\n"
                  "until(4500)\n"
                  "print(flush=True), sys.stdin.readline()\n"
                  "locks[0].release(), until(4499)\n"
                  "locks[-1].release(), until(4498)\n"
                  "os._exit(0)\n")
        job = machine().start([harness.PYTHON, "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
        job.stdout.readline()
        attached = Attached("-p", str(job.pid), "--stacks", "python")
        job.communicate(b"\n")
        self.assertEqual(attached.end()[0], 0)
        stacks = Stacks(attached.trace)
        waits = [row for row in stacks.samples if row["state"] == b"lock"
                 and row["tid"] != job.pid and row["dur"] >= PERIOD_NS]
        first = min(waits, key=lambda row: row["time"] + row["dur"])
        last = max(waits, key=lambda row: row["time"] + row["dur"])
        self.assertEqual((first["flags"], first["stack"]), (MANY_THREADS, 0))
        self.assertEqual(stacks.chain(last["stack"]), [["<string>", 6, "waits"]])
        self.assertIn("too many threads", {row["reason"] for row in attached.report["lines"]})

    def test_seccomp(self):
        self.check("""
import ctypes
class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("true", ctypes.c_ubyte), ("false", ctypes.c_ubyte),
                ("value", ctypes.c_uint)]
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]
allow = Instruction(6, 0, 0, 0x7fff0000)
program = Program(1, ctypes.pointer(allow))
libc = ctypes.CDLL(None)
assert not libc.prctl(38, 1, 0, 0, 0)
assert not libc.prctl(22, 2, ctypes.byref(program), 0, 0)
read(1)
""")

    def test_under_a_debugger(self):
        self.check("""
import threading
thread = threading.Thread(target=read, args=[1])
thread.start()
thread.join()
read(2)
""", before=["strace", "-f", "-o", "/dev/null"])

    def test_pid_namespace(self):
        """Threads are known to the interpreter by other numbers than to us."""
        self.check("""
import threading
if not os.fork():
    thread = threading.Thread(target=read, args=[1])
    thread.start()
    thread.join()
    os._exit(0)
os.wait()
read(2)
""", before=["unshare", "--pid", "--fork"])

    def test_first_in_script(self):
        """The interpreter that a script finds in PATH is known from the start."""
        path = os.path.dirname(harness.PYTHON)
        self.check("read(1)", python="python3", before=["sh", "-c", '"$@"; true', "sh"],
                   env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"})


class Interpreters(Jobs):
    """Files of interpreters that come and go, or are none."""

    WAITING = """
import time
for site in range(40):
    read(site)
    time.sleep(0.05)
"""

    def check_later(self, trace, data, noted):
        """Reads have the right stack or, at first, none."""
        stacks, ids = Stacks(trace), trace.file_ids(data)
        samples = sorted((sample["time"], sample) for sample in stacks.samples
                         if sample["file"] in ids and sample["op"] in READS
                         and sample["dur"] >= PERIOD_NS)
        for _, sample in samples:
            if sample["stack"]:
                self.assertIn(stacks.chain(sample["stack"]), noted[sample["offset"] // PAGE])
        self.assertTrue(samples[-1][1]["stack"])

    def compile(self, name, source, *options):
        path = f"{self.directory}/{name}"
        harness.run("gcc", "-x", "c", "-o", path, "-", *options, input=source.encode())
        return path

    def test_file_number_used_again(self):
        """A program takes the inode number of another one that was no interpreter."""
        directory = machine().new_dir("ext4")
        first, python = f"{directory}/python3.1", f"{directory}/python3"
        shutil.copy("/bin/sleep", first)
        number = os.stat(first).st_ino
        script = '"$1" 0.3; rm "$1"; cp "$0" "$2"; shift; exec "$@"'
        found = self.record(self.WAITING, python=python,
                            before=["sh", "-c", script, os.path.realpath(harness.PYTHON), first])
        if os.stat(python).st_ino != number:
            self.skipTest("the file system did not use the number again")
        self.check_later(*found)

    def test_asked_again(self):
        """Layouts that the user side has dropped are requested again."""
        script = f"{self.directory}/job.py"
        with open(script, "w") as file:
            file.write(READ + "sys.stdin.readline()" + self.WAITING)
        data, truth = f"{self.directory}/data", f"{self.directory}/truth"
        with open(data, "wb") as file:
            file.truncate(READ_BYTES + SITES_MAX * PAGE)
        job = machine().start([harness.PYTHON, script, data, truth], stdin=subprocess.PIPE)
        self.assertTrue(harness.wait_until(lambda: os.path.exists(truth)))
        attached = Attached("-p", str(job.pid), "--stacks", "python")
        self.assertGreater(bpf_maps.empty_map(attached.process.pid, "python_files"), 0)
        job.communicate(b"\n")
        self.assertEqual(attached.end()[0], 0)
        self.check_later(attached.trace, data, self.noted(truth))

    def test_by_the_loader(self):
        """The program is the dynamic loader, which maps the interpreter."""
        program = os.path.realpath(harness.PYTHON)
        with open(program, "rb") as file:
            loader, = set(re.findall(rb"/[-a-z0-9/]*/ld-linux[-a-z0-9_.]*", file.read(4096)))
        self.check_later(*self.record(self.WAITING, python=program, before=[loader.decode()]))

    def test_library(self):
        """A program that contains an interpreter as a library; libpython3.so, which only refers to
        one, comes first."""
        try:
            python = self.compile("embeds", "int Py_BytesMain(int, char **);\n"
                                  "int main(int n, char **a) { return Py_BytesMain(n, a); }\n",
                                  "-lpython3.11")
        except harness.Broken:
            self.skipTest("no libpython3.11 to link with")
        stub = self.compile("libpython3.so", "int stub;", "-shared", "-Wl,-soname,libpython3.so")
        self.check_later(*self.record(self.WAITING, python=python,
                                      before=["env", f"LD_PRELOAD={stub}"]))

    def test_expected_library(self):
        """The library of the python3 in PATH is inspected before it is mapped: what its processes do
        at first has stacks, too, although the listener is slow."""
        programs = [path for path in interpreters(*OTHERS)
                    if b"libpython3." in harness.run("readelf", "-d", path)]
        if not programs:
            self.skipTest("no python3 here is a program with a library")
        script, data, truth = (f"{self.directory}/{name}" for name in ("job.py", "data", "truth"))
        with open(script, "w") as file:
            file.write(READ + "read(1)")
        with open(data, "wb") as file:
            file.truncate(READ_BYTES + SITES_MAX * PAGE)
        python = programs[-1]
        job = machine().start(["sh", "-c", 'read line; exec "$@"', "sh", python, script,
                               data, truth], stdin=subprocess.PIPE)
        path = f"PATH={os.path.dirname(python)}:{os.environ['PATH']}"
        attached = Attached("-p", str(job.pid), "--stacks", "python",
                            by=["env", path, machine().faultline])
        listener = child_named(attached.process.pid, "faultline-spans")
        os.kill(listener, signal.SIGSTOP)
        job.communicate(b"\n")
        os.kill(listener, signal.SIGCONT)
        self.assertEqual(attached.end()[0], 0)
        stacks = Stacks(attached.trace)
        sample, = [row for row in stacks.samples if row["file"] in
                   attached.trace.file_ids(data) and row["state"] == b"io"]
        self.assertEqual([stacks.chain(sample["stack"])], self.noted(truth)[1])

    def test_refused(self):
        """A message for each interpreter without stacks, and none for other programs."""
        for name in "python3.99", "python3", "python3-tool", "sleep":
            shutil.copy("/bin/sleep", f"{self.directory}/{name}")
        script = " && ".join(f"{self.directory}/{name} 2"
                             for name in ("python3.99", "python3", "python3-tool", "python3.99"))
        recording = Recording(["sh", "-c", script], "--stacks", "python")
        lines = [line for line in recording.stderr.splitlines() if "not recorded" in line]
        self.assertEqual(len(lines), 2, recording.stderr)
        self.assertIn(f"{self.directory}/python3.99 are not recorded: only CPython", lines[0])
        self.assertIn(f"{self.directory}/python3 are not recorded: it has no symbols", lines[1])
