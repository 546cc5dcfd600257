# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks `faultline export --to sqlite` on the traces of export_traces.c, against the tables
exported as JSON, and its views against the report."""

import functools
import json
import os
import resource
import shutil
import signal
import sqlite3
import sys
import unittest
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _command import Command  # noqa: E402
from _exported import ALL, call, printed, report, stacks_of, trace  # noqa: E402


class Database(Command):
    def export(self, *names, options=(), **how):
        done = call("export", "-q", "--to", "sqlite", "--force", "-o", self.path("x.db"),
                    *options, *map(trace, names), **how)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(os.stat(self.path("x.db")).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(self.directory), ["x.db"])
        database = sqlite3.connect(self.path("x.db"))
        self.addCleanup(database.close)
        database.row_factory = sqlite3.Row
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")
        self.assertEqual(database.execute("PRAGMA foreign_key_check").fetchall(), [])
        return database

    def test_rows(self):
        """The rows equal those of the other formats, with types."""
        for name in ALL:
            database, out = self.export(name), self.path("tables")
            call("export", "-q", "--to", "jsonl", "-o", out, trace(name))
            for file in os.listdir(out):
                table = file.split(".")[0]
                rows = database.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
                types = {row["name"]: row["type"]
                         for row in database.execute(f"PRAGMA table_info({table})")}
                with open(os.path.join(out, file), encoding="utf-8") as lines:
                    members = [json.loads(line) for line in lines]
                members.sort(key=lambda row: row.get("id", 0) if table == "spans" else 0)
                self.assertEqual(len(rows), len(members), (name, table))
                for row, member in zip(rows, members):
                    for key, kind in types.items():
                        value, reported = row[key], member[key]
                        if reported is None:
                            self.assertIsNone(value, (table, key))
                        elif isinstance(reported, (dict, list)) and kind == "TEXT":
                            self.assertEqual(json.loads(value), reported)
                        elif isinstance(reported, str):
                            self.assertEqual(value, reported.replace("\0", "\\x00"))
                        elif isinstance(reported, int) and reported >= 2**63:
                            self.assertEqual(value, float(reported))
                        else:
                            self.assertEqual(value, reported, (table, key))
                            self.assertEqual(kind, "REAL" if isinstance(reported, float) else "INTEGER")
            shutil.rmtree(out)

    def test_memory_that_was_freed(self):
        """The last rows reach the database after their source has been freed."""
        dumps = []
        for more in {}, {"MALLOC_PERTURB_": "165"}:
            database = self.export("whole.flt", env={**os.environ, **more})
            dumps.append(list(database.iterdump()))
            database.close()
        self.assertGreater(len(dumps[0]), 30)
        self.assertEqual(dumps[0], dumps[1])

    def test_views(self):
        """The views' answers match the report."""
        for name in "nest.flt", "random.flt", "whole.flt", "other.flt":
            database, reported = self.export(name), report(name)
            views = {row["name"]: database.execute(f"SELECT * FROM {row['name']}").fetchall()
                     for row in database.execute("SELECT name FROM sqlite_master "
                                                 "WHERE type = 'view'")}
            self.assertGreaterEqual(len(views), 10)
            self.by_file(views, reported)
            self.by_operation(views, reported)
            self.by_method(views, reported)
            self.by_process(views, reported)
            self.sums(views, reported)
            if name == "whole.flt":
                self.by_span(views, reported)
                self.by_step(views, reported)
                self.by_device(views, database)
            self.slowest(views, name)
            failed = sum(row["errors"] or 0 for row in reported["operations"]
                         if row["layer"] in ("syscall", "async"))
            self.assertEqual(sum(row["count"] for row in views["failed"]), failed)

    def test_lines(self):
        """Time by line is that of the report; by caller, each sample counts once for each line of
        its stack."""
        stacks, below, above = stacks_of("stacks.flt"), Counter(), Counter()
        for row in report("stacks.flt")["lines"]:
            below[(*(row[key] for key in ("function", "file", "line")), row["library"]),
                  row["state"]] += row["time_ns"]
        for row in printed("stacks.flt"):
            if row["kind"] == "sample":
                for frame in set(stacks[row["stack"]][0] if row["stack"] else ()):
                    above[(*(part or None for part in frame), None), row["state"]] += row["weight"]
        for view, wanted in ("by_line", below), ("by_caller", above):
            found = {((*(row[key] for key in ("function", "source", "line")),
                       row["library"] if view == "by_line" else None), row["state"]): row["time_ns"]
                     for row in self.export("stacks.flt").execute(f"SELECT * FROM {view}")}
            self.assertEqual(found, wanted)
        self.assertIn(((None, None, None, "queue.py:171"), "sleep"), below)  # cut

    def by_file(self, views, reported):
        found = {(row["path"], row["reads"], row["read_bytes"] or 0, row["writes"],
                  row["written_bytes"] or 0, row["faults"]) for row in views["by_file"]}
        for row in reported["files"]:
            mapped = (row["mmap"] or {"faults": 0})["faults"] or 0
            self.assertIn((row["path"], row["read"]["count"], row["read"]["bytes"],
                           row["write"]["count"], row["write"]["bytes"], mapped), found)

    def by_operation(self, views, reported):
        found = {(row["layer"], row["op"]): row for row in views["by_operation"]}
        seen = 0
        for row in reported["operations"]:
            if (row["layer"] not in ("syscall", "fault", "async", "vfs") or
                    row["op"] == "dirtied"):  # part of the faults
                continue
            mine = found[row["layer"], row["op"]]
            self.assertEqual((mine["count"], mine["errors"] or 0, mine["thread_time_ns"]),
                             (row["count"], row["errors"] or 0, row["thread_time_ns"]))
            if row["bytes"] is not None and mine["bytes"] is not None:
                self.assertEqual(mine["bytes"], row["bytes"])
            self.assertEqual(mine["max_ns"], row["max_ns"])
            seen += 1
        self.assertEqual(seen, len(found))

    def by_method(self, views, reported):
        found = {(row["method"], row["op"]): row for row in views["by_method"]}
        for row in reported["methods"]:
            if row["count"]:
                mine = found.pop((row["method"], row["op"]))
                self.assertEqual((mine["count"], mine["bytes"]), (row["count"], row["bytes"] or 0))
        self.assertEqual([key for key, row in found.items() if row["count"]], [])

    def by_process(self, views, reported):
        found = {(row["pid"], row["comm"]): row for row in views["by_process"]}
        for row in reported["processes"]:
            mine = found.get((row["pid"], row["comm"]))
            if not mine:
                self.assertEqual((row["read"]["count"], row["write"]["count"]), (0, 0))
                continue
            self.assertEqual((mine["reads"], mine["read_bytes"] or 0, mine["written_bytes"] or 0),
                             (row["read"]["count"], row["read"]["bytes"], row["write"]["bytes"]))
            self.assertEqual(mine["faults"], row["mmap_read"]["faults"] +
                             row["mmap_write"]["faults"])
            self.assertEqual(mine["rank"], row["rank"])

    def sums(self, views, reported):
        totals = reported["totals"]
        for view in "by_second", "by_process":
            self.assertEqual(sum(row["thread_time_ns"] or 0 for row in views[view]),
                             totals["io"]["thread_time_ns"], view)
            self.assertEqual(sum(row["read_bytes"] or 0 for row in views[view]),
                             totals["read"]["bytes"])
        self.assertEqual(sum(row["reads"] for row in views["by_directory"]),
                         sum(row["reads"] for row in views["by_file"]))
        self.assertEqual(sum(row["files"] for row in views["by_directory"]),
                         len(views["by_file"]))
        for row in views["by_cache"]:
            self.assertLessEqual(row["from_memory"], row["reads"])

    def by_span(self, views, reported):
        found = {(row["name"], row["category"]): row for row in views["by_span"]}
        self.assertIn(("fetch", "data"), found)
        for row in reported["spans"]:
            mine = found.pop((row["name"], row["category"]), None)
            if mine:
                self.assertEqual((mine["read_bytes"] or 0, mine["written_bytes"] or 0,
                                  mine["faults"], mine["major"]),
                                 (row["read_bytes"], row["write_bytes"], row["faults"],
                                  row["major"]))
            else:
                self.assertEqual((row["read_bytes"], row["faults"]), (0, 0))
        self.assertEqual(found, {})

    def by_step(self, views, reported):
        of_epochs = {}
        for row in views["by_step"]:
            of_epochs[row["epoch"]] = of_epochs.get(row["epoch"], 0) + (row["read_bytes"] or 0)
        self.assertEqual(of_epochs, {row["epoch"]: row["read_bytes"] for row in reported["epochs"]})
        steps = {row["start_ns"]: row for row in reported["steps"]}
        self.assertEqual([row["read_bytes"] for row in views["by_step"]],
                         [steps[at]["read_bytes"] for at in sorted(steps)])

    def by_device(self, views, database):
        row, = views["by_device"]
        self.assertEqual((row["dev"], row["requests"], row["bytes"], row["errors"]),
                         ("8:0", 2, 12288, 1))
        self.assertEqual(row["queue_ns"] + row["service_ns"],
                         database.execute("SELECT sum(dur_ns) FROM requests").fetchone()[0])

    def test_devices(self):
        """Disks of the same number, of two hosts or one after the other, are rows of their own."""
        database = self.export("disks.flt", "disks_of_other.flt")
        rows = database.execute("SELECT host, dev, instance, op, requests, bytes FROM by_device").fetchall()
        self.assertEqual([tuple(row) for row in rows],
                         [("node2", "7:0", 2, "request_read", 1, 16384), ("node2", "7:0", 1, "request_read", 1, 8192),
                          ("node1", "7:0", 2, "request_read", 1, 2048), ("node1", "7:0", 1, "request_read", 1, 1024)])
        unknown = self.export("whole.flt").execute("SELECT DISTINCT host, instance FROM requests").fetchall()
        self.assertEqual([tuple(row) for row in unknown], [("node1", None)])

    def slowest(self, views, name):
        done = call("print", "-q", "--format", "json", trace(name))
        durations = sorted((row["dur_ns"] for row in map(json.loads, done.stdout.splitlines())
                            if row["layer"] in ("syscall", "fault", "async", "vfs")), reverse=True)
        self.assertEqual([row["dur_ns"] for row in views["slowest"]], durations[:100])

    def test_describe(self):
        """The schema from --describe makes the same database."""
        done = call("export", "--describe", "sqlite")
        self.assertEqual(done.returncode, 0, done)
        schema = "SELECT type, name, sql FROM sqlite_master ORDER BY name"
        described = sqlite3.connect(":memory:")
        described.executescript(done.stdout.decode())
        made = [tuple(row) for row in self.export("whole.flt").execute(schema)]
        self.assertEqual(described.execute(schema).fetchall(), made)
        described.close()
        # The man page lists every view, and its queries run.
        with open("user/command/faultline.1", encoding="utf-8") as file:
            page = file.read().replace("\\-", "-").replace("\\&", "").replace("\\(aq", "'")
        queries = [line for line in page.splitlines() if line.startswith("sqlite3 job.db ")]
        database = self.export("whole.flt")
        for query in queries:
            database.execute(query.split('"')[1]).fetchall()
        for kind, name, _ in made:
            if kind == "view":
                self.assertTrue(any(f" {name} " in query or f" {name}\"" in query
                                    for query in queries), name)

    def test_hostile(self):
        database = self.export("whole.flt")
        paths = {row["path"] for row in database.execute("SELECT path FROM files")}
        self.assertIn("/data/<script>alert(1)</script>,\"a\".bin", paths)
        self.assertIn("/out/caf\u00e9\n.bin", paths)
        path, = database.execute("SELECT path FROM calls WHERE error = 'ENOENT'").fetchone()
        self.assertEqual(path, "/no\\xffwhere")

    def test_index(self):
        """Queries by file or by span use an index."""
        database = self.export("whole.flt")
        for query in ("SELECT * FROM calls WHERE file = 1", "SELECT * FROM faults WHERE file = 1",
                      "SELECT * FROM calls WHERE span = 1", "SELECT * FROM files WHERE path = '/'"):
            plan = database.execute("EXPLAIN QUERY PLAN " + query).fetchone()["detail"]
            self.assertIn("USING INDEX", plan)

    def test_refused(self):
        def little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))

        refused = functools.partial(self.refused, "export", "--to", "sqlite")
        nest, out = trace("nest.flt"), self.path("y.db")
        refused("-o", "-", nest, naming="stream")
        refused("--table", "calls", "-o", out, nest, naming="--table")
        refused("-o", out, "--op", "nothing", nest, naming="nothing")
        refused("-o", out, trace("random.flt"), naming="cannot write the database", status=1,
                preexec_fn=little_room)
        self.assertEqual(os.listdir(self.directory), [])
        call("export", "--to", "sqlite", "-o", out, nest)
        refused("-o", out, nest, naming="--force")


if __name__ == "__main__":
    unittest.main()
