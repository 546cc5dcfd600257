# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stacks of Python where they are hard to get. Each read has an offset of its own, and notes what
sys._getframe sees."""
import collections
import json
import os
import unittest

import harness
from harness import Recording, machine
from test_stacks import LOST, PAGE, PERIOD_NS, READ_BYTES, READS, Stacks

SITES_MAX = 1000

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

    def record(self, job, *arguments, python=harness.PYTHON, before=()):
        """Records a job, of which `read` is a part. Returns the trace and the noted chains."""
        script = f"{self.directory}/job.py"
        with open(script, "w") as file:
            file.write(READ + job)
        data, truth = f"{self.directory}/data", f"{self.directory}/truth"
        with open(data, "wb") as file:
            file.truncate(READ_BYTES + SITES_MAX * PAGE)
        recording = Recording([*before, python, script, data, truth], "--stacks", "python",
                              *arguments)
        noted = collections.defaultdict(list)
        with open(truth) as file:
            for line in file:
                site, chain = json.loads(line)
                noted[site].append(chain)
        return recording.trace, data, noted

    def check(self, *arguments, **options):
        """Each read of a period or more has one sample, with the stack that was noted."""
        trace, data, noted = self.record(*arguments, **options)
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
