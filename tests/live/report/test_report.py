# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A report's numbers, recomputed from the trace's rows in another way."""
import json
import os
import pwd
import re
import stat
import unittest

import numpy
import harness
from harness import Recording, faultline, machine, report_of


def union_ns(starts, ends):
    """The measure of the union of intervals."""
    order = numpy.argsort(starts, kind="stable")
    starts, ends = starts[order].astype("<i8"), ends[order].astype("<i8")
    reached = numpy.maximum.accumulate(ends)
    # What each interval adds beyond all that began before it.
    before = numpy.concatenate([starts[:1], reached[:-1]])
    return int(numpy.maximum(ends - numpy.maximum(starts, before), 0).sum())


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recording = Recording([machine().program("calls"), machine().new_dir()])
        cls.report, trace = cls.recording.report, cls.recording.trace
        kinds = [trace.rows(kind) for kind in ("syscall", "syscall_path")]
        names = ("time", "dur", "pid", "op", "result", "fetched_bytes")
        cls.rows = {
            name: numpy.concatenate([getattr(rows, name).astype("<i8") for rows in kinds])
            for name in names
        }
        cls.families = numpy.array([op["family"] for op in trace.header["operations"]])[
            cls.rows["op"]
        ]

    def union(self, chosen):
        starts = self.rows["time"][chosen]
        return union_ns(starts, starts + self.rows["dur"][chosen])

    def test_totals(self):
        """Families whose rows count nowhere else."""
        for name in ("metadata", "sync"):
            with self.subTest(name):
                chosen, ours = self.families == name, self.report["totals"][name]
                self.assertEqual(ours["count"], int(chosen.sum()))
                self.assertEqual(ours["errors"], int((self.rows["result"][chosen] < 0).sum()))
                self.assertEqual(ours["thread_time_ns"], int(self.rows["dur"][chosen].sum()))
                self.assertEqual(ours["time_ns"], self.union(chosen))

    def test_method(self):
        for op in ("read", "write"):
            with self.subTest(op):
                (ours,) = [
                    row
                    for row in self.report["methods"]
                    if (row["method"], row["op"]) == ("syscall", op)
                ]
                chosen = self.families == op
                results = self.rows["result"][chosen]
                self.assertEqual(ours["count"], int(chosen.sum()))
                self.assertEqual(ours["bytes"], int(results[results > 0].sum()))
                self.assertEqual(ours["thread_time_ns"], int(self.rows["dur"][chosen].sum()))
                self.assertEqual(ours["time_ns"], self.union(chosen))

    def test_processes(self):
        """A process's time is the union of its threads' times."""
        processes = harness.followed(self.report)
        self.assertEqual(len(processes), 3)
        for process in processes:
            for name in ("metadata", "sync"):
                with self.subTest(pid=process["pid"], name=name):
                    chosen = (self.families == name) & (self.rows["pid"] == process["pid"])
                    self.assertEqual(process[name]["count"], int(chosen.sum()))
                    self.assertEqual(process[name]["time_ns"], self.union(chosen))
                    self.assertLessEqual(process[name]["time_ns"], process[name]["thread_time_ns"])

    def test_operations(self):
        """Counts, sums and the slowest one exactly; percentiles to a tenth and the next row."""
        names = [op["name"] for op in self.recording.trace.header["operations"]]
        for row in self.report["operations"]:
            if row["layer"] != "syscall" or not row["count"]:
                continue
            with self.subTest(row["op"]):
                durations = numpy.sort(self.rows["dur"][self.rows["op"] == names.index(row["op"])])
                self.assertEqual(row["count"], len(durations))
                self.assertEqual(row["thread_time_ns"], int(durations.sum()))
                self.assertEqual(row["max_ns"], int(durations[-1]))
                for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
                    at = share * (len(durations) - 1)
                    low, high = durations[int(at)], durations[min(int(at) + 1, len(durations) - 1)]
                    self.assertGreaterEqual(row[name], int(low * 0.9), name)
                    self.assertLessEqual(row[name], int(high * 1.1) + 1, name)

    def test_files_add_up(self):
        """The files' bytes add up to the totals: none counts twice, none is missing."""
        for op in ("read", "write"):
            self.assertEqual(sum(row[op]["bytes"] for row in self.report["files"]),
                             self.report["totals"][op]["bytes"])
        self.assertEqual(sum(row["mmap"]["faults"] for row in self.report["files"]),
                         self.recording.trace.row_count("fault"))

    def test_pattern(self):
        """In Darshan's words: at or past the end of the previous one, exactly there, or before
        it."""
        directory = machine().new_dir()
        data = f"{directory}/data"
        script = (
            "import os, sys\n"
            "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
            "os.ftruncate(fd, 1 << 20)\n"
            "for i in range(10): os.pread(fd, 1000, i * 1000)\n"  # nine are consecutive
            "for i in range(20, 27): os.pread(fd, 1000, i * 2000)\n"  # seven skip a gap
            "for i in range(5): os.pread(fd, 1000, 3000 - i)\n"
        )  # five go back
        row = Recording(["/usr/bin/python3", "-c", script, data]).file(data)
        expected = {"sequential": 16, "consecutive": 9, "random": 5, "backward": 5}
        self.assertEqual({name: row["pattern"][name] for name in expected}, expected)

    def test_pattern_of_each_open(self):
        """Two descriptors take turns, each in order; a duplicate continues, a new open starts
        over."""
        data = f"{machine().new_dir()}/data"
        with open(data, "wb") as out:
            out.truncate(1 << 20)
        script = (
            "import os, sys\n"
            "def begin(): return os.open(sys.argv[1], os.O_RDONLY)\n"
            "low, high = begin(), begin()\n"
            "for i in range(64):\n"
            "    os.pread(low, 1000, i * 1000)\n"
            "    os.pread(high, 1000, (100 + i) * 1000)\n"
            "other = os.dup(low)\n"
            "os.close(low)\n"
            "for i in range(64, 74): os.pread(other, 1000, i * 1000)\n"
            "for i in range(10, 0, -1):\n"
            "    each = begin()\n"
            "    os.pread(each, 1000, i * 1000)\n"
            "    os.close(each)\n"
        )
        row = Recording(["/usr/bin/python3", "-c", script, data]).file(data)
        expected = {"sequential": 136, "consecutive": 136, "random": 0}
        self.assertEqual({name: row["pattern"][name] for name in expected}, expected)

    def test_page(self):
        """run --html leaves the trace's page next to it, owned by the command's user."""
        directory = machine().new_dir()
        os.chmod(directory, 0o777)
        page, trace = f"{directory}/page.html", f"{directory}/trace.flt"
        command = ["/usr/bin/head", "-c", "5000", "/usr/bin/python3"]
        done = faultline("run", "-u", "nobody", "-o", trace, "--html", page, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in (page, trace):
            about = os.stat(path)
            self.assertEqual((about.st_uid, stat.S_IMODE(about.st_mode)),
                             (pwd.getpwnam("nobody").pw_uid, 0o600), path)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        data = re.search('<script type="application/json" id="data">(.*?)</script>', text, re.S)
        tables = {table["name"]: table for table in json.loads(data[1])["tables"]}
        names = [column["name"] for column in tables["totals"]["columns"]]
        totals = dict(zip(names, tables["totals"]["rows"][0]))
        self.assertEqual(totals["read.bytes"], report_of(trace)["totals"]["read"]["bytes"])
        # Made later, through sudo: owned by the user, too, through a symlink, and only where the
        # user may write.
        link, real = f"{directory}/link.html", f"{directory}/real.html"
        nobody = {**os.environ, "SUDO_UID": str(pwd.getpwnam("nobody").pw_uid)}
        with open(real, "w", encoding="utf-8"):
            pass
        os.symlink("real.html", link)
        done = faultline("report", "--html", link, trace, env=nobody)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.readlink(link), "real.html")
        about = os.stat(real)
        self.assertEqual((about.st_uid, stat.S_IMODE(about.st_mode)),
                         (pwd.getpwnam("nobody").pw_uid, 0o600))
        with open(real, encoding="utf-8") as file:
            self.assertIn('id="data"', file.read())
        os.chmod(directory, 0o755)
        done = faultline("report", "--html", f"{directory}/page3.html", trace, env=nobody)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"Permission denied", done.stderr)
        os.chmod(directory, 0o777)
        # A command that could not be started leaves neither.
        page, trace = f"{directory}/page2.html", f"{directory}/trace2.flt"
        done = faultline("run", "-o", trace, "--html", page, "--", f"{directory}/none")
        self.assertEqual(done.returncode, 127)
        self.assertFalse(os.path.exists(page) or os.path.exists(trace))


if __name__ == "__main__":
    unittest.main()
