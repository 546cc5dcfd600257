# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks `faultline export --to pfw` on the traces of export_traces.c, by the rules that readers of
DFTracer's format apply, against the report."""

import collections
import gzip
import json
import os
import re
import shutil
import tempfile
import unittest

from _exported import ALL, MS, at, call, no_constant, report, sampled_lines, trace, unique

# Calls that readers of 2.x classify by name; all others are neither reads nor writes to them.
READS = {"read", "pread", "pread64", "readv", "preadv", "preadv64", "fread"}
WRITES = {"write", "pwrite", "pwrite64", "writev", "pwritev", "pwritev64", "fwrite"}
HASH = re.compile("[0-9a-f]{16}")


def parse(line):
    """A line, parsed as strictly as the format demands."""
    assert line.startswith("{") and line.endswith("}"), line
    event = json.loads(line, object_pairs_hook=unique, parse_constant=no_constant)
    args = event["args"]
    assert HASH.fullmatch(args["hhash"]), event
    for key in ("pid", "tid", *(("ts", "dur") if event["ph"] == "X" else ())):
        assert type(event[key]) is int and event[key] >= 0, event
    if event["ph"] == "M":
        assert event.keys() == {"name", "cat", "pid", "tid", "ph", "args"}, event
        assert args.keys() == {"hhash", "name", "value"} and event["cat"] == "dftracer"
        assert event["name"] in ("HH", "FH", "SH", "PR"), event
    else:
        assert event["ph"] == "X" and event.keys() == {"name", "cat", "pid", "tid", "ph", "ts",
                                                       "dur", "args"}, event
    return event


def size_of_1x(event):
    """The bytes that DFAnalyzer 1.x counts: ret, if the name contains the word."""
    name, ret = event["name"], event["args"].get("ret", 0)
    if event["cat"] != "POSIX" or int(ret) <= 0:
        return None
    if "write" in name:
        return "write", ret
    return ("read", ret) if "read" in name and "readdir" not in name else None


def size_of_2x(event):
    """The bytes that 2.x readers count: ret of calls they know."""
    name, ret = event["name"], event["args"].get("ret", 0)
    if event["cat"].lower() != "posix" or int(ret) <= 0:
        return None
    return ("read", ret) if name in READS else ("write", ret) if name in WRITES else None


class Pfw(unittest.TestCase):
    def export(self, *names, options=()):
        done = call("export", "-q", "--to", "pfw", "-o", "-", *options, *map(trace, names))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [parse(line) for line in done.stdout.decode().split("\n")[:-1]]

    def test_hashes(self):
        """Every hash is defined before its use, once per host, each with one name."""
        for name in ALL:
            known = {"hhash": {}, "fhash": {}, "exec_hash": {}, "cmd_hash": {}}
            of = {"HH": ["hhash"], "FH": ["fhash"], "SH": ["exec_hash", "cmd_hash"]}
            for event in self.export(name):
                args = event["args"]
                if event["ph"] == "M" and event["name"] != "PR":
                    self.assertRegex(args["value"], "^[0-9a-f]{16}$")
                    for key in of[event["name"]]:
                        self.assertNotIn(args["value"], known[key])
                        known[key][args["value"]] = args["name"]
                for key in known:
                    if key in args:
                        self.assertIn(args[key], known[key], event)
        files = [event["args"]["name"] for event in self.export("whole.flt")
                 if event["name"] == "FH"]
        self.assertEqual(sorted(files), sorted(["/data/<script>alert(1)</script>,\"a\".bin",
                                                "/out/caf\u00e9\n.bin", "/no\\xffwhere"]))

    def test_numbers(self):
        """Calls, bytes, faults and spans match the report, for both generations of readers."""
        for name in "nest.flt", "random.flt", "whole.flt", "other.flt":
            events, reported = self.export(name), report(name)
            posix = [event for event in events if event["cat"] == "POSIX"]
            operations = [row for row in reported["operations"] if row["layer"] == "syscall"]
            self.assertEqual(len(posix), sum(row["count"] for row in operations), name)
            for sizes in size_of_1x, size_of_2x:
                found = collections.Counter()
                for event in events:
                    size = sizes(event)
                    if size:
                        found[size[0]] += size[1]
                for kind in "read", "write":
                    wanted = sum(row["bytes"] for row in operations if row["family"] == kind)
                    self.assertEqual(found[kind], wanted, (name, kind, sizes))
            failed = sum("errno" in event["args"] for event in posix)
            self.assertEqual(failed, sum(row["errors"] for row in operations))
            self.assertFalse(any("ret" in event["args"] and "errno" in event["args"]
                                 for event in posix))
            faults = [event for event in events if event["cat"] == "MMAP_FAULT"]
            totals = reported["totals"]
            for key, column in ("major", "major"), ("fetched_bytes", "fetched_bytes"):
                self.assertEqual(sum(event["args"][key] for event in faults),
                                 sum(totals[kind][column] or 0
                                     for kind in ("mmap_read", "mmap_write")))
            self.assertEqual(len(faults), sum(totals[kind]["faults"] or 0
                                              for kind in ("mmap_read", "mmap_write")))
            self.assertFalse(any(sizes(event) for event in faults
                                 for sizes in (size_of_1x, size_of_2x)))

    def test_spans(self):
        events, reported = self.export("whole.flt"), report("whole.flt")
        for row in reported["spans"]:
            of = [event for event in events
                  if (event["name"], event["cat"]) == (row["name"], row["category"])]
            self.assertEqual(len(of), row["count"])
            self.assertEqual(sum(event["dur"] for event in of) * 1000, row["time_ns"])
        self.assertEqual([event["args"].get("step") for event in events
                          if event["name"] == "step"], [None, None, 7] * 2)

    def test_posix(self):
        """Names are DFTracer's; times are wall-clock, rounded."""
        events = self.export("whole.flt")
        read = [event for event in events if event["name"] == "pread"][0]
        self.assertEqual((read["ts"], read["dur"]), (5012000, 1000))
        self.assertEqual({key: value for key, value in read["args"].items() if "hash" not in key},
                         {"ret": 4096, "offset": 0, "fetched_bytes": 4096})
        opened, = [event for event in events if event["name"] == "open64"]
        self.assertEqual(opened["args"]["errno"], 2)
        self.assertNotIn("ret", opened["args"])
        self.assertNotIn("offset", opened["args"])
        self.assertEqual(opened["dur"], 0)
        ahead, = [event for event in events if event["name"] == "readahead"]
        self.assertEqual(ahead["dur"], 1)  # 600 ns
        self.assertEqual({event["cat"] for event in events if event["name"] == "vfs_read"},
                         {"VFS"})

    def test_waits(self):
        """Named by their state; no call by its DFTracer name."""
        waits = [event for event in self.export("whole.flt") if event["cat"] == "WAIT"]
        self.assertEqual(sorted(event["name"] for event in waits),
                         ["lock"] * 6 + ["pipe"] * 6 + ["sleep"])
        lock = [event for event in waits if event["name"] == "lock"][0]
        self.assertEqual({key: value for key, value in lock["args"].items() if key != "hhash"},
                         {"call": "futex", "object": 0x7fff00001000, "waker_pid": 100,
                          "waker_tid": 101, "owner_pid": 100, "owner_tid": 102})
        self.assertEqual((lock["tid"], lock["ts"], lock["dur"]), (100, 5019000, 2000))

    def test_lines(self):
        """Operations with a sample have the application's line; others have none."""
        lines = {(tid, (start - 1000 * MS) // 1000 + 5000000, (end - start) // 1000): at(frames)
                 for (tid, start, end), frames in sampled_lines("stacks.flt").items()}
        found = [(event["tid"], event["ts"], event["dur"], event["args"].get("at"))
                 for event in self.export("stacks.flt") if event["cat"] in ("POSIX", "MMAP_FAULT", "WAIT")]
        for *key, line in found:
            self.assertEqual(line, lines.get(tuple(key)))
        self.assertEqual(sum(line is not None for *_, line in found), 6)

    def test_processes(self):
        events = self.export("nest.flt")
        starts = {event["pid"]: event for event in events if event["name"] == "start"}
        self.assertEqual({pid: event["args"]["ppid"] for pid, event in starts.items()},
                         {100: 1, 200: 100})
        self.assertEqual({event["cat"] for event in starts.values()}, {"dftracer"})
        ranks = {event["pid"]: event["args"]["value"] for event in events
                 if event["name"] == "PR" and event["args"]["name"] == "rank"}
        self.assertEqual(ranks, {100: "3", 200: "3"})
        both = self.export("nest.flt", "other.flt")
        hosts = [event["args"]["name"] for event in both if event["name"] == "HH"]
        self.assertEqual(sorted(hosts), ["node1", "node2"])
        # A PID used twice is two processes.
        self.assertEqual(len([event for event in both if event["name"] == "start"]), 4)

    def test_filters(self):
        for options in (["--op", "pread64"], ["--file", "*script*"], ["--span", "fetch"],
                        ["--from", "0.1", "--until", "0.2"], ["--rank", "0"]):
            events = self.export("whole.flt", options=options)
            found = sum(event["args"].get("ret", 0) for event in events
                        if event["cat"] in ("POSIX", "ASYNC", "VFS") and "read" in event["name"])
            self.assertEqual(found, sum(row["bytes"] for row in
                                        report("whole.flt", options=options)["operations"]
                                        if row["family"] == "read"), options)

    def test_gzip(self):
        directory = tempfile.mkdtemp(prefix="faultline-export-")
        self.addCleanup(shutil.rmtree, directory)
        path = os.path.join(directory, "x.pfw.gz")
        self.assertEqual(call("export", "--to", "pfw", "-o", path, trace("whole.flt")).returncode,
                         0)
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            self.assertEqual([parse(line) for line in file.read().split("\n")[:-1]],
                             self.export("whole.flt"))


if __name__ == "__main__":
    unittest.main()
