# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""report and print from the command line: exit statuses, one clear line for bad input, filters,
outputs that cannot be written. Needs no root."""

import csv
import fnmatch
import gzip
import io
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _place import InPlace  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
FAULTLINE = os.path.abspath(os.environ.get("FAULTLINE", "build/faultline"))
SAMPLE = os.path.join("tests", "golden", "sample.flt")
SPANS = os.path.join("tests", "golden", "spans.flt")
SAMPLE_START_NS = 1767600001 * 10**9


def call(*arguments, columns=100, **options):
    options.setdefault("stdout", subprocess.PIPE)
    environment = {**os.environ, "TZ": "UTC", "COLUMNS": str(columns)}
    return subprocess.run([FAULTLINE, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=environment, **options)


# The types of --list-columns, and the corresponding JSON types.
TYPES = {"integer": (int,), "real": (float, int), "bool": (bool,), "text": (str, list, dict)}


def cells(table, column):
    """Non-null values of a report column, by its dotted name."""
    for row in table if isinstance(table, list) else [table]:
        for name in column.split("."):
            row = row.get(name) if isinstance(row, dict) else None
        if row is not None:
            yield row


def sample_bytes():
    with open(SAMPLE, "rb") as file:
        return file.read()


def events(*arguments, trace=SAMPLE):
    done = call("print", "--format", "json", *arguments, trace)
    assert done.returncode == 0 and done.stderr == b"", done
    return [json.loads(line) for line in done.stdout.splitlines()]


class Reading(InPlace):
    def file(self, name, data):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def refused(self, *arguments, naming, status=2, **options):
        """Nothing on stdout, one line on stderr that names the culprit."""
        done = call(*arguments, **options)
        self.assertEqual(done.returncode, status, done)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(naming.encode(), done.stderr)

    def test_bad_files(self):
        sample = sample_bytes()
        bad = [
            self.place,
            self.path("missing.flt"),
            self.file("empty.flt", b""),
            self.file("text.flt", b"not a trace\n" * 100),
            self.file("header.flt", sample[:40]),
        ]
        for command in "report", "print":
            for path in bad:
                with self.subTest(command=command, path=path):
                    self.refused(command, path, naming=path)

    def test_bad_options(self):
        for command in "report", "print":
            self.refused(command, naming="no trace given", cwd=os.path.dirname(self.path("none")))
            self.refused(command, "--nonsense", SAMPLE, naming="--nonsense")
            self.refused(command, "--format", "xml", SAMPLE, naming="xml")
        self.refused("report", "--top", "many", SAMPLE, naming="many")
        self.refused("print", SAMPLE, SAMPLE, naming="more than one")
        self.refused("print", "--layer", "nonsense", SAMPLE, naming="syscall, fault, pagecache, task")
        self.refused("print", "--pid", "x", SAMPLE, naming="--pid x")

    def test_bad_recording_options(self):
        """Invalid numbers, or options that the mode does not use: nothing is run."""
        for options, naming in (
            (("--mode", "profile", "--profile-slots", "0"), "--profile-slots: must be between 1 and"),
            (("--mode", "profile", "--interval", "1ms"), "--interval: must be between 10.0 ms and 1h 00m"),
            (("--mode", "auto", "--auto-rate", "0"), "--auto-rate: must be between 1 and"),
            (("--mode", "profile", "--auto-rate", "5"), "--auto-rate requires --mode auto"),
            (("--auto-rate", "5"), "--auto-rate requires --mode auto"),
            (("--profile-slots", "16"), "--profile-slots requires --mode profile or --mode auto"),
            (("--interval", "1s"), "--interval requires --mode profile or --mode auto"),
        ):
            with self.subTest(options=options):
                self.refused("run", *options, "--", "echo", "run", naming=naming, status=125)
                self.refused("attach", *options, "--pid", str(os.getpid()), naming=naming)

    def test_numbers_out_of_bounds(self):
        for command, *options, naming in (
            ("monitor", "--interval", "5ms", "--interval: must be between 100 ms and 1m 00s"),
            ("monitor", "--retire", "2d", "--retire 2d: not a time"),
            ("monitor", "--retire", "25h", "--retire: must be between 1.0 s and 1d 00h"),
            ("monitor", "--max-series", "999", "--max-series: must be between 1,000 and 1,000,000"),
            ("monitor", "--profile-slots", "0", "--profile-slots: must be between 1 and 1,048,576"),
            ("top", "--interval", "99ms", "--interval: must be at least 100 ms"),
            ("top", "-n", "0", "--count: must be at least 1"),
            ("report", "--slowest", "0", SAMPLE, "--slowest: must be between 1 and 1,000"),
            ("report", "--slowest", "1001", SAMPLE, "--slowest: must be between 1 and 1,000"),
            ("report", "--memory", "0", SAMPLE, "--memory: must be at least 1.0 MiB"),
            ("summarize", "--rows", "65537", SAMPLE, "--rows: must be between 1 and 65,536"),
            ("summarize", "--memory", "0", SAMPLE, "--memory: must be at least 1.0 MiB"),
        ):
            with self.subTest(command=command, options=options):
                self.refused(command, *options, naming=naming)

    def test_no_operands(self):
        for command in "monitor", "top", "check":
            self.refused(command, "it", naming=f"it: {command} takes no arguments")

    def test_help(self):
        """No line is wider than the terminal, and no option is cut."""
        for command in "run", "attach", "monitor", "report", "print", "export", "top", "summarize", "check":
            told = {}
            for width in 80, 500:
                done = call(command, "--help", columns=width)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                told[width] = done.stdout.decode().partition("\nOptions:\n")[2]
                self.assertLessEqual(max(map(len, told[width].split("\n"))), width, command)
            self.assertEqual(told[80].split(), told[500].split())

    def test_explain(self):
        listed = call("report", "--explain", "list")
        self.assertEqual((listed.returncode, listed.stderr), (0, b""))
        names = [line.split(None, 1)[0] for line in listed.stdout.decode().splitlines()]
        self.assertGreater(len(names), 20)
        for name in names:
            told = call("report", "--explain", name)
            self.assertEqual((told.returncode, told.stderr), (0, b""))
            self.assertTrue(told.stdout.startswith(name.encode() + b": "), told.stdout)
            # For readers: no template, and no column name unless requested.
            for text in listed.stdout.decode(), told.stdout.decode():
                self.assertNotRegex(text, r"[{}\[\]]|\|\|")
            self.assertLess(told.stdout.index(b"What to do:"), told.stdout.index(b"See also:"))
            self.assertNotIn(b"Evidence:", told.stdout)
            self.assertNotRegex(told.stdout, rb"(at least|at most),?( if|:)? *\n")
            more = call("report", "-v", "--explain", name)
            self.assertIn(b"Evidence:", more.stdout)
        self.refused("report", "--explain", "none-such", naming="none-such")

    def test_fail_above_refused(self):
        for asked, naming in (
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
            with self.subTest(asked):
                self.refused("report", "--fail-above", asked, SAMPLE, naming=naming)
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
        sample = json.loads(call("report", "--format", "json", SAMPLE).stdout)
        read = sample["totals"]["read"]["bytes"]
        for asked, status, state, naming in (
            (f"read={read}", 0, "within", b""),
            (f"time=1h,read={read - 1}", 3, "worse", b"limits exceeded: read\n"),
            ("totals.storage_read.requests=9", 1, "not known", b"totals.storage_read.requests\n"),
            ("totals.storage_read.requests=9,errors", 3, "worse", b"limits exceeded: errors\n"),
            ("io=1h", 1, "not known", b"so not checked: io\n"),  # events were lost
        ):
            with self.subTest(asked):
                done = call("report", "--format", "json", "--fail-above", asked, SAMPLE)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertTrue(done.stderr.endswith(naming), done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), status != 0)
                told = json.loads(done.stdout)
                self.assertIn(state, [row["state"] for row in told.pop("allowed")])
                self.assertEqual(told, sample)
        text = call("report", "--fail-above", f"read={read - 1}", SAMPLE)
        self.assertTrue(text.stdout.startswith(b"Limits\n"))
        self.assertIn(b"\nworse  read ", text.stdout)
        self.assertTrue(text.stdout.endswith(call("report", SAMPLE).stdout))

    def test_fail_above_what_was_before(self):
        done = call("report", "--format", "json", "--against", SPANS, "--fail-above",
                    "time=1%,read,findings", SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        told = json.loads(done.stdout)
        time = told["allowed"][0]
        self.assertEqual((time["measure"], time["unit"], time["state"]), ("time", "ns", "within"))
        self.assertEqual(time["before"], told["compared"][0]["before"]["time_ns"])
        self.assertEqual(time["allowed"], time["before"] + time["before"] // 100)

    def test_same_trace_twice(self):
        link = self.path("link.flt")
        os.symlink(os.path.abspath(SAMPLE), link)
        self.refused("report", SAMPLE, SAMPLE, naming="the same trace")
        self.refused("report", SAMPLE, link, naming=link)

    def test_newer_among_many(self):
        """If this version cannot read one of a hundred traces, it is named and the rest are not
        reported as if they were all."""
        sample = sample_bytes()
        plain = subprocess.run(["zstd", "-dc"], input=sample, check=True, stdout=subprocess.PIPE).stdout
        key = b"\xa7version"
        self.assertIn(key + b"\x01", plain)
        newer = subprocess.run(["zstd", "-c"], input=plain.replace(key + b"\x01", key + b"\x02"),
                               check=True, stdout=subprocess.PIPE).stdout
        paths = [self.file(f"{i:02}.flt", newer if i == 57 else sample) for i in range(100)]
        summary = self.path("all.flt")
        for command in ("report",), ("summarize", "-o", summary):
            self.refused(*command, *paths, naming=f"{paths[57]}: was written by a newer Faultline")
        self.assertFalse(os.path.exists(summary))

    def test_incomplete(self):
        sample = sample_bytes()
        path = self.file("cut.flt", sample[: len(sample) * 2 // 3])
        text, data = call("report", path), call("report", "-q", "--format", "json", path)
        self.assertEqual((text.returncode, data.returncode, data.stderr), (0, 0, b""))
        screen = text.stdout.split(b"\n\n")[0]
        self.assertIn(b"\n!  incomplete: ", screen)
        self.assertIn(b"the number of lost events is unknown", b" ".join(screen.split()))
        self.assertIn(b"incomplete", text.stderr)
        trace = json.loads(data.stdout)["trace"]
        self.assertIs(trace["complete"], False)
        self.assertTrue(trace["incomplete_reason"])
        self.assertEqual(call("print", path).returncode, 0)
        # Counted only in the kernel and stored at the end: missing means unknown.
        handed = json.loads(data.stdout)["totals"]["async"]
        self.assertEqual(set(handed.values()), {None})

    def test_nothing_but_a_header(self):
        """If a recorder was killed at once, its duration and any problems are unknown."""
        sample = sample_bytes()
        path = self.file("begun.flt", sample[: sample.index(b"\x28\xb5\x2f\xfd", 4)])
        text, data = call("report", path), call("report", "-q", "--format", "json", path)
        self.assertEqual((text.returncode, data.returncode), (0, 0), text.stderr)
        self.assertIsNone(json.loads(data.stdout)["trace"]["duration_ns"])
        self.assertIn(b"\nRan for an unknown time, exit unknown.", text.stdout)
        self.assertIn(b"\nNo findings: nothing of the run was recorded\n", text.stdout)

    def test_damaged_header(self):
        sample = bytearray(sample_bytes())
        sample[30] ^= 0x10
        path = self.file("flipped.flt", sample)
        whole, text = call("report", "--format", "json", SAMPLE), call("report", path)
        self.assertEqual(text.returncode, 0)
        self.assertIn(b"the copy of its header", text.stderr)
        self.assertIn(b"the copy of the header was used", text.stdout.split(b"\n\n")[0])
        read, told = json.loads(whole.stdout), json.loads(call("report", "--format", "json", path).stdout)
        self.assertEqual([row["id"] for row in told["caveats"] if row["id"] == "header"], ["header"])
        for table in set(read) - {"trace", "caveats"}:
            self.assertEqual(read[table], told[table], table)

    def test_damaged_inside(self):
        """The rest is shown; the exit status and a line say that something is missing."""
        sample = bytearray(sample_bytes())
        starts = [at for at in range(len(sample)) if sample[at : at + 4] == b"\x28\xb5\x2f\xfd"]
        sample[starts[6] + 40] ^= 0x10  # a block of calls
        path = self.file("flipped.flt", sample)
        for command in (
            ("report", path), ("report", "--format", "json", path), ("print", path),
            ("report", "--html", self.path("page.html"), path),
            ("report", "--against", path, SAMPLE), ("report", "--against", SAMPLE, path),
            ("summarize", "-o", self.path("summary.flt"), path),
            ("export", "--to", "chrome", "-o", self.path("trace.json"), path),
        ):
            with self.subTest(command):
                done = call(*command)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{path}: the trace is damaged at byte".encode(), done.stderr)
        for name in ("page.html", "summary.flt", "trace.json"):
            self.assertTrue(os.path.getsize(self.path(name)), name)

    def test_csv_on_a_terminal(self):
        """Files get names verbatim; on a terminal they are escaped."""
        trace = self.path("escapes.flt")
        subprocess.run([os.path.join(BUILD, "tests/unit/test_output_html"), "--make", trace],
                       check=True)
        plain = call("report", "--format", "csv", "--table", "files", trace).stdout
        turned = b"\xe2\x80\xae"  # right-to-left override
        self.assertIn(turned, plain)
        master, slave = pty.openpty()
        done = call("report", "--format", "csv", "--table", "files", trace, stdout=slave)
        os.close(slave)
        self.assertEqual(done.returncode, 0)
        shown = os.read(master, 65536)
        os.close(master)
        self.assertNotIn(turned, shown)
        self.assertIn(rb"\xe2\x80\xae", shown)

    def test_newest(self):
        """Without a trace, report and print use the newest in the directory, and name it."""
        for name, age in (("old.flt", 100), ("new.flt", 10), ("newer.txt", 1), (".newer.flt", 1)):
            path = self.file(name, sample_bytes())
            os.utime(path, (1e9 - age, 1e9 - age))
        program = os.path.abspath(FAULTLINE)
        for command in "report", "print":
            done = subprocess.run([program, command], cwd=os.path.dirname(path),
                                  capture_output=True)
            self.assertEqual((done.returncode, done.stderr),
                             (0, b"faultline: using new.flt, the newest trace in this directory\n"))
            self.assertEqual(done.stdout, call(command, self.path("new.flt"), columns=100).stdout
                             if command == "print" else done.stdout)
            os.mkdir(self.path(command))
            done = subprocess.run([program, command], cwd=self.path(command), capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"no trace given", done.stderr)

    def test_did_you_mean(self):
        for arguments, meant in (
            (("reprot",), "'faultline report'"), (("sumarize",), "'faultline summarize'"),
            (("record",), "'faultline run'"), (("stat",), "'faultline report'"),
            (("version",), "'faultline --version'"),
            (("--json",), "'faultline report --format json'"),
            ((SAMPLE,), f"'faultline report {SAMPLE}'"),
            (("report", "--tabel", "files", SAMPLE), "--table"),
            (("report", "--json", SAMPLE), "--format json"),
            (("export", "--overwrite", SAMPLE), "--force"), (("attach", "--ouput", "x"), "--output"),
        ):
            with self.subTest(arguments):
                self.refused(*arguments, naming=f"{arguments[-1] if len(arguments) == 1 else arguments[1]}: "
                             "unknown")
                self.assertIn(f"did you mean {meant}?".encode(), call(*arguments).stderr)
        for arguments in ("xyzzy",), ("report", "--xyzzy", SAMPLE):
            self.assertNotIn(b"did you mean", call(*arguments).stderr)

    def test_version(self):
        self.assertRegex(call("--version").stdout.decode(), r"^faultline [0-9.]+\n"
                         r"\(commit [0-9a-z-]+, libbpf [0-9.]+, trace format 1\)\n$")

    def test_never_through_a_link(self):
        """A symlink under the output's name may be anyone's and lead anywhere."""
        victim = self.file("victim", b"precious")
        link = self.path("link")
        os.symlink(victim, link)
        for command in (("export", "--to", "chrome"), ("export", "--to", "sqlite"), ("summarize",)):
            with self.subTest(command):
                self.refused(*command, "--force", "-o", link, SAMPLE, naming="is a symbolic link")
        with open(victim, "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.assertTrue(os.path.islink(link))

    def test_report(self):
        done = call("report", "--top", "1", SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(), r"(?m) other \(2\)$")
        self.assertNotRegex(call("report", "--top", "0", SAMPLE).stdout.decode(),
                            r"(?s)\nFiles\n.*other \(")
        report = json.loads(call("report", "--format", "json", SAMPLE).stdout)
        self.assertEqual(report["schema"], 2)
        self.assertEqual(report["trace"]["files"], [SAMPLE])

    def test_ascii(self):
        """In a non-UTF-8 locale bars and signs are ASCII; in UTF-8 or without a locale they are
        not."""
        for locale, ascii in (("C", True), ("de_DE.ISO-8859-1", True), ("C.UTF-8", False), ("", False)):
            with self.subTest(locale=locale):
                text = subprocess.run([FAULTLINE, "report", SAMPLE], capture_output=True,
                                      env={"PATH": os.environ["PATH"], "LANG": locale}).stdout
                self.assertEqual(text.isascii(), ascii)
                self.assertIn(b">=" if ascii else "\u2265".encode(), text)

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
        done = call("report", "--format", "json", SPANS)
        report = json.loads(done.stdout)
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
        rows = json.loads(call("report", "--by", "rank", "--format", "json", SAMPLE).stdout)
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
                         json.loads(call("report", "--format", "json", SPANS).stdout)
                         ["totals"]["io"]["thread_time_ns"])
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

    def report(self, *options):
        done = call("report", "--format", "json", *options, SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return json.loads(done.stdout)

    def test_bad_gpu(self):
        _, data = self.profile("gpu.json", SAMPLE_START_NS)
        bad = [
            self.place,
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

    def test_small_stack(self):
        """Under a low stack limit, trace readers still have enough stack."""
        small = lambda: resource.setrlimit(resource.RLIMIT_STACK, (48 << 10, 48 << 10))
        whole = {"env": {"PATH": os.environ["PATH"]}, "preexec_fn": small, "capture_output": True}
        commands = [["report"], ["print"], ["report", "--html", self.path("page")]]
        commands += [["summarize", "-o", self.path("sums")]]
        commands += [["export", "-q", "--to", format, "-o", self.path(format)]
                     for format in ("perfetto", "sqlite", "csv", "jsonl", "pfw", "speedscope",
                                   "collapsed", "pprof")]
        for command in commands:
            with self.subTest(command):
                done = subprocess.run([FAULTLINE, *command, SPANS], **whole)
                # Removes the address sanitizer's own warnings, if the program is built with it.
                said = re.sub(rb"==\d+==WARNING: ASan doesn't fully support .*\n", b"", done.stderr)
                self.assertEqual((done.returncode, said), (0, b""))

    def test_output_fails(self):
        for command in (("report", SAMPLE), ("print", SAMPLE), ("top", "--help"), ("--help",),
                        ("--version",), ("help", "terms"), ("monitor", "--list-metrics")):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                done = call(*command, stdout=full)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"No space left on device", done.stderr)

    def test_reader_goes_away(self):
        """As in `faultline print | head`: ended by SIGPIPE, or an error if it is ignored."""
        for ignored, status in (False, -signal.SIGPIPE), (True, 1):
            reading, writing = os.pipe()
            os.close(reading)
            action = signal.SIG_IGN if ignored else signal.SIG_DFL
            done = call("print", SAMPLE, stdout=writing,
                        preexec_fn=lambda: signal.signal(signal.SIGPIPE, action))
            os.close(writing)
            self.assertEqual(done.returncode, status)

    def test_print_programs(self):
        """The program's name appears where requested, and nothing else changes."""
        plain, named = call("print", SAMPLE), call("print", "--programs", SAMPLE)
        self.assertEqual(named.returncode, 0)
        text = named.stdout.decode()
        self.assertRegex(text, r"\n +\d+\.\d{9} 100/100 \(python3\) pread64 ")
        unnamed = re.sub(r"^( *-?\d+\.\d{9} [^ ]+) \([^)]*\) ", r"\1 ", text, flags=re.M)
        self.assertEqual(unnamed, plain.stdout.decode())
        comms = {row["pid"]: row["comm"] for row in events() if row["kind"] == "exec"}
        told = {row["pid"]: row["program"] for row in events("--programs") if "program" in row}
        for pid, comm in comms.items():
            self.assertEqual(told[pid], comm)

    def test_print_filters(self):
        every = events()
        self.assertEqual([e["time_ns"] for e in every], sorted(e["time_ns"] for e in every))
        for layer in "task", "syscall", "fault", "pagecache", "file":
            wanted = [e for e in every if e["layer"] == layer]
            self.assertTrue(wanted)
            self.assertEqual(events("--layer", layer), wanted)
        self.assertEqual(events("--layer", "fork"), [e for e in every if e["kind"] == "fork"])
        self.assertEqual(events("--pid", "101"),
                         [e for e in every if 101 in (e.get("pid"), e.get("child_pid"))])
        done = call("print", "--pid", "0", SAMPLE)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"no events match these filters", done.stderr)
        for glob in "/data/*", "*.pt", "/data/t?ain.bin":
            wanted = [e for e in every if any(fnmatch.fnmatchcase(e.get(key, ""), glob)
                                              for key in ("path", "path2"))]
            self.assertTrue(wanted)
            self.assertEqual(events("--file", glob), wanted)
        self.assertEqual(events("--layer", "syscall", "--op", "pread64"),
                         [e for e in every if e.get("op") == "pread64"])
        for options in ["--layer", "fork", "--op", "*"], ["--layer", "fault", "--op", "pread64"], \
                ["--layer", "exec", "--min-duration", "1us"]:
            done = call("print", *options, SAMPLE)
            self.assertEqual((done.returncode, done.stdout), (1, b""), options)
        self.assertEqual(events("--file", "*.pt", "--layer", "syscall", "--pid", "101"),
                         [e for e in every if e.get("op") == "sendfile"])

    def test_quiet_on_pipes(self):
        """Without a terminal: no progress, no colours, nothing but data."""
        for arguments in ("report",), ("print",), ("print", "--format", "json"):
            done = call(*arguments, SAMPLE)
            self.assertEqual(done.stderr, b"")
            self.assertNotIn(b"\x1b", done.stdout)


if __name__ == "__main__":
    unittest.main()
