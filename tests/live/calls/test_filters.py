# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Behind a filter, a number is either right or unknown: never 0 for anything that the filter
cannot judge."""
import json
import unittest

import harness
from harness import Recording, faultline, machine

SIZE = 4 << 20

JOB = """
import mmap, os, sys
import faultline
fd = os.open(sys.argv[1], os.O_RDONLY)
with faultline.span("load", category="data"):
    for at in range(0, %(SIZE)d, 65536):
        os.pread(fd, 65536, at)
memory = bytearray(%(SIZE)d)
for at in range(0, len(memory), 4096):
    memory[at] = 1
""" % {"SIZE": SIZE}

NO_ROWS = {"anonymous_faults", "shmem_faults", "unknown_faults"}
REQUESTS = {"storage_read", "storage_write", "throttled"}
PAGES = {"unattributed", "indirect"}

# For each filter, the groups of the totals that must be unknown.
UNKNOWN = {
    (): set(),
    ("--from", "1us"): NO_ROWS,
    ("--until", "1ms"): NO_ROWS,
    ("--file", "*"): NO_ROWS,
    ("--pid", "{pid}"): NO_ROWS,
    ("--rank", "3"): NO_ROWS,
    ("--span", "load"): NO_ROWS,
    ("--min-duration", "1ns"): NO_ROWS | PAGES,
    ("--op", "pread64"): NO_ROWS | REQUESTS | PAGES,
    ("--op", "pread64,request_*"): NO_ROWS | PAGES | {"throttled"},
    ("--method", "syscall"): NO_ROWS | REQUESTS | PAGES,
    ("--method", "mmap"): NO_ROWS | REQUESTS | PAGES,
}


class Filters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = harness.random_file(f"{machine().new_dir('ext4')}/data", SIZE)
        harness.cool(cls.data)
        cls.recording = Recording([harness.PYTHON, "-S", "-c", JOB, cls.data],
                                  env=harness.python_path(RANK="3"))

    def report(self, *options):
        done = faultline("report", "--format", "json", *options, self.recording.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_totals(self):
        whole = self.recording.report
        self.assertGreater(whole["totals"]["anonymous_faults"]["count"], SIZE // 4096 - 1)
        self.assertGreaterEqual(whole["totals"]["storage_read"]["bytes"], SIZE)
        pid = str(whole["processes"][0]["pid"])
        for options, unknown in UNKNOWN.items():
            totals = self.report(*(option.format(pid=pid) for option in options))["totals"]
            for group in NO_ROWS | REQUESTS | PAGES:
                with self.subTest(options=options, group=group):
                    self.assertEqual(totals[group] is None, group in unknown)

    def test_matching_events(self):
        """All reads of the job are of this file, by this call."""
        read = self.report("--op", "pread64,request_read", "--file", self.data)["totals"]
        self.assertEqual(read["read"]["bytes"], SIZE)
        self.assertEqual(read["storage_read"]["bytes"], SIZE)

    def test_waiting(self):
        """A call's wait breakdown is the same behind every filter that the call passes."""
        def waited(*options):
            rows = self.report("--slowest", "1000", *options)["slowest"]
            return [(row["device_ns"], row["queue_ns"], row["other_ns"]) for row in rows
                    if row["op"] == "pread64"]

        whole = waited()
        self.assertGreater(sum(device_ns for device_ns, _, _ in whole), 0)
        for options in UNKNOWN:
            if options and options[1] not in ("mmap", "1us", "1ms", "{pid}", "load"):
                with self.subTest(options=options):
                    self.assertEqual(waited(*options), whole)

    def test_devices(self):
        """Device work for the job is unknown if requests do not pass the filter."""
        for options in ("--op", "pread64"), ("--method", "syscall"):
            report = self.report(*options)
            for table in "devices", "device_users", "device_heat":
                with self.subTest(options=options, table=table):
                    self.assertIsNone(report[table])


if __name__ == "__main__":
    unittest.main()
