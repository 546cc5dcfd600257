# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Mode profile: totals equal those of the same program's events, of strace, of the program
itself."""
import json
import os
import signal
import sqlite3
import subprocess
import time
import unittest

import harness
from harness import Attached, Recording, account, faultline, machine, static_program

PROFILE = ("--mode", "profile")
COUNTS = ("count", "errors", "bytes", "faults", "opens", "processes", "size_bytes")


SMALL_READS = """
import os, sys
path = os.path.join(sys.argv[1], "small")
fd = os.open(path, os.O_RDWR | os.O_CREAT)
os.write(fd, bytes(1 << 20))
for i in range(30000):
    os.pread(fd, 16, i * 16)
"""


def counts_of(row):
    """The values of a table's row that do not depend on clocks or caches."""
    found = {}
    for name, value in row.items():
        if isinstance(value, dict) and name not in ("mmap", "mmap_read", "mmap_write", "overwrite", "pattern"):
            found.update({f"{name}.{key}": number for key, number in counts_of(value).items()})
        elif name in COUNTS and not isinstance(value, dict):
            found[name] = value
    return found


def by_method(recording):
    return {
        (row["method"], row["op"]): (row["count"], row["bytes"])
        for row in recording.report["methods"]
        if row["method"] not in ("mmap", "unknown")
    }


def by_file(recording, directory):
    """Counts of the files in a directory, by their names in it."""
    return {
        row["path"][len(directory) :]: counts_of(row)
        for row in recording.report["files"]
        if row["path"] and row["path"].startswith(directory)
    }


def by_process(recording):
    return sorted(
        (row["comm"] or "", sorted(counts_of(row).items()))
        for row in harness.followed(recording.report)
    )


def by_class(recording):
    totals = recording.report["totals"]
    return {name: counts_of(totals[name]) for name in ("read", "write", "metadata", "sync")}


class Profile(unittest.TestCase):
    maxDiff = None

    def record_calls(self, *arguments):
        directory = machine().new_dir()
        return Recording([machine().program("calls"), directory], *arguments), directory

    def check_whole(self, recording):
        """Sums by process, and by file where there is one, equal the kernel's own counts."""
        report, processes = recording.report, harness.followed(recording.report)
        self.assertEqual(report["trace"]["lost"]["total"], 0)
        self.assertEqual(report["trace"]["unaccounted"], 0)
        for name in ("read", "write", "metadata", "sync"):
            for part in ("count", "errors", "bytes", "thread_time_ns", "fetched_bytes"):
                if report["totals"][name].get(part) is None or part not in processes[0][name]:
                    continue
                self.assertEqual(sum(row[name][part] for row in processes),
                                 report["totals"][name][part], (name, part))
        self.assertEqual(
            sum(row["mmap_read"]["faults"] + row["mmap_write"]["faults"] for row in processes),
            sum(row["count"] for row in report["operations"] if row["op"] == "fault"),
        )

    def test_as_events_and_strace(self):
        """Every call, in processes and threads: by class, method, file and process."""
        # Attribution of device requests needs events.
        layers = ("--layers", "syscall,fault,pagecache")
        events, its = self.record_calls(*layers)
        sums, ours = self.record_calls(*PROFILE, *layers)
        self.check_whole(sums)
        self.assertEqual(sums.operations(), events.operations())
        expected = harness.expected_counts(machine().program("calls"))
        for call, counts in sums.operations().items():
            self.assertEqual(counts, expected.get(call), call)
        self.assertEqual(by_class(sums), by_class(events))
        self.assertEqual(by_method(sums), by_method(events))
        self.assertEqual(by_file(sums, ours), by_file(events, its))
        self.assertEqual(by_process(sums), by_process(events))
        self.assertEqual(sums.trace.row_count("syscall") + sums.trace.row_count("syscall_path"), 0)

    def test_bytes(self):
        """Bytes by method are the sum of the calls' results, including O_DIRECT and sendfile."""
        directory, out = machine().new_dir("ext4"), f"{machine().new_dir()}/out.json"
        recording = Recording([machine().program("sums"), directory, out], *PROFILE)
        self.check_whole(recording)
        methods, truth = by_method(recording), account(out)
        files = by_file(recording, directory)
        for op in ("read", "write"):
            direct = truth[f"direct_{op}"]
            self.assertEqual(methods["direct", op], (direct["count"], direct["bytes"]))
            self.assertEqual(methods["splice", op][1], truth["transfer"]["bytes"])
            self.assertEqual(sum(row[f"{op}.bytes"] for row in files.values()),
                             truth[op]["bytes"] + direct["bytes"] + truth["transfer"]["bytes"])

    def test_faults(self):
        """Major faults match getrusage, and the bytes that all faults fetched match mincore."""
        directory = machine().new_dir("ext4")
        data, out = harness.random_file(f"{directory}/data", 8 << 20), f"{directory}/out.json"

        def record():
            harness.cool(data)
            job = [machine().program("mapper"), "random", data, out, f"{directory}/other"]
            return Recording(job, *PROFILE), account(out)

        recording, truth = harness.undisturbed(record, lambda seen: seen[1]["resident_before"] == 0)
        self.check_whole(recording)
        row = recording.file(data)
        self.assertEqual(row["mmap"]["major"], truth["major"])
        self.assertEqual(harness.fetched(row), truth["resident"] * truth["page_bytes"])

    def test_unknown_values(self):
        """Null in JSON, noted in the text; never 0."""
        recording, _ = self.record_calls(*PROFILE)
        report = recording.report
        self.assertEqual(report["trace"]["mode"], "profile")
        self.assertIsNone(report["slowest"])
        for finding in report["findings"]:  # only threads' states are exact
            self.assertEqual(finding["cost_ns"] is None, finding["cost_is"] == "at most", finding)
        self.assertIsNone(report["totals"]["read"]["time_ns"])
        self.assertGreater(report["totals"]["read"]["thread_time_ns"], 0)
        self.assertIsNone(report["files"][0]["pattern"]["random"])
        for row in report["operations"]:
            self.assertIsNone(row["max_ns"])
            if row["op"] == "pread64":
                self.assertLessEqual(row["thread_time_ns"] // row["count"], row["p99_ns"])
                self.assertEqual(sum(row["sizes"].values()), row["count"])
        first = faultline("report", recording.path).stdout.decode()
        self.assertIn("aggregated in the kernel: all operations", first)
        self.assertIn("(thread time)", first)

    def test_exported(self):
        """A database has the totals of operations, and findings with their cost as far as known;
        it notes that their events are missing."""
        recording = Recording(["/usr/bin/python3", "-c", SMALL_READS, machine().new_dir()], *PROFILE)
        self.assertTrue(recording.report["findings"])
        path = os.path.join(machine().new_dir(), "a.db")
        reported = faultline("export", "--to", "sqlite", "-o", path, recording.path)
        self.assertEqual(reported.returncode, 0, reported.stderr)
        self.assertIn(b"aggregated", reported.stderr)
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        counts = dict(database.execute("SELECT op, count FROM operations WHERE layer = 'syscall'"))
        self.assertGreater(counts["pread64"], 0)
        self.assertEqual(
            counts, {row["op"]: row["count"] for row in recording.report["operations"]
                     if row["layer"] == "syscall"})
        found = database.execute("SELECT id, cost_ns, cost_bytes FROM findings").fetchall()
        self.assertEqual(found, [(row["id"], row["cost_ns"], row["cost_bytes"])
                                 for row in recording.report["findings"]])
        for view in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            database.execute(f"SELECT * FROM {view[0]}").fetchall()

    def test_spans(self):
        """Spans are recorded as usual; the I/O inside them is unknown."""
        directory = machine().new_dir()
        job = [machine().program("span_marks"), f"{directory}/account", "threads"]
        sums, events = Recording(job, *PROFILE), Recording(job)

        def spans(recording):
            return sorted((row["name"], row["count"]) for row in recording.report["spans"])

        self.assertEqual(spans(sums), spans(events))
        self.assertGreater(len(spans(sums)), 0)
        for row in sums.report["spans"]:
            self.assertGreater(row["time_ns"], 0)
            self.assertIsNone(row["io_time_ns"])
        # The same values for spans; concurrent I/O is null, not 0.
        for table in "overlap", "epochs", "steps":
            self.assertEqual(sums.report[table] is None, events.report[table] is None, table)
        for row in (sums.report["steps"] or []) + (sums.report["epochs"] or []):
            self.assertIsNone(row["io_ns"])
            self.assertIsNone(row["read_bytes"])

    def test_few_slots(self):
        """Files without a slot of their own are in the "other" group; together they are
        complete."""
        directory = machine().new_dir()
        paths = [f"{directory}/{number:04d}" for number in range(300)]
        for path in paths:
            with open(path, "w") as file:
                file.write(path)
        job = ["cat", *paths]
        few = Recording(job, *PROFILE, "--profile-slots", "16", "--interval", "20ms")
        many = Recording(job, *PROFILE)
        self.check_whole(few)
        self.check_whole(many)
        for found in few, many:
            self.assertEqual(by_class(found), by_class(few))
            self.assertEqual(by_process(found), by_process(few))
        files = [by_file(many, directory)[f"/{number:04d}"] for number in range(300)]
        self.assertTrue(all(row == files[0] for row in files))
        self.assertEqual(files[0]["read.bytes"], len(paths[0]))
        for name in ("read.count", "read.bytes", "metadata.count", "opens"):
            def total(recording):
                return sum(counts_of(row)[name] for row in recording.report["files"])

            self.assertEqual(total(few), total(many), name)
        self.assertGreater(few.file("(other files)")["read"]["count"], 0)
        self.assertIn("--profile-slots", faultline("report", few.path).stdout.decode())

    def test_stopped_tracer(self):
        """While nothing reads them, sums continue: none is lost, and all are right."""
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 1 << 20), f"{directory}/out.json"
        path = f"{directory}/trace.flt"
        job = [static_program("hotread"), data, out, "3", "seconds", "2"]
        run = machine().start(
            [machine().faultline, "run", "-q", "-o", path, *PROFILE, "--buffer", "4K", "--", *job]
        )
        self.assertTrue(harness.wait_until(lambda: os.path.exists(out)))
        run.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(harness.LIMIT), 0)
        report, reads = harness.report_of(path), account(out)["reads"]
        self.assertEqual(report["trace"]["lost"]["total"], 0)
        (row,) = [row for row in report["files"] if row["path"] == data]
        self.assertEqual((row["read"]["count"], row["read"]["bytes"]), (reads, reads * 4096))

    def test_attached(self):
        """For running processes, from the moment it reports that it records."""
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 1 << 20), f"{directory}/out.json"
        script = 'read line; exec "$0" "$@"'
        work = [static_program("hotread"), data, out, "2", "reads", "30000"]
        job = machine().start(["sh", "-c", script, *work], stdin=subprocess.PIPE)
        attached = Attached("-q", *PROFILE, "-p", str(job.pid))
        job.communicate(b"\n")
        self.assertEqual(attached.end(), (0, ""))
        report, reads = attached.report, account(out)["reads"]
        (row,) = [row for row in report["files"] if row["path"] == data]
        self.assertEqual((row["read"]["count"], row["read"]["bytes"]), (reads, reads * 4096))
        self.assertEqual(report["trace"]["lost"]["total"], 0)

    def test_timeline(self):
        """Sums are written as they grow: earlier activity comes before later activity."""
        directory = machine().new_dir()
        data = harness.random_file(f"{directory}/data", 1 << 20)
        script = 'cat "$0" "$0" >/dev/null; sleep 0.6; cat "$0" >/dev/null'
        recording = Recording(["sh", "-c", script, data], *PROFILE, "--interval", "100ms")
        rows = recording.trace.rows("profile")
        (ours,) = recording.trace.file_ids(data)
        reads = (rows.file == ours) & (rows.bytes > 0)
        times = rows.time[reads].astype("<i8")
        self.assertGreater(int(times.max() - times.min()), 500_000_000)
        self.assertEqual(int(rows.bytes[reads].sum()), 3 << 20)
        done = faultline("report", "--table", "timeline", "--format", "json", recording.path)
        bins = json.loads(done.stdout)["timeline"]
        totals = recording.report["totals"]
        self.assertEqual(
            sum(row["operations"] for row in bins),
            sum(totals[name]["count"] for name in ("read", "write", "metadata", "sync"))
            + sum(totals[name]["faults"] for name in ("mmap_read", "mmap_write")),
        )

    def test_auto(self):
        """One very active process is aggregated; the other is recorded call by call."""
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 1 << 20), f"{directory}/out.json"
        script = '"$0" "$1" "$2" 2 reads 200000; cat "$1" >/dev/null'
        job = ["sh", "-c", script, static_program("hotread"), data, out]
        recording = Recording(job, "--mode", "auto", "--auto-rate", "5000")
        self.check_whole(recording)
        reads = account(out)["reads"]
        self.assertGreaterEqual(recording.operations()["pread64"][0], reads)
        row = recording.file(data)
        self.assertEqual(row["read"]["bytes"], reads * 4096 + (1 << 20))
        reported = recording.trace.rows("syscall").pid
        summed = set(recording.trace.rows("profile").pid.tolist())
        pids = {row["comm"]: row["pid"] for row in recording.report["processes"]}
        self.assertEqual(summed, {pids["hotread-static"]})
        self.assertGreater(int((reported == pids["hotread-static"]).sum()), 0, "it began with events")
        self.assertGreater(int((reported == pids["cat"]).sum()), 0)
        first = faultline("report", recording.path).stdout.decode()
        self.assertRegex(first, f"aggregated in the kernel: .* of process {pids['hotread-static']}")

    def test_bad_options(self):
        for options in (
            ("--mode", "sums"),
            ("--interval", "1ms"),
            ("--interval", "2h"),
            ("--profile-slots", "99999999"),
            ("--profile-slots", "x"),
        ):
            done = faultline("run", *PROFILE, *options, "--", "true")
            self.assertEqual(done.returncode, 125, options)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
