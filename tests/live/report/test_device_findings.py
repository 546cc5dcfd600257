# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Findings about block devices, triggered by real programs on dedicated loop devices, but not by
their sound siblings."""
import itertools
import os
import re
import shutil
import subprocess
import unittest

import harness
from harness import Recording, machine

ALONE = True  # devices are slower beside other programs

MIB = 1 << 20
HELD_BACK = 1 << 10  # a bio flag

# Processes that each read a part of a device, MiB by MiB, once all have started.
READER = """
import mmap, os, sys
path, processes, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
f = os.open(path, os.O_RDONLY | os.O_DIRECT)
wait, go = os.pipe()
for number in range(processes):
    if not os.fork():
        os.close(go)
        memory = mmap.mmap(-1, 1 << 20)
        os.read(wait, 1)
        for i in range(count):
            os.preadv(f, [memory], (number * count + i) % 64 << 20)
        os._exit(0)
os.close(go)
for number in range(processes): os.wait()
"""


# Submits eight direct reads by libaio, after three forks.
AIO_READER = """
import ctypes, mmap, os, struct, sys
setup, submit, get = (206, 209, 208) if os.uname().machine == "x86_64" else (0, 2, 4)
call, count, size = ctypes.CDLL(None).syscall, 8, 512 << 10
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
memory = mmap.mmap(-1, size)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
context = ctypes.c_ulong()
if call(setup, count, ctypes.byref(context)): sys.exit(1)
wait, go = os.pipe()
for child in range(3):
    if not os.fork():
        os.close(go)
        os.read(wait, 1)
        os._exit(0)
blocks = [ctypes.create_string_buffer(struct.pack("<QIIHhIQQq24x", 0, 0, 0, 0, 0, file, address,
                                                  size, i * size)) for i in range(count)]
pointers = (ctypes.c_void_p * count)(*map(ctypes.addressof, blocks))
done = call(submit, context, ctypes.c_long(count), pointers)
events = (ctypes.c_ulong * 4 * count)()
got = call(get, context, ctypes.c_long(done), ctypes.c_long(count), events, None)
os.close(go)
for child in range(3): os.wait()
sys.exit(got != count or any(event[2] != size for event in events))
"""


def reader(device, processes, count):
    return [harness.PYTHON, "-S", "-c", READER, device, str(processes), str(count)]


def device_of(path):
    """The number of a device, or of a file's device: "7:0"."""
    if os.major(os.stat(path).st_dev) == 0 and not os.stat(path).st_rdev:  # btrfs
        path = harness.run("findmnt", "-nro", "SOURCE", "-T", path).strip()
    number = os.stat(path).st_rdev or os.stat(path).st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def limit_reads(group, path, most, what="iops"):
    """Limits a cgroup's reads of a device, or of a file's device, per second (what="bps":
    bytes); 0: no limit."""
    first = f"{group}/blkio.throttle.read_{what}_device"
    if os.path.exists(first):
        path, limit = first, most
    else:
        path, limit = f"{group}/io.max", f"r{what}={most or 'max'}"
    with open(path, "w") as file:
        file.write(f"{device_of(path)} {limit}")


def throttle(test, path, most, what="iops"):
    """A new cgroup with limited reads; skips the test if limits are unavailable."""
    try:
        group = harness.new_cgroup(test, "blkio")
        limit_reads(group, path, most, what)
    except OSError:
        test.skipTest("no control group that throttles devices")
    return group


class DeviceFindings(unittest.TestCase):
    def setUp(self):
        self.device = machine().new_device(64 * MIB)

    def set_queue(self, name, value):
        """Until the test ends: the setting outlives the device, for the next one with its
        number."""
        path = f"/sys/block/{os.path.basename(self.device)}/queue/{name}"

        def write(text):
            with open(path, "w") as file:
                file.write(text)

        with open(path) as file:
            self.addCleanup(write, file.read())
        write(str(value))

    def found(self, command):
        recording = Recording(command)
        return {
            row["id"]: row
            for row in recording.report["findings"]
            if row["evidence"].get("device", "") in ("", os.path.basename(self.device))
        }

    def evidence(self, name, command, is_right):
        """Evidence of a finding that was reported; with all requests included."""
        return harness.counted_right(lambda: self.found(command).get(name, {}).get("evidence"),
                                     lambda found: found and is_right(found))

    def hold_back(self, operations):
        """Places the device on top of one limited to this many requests a second for a cgroup.
        Returns the words to put before a shell command to run it in that cgroup: its reads
        then wait for the device, however busy the machine is."""
        upper = machine().new_loop(self.device, "--direct-io=on")
        group = throttle(self, self.device, operations)
        self.device = upper
        return f"echo $$ >{group}/cgroup.procs; "

    def read(self, count, skip=0):
        return (f"dd if={self.device} of=/dev/null bs=4k count={count} skip={skip} iflag=direct"
                " status=none")

    def test_slow(self):
        held_back = self.hold_back(10)
        found = self.found(["sh", "-c", f"{held_back}exec {self.read(22)}"])
        self.assertGreaterEqual(found["device-slow"]["evidence"]["service_p50_ns"], 10_000_000)
        self.assertNotIn("device-slow", self.found(["sh", "-c", f"exec {self.read(22)}"]))

    def test_held_back_direct(self):
        """Throttled bios are queued by a kernel thread, but belong to the reader."""
        file = harness.random_file(f"{machine().new_dir('ext4')}/file", 4 * MIB)
        group = throttle(self, file, 8 * MIB, "bps")
        harness.cool(file)
        reader = ["dd", f"if={file}", "of=/dev/null", "bs=64k", "iflag=direct", "status=none"]
        recording = Recording(harness.in_cgroup(group, *reader))
        ids = recording.trace.file_ids(file)
        rows = [row for row in recording.trace.dicts("bio") if row["file"] in ids]
        self.assertEqual(sum(row["bytes"] for row in rows), 4 * MIB)
        pids = {row["pid"] for row in recording.trace.calls(file, op="read")}
        self.assertEqual({row["pid"] for row in rows}, pids)

    def check_held_back(self, command, file, group, op):
        """Throttled reads: every bio belongs to the process that reads the file."""
        harness.cool(file)
        recording = Recording(harness.in_cgroup(group, *command))
        ids = recording.trace.file_ids(file)
        rows = [row for row in recording.trace.dicts("bio") if row["file"] in ids]
        self.assertTrue(any(row["flags"] & HELD_BACK for row in rows))
        pids = {row["pid"] for row in recording.trace.calls(file, op=op)}
        self.assertGreaterEqual(sum(row["bytes"] for row in rows), 4 * MIB)
        self.assertEqual({row["pid"] for row in rows}, pids)

    def test_held_back_buffered(self):
        """The same for reads into the page cache, by calls and through a mapping."""
        file = harness.random_file(f"{machine().new_dir('ext4')}/file", 4 * MIB)
        group = throttle(self, file, 4 * MIB, "bps")
        reader = ["dd", f"if={file}", "of=/dev/null", "bs=64k", "status=none"]
        self.check_held_back(reader, file, group, "read")
        script = ("import mmap, os, sys; f = os.open(sys.argv[1], os.O_RDONLY); os.read(f, 1); "
                  "m = mmap.mmap(f, 0, prot=mmap.PROT_READ); m[::4096]")
        self.check_held_back([harness.PYTHON, "-S", "-c", script, file], file, group, "read")

    def check_held_back_direct(self, file, command):
        """Direct reads of 4 MiB, of which the limit holds back most: every bio belongs to the
        process that submits them, and carries that file's bytes."""
        group = throttle(self, file, 4 * MIB, "bps")
        harness.cool(file)
        recording = Recording(harness.in_cgroup(group, *command), stdout=subprocess.DEVNULL)
        with open(f"{group}/blkio.throttle.io_service_bytes") as counts:
            served = int(re.search(rf"^{device_of(file)} Read (\d+)", counts.read(), re.M)[1])
        ids = recording.trace.file_ids(file)
        rows = [row for row in recording.trace.dicts("bio") if row["file"] in ids]
        if "btrfs" not in file:  # which reads checksums, too
            self.assertEqual(served, 4 * MIB)
            self.assertEqual(sum(row["bytes"] for row in rows), served)
        self.assertTrue(any(row["flags"] & HELD_BACK for row in rows))
        calls = [row for table in ("syscall", "async") for row in recording.trace.dicts(table)]
        readers = {row["pid"] for row in calls if row["file"] in ids and row.get("asked", 0) > 0}
        self.assertEqual({row["pid"] for row in rows}, readers)

    def test_held_back_engines(self):
        """Direct reads of files and of a device by each engine of fio."""
        if not shutil.which("fio"):
            self.skipTest("no fio")
        files = [harness.random_file(f"{machine().new_dir(path)}/{path}", 4 * MIB)
                 for path in ("ext4", "btrfs")]
        engines = ["psync", "libaio", *["io_uring"] * harness.has_uring()]
        for engine, path in itertools.product(engines, (*files, self.device)):
            job = ["fio", "--name=held", f"--filename={path}", "--rw=read", "--bs=64k",
                   "--direct=1", f"--ioengine={engine}", "--iodepth=8", "--size=4m", "--thread",
                   "--minimal"]
            with self.subTest(engine=engine, path=path):
                self.check_held_back_direct(path, job)

    def test_held_back_forked(self):
        """Forked children also map the ring of libaio; the parent still owns the requests."""
        script = [harness.PYTHON, "-S", "-c", AIO_READER, self.device]
        self.check_held_back_direct(self.device, script)

    def test_held_back(self):
        """A cold file read under a limit below the device's speed, and one without a limit."""
        file = harness.random_file(f"{machine().new_dir('ext4')}/file", 8 * MIB)
        group = throttle(self, file, 8 * MIB, "bps")
        for held_back, how in (True, []), (True, ["iflag=direct"]), (False, []):
            harness.cool(file)
            if not held_back:
                limit_reads(group, file, 0, "bps")
            reader = ["dd", f"if={file}", "of=/dev/null", "bs=64k", "status=none", *how]
            found = Recording(harness.in_cgroup(group, *reader)).report["findings"]
            self.assertEqual("held-back" in [row["id"] for row in found], held_back)

    def test_rank_slow(self):
        """Three ranks that read the same amount, one of them from a limited device."""
        slow = harness.random_file(f"{machine().new_dir('ext4')}/2", 4 * MIB)
        directory = machine().new_dir()
        fast = [harness.random_file(f"{directory}/{rank}", 4 * MIB) for rank in range(2)]
        group = throttle(self, slow, 4 * MIB, "bps")
        for file in (*fast, slow):
            harness.cool(file)
        script = "".join(f"RANK={rank} dd if={file} of=/dev/null bs=1M status=none & "
                         for rank, file in enumerate([*fast, slow])) + "wait"
        found = Recording(harness.in_cgroup(group, "sh", "-c", script)).report["findings"]
        self.assertEqual(found[0]["id"], "rank-slow")
        self.assertEqual((found[0]["evidence"]["rank"], found[0]["evidence"]["path"]), (2, slow))

    def test_metadata_cold(self):
        """Directories not accessed since the file system was made, and cached ones."""
        tree = machine().mount("-t", "tmpfs", "tmpfs")
        for number in range(40):
            os.mkdir(f"{tree}/{number}")
            open(f"{tree}/{number}/file", "w").close()
        held_back = self.hold_back(80)
        self.set_queue("read_ahead_kb", 0)
        harness.run("mkfs.ext4", "-q", "-F", "-d", tree, self.device)
        path = machine().mount("-o", "ro", self.device)
        found = self.found(["sh", "-c", f"{held_back}exec find {path} -type f"])
        self.assertGreaterEqual(found["metadata-cold"]["evidence"]["count"], 40)
        self.assertNotIn("metadata-cold", self.found(["find", tree, "-type", "f"]))

    def test_errors(self):
        """Reads of a device whose backing file was cut short."""
        image = f"{machine().new_dir()}/image"
        with open(image, "wb") as file:
            file.truncate(64 * MIB)
        self.device = machine().new_loop(image)
        self.assertNotIn("device-errors", self.found(["sh", "-c", self.read(4, 10000)]))
        os.truncate(image, 32 * MIB)
        evidence = self.evidence("device-errors",
                                 ["sh", "-c", f"{self.read(4, 10000)} 2>/dev/null || :"], bool)
        self.assertGreaterEqual(evidence["reads"], 1)

    def test_overloaded(self):
        """Forty processes on a device that takes four requests at a time."""
        held_back = self.hold_back(80)
        self.set_queue("nr_requests", 4)
        forty = " & ".join(self.read(3, 3 * i) for i in range(40))
        found = self.found(["sh", "-c", f"{held_back}{forty} & wait"])
        self.assertGreater(found["device-overloaded"]["evidence"]["share"], 0.5)
        self.assertNotIn("device-overloaded", self.found(reader(self.device, 1, 60)))

    def test_small(self):
        self.assertNotIn("requests-small", self.found(reader(self.device, 1, 64)))
        self.set_queue("max_sectors_kb", 16)
        evidence = self.evidence("requests-small", reader(self.device, 1, 64),
                                 lambda found: found["requests"] == 64 * 64)
        self.assertEqual(evidence["request_bytes_each"], 16 << 10)
        self.assertEqual(evidence["requests"], 64 * 64)
        self.assertEqual(evidence["operations"], 64)

    def test_flushes(self):
        def command(options):
            return ["dd", "if=/dev/zero", f"of={self.device}", "bs=4k", "count=200",
                    "status=none", *options]

        evidence = self.evidence("flushes", command(["oflag=dsync"]),
                                 lambda found: found["flushes"] >= 200)
        self.assertGreaterEqual(evidence["flushes"], 200)
        self.assertNotIn("flushes", self.found(command(["conv=fsync"])))

    def test_shared(self):
        held_back, one = self.hold_back(40), self.read(25)
        evidence = self.evidence(
            "device-shared", ["sh", "-c", f"{held_back}{one} & {one} & wait"],
            lambda found: found["first_bytes"] == found["second_bytes"] == 25 * 4096)
        self.assertEqual((evidence["first_bytes"], evidence["second_bytes"]), (25 * 4096,) * 2)
        self.assertGreater(evidence["shared_ns"], 0)
        # One after the other, and workers of one.
        self.assertNotIn("device-shared", self.found(["sh", "-c", f"{one}; {one}"]))
        self.assertNotIn("device-shared", self.found(reader(self.device, 2, 60)))

    def test_others(self):
        """Other processes outside the run, which has requests in flight most of the time: reads
        are long, so that a busy machine delays little else."""
        read = f"dd if={self.device} of=/dev/null bs=16M iflag=direct status=none"
        others = machine().start(["sh", "-c", f"while {read}; do :; done"],
                                 stderr=subprocess.DEVNULL)
        try:
            found = self.found(["sh", "-c", f"{read}; {read}; {read}; {read}"])
        finally:
            others.kill()
            others.wait()
        self.assertEqual(found["device-shared"]["evidence"]["second"], "others")
        self.assertIsNone(found["device-shared"]["evidence"]["second_pid"])


if __name__ == "__main__":
    unittest.main()
