# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Block requests compared with /proc/diskstats on dedicated loop devices, and each bio's file
and offset compared with the reads and writes."""
import collections
import functools
import os
import random
import shutil
import signal
import struct
import subprocess
import unittest

import bpf_maps
import harness
from harness import Recording, machine

ALONE = True  # empties the page cache, and compares counters of devices

MIB = 1 << 20
KINDS = ("read", "write", "discard", "flush")
# Fields of /proc/diskstats for each kind: count, merges, sectors.
FIELDS = {"read": (0, 1, 2), "write": (4, 5, 6), "discard": (11, 12, 13), "flush": (15, None, None)}


def difference(before, after):
    """{kind: (requests, merges, sectors)}, from two lines of /proc/diskstats."""
    before, after = ([int(word) for word in line.split()[3:]] for line in (before, after))
    return {
        kind: tuple(0 if at is None else after[at] - before[at] for at in FIELDS[kind])
        for kind in KINDS
    }


def told(report, device):
    """The report's counts for the devices of that name, whoever caused them."""
    rows = [row["all"] for row in report["devices"] if row["name"] == os.path.basename(device)]
    return {
        kind: (sum(sums[kind]["requests"] for sums in rows),
               sum(sums[kind]["merges"] for sums in rows),
               sum(sums[kind]["bytes"] for sums in rows) // 512)
        for kind in KINDS
    } if rows else None


class Counted:
    """A job that records the kernel's device counters at its beginning and end, both inside the
    recording: other accesses to the device are then in both counts. A request is counted only
    after its waiter has continued: two successive readings must agree, with nothing in
    flight. If udev runs, it probes changed devices."""

    SCRIPT = """
look() {
	until now=$(grep " $name " /proc/diskstats); sleep 0.02
		[ "$now" = "$(grep " $name " /proc/diskstats)" ] &&
			[ "$(echo $now | cut -d " " -f 12)" = 0 ]; do :; done
	echo "$now" >"$looks/$1"
}
looks=$1 name=$2
shift 2
look before
%s
if command -v udevadm >/dev/null; then udevadm settle; fi
look after
"""

    def __init__(self, device, script, *arguments):
        self.looks = machine().new_dir()
        self.command = ["/bin/sh", "-ec", self.SCRIPT % script, "sh", self.looks,
                        os.path.basename(device), *arguments]

    def seen(self):
        lines = []
        for name in ("before", "after"):
            with open(f"{self.looks}/{name}") as file:
                lines.append(file.read())
        return difference(*lines)


@functools.lru_cache(maxsize=None)
def device(kind):
    """A file system mounted only by the job: between jobs its device is idle."""
    image = os.path.join(machine().new_dir(), "image")
    with open(image, "wb") as file:
        file.truncate(1 << 30)
    options = {
        "ext4": ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
        "xfs": ["-q"],
        "btrfs": ["-q"],
    }
    harness.run(f"mkfs.{kind}", *options[kind], image)
    return machine().new_loop(image)


class Work:
    """A job that mounts the device, works in "$1/files" and unmounts it."""

    def __init__(self, kind, script, *arguments):
        self.overlay = kind == "overlay"
        self.device = device("ext4" if self.overlay else kind)
        self.top = machine().new_dir()
        self.work = f"{self.top}/files"
        os.mkdir(self.work)
        around = 'mount "$2" "$1/files"', 'umount "$1/files"'
        if self.overlay:
            os.mkdir(f"{self.top}/base")
            layers = 'lowerdir="$1/base/lower",upperdir="$1/base/upper",workdir="$1/base/w"'
            around = (
                'mount "$2" "$1/base"; cd "$1/base"; mkdir -p lower upper w; '
                f'mount -t overlay -o {layers} none "$1/files"; cd /',
                'umount "$1/files"; umount "$1/base"',
            )
        # A private mount namespace: a concurrent copy of ours would delay the final commit. In a
        # chroot, whose root is not a mount point, mounts stay shared.
        own = "mount --make-rprivate / 2>/dev/null || true"
        job = Counted(self.device, "\n".join((own, around[0], script, around[1])), self.top,
                      self.device, *arguments)
        self.recording = Recording(["unshare", "--mount", "--propagation", "unchanged",
                                    *job.command])
        self.seen = job.seen()

    @classmethod
    def exact(cls, *arguments):
        return harness.counted_right(lambda: cls(*arguments),
                                     lambda made: told(made.recording.report, made.device) == made.seen)

    def bios(self):
        """The device's bios, with the paths of their files."""
        trace = self.recording.trace
        files = {number: os.fsdecode(row["path"] or b"") for number, row in trace.files.items()}
        number = harness.device_number(self.device)
        for row in trace.dicts("bio"):
            if row["dev"] == number:
                yield {**row, "path": files.get(row["file"])}


MIXED = """
cd "$1/files"
for i in 1 2 3 4 5 6 7 8 9; do dd if=/dev/zero of=small$i bs=5000 count=$i status=none; done
dd if=/dev/zero of=direct bs=64k count=100 oflag=direct status=none
dd if=/dev/zero of=large bs=1M count=12 conv=fsync status=none
sync
echo 1 >/proc/sys/vm/drop_caches
cat large >/dev/null
dd if=direct of=/dev/null bs=4k count=500 iflag=direct status=none
dd if=/dev/zero of=direct bs=16k count=20 oflag=direct,dsync conv=notrunc status=none
rm small1 large
sync
fstrim "$1/files" 2>/dev/null || true
cd /
"""


class Totals(unittest.TestCase):
    """All requests of a device, exactly as the kernel counts them. One test per file system,
    below."""

    def check(self, kind):
        work = Work.exact(kind, MIXED)
        self.assertGreater(work.seen["read"][0], 500)
        self.assertGreater(work.seen["write"][0], 100)
        self.assertGreater(work.seen["flush"][0], 0)
        self.assertEqual(told(work.recording.report, work.device), work.seen)
        self.assertEqual(work.recording.report["trace"]["lost"]["total"], 0)

    def test_bare_device(self):
        """Reads of the device itself, of whole pages and of parts, with O_DIRECT and through its
        cache."""
        bare = machine().new_device(32 * MIB)
        self.check_bare(
            'dd if="$1" of=/dev/null bs=1M count=8 iflag=direct status=none; '
            'dd if="$1" of=/dev/null bs=512 skip=20000 count=100 iflag=direct status=none; '
            'dd if="$1" of=/dev/null bs=64k skip=300 count=40 status=none', bare)

    def check_bare(self, script, bare, *arguments):
        job = Counted(bare, script, bare, *arguments)

        recording = harness.counted_right(
            lambda: Recording(job.command, stderr=subprocess.DEVNULL),
            lambda done: told(done.report, bare) == job.seen())
        self.assertEqual(told(recording.report, bare), job.seen())
        return recording

    def test_failed(self):
        """Reads of a device whose backing file was cut in half."""
        bare = machine().new_device(4 * MIB)
        image = harness.run("losetup", "-nO", "BACK-FILE", bare).decode().strip()
        os.truncate(image, 2 * MIB)
        script = 'dd if="$1" of=/dev/null bs=64k iflag=direct conv=noerror status=none || true'
        recording = self.check_bare(script, bare)
        (row,) = [d for d in recording.report["devices"] if d["name"] == os.path.basename(bare)]
        failed = [r for r in recording.trace.dicts("request") if r["status"]]
        self.assertEqual(row["all"]["read"]["errors"], len(failed))
        self.assertEqual(row["read"]["errors"], len(failed))
        self.assertEqual(row["read"]["requests"], row["all"]["read"]["requests"])

    def test_device_goes(self):
        """A device vanishes during the run, and another gets its number."""
        bare = machine().new_device(4 * MIB)
        image = harness.run("losetup", "-nO", "BACK-FILE", bare).decode().strip()
        script = (
            'dd if="$1" of=/dev/null bs=64k iflag=direct status=none; losetup -d "$1"; '
            'losetup "$1" "$2"; dd if="$1" of=/dev/null bs=64k iflag=direct status=none; '
            'sleep 4'  # until the first one's slot is freed
        )
        recording = self.check_bare(script, bare, image)
        requests = [row["all"]["read"]["requests"] for row in recording.report["devices"]
                    if row["name"] == os.path.basename(bare)]
        self.assertEqual((len(requests), min(requests) > 0), (2, True))
        for row in recording.trace.dicts("device"):
            if row["dev"] == harness.device_number(bare):
                self.assertEqual((row["unseen_reads"], row["unseen_writes"]), (0, 0))


class Crowded(unittest.TestCase):
    """The maps of bios in flight and of devices are limited: the test fills them with others."""

    READS = 50
    DEVICE = struct.Struct("<Q32s")  # struct device_slot
    DEVICES_LOG = 9

    def record(self, *full):
        """A run with these maps full: the report, and its bios' rows."""
        bare = machine().new_device(4 * MIB)

        def fill(pid):
            for count in bpf_maps.fill_maps(pid, *full):
                self.assertGreater(count, 1000)

        report, job, bios = self.record_filled(bare, fill)
        self.assertEqual(told(report, bare), job.seen())
        return report, bios

    def record_filled(self, bare, fill):
        """A run whose maps are filled by a call: the report, the job, and its bios' rows."""
        trace = f"{machine().new_dir()}/trace.flt"
        script = f'echo; read line; dd if="$1" of=/dev/null bs=4k count={self.READS} iflag=direct'
        job = Counted(bare, script, bare)
        run = machine().start(
            [machine().faultline, "run", "-q", "-o", trace, "--", *job.command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        run.stdout.readline()
        fill(run.pid)
        run.communicate(b"\n")
        self.assertEqual(run.returncode, 0)
        report, number = harness.report_of(trace), harness.device_number(bare)
        return report, job, [row for row in harness.Trace(trace).dicts("bio")
                             if row["dev"] == number]

    def record_nearly_full(self, free):
        """A run in which `count` device slots are free: the last ones that its own device is
        hashed to."""
        bare = machine().new_device(4 * MIB)
        number = os.stat(bare).st_rdev
        number = os.major(number) << 20 | os.minor(number)
        try:
            with open(f"/sys/block/{os.path.basename(bare)}/diskseq") as file:
                number += int(file.read()) * 0x85EBCA6B
        except FileNotFoundError:  # before Linux 5.15
            pass
        home = (number * 0x9E3779B1 & 0xFFFFFFFF) >> (32 - self.DEVICES_LOG)

        def fill(pid):
            with bpf_maps.Array(pid, "device_slots") as slots:
                for i in range((1 << self.DEVICES_LOG) - free):
                    slot = home + i & (1 << self.DEVICES_LOG) - 1
                    slots.put(slot, self.DEVICE.pack(1 << 40 | i, b""))

        return bare, *self.record_filled(bare, fill)

    def test_slots(self):
        """A fallback has room: nothing is lost."""
        report, bios = self.record("bio_slots")
        self.assertEqual([row["sector"] for row in bios], [8 * i for i in range(self.READS)])
        self.assertEqual(report["trace"]["lost"]["total"], 0)

    def test_full(self):
        """No room at all: all lost bios are counted, and so are the device's requests."""
        report, bios = self.record("bio_slots", "bio_marks")
        self.assertEqual(bios, [])
        self.assertGreaterEqual(report["trace"]["lost"]["by_layer"]["block"], self.READS)

    def test_devices(self):
        """A device whose slot is taken is still found. Other devices are active, too."""
        bare, report, job, bios = self.record_nearly_full(16)
        self.assertEqual(told(report, bare), job.seen())
        self.assertEqual([row["sector"] for row in bios], [8 * i for i in range(self.READS)])
        self.assertEqual(report["trace"]["lost"]["total"], 0)

    def test_too_many_devices(self):
        """The device is not counted, and each of its requests says so. They are recorded."""
        bare, report, _, bios = self.record_nearly_full(0)
        self.assertEqual([row["sector"] for row in bios], [8 * i for i in range(self.READS)])
        self.assertEqual(report["trace"]["notes"]["bios_ended_unseen"], 0)
        self.assertNotIn(os.path.basename(bare), [row["name"] for row in report["devices"]])
        self.assertGreaterEqual(report["trace"]["lost"]["by_layer"]["block"], self.READS)


def traced(pid):
    with open(f"/proc/{pid}/status") as status:
        return "TracerPid:\t0\n" not in status.read()


def writes_of(pid):
    with open(f"/proc/{pid}/io") as counts:
        return int(counts.read().partition("syscw: ")[2].split()[0])


class Stale(unittest.TestCase):
    """A missed bio completion leaves a mark at an address that is reused. The test forges such
    marks: blocking reads of a device have their bio on the stack, at one of a few addresses.
    A few real ones may occur as well: see harness.counted_right().
    """

    BLOCK, BLOCKS = 65536, 256
    SLOT = struct.Struct("<QQQQqIIIIII")  # struct bio_slot
    BIO, SECTOR = 0, 3  # indices of its fields
    READER = f"""
import mmap, os, select, sys
file, done = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), 0
def read():
    global done
    os.preadv(file, [memory], done % {BLOCKS} * {BLOCK})
    done += 1
memory = mmap.mmap(-1, {BLOCK})
print(flush=True)
while not select.select([0], [], [], 0)[0]:
    read()
os.read(0, 1)
print(flush=True)
os.read(0, 1)
for _ in range({BLOCKS}):
    read()
print(done)
"""

    WRITER = """
import os, sys
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
while True:
    os.pwrite(file, b"x" * 4096, 0)
    os.fsync(file)
"""

    def test_in_flight(self):
        """A mark forged before a bio's completion does not match it: the bio has no record. Each
        slot is written many times, to hit some bio in time."""
        reads, rows, unseen = self.read(
            4, lambda *entry: [self.put(*entry) for _ in range(5000)], lambda: None)
        self.assertLess(len(rows), reads)
        self.assertGreaterEqual(len(rows) + unseen, reads)

    def test_afterwards(self):
        """A mark present when a bio is queued is counted; the bio is recorded."""
        seen = {}
        # Some of so many are the reader's stack bios; those of an underlying device are anywhere.
        reads, rows, unseen = self.read(
            6, seen.__setitem__, lambda: [self.put(*entry) for entry in seen.items()])
        self.assertGreater(len(rows) + unseen, reads)

    def read(self, marks, met, between):
        """A run that reads a device. `met` is called with the slots and marks of bios seen
        there; `between` while the reader is stopped, before it continues. Returns the number
        of reads, the bios' rows, and the number missing."""
        self.known = set()
        bare, trace = machine().new_device(self.BLOCK * self.BLOCKS), machine().new_dir() + "/trace"
        run = machine().start(
            [machine().faultline, "run", "-q", "-o", trace, "--", harness.PYTHON, "-S", "-c",
             self.READER, bare],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        run.stdout.readline()
        with bpf_maps.Array(run.pid, "bio_slots") as self.slots:
            for _ in range(marks):
                met(*self.next_mark())
            run.stdin.write(b"\n")
            run.stdin.flush()
            run.stdout.readline()
            between()
        reads = int(run.communicate(b"\n")[0])
        report, number = harness.report_of(trace), harness.device_number(bare)
        rows = [row for row in harness.Trace(trace).dicts("bio") if row["dev"] == number]
        unseen = report["trace"]["notes"]["bios_ended_unseen"]
        self.assertGreater(unseen, 0)
        self.assertEqual(report["trace"]["lost"]["by_layer"]["block"], 0)
        said = [row["text"] for row in report["caveats"] if row["id"] == "bios"]
        if unseen >= 0.02 * len(rows):  # fewer do not matter
            self.assertIn(f"{unseen} block I/Os have no completion event", said[0])
        return reads, rows, unseen

    def test_at_the_end(self):
        """A mark whose address is never reused is reported as in flight."""
        bare, trace = machine().new_device(self.BLOCK), machine().new_dir() + "/trace"
        run = machine().start([machine().faultline, "run", "-q", "-o", trace, "--", harness.PYTHON,
                               "-S", "-c", self.READER, bare],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        run.stdout.readline()
        with bpf_maps.Array(run.pid, "bio_slots") as slots:
            free = [i for i, value in enumerate(slots.values()) if not any(value[:8])][:3]
            for slot in free:  # addresses of no bio, which hash elsewhere
                slots.put(slot, self.SLOT.pack(slot + 1, *[0] * 10))
        run.communicate(b"\n\n")
        report = harness.report_of(trace)
        bios = report["trace"]["notes"]["bios_under_way"]
        self.assertGreaterEqual(bios, len(free))
        self.assertIn(f"{bios:,} block I/Os were known to be in flight",
                      [row["text"] for row in report["caveats"] if row["id"] == "bios-under-way"][0])

    def test_while_detaching(self):
        """Programs are detached one by one. A bio queued by then is not missed: the recording has
        ended. Delayed, to make that last as long as the recording."""
        path = f"{machine().new_dir()}/data"
        job = machine().start([harness.PYTHON, "-S", "-c", self.WRITER, path])
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        attached = harness.Attached("--layers", "syscall,block", "-p", str(job.pid))
        delay = machine().start(["strace", "-qq", "-o", "/dev/null", "-e", "trace=close", "-e",
                                 "inject=close:delay_enter=100000", "-p", str(attached.process.pid)])
        self.addCleanup(delay.wait)
        self.assertTrue(harness.wait_until(lambda: traced(attached.process.pid)))
        before = writes_of(job.pid)
        self.assertTrue(harness.wait_until(lambda: writes_of(job.pid) >= before + 200))
        self.assertEqual(attached.end(signal.SIGINT)[0], 0)
        bios = len([row for row in attached.trace.dicts("bio") if row["file"]])
        notes = attached.report["trace"]["notes"]
        self.assertGreater(bios, 100)
        self.assertLess(notes["bios_ended_unseen"] + notes["bios_under_way"], bios / 4)

    def next_mark(self):
        """The slot of a bio in flight, and its contents."""
        while True:
            self.known |= {i for i, value in enumerate(self.slots.values()) if any(value[:8])}
            for slot in list(self.known) * 100:  # seen a while ago: it will be reused
                fields = self.SLOT.unpack(self.slots.get(slot))
                if fields[self.BIO]:
                    return slot, fields

    def put(self, slot, fields):
        """A mark for that bio's address, as if of another bio."""
        forged = list(fields)
        forged[self.SECTOR] = self.BLOCKS * self.BLOCK
        self.slots.put(slot, self.SLOT.pack(*forged))


class Files(unittest.TestCase):
    """Attribution of a bio's bytes when others write them back in requests of many files."""

    COUNT, BYTES = 2000, 5000  # the second page is partial

    def check(self, kind):
        work = Work.exact(kind, f"""
            cd "$1/files"
            {harness.PYTHON} -S -c '
import os
for i in range({self.COUNT}):
    f = os.open(f"f{{i}}", os.O_WRONLY | os.O_CREAT)
    os.write(f, b"x" * {self.BYTES})
    os.close(f)
'
            sync; cd /""")
        written, places = collections.Counter(), collections.defaultdict(set)
        for bio in work.bios():
            if bio["op"] == "request_write" and not bio["flags"] & 1:
                written[bio["path"]] += bio["bytes"]
                places[bio["path"]].add(bio["offset"])
        wanted = {f"{work.work}/f{i}": 8192 for i in range(self.COUNT)}
        self.assertEqual({path: written[path] for path in wanted}, wanted)
        self.assertTrue(all(places[path] <= {0, 4096} for path in wanted))
        self.assertEqual(told(work.recording.report, work.device), work.seen)

    def check_direct(self, kind):
        """Each read of a few blocks is a bio of the file, whatever memory it reads into."""
        places = [4096 * at for at in random.sample(range(4096), 1500)]
        job = f"""
import mmap, os, sys
other = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)
os.ftruncate(other, 1 << 20)
memory = mmap.mmap(other, 1 << 20)
memory[:] = bytes(1 << 20)
f = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
for at in {places}:
    os.preadv(f, [memoryview(memory)[8192:12288]], at)
"""
        work = Work.exact(kind, f"""
            dd if=/dev/urandom of="$1/files/data" bs=1M count=16 conv=fsync status=none
            {harness.PYTHON} -S -c '{job}' "$1/files/data" "$1/files/other" """)
        seen = [
            (bio["path"], bio["offset"], bio["bytes"])
            for bio in work.bios()
            if bio["op"] == "request_read" and bio["flags"] & 32
        ]
        self.assertEqual(seen, [(f"{work.work}/data", at, 4096) for at in places])
        self.assertEqual(told(work.recording.report, work.device), work.seen)

    def check_part(self, kind):
        """A write to part of a block has its offset, and so has what follows; the zeros that the
        file system writes around it have none."""
        work = Work.exact(kind, """
            cd "$1/files"
            dd if=/dev/zero of=part bs=512 count=1 seek=3 oflag=direct status=none
            dd if=/dev/zero of=whole bs=64k count=4 oflag=direct status=none
            cd /""")
        seen = collections.defaultdict(list)
        for bio in work.bios():
            if bio["op"] == "request_write" and bio["flags"] & 32:
                seen[os.path.basename(bio["path"])].append((bio["offset"], bio["bytes"]))
        self.assertEqual(seen["part"], [(-1, 3 * 512), (3 * 512, 512), (-1, 4 * 512)])
        self.assertEqual(seen["whole"], [(at << 16, 1 << 16) for at in range(4)])


class Device(unittest.TestCase):
    """A block device is a file, too: each bio of direct I/O to it has its offset, even if it
    runs after the call that requested it has returned."""

    BLOCKS, ROUNDS = 8, 11  # of the workload: with io_uring, a polled ring and libaio

    def bios(self, *command):
        """Offset and size of each, by offset; an empty word of the command stands for the
        device."""
        device = machine().new_device(32 * MIB)
        recording = Recording([word or device for word in command], status=None)
        if recording.done.returncode == 77:
            self.skipTest("this kernel has no io_uring, or does not let us")
        self.assertEqual(recording.done.returncode, 0, recording.stderr)
        number = harness.device_number(device)
        rows = [row for row in recording.trace.dicts("bio")
                if row["dev"] == number and row["flags"] & 32]
        self.assertEqual({recording.trace.files[row["file"]]["path"].decode() for row in rows},
                         {device})
        return sorted((row["offset"], row["bytes"]) for row in rows)

    def test_blocks(self):
        out = f"{machine().new_dir()}/account"
        bios = self.bios(machine().program("uring"), "", out, "direct")
        wanted = [(4096 * at, 4096) for at in range(self.BLOCKS) for _ in range(self.ROUNDS)]
        self.assertEqual(bios, wanted)

    @unittest.skipUnless(shutil.which("fio"), "fio is not installed (scripts/setup.sh test)")
    def test_many_bios(self):
        """Reads too large for one bio."""
        bios = self.bios("fio", "--name=job", "--filename", "", "--ioengine=libaio", "--direct=1",
                         "--rw=read", "--bs=4m", "--iodepth=4", "--size=32m", "--output=/dev/null")
        ends = [offset + count for offset, count in bios]
        self.assertEqual([offset for offset, _ in bios], [0, *ends[:-1]])
        self.assertEqual(ends[-1], 32 * MIB)
        self.assertGreater(len(bios), 8)


class Kernel(unittest.TestCase):
    """Bios queued by no process: file writeback, and journal metadata."""

    SIZE = 8 * MIB

    def check(self, kind):
        work = Work.exact(kind, f"""
            dd if=/dev/zero of="$1/files/data" bs=1M count={self.SIZE // MIB} status=none
            rm -f "$1/files/none"; touch "$1/files/new"; sync""")
        number = harness.device_number(work.device)
        told = [row for row in work.recording.trace.dicts("device") if row["dev"] == number][-1]
        bios = [bio for bio in work.bios() if bio["op"] == "request_write"]
        # Everything written was file data or metadata with a known owner.
        self.assertEqual(sum(bio["bytes"] for bio in bios) + told["kernel_metadata_bytes"],
                         512 * work.seen["write"][2])
        self.assertGreater(told["kernel_metadata_bytes"], 0)
        (kernel,) = [p for p in work.recording.report["processes"] if p["pid"] == 0]
        self.assertEqual(kernel["comm"], "kernel")
        written = sum(bio["bytes"] for bio in work.recording.trace.dicts("bio")
                      if bio["op"] == "request_write" and not bio["pid"] and not bio["flags"] & 1)
        self.assertEqual(kernel["storage_write_bytes"], written)
        self.assertGreaterEqual(kernel["storage_metadata_bytes"], told["kernel_metadata_bytes"])


for kind in ("ext4", "xfs", "btrfs", "overlay"):
    setattr(Totals, f"test_{kind}", lambda self, kind=kind: self.check(kind))
    setattr(Kernel, f"test_{kind}", lambda self, kind=kind: self.check(kind))
    setattr(Files, f"test_small_{kind}", lambda self, kind=kind: self.check(kind))
    setattr(Files, f"test_direct_{kind}", lambda self, kind=kind: self.check_direct(kind))

for kind in ("ext4", "xfs", "overlay"):
    setattr(Files, f"test_part_{kind}", lambda self, kind=kind: self.check_part(kind))


if __name__ == "__main__":
    unittest.main()
