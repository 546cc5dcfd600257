# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Data entering the page cache, its cause and its owner, compared with mincore."""
import json
import os
import shutil
import unittest

import harness
from harness import Recording, created, fetched, machine

MIB = 1 << 20


def python(script, *arguments):
    return [harness.PYTHON, "-S", "-c", script, *arguments]


class CreatedOrFetched(unittest.TestCase):
    """Bytes from storage and bytes created by writes are separate numbers. One test per file
    system; generated below."""

    JOB = """
import os, sys
cold, small, large, sent, copied, part = sys.argv[1:]
def new(path): return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
os.write(new(small), b"hello")
f = new(large)
for _ in range(4): os.write(f, bytes(1 << 20))
os.pread(f, 1 << 20, 0)
c = os.open(cold, os.O_RDONLY)
os.pread(c, 1 << 20, 0)
os.sendfile(new(sent), c, 1 << 20, 1 << 20)
os.copy_file_range(f, new(copied), 1 << 20, 0)
os.pwrite(os.open(part, os.O_WRONLY), b"x" * 100, 5000)
"""

    DEDUPE = """
import fcntl, os, struct, sys
first, second = (os.open(path, os.O_RDWR) for path in sys.argv[1:3])
to = struct.pack("QQHHI", 0, int(sys.argv[3]), 1, 0, 0) + struct.pack("qQQiI", second, 0, 0, 0, 0)
fcntl.ioctl(first, 0xC0189436, to) # FIDEDUPERANGE
"""

    def check(self, where):
        directory = machine().new_dir(where)
        paths = [f"{directory}/{name}" for name in ("cold", "small", "large", "sent", "copied")]
        paths.append(f"{directory}/part")
        cold, small, large, sent, copied, part = paths
        harness.random_file(cold, 8 * MIB)
        harness.random_file(part, 1 * MIB)

        def record():
            for path in (small, large, sent, copied):
                if os.path.exists(path):
                    os.unlink(path)
            harness.cool(cold)
            harness.cool(part)
            recording = Recording(python(self.JOB, *paths))
            return recording, {path: harness.resident_bytes(path) for path in paths}

        def seen_of(recording):
            return {
                path: [row for row in recording.report["files"] if row["path"] == path][-1]
                for path in paths
            }

        def is_right(seen):
            rows = seen_of(seen[0])
            return all(
                fetched(rows[p]) + created(rows[p]) == seen[1][p] for p in paths if p != part
            )

        recording, resident = harness.undisturbed(record, is_right)
        rows = seen_of(recording)
        # The call changes a page that is already cached except for the rest of it.
        self.assertEqual((fetched(rows[part]), created(rows[part])), (0, 0))
        self.assertEqual(rows[part]["write"]["read_for_write_bytes"], 4096)
        for path in (cold,):
            self.assertEqual((fetched(rows[path]), created(rows[path])), (resident[path], 0), path)
            self.assertGreater(resident[path], 0)
        for path in (small, large, sent, copied):
            if path == copied and where == "xfs":
                continue  # shares the blocks: nothing enters the cache
            with self.subTest(os.path.basename(path)):
                self.assertEqual(fetched(rows[path]), 0)
                self.assertEqual(created(rows[path]), resident[path])
                self.assertEqual(rows[path]["write"]["created_bytes"], resident[path])
                self.assertGreater(resident[path], 0)
        totals, methods = recording.report["totals"], recording.report["methods"]
        self.assertEqual(totals["read"]["created_bytes"], 0)
        self.assertEqual(totals["mmap_read"]["created_bytes"], 0)
        self.assertGreaterEqual(totals["write"]["created_bytes"], 4 * MIB)
        self.assertEqual(
            sum(row["created_bytes"] for row in methods), totals["write"]["created_bytes"]
        )
        splice = [row for row in methods if row["method"] == "splice" and row["op"] == "write"]
        self.assertEqual(splice[0]["created_bytes"], created(rows[sent]) + created(rows[copied]))

    def test_ext4(self):
        self.check("ext4")

    def test_xfs(self):
        self.check("xfs")

    def check_partial(self, where, way, mode):
        """Bytes that writes read from storage to complete pages, compared with the kernel's
        count for the process: everything else that it reads is cached already."""
        directory = machine().new_dir(where)
        out, path = f"{directory}/out.json", harness.random_file(f"{directory}/data", 16 * MIB)
        command = [machine().program("partial"), way, path, out]

        def record():
            harness.cool(path)
            recording = Recording(command, "--mode", mode, status=None)
            if recording.done.returncode == 77:
                self.skipTest("this kernel has no io_uring, or does not let us")
            self.assertEqual(recording.done.returncode, 0, recording.stderr)
            with open(out) as file:
                return recording, json.load(file)["read_bytes"]

        def write_of(recording):
            return recording.file(path)["write"]

        recording, read_bytes = harness.undisturbed(
            record, lambda result: write_of(result[0])["read_for_write_bytes"] == result[1]
        )
        write = write_of(recording)
        self.assertEqual(write["read_for_write_bytes"], read_bytes)
        self.assertGreater(read_bytes, 0)
        self.assertEqual((write["fetched_bytes"], write["created_bytes"]), (0, 0))
        totals = recording.report["totals"]["write"]
        self.assertEqual(totals["read_for_write_bytes"], read_bytes)

    def test_partial(self):
        for where in ("root", "xfs"):
            for way in ("call", "io_uring", "libaio"):
                for mode in ("trace", "profile"):
                    with self.subTest(where, way=way, mode=mode):
                        self.check_partial(where, way, mode)

    def test_dedupe(self):
        """To compare two files the kernel reads both, holding write locks."""
        directory = machine().new_dir("xfs")
        paths = [harness.random_file(f"{directory}/first", 2 * MIB), f"{directory}/second"]
        shutil.copy(*paths)

        def record():
            for path in paths:
                harness.cool(path)
            recording = Recording(python(self.DEDUPE, *paths, str(2 * MIB)))
            return recording, harness.resident_bytes(paths[0])

        def seen_of(recording):
            return [recording.file(path)["fetched_bytes"] for path in paths]

        # Then they share their blocks, and the second one's pages go.
        recording, resident = harness.undisturbed(
            record, lambda result: seen_of(result[0]) == [2 * MIB, 2 * MIB]
        )
        self.assertEqual(resident, 2 * MIB)
        self.assertEqual(seen_of(recording), [2 * MIB, 2 * MIB])
        for path in paths:
            self.assertEqual(recording.file(path)["created_bytes"], 0, path)

    def test_only_writes(self):
        """A job that reads nothing itself fetches nothing from storage."""
        out = f"{machine().new_dir('ext4')}/out"
        recording = Recording(["dd", "if=/dev/zero", f"of={out}", "bs=1M", "count=16"])
        write = recording.report["totals"]["write"]
        self.assertEqual(write["fetched_bytes"], 0)
        self.assertEqual(recording.file(out)["write"]["created_bytes"], 16 * MIB)
        self.assertNotIn("into cache", harness.faultline("report", recording.path).stdout.decode())


class NoStorage(unittest.TestCase):
    """File systems in memory: nothing is fetched and nothing needs writeback."""

    STORES = """
import mmap, os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(f, 4 << 20)
m = mmap.mmap(f, 0)
for at in range(0, len(m), 4096): m[at] = 1
"""

    def check(self, path):
        recording = Recording(python(self.STORES, path))
        row = recording.file(path)
        self.assertEqual((fetched(row), created(row)), (0, 0))
        self.assertEqual(row["mmap"]["faults"], 0, "its faults are those of shared memory")
        self.assertGreater(recording.report["totals"]["shmem_faults"]["count"], 0)

    def test_hugetlbfs(self):
        setting = "/proc/sys/vm/nr_hugepages"
        with open(setting) as file:
            before = int(file.read())
        with open(setting, "w") as file:
            file.write(str(before + 2))
        try:
            with open("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") as file:
                if int(file.read()) < 2:
                    self.skipTest("no huge pages to be had")
            self.check(f"{machine().mount('-t', 'hugetlbfs', 'none')}/data")
        finally:
            with open(setting, "w") as file:
                file.write(str(before))

    def test_tmpfs(self):
        self.check(f"{machine().mount('-t', 'tmpfs', 'none')}/data")

    def test_ramfs(self):
        self.check(f"{machine().mount('-t', 'ramfs', 'none')}/data")


class OtherFiles(unittest.TestCase):
    """Pages of a file other than the call's own: charged to the call, in a row of their own."""

    def check(self, make, command_of, paths_of, seen_of):
        """Compares the pages of each path with mincore; none of them is unattributed."""

        def record():
            made = make()
            recording = Recording(command_of(made))
            return recording, made, {p: harness.resident_bytes(p) for p in paths_of(made)}

        def rows_of(recording, made):
            numbers = {os.stat(path).st_ino: path for path in paths_of(made)}
            rows = {path: [] for path in numbers.values()}
            for row in recording.report["files"]:
                if row["ino"] in numbers:
                    rows[numbers[row["ino"]]].append(row)
            return rows

        def is_right(seen):
            rows = rows_of(seen[0], seen[1])
            return all(
                sum(fetched(row) + created(row) for row in rows[path]) == resident
                for path, resident in seen[2].items()
            )

        recording, made, resident = harness.undisturbed(record, is_right)
        rows = rows_of(recording, made)
        for path in resident:
            with self.subTest(os.path.basename(path)):
                self.assertGreater(resident[path], 0)
                self.assertEqual(
                    sum(fetched(row) + created(row) for row in rows[path]), resident[path]
                )
                unattributed = [row["unattributed"] for row in rows[path]]
                self.assertEqual(sum(row["fetched_bytes"] for row in unattributed), 0)
                self.assertEqual(sum(row["created_bytes"] for row in unattributed), 0)
        seen_of(recording, made, resident, rows)

    def calls_of(self, recording, file):
        """{call: bytes} for calls that indirectly fetched pages of a file of the report."""
        names = [operation["name"] for operation in recording.trace.header["operations"]]
        ids = {
            number for number, row in recording.trace.files.items()
            if row["ino"] == os.stat(file).st_ino
        }
        seen = {}
        for row in recording.trace.dicts("pagecache"):
            if row["file"] in ids:
                name = names[row["call"] - 1] if row["call"] else None
                seen[name] = seen.get(name, 0) + row["fetched_bytes"] + row["created_bytes"]
        return seen

    DIRECT = """
import mmap, os, sys
f = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(f, 4 << 20, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
out = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
for at in range(0, len(m), 1 << 20): os.write(out, memoryview(m)[at:at + (1 << 20)])
"""

    def test_source_of_a_direct_write(self):
        def make():
            directory = machine().new_dir("ext4")
            source = harness.random_file(f"{directory}/source", 4 * MIB)
            harness.cool(source)
            return source, f"{directory}/out"

        def look(recording, made, resident, rows):
            row = recording.file(made[0])
            if recording.report["trace"]["layers"]["fault"]["attach"] != "fentry":
                self.assertEqual(row["indirect"]["fetched_bytes"], resident[made[0]])
                self.assertEqual(self.calls_of(recording, made[0]), {"write": resident[made[0]]})
            direct = [
                row for row in recording.report["methods"]
                if (row["method"], row["op"]) == ("direct", "write")
            ]
            self.assertEqual((direct[0]["bytes"], direct[0]["fetched_bytes"]), (4 * MIB, 0))

        self.check(make, lambda made: python(self.DIRECT, *made), lambda made: made[:1], look)

    def test_copy_up(self):
        """An overlay copies a file up when it is opened for writing."""

        def make():
            layers = {name: machine().new_dir("ext4") for name in ("lower", "upper", "work")}
            path = harness.random_file(f"{layers['lower']}/data", 6 * MIB)
            options = ",".join(f"{name}dir={path}" for name, path in layers.items())
            merged = machine().mount("-t", "overlay", "-o", options, "overlay")
            harness.cool(path)
            return path, f"{layers['upper']}/data", merged

        def look(recording, made, resident, rows):
            lower, upper, merged = made
            self.assertEqual(self.calls_of(recording, lower), {"openat": resident[lower]})
            self.assertEqual(self.calls_of(recording, upper), {"openat": resident[upper]})
            totals = recording.report["totals"]["indirect"]
            self.assertGreaterEqual(totals["fetched_bytes"], resident[lower])
            self.assertGreaterEqual(totals["created_bytes"], resident[upper])
            self.assertGreater(totals["events"], 0)
            self.assertEqual(sum(created(row) for row in rows[upper]), resident[upper])
            self.assertEqual(sum(fetched(row) for row in rows[lower]), resident[lower])

        script = "import os, sys; os.open(sys.argv[1], os.O_WRONLY)"
        self.check(
            make, lambda made: python(script, f"{made[2]}/data"), lambda made: made[:2], look
        )

    VM_READ = """
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
class iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
f = os.open(sys.argv[1], os.O_RDONLY)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
address = libc.mmap(None, 2 << 20, mmap.PROT_READ, mmap.MAP_PRIVATE, f, 0)
ready, go = os.pipe(), os.pipe()
child = os.fork()
if not child:
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    os._exit(0)
os.read(ready[0], 1)
buffer = ctypes.create_string_buffer(2 << 20)
mine = iovec(ctypes.addressof(buffer), 2 << 20)
theirs = iovec(address, 2 << 20)
moved = libc.process_vm_readv(child, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
os.write(go[1], b"x")
os.wait()
sys.exit(moved != 2 << 20)
"""

    def test_memory_of_another_process(self):
        def make():
            path = harness.random_file(f"{machine().new_dir('ext4')}/data", 2 * MIB)
            harness.cool(path)
            return (path,)

        def look(recording, made, resident, rows):
            if recording.report["trace"]["layers"]["fault"]["attach"] != "fentry":
                self.assertEqual(
                    self.calls_of(recording, made[0]), {"process_vm_readv": resident[made[0]]}
                )

        self.check(make, lambda made: python(self.VM_READ, *made), lambda made: made, look)

    def test_on_nobodys_account(self):
        """Data fetched by a call that is not recorded (vmsplice, from a mapping) is
        unattributed: it appears in the totals and on the first screen, with its file."""
        path = harness.random_file(f"{machine().new_dir('ext4')}/data", 2 * MIB)
        harness.cool(path)
        script = """
import ctypes, fcntl, mmap, os, sys
f = os.open(sys.argv[1], os.O_RDONLY)
r, w = os.pipe()
fcntl.fcntl(w, 1031, 1 << 20)
libc = ctypes.CDLL(None, use_errno=True)
class iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
address = libc.mmap(None, 1 << 20, mmap.PROT_READ, mmap.MAP_PRIVATE, f, 0)
piece = iovec(address, 1 << 20)
moved = libc.vmsplice(w, ctypes.byref(piece), 1, 0)
sys.exit(moved <= 0)
"""

        def record():
            harness.cool(path)
            recording = Recording(python(script, path))
            return recording, harness.resident_bytes(path)

        recording, resident = harness.undisturbed(
            record, lambda seen: fetched(seen[0].file(path)) == seen[1]
        )
        if recording.report["trace"]["layers"]["fault"]["attach"] == "fentry":
            return  # there it is an ordinary fault
        row, totals = recording.file(path), recording.report["totals"]["unattributed"]
        self.assertEqual(row["unattributed"]["fetched_bytes"], resident)
        self.assertGreater(resident, 0)
        self.assertGreaterEqual(totals["fetched_bytes"], resident)
        self.assertGreater(totals["events"], 0)
        screen = harness.faultline("report", recording.path).stdout.decode()
        self.assertIn("\nunattributed ", screen.split("\n Totals")[0])


class BlockDevice(unittest.TestCase):
    """A device node may lie in memory; data mapped through it does not."""

    TOUCHES = """
import mmap, os, resource, sys
f = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(f, 8 << 20, prot=mmap.PROT_READ)
before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
sum(m[at] for at in range(0, len(m), 4096))
print(resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before)
"""

    def test_mapped(self):
        device = machine().new_device(16 * MIB)
        held = os.open(device, os.O_RDONLY)  # its cache is dropped when the last opener closes it
        self.addCleanup(os.close, held)

        def record():
            harness.cool(device)
            recording = Recording(python(self.TOUCHES, device))
            return recording, harness.resident_bytes(device)

        recording, resident = harness.undisturbed(
            record, lambda seen: fetched(seen[0].file(device)) == seen[1]
        )
        row = recording.file(device)
        self.assertEqual(row["mmap"]["fetched_bytes"], resident)
        self.assertGreaterEqual(resident, 8 * MIB)
        self.assertEqual(row["mmap"]["major"], int(recording.done.stdout))
        self.assertGreater(row["mmap"]["major"], 0)

    def test_written(self):
        """Through its node as through any file."""
        device = machine().new_device(16 * MIB)
        harness.cool(device)
        recording = Recording(["dd", "if=/dev/zero", f"of={device}", "bs=1M", "count=4",
                               "conv=notrunc"])
        row = recording.file(device)
        self.assertEqual((fetched(row), row["write"]["created_bytes"]), (0, 4 * MIB))


if __name__ == "__main__":
    unittest.main()
