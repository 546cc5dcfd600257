# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks `faultline export --to speedscope` on the traces of export_traces.c, by the rules of
speedscope's file format, against the report and against a sweep over the exported tables."""

import collections
import json
import unittest

from _exported import ALL, call, exported, no_constant, report, trace


def union(intervals):
    """Disjoint and sorted."""
    found = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


class Speedscope(unittest.TestCase):
    def export(self, *names, options=()):
        done = call("export", "-q", "--to", "speedscope", "-o", "-", *options, *map(trace, names))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        document = json.loads(done.stdout.decode(), parse_constant=no_constant)
        self.assertEqual(document["$schema"],
                         "https://www.speedscope.app/file-format-schema.json")
        frames = document["shared"]["frames"]
        for frame in frames:
            self.assertTrue(frame["name"])
        self.assertTrue(document["profiles"])
        graphs = {}
        for profile in document["profiles"]:
            self.assertEqual((profile["type"], profile["unit"], profile["startValue"]),
                             ("sampled", "nanoseconds", 0))
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(sum(profile["weights"]), profile["endValue"])
            self.assertTrue(all(type(weight) is int and weight > 0
                                for weight in profile["weights"]))
            stacks = [tuple(frames[i]["name"] for i in sample) for sample in profile["samples"]]
            self.assertNotIn(profile["name"], graphs)
            graphs[profile["name"]] = list(zip(stacks, profile["weights"]))
        return graphs

    def test_format(self):
        for name in ALL:
            self.export(name)

    def test_totals(self):
        """Widths add up to the report's values, for the job and for each rank."""
        for name in "nest.flt", "whole.flt":
            graphs, reported = self.export(name), report(name)
            overlap = reported["overlap"]
            if overlap and overlap["compute_ns"]:
                self.assertEqual(sum(weight for _, weight in graphs["unoverlapped I/O"]),
                                 overlap["unoverlapped_io_ns"])
                for row in overlap["by_rank"]:
                    if row["rank"] is not None:
                        of = graphs[f"unoverlapped I/O, rank {row['rank']}"]
                        self.assertEqual(sum(weight for _, weight in of),
                                         row["unoverlapped_io_ns"])
            else:
                self.assertEqual(sum(weight for _, weight in graphs["I/O (no compute spans)"]),
                                 reported["totals"]["io"]["time_ns"])
        for name in "random.flt", "other.flt":
            graphs, reported = self.export(name), report(name)
            self.assertEqual(sum(weight for _, weight in graphs["I/O (no compute spans)"]),
                             reported["totals"]["io"]["time_ns"])

    def test_sweep(self):
        """Recomputed: each operation gets the time not covered by earlier ones or by compute."""
        name = "whole.flt"
        files = {row["id"]: row["path"] for row in exported(name, "files")}
        spans = {row["id"]: row for row in exported(name, "spans")}
        computing = union((row["time_ns"], row["time_ns"] + row["dur_ns"])
                          for row in spans.values() if row["category"] == "compute")
        operations = [row for table in ("calls", "faults") for row in exported(name, table)
                      if row["timed_ns"] is not None]
        operations.sort(key=lambda row: row["time_ns"])
        covered, found = 0, collections.Counter()
        for row in operations:
            begin, end = max(covered, row["time_ns"]), row["time_ns"] + row["dur_ns"]
            covered = max(covered, end)
            hidden = sum(max(0, min(end, b) - max(begin, a)) for a, b in computing)
            stack, span = [], spans.get(row["span"])
            while span:
                stack.insert(0, span["name"])
                span = spans.get(span["parent"])
            file = row["file"] if row["file"] is not None else row.get("file2")
            if end > begin and end - begin > hidden:
                found[(*(stack or ["(no span)"]),
                       "(no file)" if file is None else files[file],
                       row.get("op", "fault"))] += end - begin - hidden
        self.assertEqual(dict(self.export(name)["unoverlapped I/O"]), dict(found))
        self.assertGreater(len(found), 4)

    def test_filters(self):
        reported = report("whole.flt", options=["--op", "sendfile"])
        graphs = self.export("whole.flt", options=["--op", "sendfile"])
        self.assertEqual({stack[-1] for stack, _ in graphs["unoverlapped I/O"]}, {"sendfile"})
        self.assertEqual(sum(weight for _, weight in graphs["unoverlapped I/O"]),
                         reported["overlap"]["unoverlapped_io_ns"])


if __name__ == "__main__":
    unittest.main()
