# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks `faultline export --to csv` and `--to jsonl` on the traces of export_traces.c, against
`faultline print` and `faultline report`."""

import collections
import csv
import io
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _command import Command  # noqa: E402
from _exported import (ALL, MS, call, line_of, printed, report, sampled_lines, trace,  # noqa: E402
                       unique)

KINDS = {"calls": ("syscall", "syscall_path", "async", "vfs"), "faults": ("fault",),
         "requests": ("request",), "bios": ("bio",), "pagecache": ("pagecache",),
         "throttles": ("throttle",), "waits": ("wait",), "thread_times": ("thread_time",),
         "samples": ("sample",), "moments": ("instant",)}


def total(rows, column):
    return sum(row[column] for row in rows if row[column] is not None)


class Tables(Command):
    def export(self, *names, to="jsonl", options=()):
        """Every table, as rows."""
        out = self.path("out")
        done = call("export", "-q", "--to", to, "-o", out, *options, *map(trace, names))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(os.stat(out).st_mode & 0o777, 0o700)
        tables = {}
        for name in os.listdir(out):
            self.assertEqual(os.stat(os.path.join(out, name)).st_mode & 0o777, 0o600)
            with open(os.path.join(out, name), encoding="utf-8", newline="") as file:
                table, suffix = name.split(".")
                self.assertEqual(suffix, to)
                if to == "csv":
                    tables[table] = list(csv.reader(file, strict=True))
                else:
                    tables[table] = [json.loads(line, object_pairs_hook=unique)
                                     for line in file.read().split("\n")[:-1]]
        shutil.rmtree(out)
        return tables

    def test_rows(self):
        """Every printed row is in its table, with the same numbers."""
        for name in ALL:
            tables, rows = self.export(name), printed(name)
            start = report(name)["trace"]["start_unix_ns"]
            shift = {"other.flt": 6000 * MS - 7 * MS, "nest.flt": 4000 * MS,
                     "whole.flt": 4000 * MS, "stacks.flt": 4000 * MS,
                     "other_stacks.flt": 5000 * MS - 7 * MS}.get(name, 0)
            for table, kinds in KINDS.items():
                found = collections.Counter()
                for row in tables[table]:
                    found[row["time_ns"], row["pid"], row["tid"], row.get("dur_ns"),
                          row.get("result"), row.get("flags"), row.get("op")] += 1
                wanted = collections.Counter()
                for row in rows:
                    if row["kind"] in kinds:
                        wanted[max(row["time_ns"] + shift - start, 0), row["pid"], row["tid"],
                               row.get("dur_ns"), row.get("result"), row.get("flags"),
                               row.get("op")] += 1
                self.assertEqual(found, wanted, (name, table))

    def test_same_in_both(self):
        """CSV equals JSON."""
        for name in ALL:
            lines, objects = self.export(name, to="csv"), self.export(name)
            self.assertEqual(lines.keys(), objects.keys())
            for table, (head, *rows) in lines.items():
                self.assertEqual(len(rows), len(objects[table]), (name, table))
                for row, member in zip(rows, objects[table]):
                    self.assertEqual(head, [key for key in member if not key.endswith("_hex")])
                    for key, text in zip(head, row):
                        value = member[key]
                        if isinstance(value, str):
                            self.assertEqual(text, value)
                        elif value is None:
                            self.assertEqual(text, "")
                        else:
                            self.assertEqual(json.loads(text), value)

    def test_of_sums(self):
        """A table that totals cannot give is empty, rather than an empty row, and is named."""
        for to in "csv", "jsonl":
            out = self.path(to)
            done = call("export", "--to", to, "-o", out, trace("sums.flt"))
            self.assertEqual(done.returncode, 0, done)
            reported = [line for line in done.stderr.decode().splitlines() if "cannot be made" in line]
            self.assertEqual(len(reported), 1, done.stderr)
            self.assertIn("table ranks cannot be made from this trace: ", reported[0])
            self.assertIn("aggregated", reported[0])
            self.assertEqual(os.path.getsize(os.path.join(out, f"ranks.{to}")), 0)
            self.assertGreater(os.path.getsize(os.path.join(out, f"operations.{to}")), 0)
        done = call("export", "--to", "csv", "--table", "ranks", "-o", "-", trace("sums.flt"))
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertIn(b"table ranks cannot be made", done.stderr)
        done = call("export", "--to", "csv", "-o", self.path("whole"), trace("whole.flt"))
        self.assertNotIn(b"cannot be made", done.stderr)

    def test_totals(self):
        """Sums over the rows match the report."""
        for name in "nest.flt", "random.flt", "whole.flt", "other.flt":
            tables, totals = self.export(name), report(name)["totals"]
            calls, faults = tables["calls"], tables["faults"]
            reads = [row for row in calls if row["read_bytes"] is not None]
            writes = [row for row in calls if row["written_bytes"] is not None]
            self.assertEqual(len(reads), totals["read"]["count"], name)
            self.assertEqual(total(reads, "read_bytes"), totals["read"]["bytes"], name)
            self.assertEqual(sum(row["error"] is not None for row in reads),
                             totals["read"]["errors"])
            self.assertEqual(len(writes), totals["write"]["count"], name)
            self.assertEqual(total(writes, "written_bytes"), totals["write"]["bytes"], name)
            for kind in "metadata", "sync":
                self.assertEqual(sum(row["class"] == kind for row in calls),
                                 totals[kind]["count"])
            self.assertEqual(total([row for row in calls if row["class"] == "read"],
                                   "fetched_bytes"), totals["read"]["fetched_bytes"], name)
            for kind in "mmap_read", "mmap_write":
                of = [row for row in faults if row["class"] == kind]
                self.assertEqual(len(of), totals[kind]["faults"], name)
                self.assertEqual(sum(row["major"] for row in of), totals[kind]["major"])
                self.assertEqual(total(of, "fetched_bytes"), totals[kind]["fetched_bytes"])

    def test_references(self):
        """References to other tables resolve; spans carry epoch and step."""
        for name in ALL:
            tables = self.export(name)
            ids = {of: {row["id"] for row in tables[of]}
                   for of in ("files", "processes", "spans", "stacks")}
            self.assertEqual([len(ids[of]) for of in ids], [len(tables[of]) for of in ids])
            for rows in tables.values():
                for row in rows:
                    for key, of in (("file", "files"), ("file2", "files"), ("dir", "files"),
                                    ("process", "processes"), ("span", "spans"),
                                    ("stack", "stacks"), ("caller", "stacks"),
                                    ("application", "stacks")):
                        if row.get(key) is not None:
                            self.assertIn(row[key], ids[of], (name, row))
        tables = self.export("whole.flt")
        steps = [(row["epoch"], row["step"]) for row in tables["spans"] if row["name"] == "step"]
        # The third step of each epoch has the explicit number 7, the others are counted; explicit
        # ones are not.
        self.assertEqual(steps, [(0, 0), (0, 1), (0, 7), (1, 2), (1, 3), (1, 7)])
        spans = {row["id"]: row for row in tables["spans"]}
        for row in tables["calls"]:
            if row["op"] == "pread64":
                fetch = spans[row["span"]]
                self.assertEqual(fetch["name"], "fetch")
                step = spans[fetch["parent"]]
                self.assertEqual((step["name"], step["step"]), ("step", fetch["step"]))
                self.assertTrue(fetch["time_ns"] <= row["time_ns"] and
                                row["time_ns"] + row["dur_ns"] <= fetch["time_ns"] +
                                fetch["dur_ns"])

    def test_unknown(self):
        """Unknown values are null, never 0."""
        tables = self.export("nest.flt")
        self.assertEqual({row["span"] for row in tables["calls"]}, {None})  # layer is off
        calls = {row["op"]: row for row in tables["calls"]}
        self.assertIsNone(calls["openat"]["offset"])
        self.assertIsNone(calls["openat"]["read_bytes"])
        self.assertEqual(calls["openat"]["error"], "ENOENT")
        self.assertIsNone(calls["read"]["error"])
        self.assertEqual({row["end_ns"] for row in self.export("cut.flt")["processes"]}, {None})
        whole = self.export("whole.flt")
        self.assertEqual([row["process"] for row in whole["requests"]], [1, None])
        self.assertEqual([row["dev"] for row in whole["requests"]], ["8:0"] * 2)
        self.assertEqual([row["part"] for row in whole["requests"]], ["8:1"] * 2)
        one, other = [row for row in whole["calls"] if row["op"] == "sendfile"]
        self.assertEqual((one["read_bytes"], one["written_bytes"]), (1000, 1000))
        self.assertEqual((other["read_bytes"], other["written_bytes"]), (None, 10))

    def test_threads(self):
        """A wait knows its process, span and call; the states of a thread add up."""
        whole = self.export("whole.flt")
        spans = {row["id"]: row["name"] for row in whole["spans"]}
        lock = whole["waits"][0]
        self.assertEqual(spans[lock.pop("span")], "step")
        self.assertEqual(lock, {"time_ns": 19 * MS, "dur_ns": 2 * MS, "pid": 100, "tid": 100,
                                "state": "lock", "call": "futex", "object": 0x7fff00001000,
                                "waker_pid": 100, "waker_tid": 101, "owner_pid": 100,
                                "owner_tid": 102, "flags": 0, "process": 1})
        sleep = whole["waits"][-1]
        self.assertEqual([sleep[name] for name in ("object", "waker_pid", "waker_tid", "owner_pid",
                                                   "owner_tid", "span")],
                         [None] * 6)
        first, second = whole["thread_times"]
        states = ("cpu", "runnable", "storage", "memory", "lock", "pipe", "child", "sleep",
                  "device", "stopped", "other")
        for row in first, second:
            self.assertEqual(sum(row[f"{state}_ns"] for state in states), row["dur_ns"])
        self.assertEqual((first["storage_ns"], first["io_wait_ns"], first["process"]),
                         (32 * MS, 3 * MS, 1))
        hostile = self.export("hostile.flt")
        nothing, unknown = hostile["waits"]
        self.assertEqual((unknown["state"], unknown["dur_ns"], unknown["waker_tid"]),
                         ("un\\xffknown\n", 2**64 - 1, 2**64 - 1))
        self.assertEqual((nothing["state"], nothing["call"], nothing["object"]), (None,) * 3)
        self.assertEqual(hostile["thread_times"][0]["other_ns"], 2**64 - 1)

    def stack_lines(self, tables, stack):
        """The innermost first."""
        stacks, lines = {row["id"]: row for row in tables["stacks"]}, []
        while stack:
            row = stacks[stack]
            self.assertEqual(row["depth"], 1 + stacks.get(row["caller"], {"depth": 0})["depth"])
            self.assertLess(row["caller"] or 0, stack)
            lines.append(line_of((row["function"], row["source"], row["line"])))
            stack = row["caller"]
        return lines

    def test_stacks(self):
        """Samples have the stacks that are printed, whichever trace they come from."""
        one, both = self.export("stacks.flt"), self.export("stacks.flt", "other_stacks.flt")
        wanted = [line for name in ("stacks.flt", "other_stacks.flt")
                  for line in sampled_lines(name).values()]
        for tables, count in (one, len(sampled_lines("stacks.flt"))), (both, len(wanted)):
            found = [self.stack_lines(tables, row["stack"]) + ["..."] * (row["flags"] & 1)
                     for row in tables["samples"] if row["stack"]]
            self.assertEqual(sorted(found), sorted(wanted[:count]))
        self.assertEqual(len(one["stacks"]), len(both["stacks"]))
        unknown = [row for row in one["samples"] if row["stack"] is None]
        self.assertEqual([row["flags"] for row in unknown], [0, 2, 4, 8, 16, 32])
        nothing, = [row for row in one["stacks"] if row["source"] is None]
        self.assertEqual((nothing["line"], nothing["function"], nothing["caller"]), (None,) * 3)
        # Those of samples that pass.
        some = self.export("stacks.flt", options=["--pid", "200"])["stacks"]
        self.assertEqual([row["line"] for row in some], [10, 30, 30])
        for options, count in ((["--op", "pread64"], 2), (["--pid", "200"], 3), (["--op", "*"], 15),
                               (["--from", "0.05", "--until", "0.055"], 2),
                               (["--rank", "3"], 15), (["--min-duration", "3ms"], 3)):
            rows = self.export("stacks.flt", options=options)["samples"]
            self.assertEqual(len(rows), count, options)

    def test_hostile(self):
        """Names are bytes; JSON has all of them."""
        whole = self.export("whole.flt")
        paths = {row["path"] for row in whole["files"]}
        self.assertIn("/data/<script>alert(1)</script>,\"a\".bin", paths)
        self.assertIn("/out/caf\u00e9\n.bin", paths)
        opened, = [row for row in whole["calls"] if row["op"] == "openat"]
        self.assertEqual(opened["path"], "/no\\xffwhere")
        self.assertEqual(bytes.fromhex(opened["path_hex"]), b"/no\xffwhere")
        failed, = [row for row in whole["calls"] if row["error"] == "EIO"]
        self.assertEqual(failed["asked"], 2**64 - 1)
        reported = [row["args"] for row in whole["spans"] if row["args"]]
        self.assertEqual([args["step"] for args in reported], [7, 7])
        self.assertEqual({row["name"] for row in self.export("hostile.flt")["spans"]
                          if len(row["name"]) < 99}, {"\\xff\"\n"})

    def test_several(self):
        """Several traces are one job: totals add up."""
        both = self.export("nest.flt", "other.flt")
        each = [self.export(name) for name in ("nest.flt", "other.flt")]
        for table in KINDS:
            self.assertEqual(len(both[table]), sum(len(of[table]) for of in each), table)
        self.assertEqual({row["host"] for row in both["processes"]} - {None}, {"node1", "node2"})
        self.assertEqual(total(both["calls"], "read_bytes"),
                         report("nest.flt", "other.flt")["totals"]["read"]["bytes"])

    def test_filters(self):
        """The filters work as in the report."""
        for options in (["--op", "pread64"], ["--file", "*script*", "--op", "fault"],
                        ["--span", "fetch"], ["--from", "0.1", "--until", "0.2"],
                        ["--pid", "100"], ["--rank", "0"], ["--min-duration", "600us"],
                        ["--method", "mmap"]):
            calls = self.export("whole.flt", options=options)
            totals = report("whole.flt", options=options)["totals"]
            self.assertEqual(sum(row["read_bytes"] is not None for row in calls["calls"]),
                             totals["read"]["count"], options)
            self.assertEqual(total(calls["calls"], "read_bytes"), totals["read"]["bytes"], options)
            self.assertEqual(len(calls["faults"]), totals["mmap_read"]["faults"] +
                             totals["mmap_write"]["faults"], options)
        for options, waits, times in ((["--pid", "100"], 13, 2), (["--rank", "0"], 13, 2),
                                      (["--until", "0.019"], 2, 1), (["--from", "0.24"], 1, 1),
                                      (["--min-duration", "3ms"], 11, 0),
                                      (["--span", "step"], 12, 0), (["--span", "fetch"], 0, 0),
                                      (["--op", "*"], 0, 0), (["--file", "*"], 0, 0),
                                      (["--method", "syscall"], 0, 0)):
            rows = self.export("whole.flt", options=options)
            self.assertEqual((len(rows["waits"]), len(rows["thread_times"])), (waits, times),
                             options)
            done = call("print", "-q", "--layer", "wait", *options, trace("whole.flt"))
            self.assertEqual(done.stdout.count(b"\n"), waits, options)
        done = call("export", "--to", "csv", "-o", self.path("x"), "--op", "nothing",
                    trace("whole.flt"))
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
        self.assertEqual(os.listdir(self.directory), [])

    def test_one_table(self):
        for table in (*KINDS, "spans", "files", "processes", "stacks", "operations", "ranks", "findings",
                      "meta"):
            done = call("export", "-q", "--to", "csv", "--table", table, "-o", "-",
                        trace("whole.flt"))
            self.assertEqual(done.returncode, 0, done)
            rows = list(csv.reader(io.StringIO(done.stdout.decode(), newline=""), strict=True))
            whole = self.export("whole.flt", to="csv")[table]
            self.assertEqual(rows, whole, table)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})

    def test_of_the_report(self):
        """Findings, ranks, exact totals and run data match the report."""
        tables, whole = self.export("whole.flt"), report("whole.flt")
        self.assertEqual(tables["findings"], whole["findings"])
        self.assertEqual([(row["op"], row["count"], row["bytes"]) for row in tables["operations"]],
                         [(row["op"], row["count"], row["bytes"]) for row in whole["operations"]])
        meta = {row["key"]: row["value"] for row in tables["meta"]}
        self.assertEqual(int(meta["duration_ns"]), whole["trace"]["duration_ns"])
        self.assertEqual(json.loads(meta["command"]), whole["trace"]["command"])
        self.assertEqual(meta["layers.block.state"], "on")
        cut = {row["key"]: row["value"] for row in self.export("cut.flt")["meta"]}
        self.assertEqual(cut["complete"], "false")

    def test_describe(self):
        """--describe matches the output."""
        for to in "csv", "jsonl":
            done = call("export", "--describe", to)
            self.assertEqual(done.returncode, 0, done)
            described = {}
            for line in done.stdout.decode().splitlines():
                if line and not line.startswith(" "):
                    columns = described[line.split(":")[0]] = []
                elif line:
                    columns.append(line.split()[0])
                    self.assertIn(line.split()[1], ("uint", "int", "real", "bool", "text", "json"))
            for table, (head, *_) in self.export("whole.flt", to="csv").items():
                self.assertEqual(head, described.pop(table))
            self.assertEqual(described, {})
        done = call("export", "--describe", "nothing")
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))

    def test_refused(self):
        nest, out = trace("nest.flt"), self.path("out")
        self.refused("export", "--to", "csv", "-o", "-", nest, naming="--table")
        self.refused("export", "--to", "csv", "--table", "cells", "-o", out, nest, naming="calls")
        self.refused("export", "--to", "chrome", "--table", "calls", "-o", out, nest, naming="--table")
        with open(out, "w", encoding="ascii"):
            pass
        self.refused("export", "--to", "csv", "-o", out, nest, naming="directory")
        os.unlink(out)
        os.mkdir(out)
        with open(os.path.join(out, "files.csv"), "w", encoding="ascii") as file:
            file.write("mine")
        self.refused("export", "--to", "csv", "-o", out, nest, naming=f"{out}: files.csv exists")
        self.refused("export", "--to", "csv", "-o", out, nest, naming="--force")
        self.assertEqual(os.listdir(out), ["files.csv"])
        done = call("export", "--to", "csv", "--force", "-o", out, nest)
        self.assertEqual((done.returncode, len(os.listdir(out)) > 10), (0, True))

    def test_damaged(self):
        """Damage costs the block that contains it; the output is valid."""
        with open(trace("whole.flt"), "rb") as file:
            whole = bytearray(file.read())
        for at in range(0, len(whole), len(whole) // 15):
            bad = bytearray(whole)
            bad[at] ^= 0x55
            done = call("export", "-q", "--to", "jsonl", "--table", "calls", "-o", "-",
                        self.file("bad.flt", bad))
            self.assertIn(done.returncode, (0, 1, 2), done)
            for line in done.stdout.splitlines():
                json.loads(line)


if __name__ == "__main__":
    unittest.main()
