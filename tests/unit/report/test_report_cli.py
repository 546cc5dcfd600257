# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The command report: one table, sums by key, comparisons, limits, GPU profiles. Needs no root."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _command import BUILD, SAMPLE, SPANS, Command, call, events  # noqa: E402

SAMPLE_START_NS = 1767600001 * 10**9

# The types of --list-columns, and the corresponding JSON types.
TYPES = {"integer": (int,), "real": (float, int), "bool": (bool,), "text": (str, list, dict)}


def cells(table, column):
    """Non-null values of a report column, by its dotted name."""
    for row in table if isinstance(table, list) else [table]:
        for name in column.split("."):
            row = row.get(name) if isinstance(row, dict) else None
        if row is not None:
            yield row


class Report(Command):
    def test_explain(self):
        listed = call("report", "--explain", "list")
        self.assertEqual((listed.returncode, listed.stderr), (0, b""))
        names = [line.split(None, 1)[0] for line in listed.stdout.decode().splitlines()]
        self.assertGreater(len(names), 20)
        for name in names:
            answer = call("report", "--explain", name)
            self.assertEqual((answer.returncode, answer.stderr), (0, b""))
            self.assertTrue(answer.stdout.startswith(name.encode() + b": "), answer.stdout)
            # For readers: no template, and no column name unless requested.
            for text in listed.stdout.decode(), answer.stdout.decode():
                self.assertNotRegex(text, r"[{}\[\]]|\|\|")
            self.assertLess(answer.stdout.index(b"What to do:"), answer.stdout.index(b"See also:"))
            self.assertNotIn(b"Evidence:", answer.stdout)
            self.assertNotRegex(answer.stdout, rb"(at least|at most),?( if|:)? *\n")
            more = call("report", "-v", "--explain", name)
            self.assertIn(b"Evidence:", more.stdout)
        self.refused("report", "--explain", "none-such", naming="none-such")

    def test_without_io(self):
        """Of what was not recorded there is neither an empty table nor an empty line."""
        with open(SAMPLE, "rb") as file:
            trace = self.file("cut.flt", file.read(1200))
        answer = call("report", trace)
        self.assertEqual(answer.returncode, 0)
        self.assertIn(b"Processes\n", answer.stdout)
        self.assertNotIn(b"all I/O", answer.stdout)
        self.assertNotIn(b"\n\n\n", answer.stdout)

    def test_columns_refused(self):
        """By its title, or misspelled."""
        for column, meant in ("name", "did you mean comm?"), ("ranc", "did you mean rank?"), ("xyzzy", "see --list"):
            for option in "--columns", "--sort":
                self.refused("report", "--table", "processes", option, column, SAMPLE, naming=meant)

    def test_fail_above_refused(self):
        for wanted, naming in (
            ("nothing", "no such measure; use one of findings, time"),
            ("files.size_bytes", "no such measure"),
            ("", "no such measure"),
            ("read,,io", "no such measure"),
            ("trace.command", "not a time, a number"),
            ("time=3x", "time=3x: not a limit; use a percentage (10%), a time"),
            ("time=10%+5%", "time=10%+5%"),
            ("read=", "bytes (64M)"),
            ("read=-1", "bytes (64M)"),
            ("operations=1s", "a count (100)"),
            ("findings=bad", "not one of note, low, medium, high"),
            ("time=10%", "a percentage requires --against TRACE"),
        ):
            with self.subTest(wanted):
                self.refused("report", "--fail-above", wanted, SAMPLE, naming=naming)
        for more in ("--table", "files"), ("--by", "file"), ("--slowest", "3"), ("--html", "x"):
            self.refused("report", "--fail-above", "read=1G", *more, SAMPLE, naming="--fail-above")

    def test_against_names_both(self):
        spans = SAMPLE.replace("sample", "spans")
        lines = call("report", "--against", SAMPLE, spans).stdout.decode().splitlines()
        self.assertTrue(lines[0].startswith(f"before  {SAMPLE}, "), lines[0])
        self.assertTrue(lines[1].startswith(f"now     {spans}, "), lines[1])

    def test_fail_above(self):
        """Within the limits: 0; worse: 3 and one line; an unknown value proves nothing: 1. The
        report is always printed."""
        sample = self.report()
        read = sample["totals"]["read"]["bytes"]
        for wanted, status, state, naming in (
            (f"read={read}", 0, "within", b""),
            (f"time=1h,read={read - 1}", 3, "worse", b"limits exceeded: read\n"),
            ("totals.storage_read.requests=9", 1, "not known", b"totals.storage_read.requests\n"),
            ("totals.storage_read.requests=9,errors", 3, "worse", b"limits exceeded: errors\n"),
            ("io=1h", 1, "not known", b"so not checked: io\n"),  # events were lost
        ):
            with self.subTest(wanted):
                done = call("report", "--format", "json", "--fail-above", wanted, SAMPLE)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertTrue(done.stderr.endswith(naming), done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), status != 0)
                answer = json.loads(done.stdout)
                self.assertIn(state, [row["state"] for row in answer.pop("allowed")])
                self.assertEqual(answer, sample)
        text = call("report", "--fail-above", f"read={read - 1}", SAMPLE)
        self.assertTrue(text.stdout.startswith(b"Limits\n"))
        self.assertIn(b"\nworse  read ", text.stdout)
        self.assertTrue(text.stdout.endswith(call("report", SAMPLE).stdout))

    def test_fail_above_an_earlier_run(self):
        # SPANS has layers that SAMPLE lacks.
        done = call("report", "--format", "json", "--against", SPANS, "--fail-above",
                    "time=1%,read,findings", SAMPLE)
        self.assertEqual((done.returncode, done.stderr.split()[-1]), (1, b"findings"))
        answer = json.loads(done.stdout)
        self.assertEqual([row["state"] for row in answer["allowed"]],
                         ["within", "within", "not known"])
        time = answer["allowed"][0]
        self.assertEqual((time["measure"], time["unit"], time["state"]), ("time", "ns", "within"))
        self.assertEqual(time["before"], answer["compared"][0]["before"]["time_ns"])
        self.assertEqual(time["allowed"], time["before"] + time["before"] // 100)

    def test_report(self):
        done = call("report", "--top", "1", SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(), r"(?m) other \(2\)$")
        self.assertNotRegex(call("report", "--top", "0", SAMPLE).stdout.decode(),
                            r"(?s)\nFiles\n.*other \(")
        report = self.report()
        self.assertEqual(report["schema"], 2)
        self.assertEqual(report["trace"]["files"], [SAMPLE])

    def test_one_table(self):
        """Columns, order, rows and format as requested; lists of the choices."""
        done = call("report", "--table", "files", "--columns", "path,read.bytes",
                    "--sort", "read.bytes", "--top", "1", "--format", "csv", SAMPLE)
        self.assertEqual(done.stdout, b"path,read.bytes\r\n/data/train.bin,147456\r\n")
        done = call("report", "--table", "files", "--columns", "path", "--format", "json", SAMPLE)
        (name, rows) = list(json.loads(done.stdout).items())[1]
        self.assertEqual((name, rows[0].keys() - {"path_hex"}), ("files", {"path"}))
        self.assertEqual(len(rows), len(self.report()["files"]))
        done = call("report", "--table", "files", "--columns", "path", "--top", "1", SAMPLE)
        self.assertIn(b"and 2 more (--top 0 shows all)", done.stdout)
        done = call("report", "--table", "timeline", "--format", "csv", SAMPLE)
        self.assertEqual(done.stdout.count(b"\r\n"), 1 + len(self.report()["timeline"]))
        done = call("report", "--table", "findings", "--columns", "id,evidence", "--format", "csv", SAMPLE)
        lines = list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))[1:]
        self.assertEqual(len(lines), len(self.report()["findings"]))
        for (name, evidence), row in zip(lines, self.report()["findings"]):
            self.assertEqual(name, row["id"])
            texts = {key: "" if value is None else f"{value:.17g}" if isinstance(value, float) else str(value)
                     for key, value in row["evidence"].items()}
            self.assertEqual(dict(pair.split("=", 1) for pair in evidence.split("; ")), texts)
        done = call("report", "--table", "lines", "--format", "csv", SAMPLE)  # its layer is off
        self.assertRegex(done.stdout, rb"\Afile,line,function,[a-z_.,]+\r\n\Z")
        self.assertEqual(done.stderr, b"faultline: table lines: requires layer stack\n")
        done = call("report", "--table", "lines", "--columns", "line,file", "--format", "csv", SAMPLE)
        self.assertEqual(done.stdout, b"line,file\r\n")
        self.refused("report", "--table", "lines", "--columns", "nothing", "--format", "csv", SAMPLE, naming="nothing")
        done = call("report", "--table", "lines", "--list-columns", SAMPLE)
        self.assertIn(b"qualified name of its function", done.stdout)
        tables = call("report", "--list-tables", "--format", "json", SAMPLE)
        for row in json.loads(tables.stdout)["tables"]:
            self.assertTrue(row["meaning"], row)
            if row["rows"] is None:
                continue
            columns = call("report", "--list-columns", "--table", row["table"], "--format",
                           "json", SAMPLE)
            for column in json.loads(columns.stdout)["columns"]:
                self.assertTrue(column["meaning"], (row["table"], column))
                for cell in cells(self.report().get(row["table"], []), column["column"]):
                    self.assertIn(type(cell), TYPES[column["type"]], (row["table"], column))
        named = json.loads(call("report", "--list-tables", "--format", "json").stdout)["tables"]
        self.assertEqual([row["table"] for row in named],
                         [row["table"] for row in json.loads(tables.stdout)["tables"]])
        self.assertEqual({row["rows"] for row in named}, {None})
        for row in named:
            done = call("report", "--list-columns", "--table", row["table"], "--format", "json")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            if row["table"] in ("files", "spans", "overlap"):
                with_trace = call("report", "--list-columns", "--table", row["table"],
                                  "--format", "json", SPANS)
                recorded = json.loads(with_trace.stdout)["columns"]
                absent = [column["column"] for column in recorded
                          if column["meaning"] == "its layer was not recorded"]
                self.assertLess(len(absent), len(recorded))
                self.assertEqual([column for column in json.loads(done.stdout)["columns"]
                                  if column["column"].split(".")[0] not in absent],
                                 [column for column in recorded
                                  if column["column"] not in absent])
        done = call("report", "--list-columns", "--table", "totals")
        self.assertIn(b"anonymous_faults.count", done.stdout)
        self.assertNotIn(b" more (", done.stdout)  # a requested table is complete
        self.assertIn(b"metadata", call("report", "--list-columns", "--by", "rank").stdout)
        self.refused("report", "--list-columns", "--table", "filse", naming="filse")
        self.refused("report", "--table", "filse", SAMPLE, naming="filse")
        self.refused("report", "--table", "files", "--columns", "paht", SAMPLE, naming="paht")
        self.refused("report", "--columns", "path", SAMPLE, naming="--columns")
        self.refused("report", "--format", "csv", SAMPLE, naming="--format csv")
        self.refused("report", "--by", "colour", SAMPLE, naming="colour")
        self.refused("report", "--from", "2", "--until", "1", SAMPLE, naming="--until")
        self.refused("report", "--op", "raed", SAMPLE, naming="raed")

    def test_against(self):
        done = call("report", SPANS, "--against", SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"the run", done.stdout)
        # Paths without a change are left out, unless --top asks for them.
        same = SAMPLE, "--against", SAMPLE
        self.assertNotIn(b"Paths, largest change first", call("report", *same).stdout)
        self.assertIn(b"Paths, largest change first", call("report", "--top", "3", *same).stdout)
        done = call("report", "--format", "json", SAMPLE, "--against", SAMPLE)
        data = json.loads(done.stdout)
        self.assertEqual({row["change_ns"] for row in data["compared_paths"]}, {0})
        self.assertLessEqual({row["state"] for row in data["compared_findings"]}, {"stayed"})
        self.assertIsNone(data["compared_lines"])
        self.refused("report", SAMPLE, "--against", "no-such.flt", naming="no-such.flt")
        # Several traces on each side; a comma in a file name is not a separator.
        both = [SAMPLE, SPANS]
        done = call("report", "--format", "json", *both, "--against", ",".join(both))
        data = json.loads(done.stdout)
        self.assertEqual({row["change_ns"] for row in data["compared_paths"]}, {0})
        self.refused("report", SAMPLE, "--against", f"{SAMPLE},no-such.flt", naming="no-such.flt")
        self.refused("report", SAMPLE, "--against", f"{SAMPLE},{SAMPLE}", naming="the same trace")
        comma = self.path("a,b.flt")
        os.symlink(os.path.abspath(SAMPLE), comma)
        self.assertEqual(call("report", SAMPLE, "--against", comma).returncode, 0)
        self.refused("report", SAMPLE, "--against", SAMPLE, "--table", "files",
                     naming="--against")

    def test_against_gpus(self):
        """Each run has its own GPU profile; a single one is reported as a mismatch."""
        half, whole = (self.profile(name, SAMPLE_START_NS, dur=dur)[0]
                       for name, dur in (("before.json", 15000), ("now.json", 30000)))

        def compute(*options):
            done = call("report", "--format", "json", SAMPLE, "--against", SAMPLE, *options)
            self.assertEqual(done.returncode, 0, done)
            rows = [row for row in json.loads(done.stdout)["compared"] if row["name"] == "compute"]
            if not rows:  # no compute in either run
                return None, None, done.stderr
            return rows[0]["before"]["time_ns"], rows[0]["now"]["time_ns"], done.stderr

        marked, _, _ = compute()
        self.assertEqual(compute("--spans", whole, "--against-spans", half),
                         (15 * 10**6, 30 * 10**6, b""))
        before, now, warning = compute("--spans", whole)
        self.assertEqual((before, now), (marked, 30 * 10**6))
        self.assertIn(b"--against-spans FILE", warning)
        before, now, warning = compute("--against-spans", half)
        self.assertEqual((before, now), (15 * 10**6, marked))
        self.assertIn(b"--spans FILE", warning)
        self.refused("report", "--against-spans", half, SAMPLE, naming="--against-spans")
        late = self.profile("late.json", SAMPLE_START_NS + 3600 * 10**9)[0]
        for bad in late, "no-such.json":
            self.refused("report", SAMPLE, "--against", SAMPLE, "--spans", whole,
                         "--against-spans", bad, naming=bad)

    def test_course_adds_up(self):
        """Exact values: the timeline adds up to the run."""
        report = self.report(trace=SPANS)
        for column, whole in (
            ("compute_ns", report["overlap"]["compute_ns"]),
            ("io_ns", report["overlap"]["unoverlapped_io_ns"]),
            ("metadata_ns", report["overlap"]["metadata"]["unoverlapped_ns"]),
            ("sync_ns", report["overlap"]["sync"]["unoverlapped_ns"]),
            ("mmap_ns", report["overlap"]["mmap_read"]["unoverlapped_ns"]),
            ("length_ns", report["trace"]["duration_ns"]),
        ):
            self.assertEqual(sum(row[column] for row in report["timeline"]), whole, column)
        every = report["access"][0]
        self.assertEqual(every["time_ns"], report["totals"]["io"]["time_ns"])
        for column in "bytes", "fetched_bytes":
            self.assertEqual(every[column], sum(r[column] or 0 for r in report["access"][1:]
                             if r["name"] not in ("unattributed", "indirect")))
        named = [row for row in events(trace=SPANS)
                 if row["kind"] == "syscall_path" and not row["file"]]
        self.assertGreater(len(named), 0)  # these have no file, and so no row in "files"
        for column, more in (("fetched_bytes", 0),
                             ("time_ns", sum(row["dur_ns"] for row in named))):
            self.assertEqual(sum(row[column] for row in report["paths"]),
                             sum(row[column] for row in report["files"]) + more, column)

    def test_by(self):
        for key in ("directory", "pattern", "file", "process", "program", "rank",
                    "device", "method", "host", "second"):
            done = call("report", "--by", key, SAMPLE)
            self.assertEqual((done.returncode, done.stderr), (0, b""), key)
            self.assertIn(b"time", done.stdout, key)
        rows = self.report("--by", "rank")
        totals = self.report()["totals"]
        self.assertEqual(sum(row["read"]["bytes"] for row in rows["rank"]),
                         sum(method["bytes"] for method in self.report()["methods"]
                             if method["op"] == "read" and method["method"] not in ("mmap", "unknown")))
        self.assertEqual(sum(row["mmap"]["faults"] for row in rows["rank"]),
                         totals["mmap_read"]["faults"])

    def test_by_adds_up(self):
        """Whatever the key, every byte is in some row."""

        def sums(key, trace=SPANS):
            done = call("report", "--by", key, "--format", "json", trace)
            self.assertEqual(done.returncode, 0, done.stderr)
            (rows,) = (rows for rows in json.loads(done.stdout).values() if isinstance(rows, list))
            return {
                column: sum(cell for row in rows for cell in cells(row, column))
                for column in ("operations", "thread_time_ns", "fetched_bytes", "created_bytes",
                               "read.bytes", "write.bytes", "metadata.count", "sync.count",
                               "mmap.faults", "read.thread_time_ns")
            }

        all_of_it = sums("host")
        self.assertEqual(all_of_it["thread_time_ns"],
                         self.report(trace=SPANS)["totals"]["io"]["thread_time_ns"])
        for key in ("directory", "file", "process", "program", "rank", "span", "device",
                    "filesystem", "method", "second"):
            with self.subTest(key):
                self.assertEqual(sums(key), all_of_it)
        # This trace has calls outside of spans, too.
        partly = self.path("partly.flt")
        subprocess.run([os.path.join(BUILD, "tests/unit/test_output_html"), "--make", partly],
                       check=True)
        self.assertEqual(sums("span", partly), sums("host", partly))
        self.assertIn(b"(no span)", call("report", "--by", "span", partly).stdout)
        # ... and processes without a rank.
        self.assertEqual(sums("rank", partly), sums("host", partly))
        self.assertEqual(call("report", "--by", "rank", "--columns", "name", "--format", "csv", partly).stdout,
                         b"name\r\n(no rank)\r\n")

    def test_report_filters(self):
        whole = self.report()
        ranks = [self.report("--rank", "3")]
        self.assertEqual(ranks[0]["totals"]["mmap_read"], whole["totals"]["mmap_read"])
        done = call("report", "--rank", "7", SAMPLE)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"no events match these filters", done.stderr)
        part = self.report("--file", "*.pt")
        self.assertEqual([row["path"] for row in part["files"]], ["/out/model.pt"])
        self.assertEqual(part["totals"]["read"]["count"], 0)

    def profile(self, name, start_ns, **more):
        """PyTorch profiler output for a GPU that is busy for 30 ms."""
        event = {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1000.5, "dur": 30000, **more}
        whole = {"schemaVersion": 1, "traceEvents": [event], "baseTimeNanoseconds": start_ns}
        data = json.dumps(whole).encode()
        return self.file(name, gzip.compress(data) if name.endswith(".gz") else data), data

    def test_gpu(self):
        self.assertIsNone(self.report()["overlap"])
        for name in "gpu.json", "gpu.json.gz":
            path, _ = self.profile(name, SAMPLE_START_NS)
            overlap = self.report("--spans", path)["overlap"]
            self.assertEqual(overlap["compute_ns"], 30 * 10**6)
            self.assertEqual(overlap["by_rank"][0]["rank"], 3)
            self.assertEqual(overlap["by_rank"][0]["compute_ns"], 30 * 10**6)
            text = call("report", "--spans", path, SAMPLE).stdout.decode()
            self.assertRegex(text, r"(?m)^Compute .* 30\.0 ms +30\.0%$")

    def test_bad_gpu(self):
        _, data = self.profile("gpu.json", SAMPLE_START_NS)
        bad = [
            self.directory,
            self.path("missing.json"),
            self.file("cut.json", data[:-30]),
            self.file("cut.json.gz", gzip.compress(data)[:-20]),
            self.file("empty.json", b""),
            SAMPLE,
            self.profile("cpu.json", SAMPLE_START_NS, cat="cpu_op")[0],
            self.profile("clock.json", SAMPLE_START_NS + 3600 * 10**9)[0],
            self.profile("monotonic.json", 0)[0],
        ]
        for path in bad:
            with self.subTest(path=path):
                self.refused("report", "--spans", path, SAMPLE, naming=path)


if __name__ == "__main__":
    unittest.main()
