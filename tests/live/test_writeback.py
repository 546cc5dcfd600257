# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writeback: threads that write are made to wait, held against their own account of the time that
their writes and stores took, on a device of its own of which little may be dirty."""
import collections
import functools
import os
import unittest

import harness
from harness import Recording, machine

MIB = 1 << 20
TICK_NS = 10_000_000  # at the most: a sleep ends with a tick, the first of which may come at once

# Writes until it has been at it for a second or has written 64 MiB, and then, for another second,
# stores to what it wrote; tells how long each of the two took.
JOB = """
import json, mmap, os, sys, time
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_TRUNC)
data, start = bytes(1 << 16), time.monotonic_ns()
size = 0
while size < 64 << 20 and time.monotonic_ns() - start < 1e9:
    size += os.write(f, data)
wrote = time.monotonic_ns()
m = mmap.mmap(f, size)
for at in range(0, size, 4096):
    m[at] = 1
    if time.monotonic_ns() - wrote > 1e9: break
print(json.dumps({"write": wrote - start, "fault": time.monotonic_ns() - wrote}))
"""


@functools.lru_cache(maxsize=None)
def narrow(kind):
    """A file system on a device of which the kernel lets about a MiB be dirty."""
    path = machine().mount_image(kind, 512 * MIB)
    with open(f"/sys/block/{os.path.basename(machine().loops[-1])}/dev") as file:
        limits = f"/sys/class/bdi/{file.read().strip()}"
    if not os.path.exists(f"{limits}/max_bytes"):
        raise unittest.SkipTest("this kernel limits what is dirty of a device by shares alone")
    for name, value in ("strict_limit", 1), ("max_bytes", MIB):
        with open(f"{limits}/{name}", "w") as file:
            file.write(str(value))
    return path


class Throttled(unittest.TestCase):
    def check(self, kind):
        path = f"{narrow(kind)}/data"
        recording = Recording([harness.PYTHON, "-S", "-c", JOB, path])
        took = harness.json.loads(recording.done.stdout)
        trace, totals = recording.trace, recording.report["totals"]["throttled"]
        names = [row["name"] for row in trace.header["operations"]]
        pauses = list(trace.dicts("throttle"))
        told = collections.Counter()
        for row in pauses:
            told[names[row["call"] - 1]] += row["pause"]

        self.assertEqual(totals, {"pauses": len(pauses), "pause_ns": sum(told.values())})
        self.assertEqual(set(told), {"write", "fault"})
        for op, pause_ns in told.items():
            count = sum(names[row["call"] - 1] == op for row in pauses)
            self.assertLessEqual(pause_ns, took[op] + count * TICK_NS)
        self.assertLessEqual({row["file"] for row in pauses}, trace.file_ids(path))
        around = {
            "write": trace.calls(path, op="write"),
            "fault": [row for row in trace.dicts("fault") if row["file"] in trace.file_ids(path)],
        }
        for pause in pauses:
            inside = [
                row
                for row in around[names[pause["call"] - 1]]
                if row["tid"] == pause["tid"]
                and row["time"] <= pause["time"] <= row["time"] + row["dur"]
            ]
            self.assertEqual(len(inside), 1)
            self.assertLessEqual(pause["pause"], inside[0]["dur"] + TICK_NS)

    def test_ext4(self):
        self.check("ext4")

    def test_xfs(self):
        self.check("xfs")

    def test_nobody_waits(self):
        """A job that writes nothing: none, and that is known."""
        recording = Recording(["/bin/true"])
        self.assertEqual(recording.report["totals"]["throttled"], {"pauses": 0, "pause_ns": 0})

    def test_not_known(self):
        recording = Recording(["/bin/true"], "--layers", "syscall,fault")
        self.assertIsNone(recording.report["totals"]["throttled"])


if __name__ == "__main__":
    unittest.main()
