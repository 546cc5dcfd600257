# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks `faultline export --to perfetto` on the traces of export_traces.c: decoded by generated
code, played by the rules of Perfetto's trace_processor, and compared with `faultline print` and
the report."""

import collections
import decimal
import json
import os
import subprocess
import unittest

from _exported import (ALL, MS, at, call, drawn_name, exported, printed, report, sampled_lines,
                       trace)

DUMP = os.path.join(os.environ.get("BUILD", "build"), "tests/unit/perfetto_dump")
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Played:
    """A trace as trace_processor reads it."""

    def __init__(self, data):
        done = subprocess.run([DUMP], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr
        packets = [json.loads(line) for line in done.stdout.splitlines()]
        self.tracks, self.slices, self.instants = {}, [], []
        self.counters = collections.defaultdict(list)
        self.words = {kind: {} for kind in ("categories", "names", "arguments", "strings")}
        self.clock = packets[0]
        assert self.clock["kind"] == "clock" and self.clock["primary"] == 6
        events, valid = [], False
        for packet in packets:
            state = packet.get("state", 0)
            if packet["kind"] != "clock":
                assert packet["sequence"] == 1, packet
            if state & 1:
                valid = True
            if packet["kind"] == "interned":
                for kind, words in self.words.items():
                    for iid, text in packet[kind].items():
                        # An ID has one meaning until the state is reset.
                        assert int(iid) and words.setdefault(int(iid), text) == text, packet
            elif packet["kind"] == "track":
                self.take_track(packet)
            elif packet["kind"] == "event":
                assert valid and (state & 2 or "name" not in packet), packet
                events.append(self.resolved(packet))
        # By time; equal times in file order.
        events.sort(key=lambda packet: packet["time"])
        self.play(events)

    def take_track(self, packet):
        parent = packet.get("parent")
        assert parent is None or parent in self.tracks, packet
        assert packet["uuid"] and packet.get("pid", 0) >= 0 and packet.get("tid", 0) >= 0
        self.tracks[packet["uuid"]] = packet

    def resolved(self, packet):
        """Interned names must be defined before use."""
        assert packet["track"] in self.tracks, packet
        if "name" in packet:
            packet["name"] = self.words["names"][packet["name"]]
        packet["categories"] = [self.words["categories"][iid] for iid in packet["categories"]]
        args = {}
        for arg in packet["args"]:
            name = self.words["arguments"][arg["id"]]
            assert name not in args, packet
            args[name] = (self.words["strings"][arg["iid"]] if "iid" in arg else
                          arg.get("text", arg.get("uint")))
        packet["args"] = args
        return packet

    def play(self, events):
        stacks = collections.defaultdict(list)
        for event in events:
            stack = stacks[event["track"]]
            if event["type"] == BEGIN:
                event["depth"] = len(stack)
                stack.append(event)
            elif event["type"] == END:
                begin = stack.pop()  # an end without a begin is an error
                begin["end"] = event["time"]
                self.slices.append(begin)
                if stack:
                    begin["in"] = stack[-1]
            elif event["type"] == INSTANT:
                self.instants.append(event)
                event["in"] = stack[-1] if stack else None
            else:
                assert event["type"] == COUNTER and "counter" in self.tracks[event["track"]]
                self.counters[event["track"]].append((event["time"], event["value"]))
        assert not any(stacks.values()), "slices that never end"


class Perfetto(unittest.TestCase):
    def export(self, *names, options=()):
        done = call("export", "-q", "--to", "perfetto", "-o", "-", *options, *map(trace, names))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return Played(done.stdout)

    def test_slices(self):
        """Every call, fault, wait and request is a slice with its own begin and end, and so is
        every span, however they cross."""
        for name in ALL:
            played, rows = self.export(name), printed(name)
            found = collections.Counter((of["name"], of["time"], of["end"])
                                        for of in played.slices)
            base = min(row["time_ns"] for row in rows if row["kind"] != "file")
            wanted = collections.Counter()
            for row in rows:
                if row["kind"] in ("syscall", "syscall_path", "async", "fault", "vfs", "request",
                                   "wait"):
                    end = min(row["time_ns"] + row["dur_ns"], 2**64 - 1)
                    wanted[drawn_name(row), row["time_ns"] - base, end - base] += 1
            self.assertEqual(wanted - found, collections.Counter(), name)
            shift = report(name)["trace"]["start_unix_ns"] - played.clock["clock1"]
            for row in exported(name, "spans"):
                begin = row["time_ns"] + shift
                wanted[row["name"], begin, begin + row["dur_ns"]] += 1
            throttles = collections.Counter(key for key in (found - wanted).elements()
                                            if key[0] == "balance_dirty_pages")
            self.assertEqual(found - wanted, throttles, name)
            self.assertEqual(wanted - found, collections.Counter(), name)

    def test_nesting(self):
        played = self.export("nest.flt")
        of = {slice["name"]: slice for slice in played.slices}
        self.assertEqual(of["fault"]["in"]["name"], "read")
        self.assertEqual(of["inner"]["time"], of["outer"]["time"])
        self.assertEqual(of["read"]["in"]["name"], "step")
        self.assertEqual(of["step"]["in"]["name"], "epoch")
        self.assertEqual(of["step"]["args"]["args"], '{"step":7}')
        crossing = played.tracks[of["crossing"]["track"]]
        self.assertEqual(crossing["track_name"], "overlapping")
        thread = played.tracks[of["step"]["track"]]
        self.assertEqual(crossing["parent"], thread["uuid"])
        self.assertEqual((thread["pid"], thread["tid"], thread["thread"]), (100, 100, "python3"))
        self.assertEqual(played.tracks[thread["parent"]]["process"], "rank 3: python3 train.py")

    def test_args(self):
        played = self.export("whole.flt")
        read = [of for of in played.slices if of["name"] == "pread64"][1]
        self.assertEqual(read["args"], {"file": "/data/<script>alert(1)</script>,\"a\".bin",
                                        "offset": 4096, "bytes": 4096, "fetched_bytes": 4096})
        self.assertEqual(read["categories"], ["read"])
        opened, = [of for of in played.slices if of["name"] == "openat"]
        self.assertEqual(opened["args"], {"file": "/no\\xffwhere", "error": 2})
        pipe = [of for of in played.slices if of["name"] == "pipe"][0]
        self.assertEqual(pipe["args"], {"call": "read", "object": 4711, "waker_pid": 1,
                                        "waker_tid": 1})
        self.assertEqual((pipe["categories"], pipe["in"]["name"]), (["wait"], "read"))
        self.assertEqual(played.clock["clock6"], 0)
        self.assertEqual(played.clock["clock1"], report("whole.flt")["trace"]["start_unix_ns"])

    def test_stacks(self):
        """Operations with a sample have its stack; others have none."""
        lines, found = sampled_lines("stacks.flt"), []
        played = self.export("stacks.flt")
        for of in played.slices:
            key = (played.tracks[of["track"]]["tid"], of["time"] + 1000 * MS, of["end"] + 1000 * MS)
            wanted = {"at": at(lines[key]), "stack": " <- ".join(lines[key])} if key in lines else {}
            self.assertEqual({name: of["args"][name] for name in ("at", "stack")
                              if name in of["args"]}, wanted)
            found.append(of["args"].get("stack"))
        self.assertIn("queue.py:171 in Queue.get <- train.py:21 in Loop.step <- "
                      "train.py:10 in <module>", found)
        self.assertIn("train.py:21 in Loop.step <- train.py:10 in <module> <- ...", found)
        self.assertEqual((len(found) - found.count(None), found.count(None)), (6, 2))

    def test_cpu(self):
        """Time on a CPU is drawn at its samples, by line, with the stack."""
        lines = sampled_lines("stacks.flt")
        wanted = []
        for row in printed("stacks.flt"):
            if row.get("state") == "cpu":
                stack = lines[row["tid"], row["time_ns"], row["time_ns"] + row["dur_ns"]]
                wanted.append((at(stack), row["time_ns"] - 1000 * MS, row["weight"], " <- ".join(stack)))
        found = [(of["name"], of["time"], of["args"]["weight_ns"], of["args"]["stack"])
                 for of in self.export("stacks.flt").instants if of["categories"] == ["cpu"]]
        self.assertEqual(found, wanted)
        self.assertTrue(found)

    def test_sums(self):
        """Bytes and counts match the report."""
        for name in "nest.flt", "random.flt", "whole.flt", "other.flt":
            played, reported = self.export(name), report(name)
            for row in reported["operations"]:
                if row["layer"] not in ("syscall", "async", "vfs", "fault") or \
                        row["op"] == "dirtied":
                    continue
                of = [slice for slice in played.slices if slice["name"] == row["op"] and
                      row["family"] in slice["categories"]]
                self.assertEqual(len(of), row["count"])
                self.assertEqual(sum(slice["end"] - slice["time"] for slice in of),
                                 row["thread_time_ns"])
                self.assertEqual(sum(slice["args"].get("fetched_bytes", 0) for slice in of),
                                 row["fetched_bytes"] or 0)
                if row["bytes"]:
                    self.assertEqual(sum(slice["args"].get("bytes", 0) for slice in of),
                                     row["bytes"])

    def test_counters(self):
        """Counters add up to the bytes that the report has per second."""
        played, reported = self.export("whole.flt"), report("whole.flt")
        for name, bytes_ in (("read", reported["totals"]["read"]["bytes"]),
                             ("written", reported["totals"]["write"]["bytes"])):
            uuids = [uuid for uuid, track in played.tracks.items()
                     if track.get("counter") and track["track_name"] == name]
            total = 0
            for uuid in uuids:
                # Each value holds until the next one.
                values = played.counters[uuid]
                self.assertEqual(values[-1][1], 0)
                total += sum(value * (after - time)
                             for (time, value), (after, _) in zip(values, values[1:]))
            self.assertAlmostEqual(total / 1e9, bytes_, delta=1)

    def test_storage(self):
        """Requests on a track do not overlap; flows lead to them from where they were queued."""
        played = self.export("whole.flt")
        requests = [of for of in played.slices if of["name"] == "request_write"]
        self.assertEqual(len(requests), 2)
        lanes = [played.tracks[of["track"]] for of in requests]
        self.assertEqual([lane["track_name"] for lane in lanes], ["requests"] * 2)
        self.assertEqual([played.tracks[lane["parent"]]["track_name"] for lane in lanes],
                         ["device 8:0"] * 2)
        self.assertEqual(len({of["track"] for of in requests}), 2)
        self.assertEqual(sorted(flow for of in requests for flow in of["ends"]), [1, 2])
        bio, = [of for of in played.instants if of["name"] == "request_write"]
        self.assertEqual(bio["flows"], [2])
        self.assertEqual(bio["in"]["name"], "fsync")

    def test_filters(self):
        for options in (["--op", "pread64"], ["--file", "*script*"], ["--span", "fetch"],
                        ["--from", "0.1", "--until", "0.2"], ["--pid", "100"], ["--rank", "0"]):
            played = self.export("whole.flt", options=options)
            for row in report("whole.flt", options=options)["operations"]:
                if row["layer"] in ("syscall", "fault") and row["op"] != "dirtied":
                    self.assertEqual(sum(of["name"] == row["op"] for of in played.slices),
                                     row["count"], (options, row["op"]))

    def test_same_as_chrome(self):
        """Formats of a timeline differ only in how they write it."""
        for name in ALL:
            for options in ([], ["--pid", "100"], ["--rank", "3"], ["--min-duration", "20us"]):
                played = self.export(name, options=options)
                done = call("export", "-q", "--to", "chrome", "-o", "-", *options, trace(name))
                events = collections.defaultdict(list)
                for event in json.loads(done.stdout, parse_float=decimal.Decimal)["traceEvents"]:
                    begin = round(event.get("ts", 0) * 1000)
                    events[event["ph"]].append((event["name"], begin, event))
                ends = {event["id"]: end for _, end, event in events["e"]}
                slices = [(of, begin, begin + round(event["dur"] * 1000))
                          for of, begin, event in events["X"]]
                slices += [(of, begin, ends[event["id"]]) for of, begin, event in events["b"]]
                self.assertEqual(collections.Counter(slices), collections.Counter(
                    (of["name"], of["time"], of["end"]) for of in played.slices), (name, options))
                self.assertEqual(
                    collections.Counter((of, time) for of, time, _ in events["i"]),
                    collections.Counter((of["name"], of["time"]) for of in played.instants
                                        if "block" not in of["categories"] and
                                        "storage" not in of["categories"]), (name, options))
                self.assertEqual(
                    sorted((of, event["pid"], time, rate if rate < 9e18 else 2**63 - 1)
                           for of, time, event in events["C"]
                           for rate in [int(event["args"]["bytes/s"])]),
                    sorted((played.tracks[uuid]["track_name"],
                            played.tracks[played.tracks[uuid]["parent"]]["pid"], time, value)
                           for uuid, values in played.counters.items()
                           for time, value in values), (name, options))

    def test_several(self):
        played = self.export("nest.flt", "other.flt")
        processes = [track for track in played.tracks.values() if "process" in track]
        self.assertEqual(len(processes), len({track["pid"] for track in processes}))
        self.assertEqual(sorted(track["process"] for track in processes),
                         ["dog (node2)", "rank 3: python3 train.py (forked by 100) (node1)",
                          "rank 3: python3 train.py (node1)", "rank 4: cat (node2)"])

    def test_size(self):
        done = call("export", "-q", "--to", "perfetto", "-o", "-", trace("random.flt"))
        self.assertLess(len(done.stdout) / len(printed("random.flt")), 25)


if __name__ == "__main__":
    unittest.main()
