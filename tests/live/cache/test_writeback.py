# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writeback: the bytes written per file, compared with the job's writes, the device's own
counters and /proc/PID/io; the times, with the job's own clock; and the throttling of writers,
with their own account of how long their writes and stores took."""
import collections
import functools
import os
import unittest

import harness
from harness import Recording, machine, run

MIB = 1 << 20
TICK_NS = 10_000_000  # upper bound: a sleep ends on a tick, and the first may come at once

# Writes for a second or up to 64 MiB, then for another second stores to what it wrote; prints how
# long each of the two took.
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
    """A file system on a device with a dirty limit of about 1 MiB."""
    path = machine().mount_image(kind, 512 * MIB)
    if not machine().limit_dirty(machine().loops[-1], MIB):
        raise unittest.SkipTest("this kernel limits dirty pages of a device only by shares")
    return path


class Throttled(unittest.TestCase):
    def record(self, path):
        """A recording of JOB; its pauses; and the total pause time per operation."""
        recording = Recording([harness.PYTHON, "-S", "-c", JOB, path])
        names = [row["name"] for row in recording.trace.header["operations"]]
        pauses, reported = list(recording.trace.dicts("throttle")), collections.Counter()
        for row in pauses:
            reported[names[row["call"] - 1]] += row["pause"]
        return recording, names, pauses, reported

    def check(self, kind):
        path = f"{narrow(kind)}/data"
        # The kernel pauses a writer or a store only if the device is behind at that moment. On a
        # machine whose CPUs are busy, the device may keep up with the writes.
        recording, names, pauses, reported = harness.counted_right(
            lambda: self.record(path), lambda done: "write" in done[3])
        took = harness.json.loads(recording.done.stdout)
        trace, totals = recording.trace, recording.report["totals"]["throttled"]

        self.assertEqual(totals, {"pauses": len(pauses), "pause_ns": sum(reported.values())})
        self.assertIn("write", reported)
        self.assertLessEqual(set(reported), {"write", "fault"})
        for op, pause_ns in reported.items():
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
        found = [f for f in recording.report["findings"] if f["id"] == "writers-throttled"]
        self.assertEqual([f["evidence"]["path"] for f in found], [path])

    def test_ext4(self):
        self.check("ext4")

    def test_xfs(self):
        self.check("xfs")

    def test_nobody_waits(self):
        """A job that writes nothing has a known 0."""
        recording = Recording(["/bin/true"])
        self.assertEqual(recording.report["totals"]["throttled"], {"pauses": 0, "pause_ns": 0})

    def test_not_known(self):
        recording = Recording(["/bin/true"], "--layers", "syscall,fault")
        self.assertIsNone(recording.report["totals"]["throttled"])


def on_device(directory):
    """Bytes that a file system's device has written so far; it is a dedicated device."""
    number = os.stat(directory).st_dev
    path = f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat"
    if not os.path.exists(path):  # btrfs reports a virtual device
        with open("/proc/self/mountinfo") as file:
            device = [line.split(" - ")[1].split()[1] for line in file if f" {directory} " in line][0]
        path = f"/sys/block/{os.path.basename(device)}/stat"
    with open(path) as file:
        return int(file.read().split()[6]) * 512


class Written(unittest.TestCase):
    """The job itself syncs its files: everything has reached the device when it ends."""

    KINDS = ("ext4", "xfs", "btrfs")

    def directory(self, kind):
        return machine().new_dir(kind)

    def row(self, recording, path):
        rows = [row for row in recording.report["writeback"] if row["path"] == path]
        self.assertEqual(len(rows), 1)
        return rows[0]

    OWN = 8 * MIB  # upper bound of a file system's own writes

    def record(self, kind, job, is_right, prepare=lambda path: None):
        """A recording of a job that is given the path of a new, prepared file, and the file's
        row; repeated until device_bytes are right and all bytes were seen to reach the
        device."""

        def once():
            path = f"{self.directory(kind)}/data"
            prepare(path)
            run("sync", "-f", os.path.dirname(path))
            before = on_device(machine().file_system(kind))
            recording = Recording([harness.PYTHON, "-S", "-c", job, path])
            return recording, self.row(recording, path), on_device(machine().file_system(kind)) - before

        recording, row, wrote = harness.counted_right(
            once, lambda done: is_right(done[1]["device_bytes"], done[2])
            and not done[1]["unwritten_bytes"])
        self.assertLessEqual(row["device_bytes"], wrote)
        self.assertGreaterEqual(row["device_bytes"] + self.OWN, wrote)
        return recording, row

    def test_calls(self):
        job = """
import json, os, sys, time
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for i in range(24): os.write(f, os.urandom(1 << 20))
wrote = time.monotonic_ns()
time.sleep(0.3)
os.fsync(f)
with open("/proc/self/io") as file: io = file.read()
print(json.dumps({"wrote": wrote, "synced": time.monotonic_ns(), "io": io}))
"""
        for kind in self.KINDS:
            with self.subTest(kind):
                recording, row = self.record(kind, job, lambda reported, wrote: reported == 24 * MIB)
                truth = harness.json.loads(recording.done.stdout)
                start = recording.trace.totals["start_ns"]

                self.assertEqual(row["written_bytes"], 24 * MIB)
                self.assertEqual(row["device_bytes"], 24 * MIB)
                self.assertGreaterEqual(
                    int(truth["io"].split("\nwrite_bytes: ")[1].split()[0]), row["device_bytes"]
                )
                self.assertEqual(row["unwritten_bytes"], 0)
                self.assertEqual(row["amplification"], 1)
                self.assertEqual((row["stored_bytes"], row["dirtied_bytes"]), (0, 0))
                self.assertLessEqual(row["last_dirtied_ns"], truth["wrote"] - start)
                self.assertLessEqual(row["last_reached_ns"], truth["synced"] - start)
                self.assertEqual(row["after_ns"], row["last_reached_ns"] - row["last_dirtied_ns"])
                # Such small amounts are hardly written back in that time, but if so, it does not
                # matter.
                self.assertLessEqual(row["delay_ns"], row["longest_delay_ns"])
                self.assertLessEqual(
                    row["longest_delay_ns"], row["last_reached_ns"] - row["first_dirtied_ns"]
                )

    def test_left_behind(self):
        """Unsynced data is only in memory when the command ends, or has been written."""
        job = "import os, sys; os.write(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), bytes(8 << 20))"
        for kind in self.KINDS:
            with self.subTest(kind):
                path = f"{self.directory(kind)}/data"
                recording = Recording([harness.PYTHON, "-S", "-c", job, path])
                row = self.row(recording, path)
                self.assertEqual(row["written_bytes"], 8 * MIB)
                self.assertEqual(row["unwritten_bytes"] + row["device_bytes"], 8 * MIB)

    def test_two_writers(self):
        """One process syncs for both."""
        job = """
import os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
child = os.fork()
for i in range(4 if child else 12):
    os.pwrite(f, os.urandom(1 << 20), (i if child else 4 + i) << 20)
if not child: os._exit(0)
os.waitpid(child, 0)
print(os.getpid(), child)
os.fsync(f)
"""
        for kind in self.KINDS:
            with self.subTest(kind):
                recording, row = self.record(kind, job, lambda reported, wrote: reported == 16 * MIB)
                parent, child = map(int, recording.done.stdout.split())
                self.assertEqual(row["device_bytes"], 16 * MIB)
                self.assertEqual(
                    [(w["pid"], w["written_bytes"], w["device_bytes"]) for w in row["processes"]],
                    [(child, 12 * MIB, 12 * MIB), (parent, 4 * MIB, 4 * MIB)],
                )

    def test_stores(self):
        """Scattered pages: bytes written equal the device's, and the excess over the bytes
        stored to lies between the two bounds."""
        job = """
import mmap, os, random, sys
f = os.open(sys.argv[1], os.O_RDWR)
m = mmap.mmap(f, 32 << 20)
places = list(range(0, 32 << 20, 65536))
random.Random(1).shuffle(places)
for at in places: m[at + 4096 * random.randrange(16)] ^= 1
m.flush()
os.fsync(f)
print(len(places))
"""
        for kind in self.KINDS:
            for warm in (False, True):
                with self.subTest(kind, warm=warm):
                    def prepare(path):
                        harness.cool(harness.random_file(path, 32 * MIB))
                        if warm:
                            with open(path, "rb") as file:
                                file.read()

                    recording, row = self.record(
                        kind, job, lambda reported, wrote: reported + self.OWN >= wrote, prepare)
                    stored = int(recording.done.stdout) * 4096
                    self.assertEqual(row["written_bytes"], 0)
                    self.assertLessEqual(row["stored_bytes"], stored * 1.1)
                    self.assertGreaterEqual(row["device_bytes"], stored * 0.9)
                    true = row["device_bytes"] / stored
                    self.assertLessEqual(row["amplification"], true * 1.1)
                    self.assertGreaterEqual(row["amplification_most"], true * 0.9)
                    self.assertEqual(row["unwritten_bytes"], 0)
                    totals = recording.report["totals"]["mmap_write"]
                    self.assertEqual(totals["written_back_bytes"], row["device_bytes"])
                    self.assertEqual(totals["dirtied_bytes"], row["dirtied_bytes"])

    def test_compressed(self):
        """btrfs compression: few bytes reach the device, but all have left the cache."""
        directory = machine().mount_image("btrfs", 256 * MIB)
        run("mount", "-o", "remount,compress-force=zstd", directory)
        job = """
import os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for i in range(4 << 10): os.write(f, (b"%d " % i) * 512)
os.fsync(f)
print(os.fstat(f).st_size)
"""
        run("sync", "-f", directory)
        before = on_device(directory)
        recording = Recording([harness.PYTHON, "-S", "-c", job, f"{directory}/data"])
        row, after = self.row(recording, f"{directory}/data"), on_device(directory)
        self.assertEqual(row["written_bytes"], int(recording.done.stdout))
        self.assertGreater(row["device_bytes"], 0)
        self.assertLess(row["device_bytes"], row["written_bytes"] / 2)
        self.assertLessEqual(row["device_bytes"], after - before)
        self.assertEqual(row["unwritten_bytes"], 0)

    def test_scattered_stores(self):
        """One page of each large folio: a finding, if the file system uses large folios."""
        job = """
import mmap, os, sys
f = os.open(sys.argv[1], os.O_RDWR)
m = mmap.mmap(f, 48 << 20)
for at in range(0, 48 << 20, 65536): m[at + 8192] ^= 1
m.flush()
"""
        for kind, amplified in ("xfs", True), ("btrfs", False):
            with self.subTest(kind):
                path = harness.random_file(f"{self.directory(kind)}/data", 48 * MIB)
                harness.cool(path)
                with open(path, "rb") as file:
                    file.read()
                recording = Recording([harness.PYTHON, "-S", "-c", job, path])
                row = self.row(recording, path)
                found = [f for f in recording.report["findings"] if f["id"] == "stores-amplified"]
                large = row["device_bytes"] - row["stored_bytes"] > 20 * MIB
                self.assertEqual(bool(found), amplified and large)
                for finding in found:
                    self.assertEqual(finding["evidence"]["path"], path)
                    self.assertEqual(finding["evidence"]["device_bytes"], row["device_bytes"])

    def test_direct(self):
        """O_DIRECT makes nothing dirty."""
        path = f"{self.directory('ext4')}/data"
        recording = Recording(
            ["dd", "if=/dev/zero", f"of={path}", "bs=1M", "count=4", "oflag=direct"]
        )
        self.assertEqual([row for row in recording.report["writeback"] if row["path"] == path], [])

    def test_not_known(self):
        path = f"{self.directory('ext4')}/data"
        recording = Recording(
            ["dd", "if=/dev/zero", f"of={path}", "bs=1M", "count=1"], "--layers", "syscall"
        )
        row = self.row(recording, path)
        self.assertEqual(row["written_bytes"], MIB)
        for name in ("device_bytes", "unwritten_bytes", "delay_ns", "pause_ns", "stored_bytes"):
            self.assertIsNone(row[name])


if __name__ == "__main__":
    unittest.main()
