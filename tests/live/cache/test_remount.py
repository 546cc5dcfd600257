# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A mount or disk whose device number was another's before is not taken for that one."""
import json
import os
import shutil
import subprocess
import unittest

import flights
import harness
from harness import Traced, machine
from watching import Watching

TRIES = 40
FUSE_READ = 15
READS = {"first": 5, "second": 3}
ALONE = True  # others' mounts take the numbers

# Reads a file of each directory that comes as a line of input: DIRECTORY NAME COUNT.
READING = """
import os, sys
print(flush=True)
for line in sys.stdin:
    directory, name, count = line.split()
    file = os.open(f"{directory}/{name}", os.O_RDONLY)
    for i in range(int(count)):
        os.pread(file, 1000, i * 1000)
    os.close(file)
    print(flush=True)
"""


def packed(dev):
    return os.major(dev) << 20 | os.minor(dev)


class Reader:
    """A program that reads on command."""

    def __init__(self, *prefix):
        self.process = machine().start([*prefix, *flights.python(READING)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"\n"

    def read(self, directory, name, count):
        self.process.stdin.write(f"{directory} {name} {count}\n".encode())
        self.process.stdin.flush()
        assert self.process.stdout.readline() == b"\n"

    def end(self):
        self.process.communicate(timeout=harness.LIMIT)
        return self.process.returncode


class Recorded(Reader, Traced):
    file = harness.Recording.file

    def __init__(self):
        self.path = f"{machine().new_dir()}/trace.flt"
        super().__init__(machine().faultline, "run", "-q", "-o", self.path, "--")


class Daemon:
    """A mount by fuse_serve."""

    def __init__(self, test, source):
        self.source, self.mount = source, machine().new_dir()
        self.log = f"{machine().new_dir()}/log"
        self.daemon = machine().start([machine().program("fuse_serve"), self.mount, source, "kind",
                                       "0", self.log], stdout=subprocess.PIPE)
        test.addCleanup(self.end)
        if self.daemon.stdout.readline() != b"ready\n":
            test.skipTest("no file system in user space can be mounted")
        self.dev, self.name = os.stat(self.mount).st_dev, f"{source} (fuse.kind)"

    def end(self):
        if os.path.ismount(self.mount):
            subprocess.run(["umount", self.mount], stderr=subprocess.DEVNULL)
        self.daemon.wait()
        self.daemon.stdout.close()

    def reads(self):
        """Number and bytes of the reads that the daemon has answered."""
        with open(self.log) as file:
            rows = [[int(word) for word in line.split()] for line in file]
        moved = [row[5] for row in rows if row[0] == FUSE_READ]
        return len(moved), sum(moved)


class Remounted:
    def serve_twice(self, reader):
        """Reads from two mounts that have the same number, one after the other."""
        for i in range(TRIES):
            mounts = [Daemon(self, f"first {i}")]
            reader.read(mounts[0].mount, "direct", READS["first"])
            mounts[0].end()
            mounts.append(Daemon(self, f"second {i}"))
            reader.read(mounts[1].mount, "direct", READS["second"])
            mounts[1].end()
            if mounts[0].dev == mounts[1].dev:
                return mounts
        raise self.skipTest("other mounts take the numbers")


class Remounts(unittest.TestCase, Remounted):
    def test_fuse(self):
        recording = Recorded()
        mounts = self.serve_twice(recording)
        self.assertEqual(recording.end(), 0)
        number = f"{os.major(mounts[0].dev)}:{os.minor(mounts[0].dev)}"
        for mount in mounts:
            (row,), (count, moved) = [row for row in recording.report["devices"]
                                      if row["name"] == mount.name], mount.reads()
            self.assertEqual((row["dev"], count), (number, READS[mount.source.split()[0]]))
            for read in row["all"]["read"], row["read"]:
                self.assertEqual((read["requests"], read["bytes"]), (count, moved))
            file = recording.file(f"{mount.mount}/direct")
            self.assertEqual((file["read"]["count"], file["read"]["bytes"]), (count, moved))

    def test_loop(self):
        """A clone of a disk image, in the same loop device after the original."""
        directory = machine().new_dir()
        images = [f"{directory}/{name}" for name in READS]
        with open(images[0], "wb") as file:
            file.truncate(16 << 20)
        harness.run("mkfs.ext4", "-q", "-F", images[0])
        mount = machine().new_dir()
        harness.run("mount", "-o", "loop", images[0], mount)
        harness.random_file(f"{mount}/data", 1 << 20)
        harness.run("umount", mount)
        shutil.copyfile(*images)
        loop = harness.run("losetup", "--find", "--show", images[0]).decode().strip()
        self.addCleanup(subprocess.run, ["losetup", "-d", loop], stderr=subprocess.DEVNULL)
        recording, paths, numbers = Recorded(), [], []
        for image, count in zip(images, READS.values()):
            if paths:
                harness.run("losetup", "-d", loop)
                harness.run("losetup", loop, image)
            mount = machine().new_dir()
            harness.run("mount", loop, mount)
            self.addCleanup(subprocess.run, ["umount", mount], stderr=subprocess.DEVNULL)
            paths.append(f"{mount}/data")
            numbers.append(os.stat(paths[-1])[:3])
            recording.read(mount, "data", count)
            harness.run("umount", mount)
        self.assertEqual(recording.end(), 0)
        self.assertEqual(numbers[0], numbers[1])
        for path, count in zip(paths, READS.values()):
            self.assertEqual(recording.file(path)["read"]["count"], count)
        rows = [row for row in recording.report["devices"] if row["name"] == os.path.basename(loop)]
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertGreater(row["read"]["requests"], 0)


class Monitored(Watching, Remounted):
    def requests(self, watched, mount):
        samples = watched.scrape()
        return tuple(samples.sum(f"faultline_storage_{name}_total", device=mount.name, op="read")
                     for name in ("requests", "bytes"))

    def test_fuse(self):
        """Each mount has its own counters; a later one of the same source adds to the first's."""
        watched, reader = self.watch(), Reader()
        mounts = self.serve_twice(reader)
        counts = {mount: mount.reads() for mount in mounts}
        paths = {f"{mount.mount}/direct": count[0] for mount, count in counts.items()}
        again = Daemon(self, mounts[0].source)
        reader.read(again.mount, "direct", READS["first"])
        again.end()
        counts[mounts[0]] = tuple(map(sum, zip(counts[mounts[0]], again.reads())))
        for mount, count in counts.items():
            self.assertTrue(
                harness.wait_until(lambda: self.requests(watched, mount) == count, 30),
                (mount.source, self.requests(watched, mount), count))
        files = [file for job in json.loads(
            watched.get("/jobs?jobs=4096&processes=0&files=48")[2])["jobs"]
            for file in job["files"] if file["path"] in paths]
        self.assertEqual({file["path"] for file in files}, set(paths))
        for file in files:
            read, = [one for one in file["methods"] if one["op"] == "read"]
            self.assertEqual(read["count"], paths[file["path"]])
        self.assertEqual(reader.end(), 0)
        self.assertEqual(watched.end(), 0)


if __name__ == "__main__":
    unittest.main()
