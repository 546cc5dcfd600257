# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Files, their names and offsets, compared with the job's own account."""
import collections
import json
import os
import signal
import subprocess
import unittest

import harness
from harness import Recording, account, faultline, machine

DELETED, PATH_CUT, NAMELESS = 1, 2, 4  # flags of file rows
UNLINKED = 8  # flag of calls


class Offsets(unittest.TestCase):
    def compare(self, way, calls):
        """The number of calls, and those whose (call, offset, result) is wrong."""
        directory = machine().new_dir()
        data, out = f"{directory}/data", f"{directory}/out.json"
        recording = Recording([machine().program("offsets"), data, out, way])
        truth, ours = collections.defaultdict(list), collections.defaultdict(list)
        for tid, *rest in account(out):
            truth[tid].append(rest)
        first = min(truth)  # the main thread filled the file first: skip its writes
        for row in recording.trace.calls(data):
            if row["op"] in calls:
                ours[row["tid"]].append([row["op"], row["offset"], row["result"]])
        for tid in truth:
            if way == "alone" or tid != first:
                ours[tid] = ours[tid][-len(truth[tid]) :]
            self.assertEqual([(c, r) for c, _, r in ours[tid]], [(c, r) for c, _, r in truth[tid]])
        pairs = [pair for tid in truth for pair in zip(truth[tid], ours[tid])]
        return len(pairs), [pair for pair in pairs if pair[0] != pair[1]]

    def test_positioned(self):
        """pread64, preadv, preadv2 from four threads: exact offsets."""
        count, wrong = self.compare("positioned", ("pread64", "preadv", "preadv2"))
        self.assertEqual(count, 12000)
        self.assertEqual(wrong[:3], [], f"{len(wrong)} of {count} (true, recorded)")

    def test_one_thread(self):
        """Every read and write call of one thread, with positions, appends and -1."""
        count, wrong = self.compare(
            "alone",
            ("read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64",
             "pwritev", "pwritev2"),
        )
        self.assertEqual(count, 650)
        self.assertEqual(wrong[:3], [], f"{len(wrong)} of {count} (true, recorded)")

    def test_shared_descriptor(self):
        """Threads that read one descriptor. The kernel releases the position before the call
        ends, so a few offsets may be wrong: a thousandth is usual; positions at entry would
        give a sixth to a half."""
        count, wrong = self.compare("shared", ("read", "readv"))
        self.assertGreaterEqual(count, 3000)
        self.assertLess(len(wrong), count / 50, f"{wrong[:3]} (true, recorded)")


class Appended(unittest.TestCase):
    JOB = """
import os, sys
path = sys.argv[1]
f = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(f, bytes(1000))
os.pwrite(f, bytes(2000), 0)
os.pwrite(f, bytes(3000), 1 << 20)
os.pwritev(f, [bytes(4000)], 5)
os.close(f)
f = os.open(path, os.O_RDWR)
os.pwritev(f, [bytes(5000)], 7, getattr(os, "RWF_APPEND", 0x10))
os.pread(f, 10, 3)
"""

    def test_each_goes_to_the_end(self):
        """Linux ignores the offset of a write to a file opened with O_APPEND."""
        path = f"{machine().new_dir()}/log"
        recording = Recording([harness.PYTHON, "-S", "-c", self.JOB, path])
        calls = [(row["offset"], row["result"]) for row in recording.trace.calls(path)
                 if row["op"] in ("write", "pwrite64", "pwritev", "pwritev2", "pread64")]
        self.assertEqual(calls, [(0, 1000), (1000, 2000), (3000, 3000), (6000, 4000),
                                 (10000, 5000), (3, 10)])
        self.assertEqual(recording.file(path)["size_bytes"], 15000)

    def check_async(self, method, op):
        """Each write of the workload has a length and a byte of its own: so the files show where
        it went."""
        directory = machine().new_dir()
        paths = [f"{directory}/{name}" for name in ("log", "other")]
        recording = Recording([machine().program("appends"), method, *paths], status=None)
        if recording.done.returncode == 77:
            self.skipTest("this kernel has no io_uring, or does not let us")
        self.assertEqual(recording.done.returncode, 0, recording.stderr)
        for path in paths:
            with open(path, "rb") as file:
                data = file.read()
            ids = recording.trace.file_ids(path)
            calls = [row for row in recording.trace.dicts("async")
                     if row["file"] in ids and row["op"] == op]
            self.assertTrue(calls)
            for row in calls:
                byte = bytes([ord("A") + row["result"] // 1000 - 1])
                with self.subTest(path, bytes=row["result"]):
                    self.assertEqual(row["offset"], data.index(byte))
            self.assertEqual(recording.file(path)["size_bytes"], len(data))

    def test_libaio(self):
        self.check_async("libaio", "libaio_pwrite")

    def test_io_uring(self):
        self.check_async("io_uring", "io_uring_write")


class Sizes(unittest.TestCase):
    def test_last_known(self):
        """A file's size is the last one that the trace can know, however large it was before."""
        directory = machine().new_dir()
        script = """
import mmap, os, sys
def new(name): return os.open(f"{sys.argv[1]}/{name}", os.O_RDWR | os.O_CREAT)
shrunk, grown, emptied = new("shrunk"), new("grown"), new("emptied")
for f in (shrunk, grown, emptied): os.write(f, bytes(100000))
os.ftruncate(shrunk, 5000)
os.ftruncate(grown, 5000)
os.pwrite(grown, bytes(1000), 6000)
os.close(os.open(f"{sys.argv[1]}/emptied", os.O_WRONLY | os.O_TRUNC))
os.close(grown)
os.kill(os.getpid(), 9)
"""
        recording = Recording([harness.PYTHON, "-S", "-c", script, directory], status=137)
        for name in ("shrunk", "grown", "emptied"):
            with self.subTest(name):
                path = f"{directory}/{name}"
                self.assertEqual(recording.file(path)["size_bytes"], os.path.getsize(path))


    JOB = """
import os, sys
top, waits = sys.argv[1:3]
if waits: sys.stdin.readline()
def new(name, flags=os.O_RDWR): return os.open(f"{top}/{name}", flags | os.O_CREAT, 0o644)
a = new("beyond"); os.write(a, bytes(2 << 20)); os.pread(a, 10, 8 << 30); os.pwrite(a, b"", 4 << 30)
os.sendfile(new("sent"), a, 0, 1 << 20)
os.copy_file_range(a, new("copied"), 1 << 20, 0)
os.posix_fallocate(new("allocated"), 0, 3 << 20)
b = new("appended", os.O_WRONLY | os.O_APPEND)
os.write(b, bytes(1000)); os.pwrite(b, bytes(1000), 1 << 30)
os.ftruncate(new("truncated"), 5 << 20)
c = new("closed"); os.write(c, bytes(100)); os.lseek(c, 1 << 20, os.SEEK_SET); os.close(c)
if waits:
    print("ready", flush=True)
    sys.stdin.read()
"""

    def check_true(self, recording, directory):
        names = ("beyond", "sent", "copied", "allocated", "appended", "truncated", "closed")
        truth = {name: os.stat(f"{directory}/{name}").st_size for name in names}
        sizes = {row["path"]: row["size_bytes"] for row in recording.report["files"]}
        known = {name: sizes[f"{directory}/{name}"] for name in names}
        self.assertEqual(known, truth)

    def test_each_is_the_inodes_own(self):
        """Sizes of files that end with their process, however the size came about."""
        for mode in ("trace", "profile"):
            with self.subTest(mode):
                directory = machine().new_dir()
                recording = Recording(
                    [harness.PYTHON, "-S", "-c", self.JOB, directory, ""], "--mode", mode
                )
                self.check_true(recording, directory)

    def test_of_files_that_stay_open(self):
        """The recording ends, the job continues."""
        directory = machine().new_dir()
        job = machine().start([harness.PYTHON, "-S", "-c", self.JOB, directory, "waits"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        attached = harness.Attached("-p", str(job.pid))
        job.stdin.write(b"go\n")
        job.stdin.flush()
        job.stdout.readline()
        attached.end(signal.SIGINT)
        self.check_true(attached, directory)
        job.communicate()


class Renamed(unittest.TestCase):
    """A file goes by the path that it was opened by last, whichever part of that was renamed."""

    RENAME = """
import ctypes, os, subprocess, sys
top, how = sys.argv[1:]
for name in ("old/a", "other/a"):
    os.makedirs(f"{top}/{name}")
    with open(f"{top}/{name}/model", "wb") as file: file.write(name.encode() * 1000)
if how == "outside":
    print("ready", flush=True)
    sys.stdin.readline()
    at = "new"
elif how == "exchange": # glibc has renameat2 from 2.28
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, f"{top}/old".encode(), -100, f"{top}/other".encode(), 2):
        raise OSError(ctypes.get_errno(), "renameat2")
    at = "other"
else:
    if how == "child": subprocess.run(["mv", f"{top}/old", f"{top}/new"], check=True)
    else: os.rename(f"{top}/old", f"{top}/new")
    at = "new"
with open(f"{top}/{at}/a/model", "rb") as file: file.read()
"""

    def check(self, how, mode):
        directory = machine().new_dir()
        recording = Recording([harness.PYTHON, "-S", "-c", self.RENAME, directory, how],
                              "--mode", mode)
        at = "other" if how == "exchange" else "new"
        rows = [row for row in recording.report["files"] if row["read"]["bytes"] == 5000]
        self.assertEqual([row["path"] for row in rows], [f"{directory}/{at}/a/model"])
        self.assertEqual(rows[0]["write"]["bytes"], 5000)
        known = {row["path"] for row in recording.report["files"]}
        self.assertNotIn(f"{directory}/old/a/model", known)

    def test_by_another_job(self):
        """The process that renames is not recorded."""
        for mode in ("trace", "profile"):
            with self.subTest(mode=mode):
                directory = machine().new_dir()
                trace = f"{directory}/trace.flt"
                run = machine().start(
                    [machine().faultline, "run", "-q", "-o", trace, "--mode", mode, "--",
                     harness.PYTHON, "-S", "-c", self.RENAME, directory, "outside"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                run.stdout.readline()
                os.rename(f"{directory}/old", f"{directory}/new")
                run.communicate(b"\n")
                self.assertEqual(run.returncode, 0)
                rows = [row for row in harness.report_of(trace)["files"]
                        if row["read"]["bytes"] == 5000]
                self.assertEqual([(row["path"], row["write"]["bytes"]) for row in rows],
                                 [(f"{directory}/new/a/model", 5000)])

    def test_all(self):
        for mode in ("trace", "profile"):
            for how in ("directory", "child", "exchange"):
                with self.subTest(how, mode=mode):
                    self.check(how, mode)


class Many(unittest.TestCase):
    def test_each_has_its_own(self):
        """More files than the lookup table has slots: each is read twice, through separate
        descriptors, has exactly its own bytes, and counts as one file."""
        top = machine().new_dir()
        job = (
            "import os, sys\n"
            "for round in range(2):\n"
            "    for i in range(4000):\n"
            "        fd = os.open(f'{sys.argv[1]}/{i}', os.O_RDWR | os.O_CREAT)\n"
            "        if not round: os.pwrite(fd, b'x' * (i + 1), 0)\n"
            "        os.pread(fd, 5000, 0)\n"
            "        os.close(fd)\n"
        )
        recording = Recording(["/usr/bin/python3", "-c", job, top])
        here = [row for row in recording.report["files"] if row["path"].startswith(top + "/")]
        self.assertEqual(
            sorted((int(os.path.basename(row["path"])), row["read"]["count"], row["read"]["bytes"],
                    row["write"]["bytes"]) for row in here),
            [(i, 2, 2 * (i + 1), i + 1) for i in range(4000)],
        )  # fmt: skip
        self.assertEqual([row["opens"] for row in here], [2] * 4000)
        ids = [row for row in recording.trace.files.values()
               if os.fsdecode(row["path"]).startswith(top + "/")]  # fmt: skip
        self.assertEqual(len({(row["dev"], row["ino"], row["generation"]) for row in ids}), 4000)

    def test_memory_without_a_name(self):
        """Anonymous shared memory is a file that the kernel creates each time: the program does
        not see it."""
        job = (
            "import mmap\n"
            "for i in range(300):\n"
            "    with mmap.mmap(-1, 12288) as memory:\n"
            "        memory[0] = 1\n"
            "        memory.madvise(mmap.MADV_WILLNEED)\n"
        )
        recording = Recording(["/usr/bin/python3", "-S", "-c", job])
        for op, requested in (("munmap", 12288), ("madvise", 12288)):
            rows = [row for row in recording.trace.calls(op=op) if row["asked"] == requested]
            self.assertGreaterEqual(len(rows), 300)
            self.assertEqual([row["file"] for row in rows[-300:]], [0] * 300)
        self.assertGreaterEqual(recording.report["totals"]["shmem_faults"]["count"], 300)
        self.assertEqual([row for row in recording.report["files"] if "dev/zero" in row["path"]], [])


class Names(unittest.TestCase):
    """One run of job_names.py, checked in many ways."""

    maxDiff = None
    seen = None

    def setUp(self):
        if not Names.seen:
            Names.seen = self.record()
        self.recording, self.cases, self.missing, self.top = Names.seen

    def record(self):
        top, other = machine().new_dir(), machine().new_dir()
        os.mkdir(f"{top}/bound")
        bind = machine().mount("--bind", f"{top}/bound")
        recording = Recording(
            [harness.PYTHON, os.path.join(harness.TOP, "tests/live/jobs/job_names.py"), top, bind,
             f"{other}/out.json"]
        )
        cases = account(f"{other}/out.json")
        missing = {case: bytes.fromhex(path) for case, path in cases.pop("missing").items()}
        for case in cases.values():
            case["path"] = bytes.fromhex(case["path"])
        return recording, cases, missing, os.fsencode(top)

    def row_of(self, case):
        """The file row of a case: with this inode, and these bytes read from it."""
        trace, read = self.recording.trace, collections.Counter()
        for row in trace.calls(op="read"):
            read[row["file"]] += max(row["result"], 0)
        found = [
            file
            for id, file in trace.files.items()
            if file["ino"] == case["ino"] and read[id] == case["bytes"]
        ]
        self.assertEqual(
            len(found), 1, f"files with inode {case['ino']} and {case['bytes']} bytes read"
        )
        return found[0]

    def test_names(self):
        for name in ("plain", "latin", "newline", "escape", "quotes", "longest", "utf-8", "symlink",
                     "bind", "proc_fd", "cwd", "dir_fd", "long"):
            with self.subTest(name):
                row = self.row_of(self.cases[name])
                self.assertEqual(row["path"], self.cases[name]["path"])
                self.assertEqual(row["flags"], 0)

    def test_deep(self):
        """Complete, or flagged as cut and correct as far as it goes."""
        case = self.cases["deep"]
        row = self.row_of(case)
        if row["flags"] & PATH_CUT:
            self.assertTrue(case["path"].endswith(row["path"].split(b"...")[-1]), row["path"])
            self.assertIn(b"/p/p/p/deep", row["path"])
        else:
            self.assertEqual(row["path"], case["path"])

    def test_chroot(self):
        """As the process sees it or as all others do; the inode is the same."""
        case = self.cases["chroot"]
        self.assertIn(self.row_of(case)["path"], (case["path"], b"/inside"))

    def test_unlinked(self):
        case = self.cases["unlinked"]
        row = self.row_of(case)
        self.assertEqual(row["path"], case["path"])
        calls = [
            call for call in self.recording.trace.calls(op="read") if call["file"] == row["id"]
        ]
        self.assertTrue(all(call["flags"] & UNLINKED for call in calls))
        in_report = [
            row
            for row in self.recording.report["files"]
            if row["read"]["bytes"] == case["bytes"] and row["ino"] == case["ino"]
        ]
        self.assertEqual(len(in_report), 1)
        self.assertIn(os.fsdecode(case["path"]), in_report[0]["path"])
        self.assertIs(in_report[0]["deleted"], True)

    def test_replaced(self):
        """A file renamed over another is another file of the same name."""
        old, new = (self.row_of(self.cases[name]) for name in ("replaced_old", "replaced_new"))
        self.assertNotEqual(old["id"], new["id"])
        self.assertEqual(old["path"], self.cases["replaced_old"]["path"])
        self.assertEqual(new["path"], self.cases["replaced_new"]["path"])
        reads = {
            row["read"]["bytes"]
            for row in self.recording.report["files"]
            if os.fsencode(row["path"]).startswith(new["path"])
        }
        self.assertEqual(
            reads, {self.cases[name]["bytes"] for name in ("replaced_old", "replaced_new")}
        )

    def test_no_name(self):
        """A file that never had a path has a name that cannot be mistaken for one."""
        row = self.row_of(self.cases["memfd"])
        self.assertTrue(row["flags"] & NAMELESS)
        self.assertIn(b"memfd:a-memfd", row["path"])
        self.assertFalse(row["path"].startswith(b"/memfd"), row["path"])
        self.assertTrue(self.row_of(self.cases["nameless"])["flags"] & (NAMELESS | DELETED))

    def test_failed_look_ups(self):
        failed = {
            path
            for path, result in self.recording.trace.look_ups(("open", "openat"))
            if result == -2 or result == -36
        }
        for case, path in self.missing.items():
            with self.subTest(case):
                self.assertIn(path, failed)
        reported = {row["directory"]: row for row in self.recording.report["failed_lookups"]}
        here = [row for name, row in reported.items() if os.fsencode(name).rstrip(b"/") == self.top]
        self.assertEqual(len(here), 1)

    def test_failed_look_ups_as_printed(self):
        done = faultline("print", "--format", "json", self.recording.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = set()
        for line in done.stdout.splitlines():
            event = json.loads(line)
            if event["kind"] == "syscall_path" and event["result"] < 0:
                path = event.get("path_hex")
                printed.add(bytes.fromhex(path) if path else os.fsencode(event.get("path", "")))
        for case, path in self.missing.items():
            with self.subTest(case):
                self.assertIn(path, printed)

    def test_report_of_hostile_names(self):
        """JSON stays valid, text stays harmless, and no byte of a name is lost."""
        paths = {
            bytes.fromhex(row["path_hex"]) if row.get("path_hex") else row["path"].encode()
            for row in self.recording.report["files"]
        }
        for name in ("latin", "newline", "escape", "quotes", "utf-8", "long"):
            with self.subTest(name):
                self.assertIn(self.cases[name]["path"], paths)
        for command in (["report"], ["print"]):
            done = faultline(*command, self.recording.path)
            self.assertEqual(done.returncode, 0, done.stderr)
            done.stdout.decode()  # valid UTF-8, whatever the names
            self.assertNotIn(
                b"\x1b", done.stdout, f"{command}: a terminal would take this as a command"
            )
            self.assertNotIn(b"\x07", done.stdout)

    def test_inherited_descriptor(self):
        """A file that was open before the command's exec."""
        path = harness.random_file(f"{machine().new_dir()}/data", 5000)
        with open(path, "rb") as file:
            recording = Recording(["cat"], stdin=file)
        self.assertEqual(recording.file(path)["read"]["bytes"], 5000)
        with open(path, "rb") as file:
            self.assertEqual(recording.done.stdout, file.read())

    def test_overlay(self):
        """Overlay files, as in containers, have their names in the overlay: when read, and when
        mapped, which bypasses the overlay for the lower file."""
        layers = {name: machine().new_dir() for name in ("lower", "upper", "work")}
        for name in ("read", "mapped"):
            harness.random_file(f"{layers['lower']}/{name}", 3 << 20)
            harness.cool(f"{layers['lower']}/{name}")
        merged = machine().mount("-t", "overlay", "-o",
                                 ",".join(f"{key}dir={path}" for key, path in layers.items()),
                                 "overlay")
        script = (
            "import mmap, os, sys\n"
            "while os.read(3, 1 << 16): pass\n"
            "m = mmap.mmap(4, 0, prot=mmap.PROT_READ)\n"
            "sum(m[at] for at in range(0, len(m), 4096))\n"
        )
        command = ["sh", "-c", 'exec "$0" -c "$1" 3<"$2/read" 4<"$2/mapped"', harness.PYTHON,
                   script, merged]
        recording = Recording(command)
        self.assertEqual(recording.file(f"{merged}/read")["read"]["bytes"], 3 << 20)
        for name in ("read", "mapped"):
            with self.subTest(name):
                row = recording.file(f"{merged}/{name}")
                self.assertEqual(
                    harness.fetched(row), harness.resident_bytes(f"{layers['lower']}/{name}")
                )
        self.assertGreater(recording.file(f"{merged}/mapped")["mmap"]["faults"], 0)

    def test_kinds_without_paths(self):
        """Non-files have descriptive names: their kind, and their number or the kernel's name."""
        script = (
            "import os, socket\n"
            "a, b = os.pipe()\n"
            "s, t = socket.socketpair()\n"
            "e = os.eventfd(0)\n"
            "for fd in (b, s.fileno(), e): os.write(fd, bytes([1] * 8))\n"
        )
        recording = Recording([harness.PYTHON, "-c", script], "--file-types", "all")
        files = recording.trace.files
        names = [files[row["file"]]["path"] for row in recording.trace.calls(op="write", result=8)]
        self.assertEqual(len(names), 3)
        for name, start in zip(names, (b"pipe:[", b"socket:[", b"anon_inode:")):
            with self.subTest(start):
                self.assertTrue(name.startswith(start), name)

    def test_block_device(self):
        """A block device is recorded by default, under its name in /dev."""
        if not machine().loops:
            machine().file_system("ext4")
        device = machine().loops[0]
        recording = Recording(
            ["dd", f"if={device}", "of=/dev/null", "bs=4096", "count=25", "status=none"]
        )
        self.assertEqual(recording.file(device)["read"]["bytes"], 25 * 4096)


if __name__ == "__main__":
    unittest.main()
