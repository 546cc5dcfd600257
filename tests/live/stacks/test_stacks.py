# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stacks of Python at the end of waits, compared with what the program itself saw by
sys._getframe."""
import collections
import glob
import json
import os
import subprocess
import unittest

import harness
from harness import Attached, Recording, machine

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_lines.py")
PERIOD_NS = 1000000
FRAMES_MAX = 128
READ_BYTES = 32 << 20
PAGE = 4096
SITE_BYTES = 1 << 20  # of the mapped file
READS = "preadv", "preadv2"
SITES, FAULT_SITES, DEEP_SITE = set(range(1, 19)), set(range(20, 24)), 18
CUT, NO_PYTHON, UNREAD, LOST, UNFINISHED_SAMPLE = 1, 2, 16, 32, 64  # flags of a sample
MANY_THREADS = 128
COUNTS = "whole", "cut", "failed"
OTHERS = "/opt/python*/bin/python3", "~/.pyenv/versions/3.*/bin/python3"
FETCHED = f"{harness.BUILD}/pythons/*/bin/python3.*[0-9]"  # scripts/setup.sh pythons
IN_CALL, UNFINISHED_FAULT, UNFINISHED = 1 << 5, 1 << 7, 1 << 12


def interpreters(*patterns):
    """Those of this machine that are supported."""
    for path in sorted(path for name in patterns for path in glob.glob(os.path.expanduser(name))):
        done = subprocess.run([path, "-c", "import sys, sysconfig\n"
                               "print(sys.version_info[1], sysconfig.get_config_var("
                               "'Py_GIL_DISABLED') or 0)"], stdout=subprocess.PIPE, text=True)
        minor, is_free = map(int, done.stdout.split())
        if 8 <= minor <= (14 if is_free else 15):
            yield path


def for_all(test, check, *patterns):
    """Checks each Python that the patterns find."""
    found = list(interpreters(*patterns))
    if not found:
        test.skipTest("this machine has no such Python")
    for python in found:
        with test.subTest(python=python):
            check(python)


def for_others(test, check):
    """Checks each Python of this machine but Debian's."""
    for_all(test, check, *OTHERS)


def for_fetched(test, check):
    """The same for those that are newer than Debian's."""
    for_all(test, check, FETCHED)


class Stacks:
    """The samples of a trace with their stacks, innermost frame first: [path, line, function]."""

    def __init__(self, trace):
        self.frames = {
            row["id"]: [os.fsdecode(row["source"]), row["line"], os.fsdecode(row["function"])]
            for row in trace.dicts("frame")
        }
        self.stacks = {row["id"]: (row["caller"], row["frame"]) for row in trace.dicts("stack")}
        self.samples = list(trace.dicts("sample"))

    def chain(self, stack):
        frames = []
        while stack:
            stack, frame = self.stacks[stack]
            frames.append(self.frames[frame])
        return frames


def truths(directory):
    """{pid: {site: chains}} as the job's processes noted them."""
    found = {}
    for name in os.listdir(directory):
        noted = harness.account(f"{directory}/{name}")
        found[int(name.split(".")[0])] = {
            int(site): [json.loads(chain) for chain in chains] for site, chains in noted.items()
        }
    return found


class Lines(unittest.TestCase):
    def record(self, python, *arguments):
        directory = machine().new_dir()
        data = harness.random_file(f"{directory}/data", READ_BYTES + (1 << 20))
        mapped = harness.random_file(f"{directory}/mapped", len(FAULT_SITES) * SITE_BYTES)
        harness.cool(mapped)
        os.mkdir(f"{directory}/truth")
        recording = Recording([python, JOB, data, mapped, f"{directory}/truth"],
                              "--stacks", "python", *arguments)
        return recording, data, mapped, truths(f"{directory}/truth")

    def check_chain(self, stacks, sample, truth, site):
        chain = stacks.chain(sample["stack"])
        wanted = [noted[:FRAMES_MAX] for noted in truth[sample["pid"]][site]]
        self.assertIn(chain, wanted, f"site {site}: {sample}")
        is_cut = site == DEEP_SITE
        self.assertEqual(sample["flags"], CUT if is_cut else 0, f"site {site}: {sample}")

    def check_reads(self, recording, stacks, data, truth):
        """Each read of a period or more has one sample, with its own chain."""
        ids = recording.trace.file_ids(data)
        reads = {
            (row["tid"], row["time"]): row for row in recording.trace.calls(data)
            if row["op"] in READS and row["dur"] >= PERIOD_NS
        }
        seen = collections.Counter()
        for sample in stacks.samples:
            key = sample["tid"], sample["time"]
            if sample["op"] not in READS or sample["file"] not in ids or key not in reads:
                continue
            self.assertEqual(sample["dur"], reads.pop(key)["dur"])
            self.assertEqual(sample["weight"], sample["dur"])
            site = sample["offset"] // PAGE
            self.check_chain(stacks, sample, truth, site)
            seen[site] += 1
        self.assertEqual(list(reads.values()), [], "reads without a sample")
        self.assertEqual(set(seen), SITES)

    def check_faults(self, recording, stacks, mapped, truth):
        ids, seen = recording.trace.file_ids(mapped), 0
        for sample in stacks.samples:
            if sample["op"] == "fault" and sample["file"] in ids:
                self.check_chain(stacks, sample, truth, 20 + sample["offset"] // SITE_BYTES)
                seen += 1
        self.assertGreater(seen, 0)

    def check_weights(self, recording, stacks):
        """The samples of a thread stand for its time in operations, except for what is left over at
        its end and was added at its start: less than a period each."""
        time_ns, weight_ns = collections.Counter(), collections.Counter()
        for call in recording.trace.calls():
            if recording.trace.is_io(call) and not call["flags"] & UNFINISHED:
                time_ns[call["tid"]] += call["dur"]
        for fault in recording.trace.dicts("fault"):
            if not fault["flags"] & (UNFINISHED_FAULT | IN_CALL):
                time_ns[fault["tid"]] += fault["dur"]
        for sample in stacks.samples:
            if sample["state"] == b"io" and not sample["flags"] & UNFINISHED_SAMPLE:
                weight_ns[sample["tid"]] += sample["weight"]
        for tid, taken in time_ns.items():
            self.assertLess(abs(weight_ns[tid] - taken), PERIOD_NS, tid)

    def check(self, python, *arguments):
        recording, data, mapped, truth = self.record(python, *arguments)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        stacks = Stacks(recording.trace)
        self.assertEqual([row for row in stacks.samples if row["flags"] & LOST], [])
        self.assertEqual(len(truth), 6, "processes")
        self.check_reads(recording, stacks, data, truth)
        self.check_faults(recording, stacks, mapped, truth)
        self.check_counts(recording, stacks)
        return recording, stacks

    def check_counts(self, recording, stacks):
        counted = collections.Counter(
            "failed" if sample["flags"] & (UNREAD | LOST) else
            "cut" if sample["flags"] & CUT else "whole"
            for sample in stacks.samples if sample["stack"] or sample["flags"] & (UNREAD | LOST))
        notes = recording.report["trace"]["notes"]
        self.assertEqual({name: notes[f"python_stacks_{name}"] for name in COUNTS},
                         {name: counted[name] for name in COUNTS})
        self.assertGreater(min(counted["whole"], counted["cut"]), 0)

    def test_debian(self):
        self.check_weights(*self.check(harness.PYTHON))

    def test_others(self):
        """Those whose interpreter is in a library have the stacks of their first reads, too."""
        for_others(self, self.check)

    def test_fetched(self):
        for_fetched(self, self.check)

    def test_profile(self):
        """Stacks are recorded where operations are summed."""
        recording, data, _, truth = self.record(harness.PYTHON, "--mode", "profile")
        stacks = Stacks(recording.trace)
        ids = recording.trace.file_ids(data)
        seen = set()
        for sample in stacks.samples:
            if sample["op"] in READS and sample["file"] in ids and sample["dur"] >= PERIOD_NS:
                site = sample["offset"] // PAGE
                self.check_chain(stacks, sample, truth, site)
                seen.add(site)
        self.assertEqual(seen, SITES)

    def test_without_calls(self):
        """Only faults are recorded."""
        recording, _, mapped, truth = self.record(harness.PYTHON, "--layers", "fault,stack")
        self.check_faults(recording, Stacks(recording.trace), mapped, truth)

    def test_chosen_files(self):
        """Samples of files that are left out are left out."""
        recording, data, mapped, _ = self.record(harness.PYTHON, "--exclude", "*/data")
        files = recording.trace.files
        paths = {os.fsdecode(files[sample["file"]]["path"])
                 for sample in Stacks(recording.trace).samples if sample["file"]}
        self.assertIn(mapped, paths)
        self.assertNotIn(data, paths)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)


READ_TWICE = """
import os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY)
def wait():
    os.preadv(descriptor, [bytearray(32 << 20)], 0)
sys.stdin.readline()
wait()
wait()
"""


class Choice(unittest.TestCase):
    def setUp(self):
        self.data = harness.random_file(f"{machine().new_dir()}/data", READ_BYTES)

    def samples(self, trace):
        ids = trace.file_ids(self.data)
        return [sample for sample in trace.dicts("sample")
                if sample["file"] in ids and sample["dur"] >= PERIOD_NS]

    def test_off(self):
        for arguments in (("--stacks", "off"), ("--layers", "syscall,fault,pagecache")):
            recording = Recording([harness.PYTHON, "-c", READ_TWICE, self.data], *arguments)
            self.assertEqual(recording.report["trace"]["layers"]["stack"]["state"], "off")
            for kind in "frame", "stack", "sample":
                self.assertEqual(recording.trace.row_count(kind), 0)

    def test_on(self):
        recording = Recording([harness.PYTHON, "-c", READ_TWICE, self.data], "--layers", "syscall",
                              "--stacks", "python")
        self.assertEqual(recording.report["trace"]["layers"]["stack"]["state"], "on")
        self.assertGreater(len(self.samples(recording.trace)), 0)

    def test_flight_recorder(self):
        done = harness.faultline("run", "--flight", "1M", "--stacks", "native", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"--stacks native", done.stderr)

    def test_running_process(self):
        """The interpreter of a process that already ran is found, too."""
        for python in interpreters(harness.PYTHON, *OTHERS, FETCHED):
            with self.subTest(python=python):
                job = machine().start([python, "-c", READ_TWICE, self.data],
                                      stdin=subprocess.PIPE, text=True)
                self.assertTrue(harness.wait_until(lambda: self.is_open_in(job.pid)))
                attached = Attached("-p", str(job.pid), "--stacks", "python")
                job.communicate("\n")
                self.assertEqual(attached.end()[0], 0)
                stacks = Stacks(attached.trace)
                samples = self.samples(attached.trace)
                self.assertGreater(len(samples), 0)
                for sample in samples:
                    chain = [(line, function)
                             for _, line, function in stacks.chain(sample["stack"])]
                    self.assertIn(chain, [[(5, "wait"), (7, "<module>")],
                                          [(5, "wait"), (8, "<module>")]])

    def is_open_in(self, pid):
        return any(os.path.realpath(path) == self.data for path in glob.glob(f"/proc/{pid}/fd/*"))

    def test_other_programs(self):
        """A program without an interpreter has samples, and no stacks."""
        script = f"dd if={self.data} of=/dev/null bs={READ_BYTES} status=none"
        recording = Recording(["sh", "-c", script], "--stacks", "python")
        samples = self.samples(recording.trace)
        self.assertEqual({(sample["flags"], sample["stack"]) for sample in samples},
                         {(NO_PYTHON, 0)})


# What a program may do to the memory that is read.
HOSTILE = """
import ctypes, os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY)
buffer = [bytearray(32 << 20)]
def read(offset):
    os.preadv(descriptor, buffer, offset)
def frame_of(frame):  # the interpreter's own struct: 3.11
    return ctypes.c_uint64.from_address(id(frame) + 24).value
def loop():
    caller = ctypes.c_uint64.from_address(frame_of(sys._getframe()) + 48)
    kept = caller.value
    caller.value = frame_of(sys._getframe())
    read(4096)
    caller.value = kept
def nowhere(address):
    caller = ctypes.c_uint64.from_address(frame_of(sys._getframe()) + 48)
    kept = caller.value
    caller.value = address
    read(8192)
    caller.value = kept
def renamed(field, address):
    code = ctypes.c_uint64.from_address(id(read.__code__) + field)
    kept = code.value
    code.value = address
    read(12288)
    code.value = kept
read(0)
loop()
nowhere(8)
nowhere((1 << 63) + 4096)
for field in 112, 128, 136:
    for address in 8, (1 << 63) + 8, id(buffer[0]):
        renamed(field, address)
read(0)
"""


class Hostile(unittest.TestCase):
    def test_memory(self):
        """Chains that loop or lead nowhere are cut, and invalid objects do no harm."""
        version = subprocess.run([harness.PYTHON, "-V"], stdout=subprocess.PIPE).stdout
        if not version.startswith(b"Python 3.11."):
            self.skipTest("the program overwrites structs of Python 3.11")
        data = harness.random_file(f"{machine().new_dir()}/data", READ_BYTES + (1 << 20))
        recording = Recording([harness.PYTHON, "-c", HOSTILE, data], "--stacks", "python")
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        stacks, ids = Stacks(recording.trace), recording.trace.file_ids(data)
        found = collections.defaultdict(list)
        for sample in stacks.samples:
            if sample["file"] in ids and sample["dur"] >= PERIOD_NS:
                found[sample["offset"]].append(
                    (sample["flags"], [frame[1:] for frame in stacks.chain(sample["stack"])]))
        whole = (0, [[6, "read"], [27, "<module>"]])
        self.assertEqual(found[0][0], whole)
        self.assertEqual(found[0][-1], (0, [[6, "read"], [34, "<module>"]]))
        (flags, chain), = found[4096]
        self.assertEqual(flags, CUT)
        self.assertEqual(chain, [[6, "read"]] + [[13, "loop"]] * (FRAMES_MAX - 1))
        self.assertEqual(found[8192], [(CUT, [[6, "read"], [19, "nowhere"]])] * 2)
        self.assertEqual(len(found[12288]), 9)
