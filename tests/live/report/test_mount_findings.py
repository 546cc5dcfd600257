# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Findings about mounts, triggered by real programs on a mount whose daemon answers one request at a
time, after a while; but not by their sound siblings."""
import unittest

import harness
import served
from harness import Recording

ALONE = True  # shares of the run's time matter

# As many requests of a size, in one or several processes, in order or not.
READER = """
import os, sys
path, size, count, processes, step = sys.argv[1], *map(int, sys.argv[2:])
file = os.open(path, os.O_RDONLY)
offsets = [i * size for i in range(count)][::step]
for number in range(processes):
    if not os.fork():
        for offset in offsets:
            os.pread(file, size, offset)
        os._exit(0)
for number in range(processes): os.wait()
"""
STATTER = """
import os, sys
for i in range(int(sys.argv[2])):
    os.stat(sys.argv[1])
"""
WITHOUT_BLOCK = ["--layers", "task,syscall,span,fuse"]
FSTATTER = """
import os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
for i in range(int(sys.argv[2])):
    os.fstat(file)
"""


class MountFindings(served.Served):
    def record(self, script, *arguments, options=()):
        return Recording([harness.PYTHON, "-S", "-c", script, *map(str, arguments)], *options)

    def found(self, *arguments, **options):
        return self.rows(self.record(*arguments, **options))

    def rows(self, recording):
        return {row["id"]: row for row in recording.report["findings"]
                if "a source (fuse.kind)" in (row["evidence"].get("mount"),
                                              row["evidence"].get("device"))}

    def read(self, size=4096, count=100, processes=1, step=1, name="direct", **options):
        return self.found(READER, f"{self.mount}/{name}", size, count, processes, step, **options)

    def test_small_reads(self):
        """Backward, they could not have been merged."""
        self.serve()
        evidence = self.read()["mount-small-reads"]["evidence"]
        self.assertEqual((evidence["requests"], evidence["bytes_each"]), (100, 4096))
        self.assertGreaterEqual(evidence["each_ns"], served.DELAY_MS * 1000000)
        self.assertNotIn("mount-small-reads", self.read(step=-1))

    def test_metadata(self):
        """The daemon allows the kernel to cache no names and attributes."""
        self.serve()
        path = f"{self.mount}/data"
        evidence = self.found(STATTER, path, 100)["mount-metadata"]["evidence"]
        self.assertGreaterEqual(evidence["requests"], 100)
        self.assertIn(evidence["op"], ("fuse_lookup", "fuse_getattr"))  # one of each a call
        self.assertNotIn("mount-metadata", self.read())
        again = self.found(FSTATTER, path, 100)["mount-metadata"]["evidence"]["again"]
        self.assertGreaterEqual(again, 90)  # within a second of the previous one

    def test_saturated(self):
        """Many readers of one daemon with one thread, whether or not disks were recorded."""
        self.serve()
        recording = self.record(READER, f"{self.mount}/direct", 4096, 10, 8, 1)
        if "in the queue" in (recording.report["trace"]["layers"]["fuse"]["reason"] or ""):
            self.skipTest("this kernel does not say when the daemon takes a request")
        for found in (self.rows(recording), self.read(processes=8, count=10,
                                                      options=WITHOUT_BLOCK)):
            evidence = found["device-overloaded"]["evidence"]
            self.assertEqual((evidence["requests"], evidence["op"]), (80, "read"))
            self.assertGreater(evidence["queue_each_ns"], evidence["service_each_ns"])
        self.assertNotIn("device-overloaded", self.read(count=80))

    def test_slow(self):
        self.serve(delay_ms=12)
        for options in ((), WITHOUT_BLOCK):
            found = self.read(count=25, options=options)
            self.assertGreaterEqual(found["device-slow"]["evidence"]["service_p50_ns"], 12000000)
        self.unmount()
        self.serve()
        self.assertNotIn("device-slow", self.read(count=25))

    def test_errors(self):
        self.serve()
        script = ("import os, sys\nfile = os.open(sys.argv[1], os.O_RDONLY)\n"
                  "try: os.read(file, 1000)\nexcept OSError: pass")
        for options in ((), WITHOUT_BLOCK):
            found = self.found(script, f"{self.mount}/failing", options=options)
            self.assertGreaterEqual(found["device-errors"]["evidence"]["reads"], 1)
        self.assertNotIn("device-errors", self.found(script, f"{self.mount}/data"))


if __name__ == "__main__":
    unittest.main()
