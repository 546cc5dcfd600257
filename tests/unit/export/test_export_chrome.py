# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks `faultline export --to chrome` on the traces of export_traces.c, against `faultline print`
and against the rules of trace viewers."""

import collections
import gzip
import json
import os
import resource
import shutil
import signal
import sys
import unittest
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _command import Command  # noqa: E402
from _exported import (MS, at, call, drawn_name, no_constant, printed, sampled_lines,  # noqa: E402
                       stacks_of, trace, unique)

PID_STEP = 10**7

# "Trace Event Format": required members per phase.
REQUIRED = {
    "X": {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"},
    "b": {"name", "cat", "ph", "ts", "pid", "tid", "id", "args"},
    "e": {"name", "cat", "ph", "ts", "pid", "tid", "id"},
    "s": {"name", "cat", "ph", "ts", "pid", "tid", "id"},
    "f": {"name", "cat", "ph", "ts", "pid", "tid", "id", "bp"},
    "i": {"name", "cat", "ph", "ts", "pid", "tid", "s", "args"},
    "C": {"name", "ph", "ts", "pid", "args"},
    "M": {"name", "ph", "pid", "tid", "args"},
}
METADATA = {"process_name": "name", "process_labels": "labels", "thread_name": "name",
            "process_sort_index": "sort_index"}


def parse(data):
    """The document, times in ns."""
    document = json.loads(data.decode(), parse_float=str, parse_constant=no_constant,
                          object_pairs_hook=unique)
    for event in document["traceEvents"]:
        assert REQUIRED[event["ph"]] <= set(event), event
        assert {"ts", "dur"}.isdisjoint(event) or event["ph"] != "M"
        for key in "ts", "dur":
            if key in event:
                # Microseconds with three decimals.
                assert event[key][-4] == "." and event[key][0].isdigit(), event
                event[key] = int(event[key].replace(".", ""))
    return document


def export(*names, options=()):
    done = call("export", "-q", "--to", "chrome", "-o", "-", *options, *map(trace, names))
    assert done.returncode == 0 and done.stderr == b"", done
    return parse(done.stdout)


def only(events, phase, **members):
    return [e for e in events if e["ph"] == phase and
            all(e.get(key) == value for key, value in members.items())]


def slices(events):
    """Name, start, end and args of every slice, nested or not."""
    found = [(e["name"], e["ts"], e["ts"] + e["dur"], e["args"]) for e in only(events, "X")]
    ends = {}
    for event in only(events, "e"):
        assert event["id"] not in ends, event
        ends[event["id"]] = event
    begins = only(events, "b")
    assert len(begins) == len(ends)
    for event in begins:
        end = ends.pop(event["id"])
        assert (end["name"], end["cat"], end["pid"]) == (event["name"], event["cat"], event["pid"])
        assert end["ts"] >= event["ts"], event
        found.append((event["name"], event["ts"], end["ts"], event["args"]))
    return found


def check_nesting(events):
    """Plays the viewer: slices of a thread by start, in file order if they start together. Returns
    the depth of each."""
    threads, depths = collections.defaultdict(list), []
    for event in only(events, "X"):
        threads[event["pid"], event["tid"]].append(event)
    for of_thread in threads.values():
        stack = []
        for event in sorted(of_thread, key=lambda e: e["ts"]):
            end = event["ts"] + event["dur"]
            while stack and (stack[-1][1] < event["ts"] or
                             (stack[-1][1] == event["ts"] and stack[-1][0] < stack[-1][1])):
                stack.pop()
            assert not stack or end <= stack[-1][1], (event, stack)
            stack.append((event["ts"], end))
            depths.append((event["name"], len(stack)))
    return depths


def spans_of(rows, end_ns):
    """Spans from the rows, by the simplest means: name, start, end."""
    spans, by_process = [], collections.defaultdict(list)
    for row in rows:
        if row["kind"] == "span_begin":
            by_process[row["pid"]].append([row, None])
        elif row["kind"] == "span_end":
            # Of spans with the same ID, the latest open one, as in the report.
            latest = [span for span in by_process[row["pid"]]
                      if span[0]["id"] == row["id"] and span[1] is None][-1:]
            if latest:
                latest[0][1] = row["time_ns"]
        elif row["kind"] == "exec" or (row["kind"] == "exit" and row["process"]):
            spans += [(begin, end or row["time_ns"]) for begin, end in by_process.pop(row["pid"], ())]
    for rest in by_process.values():
        spans += [(begin, end or end_ns) for begin, end in rest]
    return [(begin["name"], begin["time_ns"], end) for begin, end in spans]


def expected(rows, start, end, low=0, high=2**64, least=0):
    """Name, start, end and cut of every slice that the rows require, in a window."""
    everything = [(drawn_name(row), row["time_ns"], row["time_ns"] + row["dur_ns"])
                  for row in rows if row["kind"] in ("syscall", "syscall_path", "fault", "wait")]
    everything += spans_of(rows, end)
    found = collections.Counter()
    for name, first, last in everything:
        first, last = first - start, last - start
        if last - first < least or first >= high or (first < low and last <= low):
            continue
        cut = {(True, True): "both", (True, False): "start", (False, True): "end"}
        found[name, max(first, low), min(last, high), cut.get((first < low, last > high))] += 1
    return found


def found_slices(events):
    return collections.Counter((name, first, last, args.get("cut"))
                               for name, first, last, args in slices(events))


class Chrome(Command):
    def test_document(self):
        document = export("nest.flt")
        self.assertEqual(document["displayTimeUnit"], "ns")
        other = document["otherData"]
        self.assertEqual((other["host"], other["kernel"], other["command"]),
                         ("node1", "6.1.0", ["python3", "train.py"]))
        self.assertEqual(other["start_unix_ns"], 5000 * MS)
        self.assertEqual([t["complete"] for t in other["traces"]], [True])

    def test_names(self):
        events = export("nest.flt")["traceEvents"]
        named = {(e["name"], e["pid"], e["tid"]): e["args"][METADATA[e["name"]]]
                 for e in only(events, "M")}
        self.assertEqual(named["process_name", 100, 100], "rank 3: python3 train.py")
        self.assertEqual(named["process_name", 200, 200],
                         "rank 3: python3 train.py (forked by 100)")
        self.assertEqual(named["process_labels", 200, 200], "rank 3, host node1, pid 200")
        self.assertEqual(named["process_sort_index", 100, 100], 3)
        self.assertEqual(named["thread_name", 100, 100], "python3")
        self.assertEqual(named["thread_name", 100, 102], "helper")
        self.assertEqual(len(only(events, "M", name="process_name")),
                         len({e["pid"] for e in events}))

    def test_calls_and_faults(self):
        events = export("nest.flt")["traceEvents"]
        read, = only(events, "X", name="read")
        self.assertEqual((read["cat"], read["ts"], read["dur"]), ("read", 21 * MS, 6 * MS))
        self.assertEqual(read["args"], {"file": "/data/a.bin", "offset": 0, "asked": 8192,
                                        "bytes": 8192, "result": 8192, "fetched_bytes": 4096,
                                        "fault_fetched_bytes": 512})
        fault, = only(events, "X", cat="fault")
        self.assertEqual(fault["args"], {"file": "/data/a.bin", "offset": 4096,
                                         "fetched_bytes": 512, "major": 1,
                                         "flags": ["major", "in call"]})
        missing, = only(events, "X", name="openat")
        self.assertEqual(missing["dur"], 123)
        self.assertEqual(missing["args"], {"file": "/nowhere", "result": -2, "error": "ENOENT",
                                           "fetched_bytes": 0})
        moment, = only(events, "i", name="moment")
        self.assertEqual((moment["ts"], moment["args"], moment["s"]), (70 * MS, {"k": "v"}, "t"))

    def test_spans(self):
        events = export("nest.flt")["traceEvents"]
        check_nesting(events)
        depths = dict(check_nesting(e for e in events if e.get("tid") == 100))
        self.assertEqual([depths[n] for n in ("epoch", "twice", "step", "read", "fault", "outer",
                                              "inner", "write", "crossed", "after")],
                         [1, 3, 2, 3, 4, 2, 3, 4, 2, 2])
        step, = only(events, "X", name="step")
        self.assertEqual((step["cat"], step["args"]), ("compute", {"step": 7}))
        epoch, = only(events, "X", name="epoch")
        self.assertEqual((epoch["cat"], epoch["ts"], epoch["dur"], epoch["args"]),
                         ("span", 10 * MS, 89 * MS, {"unfinished": True}))
        self.assertEqual(sorted(e["name"] for e in only(events, "b")),
                         ["crossing", "handed over", "out of a call"])
        handed, = only(events, "b", name="handed over")
        self.assertEqual(handed["args"], {"ended_by": 101})
        child, = only(events, "X", name="of the child")
        self.assertEqual((child["dur"], child["args"]), (22 * MS, {"unfinished": True}))
        self.assertEqual(len(only(events, "X", name="twice")), 2)

    def test_counters(self):
        for name, end in ("nest.flt", 100 * MS), ("random.flt", 11 * MS):
            rows, sums = printed(name), collections.Counter()
            for event in only(export(name)["traceEvents"], "C"):
                # Adds its contribution from here to the end; the next value takes it back.
                key, value = event["name"], Fraction(event["args"]["bytes/s"])
                before = sums.pop((key, event["pid"], "now"), 0)
                sums[key] += (value - before) * (end * 2 - event["ts"])
                sums[key, event["pid"], "now"] = value
            bytes_of = collections.Counter()
            for row in rows:
                bytes_of["from storage"] += row.get("fetched_bytes", 0)
                bytes_of["newly cached by writes"] += row.get("created_bytes", 0)
                if row.get("op") in ("read", "pread64", "sendfile"):
                    bytes_of["read"] += row["result"]
                if row.get("op") in ("write", "sendfile"):
                    bytes_of["written"] += row["result"]
            for key in "read", "written", "from storage", "newly cached by writes":
                self.assertAlmostEqual(float(sums[key]) / 1e9, bytes_of[key], 3, (name, key))

    def test_counter_spreads(self):
        """1000 bytes in 16 ms are 62.5 per ms, not all of them in the first."""
        events = only(export("nest.flt")["traceEvents"], "C", name="read", pid=200)
        self.assertEqual((events[0]["ts"], events[-1]["ts"]), (74 * MS, 90 * MS))
        self.assertEqual({int(e["args"]["bytes/s"]) for e in events}, {62000, 63000, 0})
        self.assertEqual(int(events[-1]["args"]["bytes/s"]), 0)

    def test_same_as_print(self):
        for name in "nest.flt", "random.flt":
            rows, events = printed(name), export(name)["traceEvents"]
            found = only(events, "X") + only(events, "b")
            operations = [e for e in found if "fetched_bytes" in e["args"]]
            self.assertEqual(sum(r["kind"] in ("syscall", "syscall_path", "fault") for r in rows),
                             len(operations))
            self.assertEqual(sum(r.get("fetched_bytes", 0) for r in rows),
                             sum(e["args"].get("fetched_bytes", 0) for e in events if "args" in e))
            self.assertEqual(sum(r["result"] for r in rows if "result" in r),
                             sum(e["args"].get("result", 0) for e in operations))
            for kind in "exec", "exit", "fork", "instant", "pagecache":
                self.assertEqual(sum(r["kind"] == kind for r in rows),
                                 sum(e["name"] == kind or (kind == "instant" and
                                                           e["name"] == "moment")
                                     for e in only(events, "i")), kind)

    def test_every_window(self):
        """Any window has exactly the slices of its rows, properly nested."""
        start = 1000 * MS
        for name, end in ("nest.flt", 1100 * MS), ("random.flt", 1011 * MS):
            rows = printed(name)
            length = end - start
            windows = [(0, 2**64), (23 * MS, 43 * MS), (33 * MS, 33 * MS + 1), (length, length + 9),
                       (length // 3, length // 2), (0, 45 * MS), (length // 2 + 5, 2**64)]
            windows = [window for window in windows if window[0] <= length]
            windows += [(length // 50 * i, length // 50 * (i + 3)) for i in range(0, 50, 14)]
            for low, high in windows:
                for least in 0, 1500, 2 * MS:
                    options = ["--from", f"{low}ns", "--min-duration", f"{least}ns"]
                    # Both option names for the end of the window.
                    options += ["--to" if low % 2 else "--until", f"{high}ns"] if high < 2**64 else []
                    with self.subTest(name=name, options=options):
                        events = export(name, options=options)["traceEvents"]
                        check_nesting(events)
                        self.check_window(rows, events, start, end, low, high, least)

    def check_window(self, rows, events, start, end, low, high, least):
        wanted, found = expected(rows, start, end, low, high, least), found_slices(events)
        if high < 2**64 and least:
            # A span that outlasts the window has an unknown duration: a lower bound.
            shorter = {key: n for key, n in (wanted - found).items() if key[3] in ("end", "both")}
            self.assertFalse(found - wanted)
            self.assertFalse(wanted - found - collections.Counter(shorter))
        else:
            missing, extra = sorted((wanted - found), key=str), sorted((found - wanted), key=str)
            self.assertEqual((missing[:3], extra[:3]), ([], []))
        for event in only(events, "i") + only(events, "C"):
            self.assertGreaterEqual(event["ts"], low)

    def test_pid(self):
        every = export("random.flt")["traceEvents"]
        for pid in 1, 2, 3:
            events = export("random.flt", options=["--pid", str(pid)])["traceEvents"]
            self.assertEqual({e["pid"] for e in events}, {pid})
            self.assertEqual(found_slices(events),
                             found_slices([e for e in every if e["pid"] == pid]))
        self.assertEqual(export("random.flt", options=["--pid", "9"])["traceEvents"], [])

    def test_two_hosts(self):
        """One clock, aligned by wall clocks; the same PID three times."""
        document = export("nest.flt", "other.flt")
        events = document["traceEvents"]
        self.assertEqual([t["host"] for t in document["otherData"]["traces"]], ["node1", "node2"])
        labels = {e["pid"]: e["args"]["labels"] for e in only(events, "M", name="process_labels")}
        self.assertEqual(labels, {100: "rank 3, host node1, pid 100",
                                  200: "rank 3, host node1, pid 200",
                                  100 + PID_STEP: "rank 4, host node2, pid 100",
                                  100 + 2 * PID_STEP: "host node2, pid 100"})
        reads = only(events, "X", name="read")
        self.assertEqual([(e["pid"], e["tid"], e["ts"], e["args"]["file"]) for e in reads[1:]],
                         [(100 + PID_STEP,) * 2 + (1001 * MS, "/data/b.bin"),
                          (100 + 2 * PID_STEP,) * 2 + (1004 * MS, "/data/b.bin")])
        check_nesting(events)

    def test_hostile(self):
        """Valid JSON whatever a program calls itself; nothing is lost."""
        events = export("hostile.flt")["traceEvents"]
        named = [e["args"] for e in only(events, "X", name='\\xff"\n')]
        moments = [e["args"] for e in only(events, "i", name="m\0\x7f")]
        self.assertEqual(named[:7] + named[8:], moments[:7] + moments[8:])
        # An argument named like one of the export's own members.
        self.assertEqual(named[7], {'\\xff"\\': "\\xff\0"})
        self.assertEqual(moments[7], {**named[7], "unfinished": "me"})
        self.assertEqual([a.get("args_hex") for a in named[:5]],
                         ["81", "93010203", "dfffffffff", "81a178c1", "8080"])
        self.assertEqual(named[5], {"1": None, "-1": False, "?": True})
        self.assertEqual(named[6], {"n": None, "i": None})
        self.assertEqual(named[8], {"s": -(2**32), "u": 2**64 - 1})
        self.assertEqual(named[9], {"e": "0506"})
        long, = [e for e in only(events, "X") if len(e["name"]) > 8000]
        value = long["args"]["k"]
        for _ in range(15):
            value, = value
        self.assertEqual(value, [None])
        self.assertEqual(long["args"]["flags"], ["cut"])
        fault, = only(events, "X", cat="fault")
        self.assertEqual(fault["args"]["flags"][-1], "bit 63")
        self.assertEqual(fault["pid"], 0)
        read, = only(events, "X", name="read")
        self.assertEqual(bytes.fromhex(read["args"]["file_hex"]), b"/\xff\"\\\n\x1b[2J\xe2\x80\xae")

    def test_waits(self):
        events = export("whole.flt")["traceEvents"]
        lock, = only(events, "X", cat="wait", name="lock", ts=19 * MS)
        self.assertEqual((lock["pid"], lock["tid"], lock["dur"]), (100, 100, 2 * MS))
        self.assertEqual(lock["args"], {"call": "futex", "object": 0x7fff00001000,
                                        "waker_pid": 100, "waker_tid": 101, "owner_pid": 100,
                                        "owner_tid": 102})
        sleep, = only(events, "X", cat="wait", name="sleep")
        self.assertEqual(sleep["args"], {"call": "clock_nanosleep", "flags": ["unfinished"]})
        # Filtered like operations; a wait is none, and has no file.
        for options, wanted in ((["--min-duration", "3ms"], 11), (["--min-duration", "5ms"], 1),
                                (["--span", "step"], 12), (["--span", "fetch"], 0),
                                (["--op", "*"], 0), (["--file", "*"], 0), (["--pid", "100"], 13),
                                (["--pid", "1"], 0), (["--from", "0.23"], 1),
                                (["--until", "0.0195"], 2), (["--rank", "0"], 13)):
            events = export("whole.flt", options=options)["traceEvents"]
            self.assertEqual(len(only(events, "X", cat="wait")), wanted, options)
        unknown, = only(export("hostile.flt")["traceEvents"], "X", name="un\\xffknown\n")
        self.assertEqual(unknown["args"]["call"], "\"\x1b[2J")
        self.assertEqual(unknown["args"]["object"], 2**64 - 1)
        self.assertEqual(unknown["args"]["flags"][:3], ["unfinished", "before", "bit 2"])

    def test_lines(self):
        """Operations with a sample have the application's line; others have none."""
        lines = sampled_lines("stacks.flt")
        found = set()
        for event in only(export("stacks.flt")["traceEvents"], "X"):
            start = int(event["ts"]) + 1000 * MS
            key = event["tid"], start, start + int(event["dur"])
            self.assertEqual(event["args"].get("at"), at(lines.get(key, [])), event)
            self.assertNotIn("stack", event["args"])
            found |= {key} & lines.keys()
        self.assertEqual(len(found), 6)
        for options in ["--op", "fault"], ["--pid", "200", "--from", "0.011"]:
            fault, = only(export("stacks.flt", options=options)["traceEvents"], "X")
            self.assertEqual(fault["args"]["at"], at(lines[200, 1012 * MS, 1014 * MS]))

    def test_cpu(self):
        """Time on a CPU is drawn at its samples, by line."""
        lines = sampled_lines("stacks.flt")
        wanted = [(row["tid"], row["time_ns"] - 1000 * MS, row["weight"],
                   at(lines[row["tid"], row["time_ns"], row["time_ns"] + row["dur_ns"]]))
                  for row in printed("stacks.flt") if row.get("state") == "cpu"]
        found = only(export("stacks.flt")["traceEvents"], "i", cat="cpu")
        self.assertEqual([(event["tid"], event["ts"], event["args"]["weight_ns"], event["name"])
                          for event in found], wanted)
        self.assertEqual([event["args"]["at"] for event in found], [event["name"] for event in found])
        self.assertTrue(wanted)
        # Unknown lines have the state's name.
        names = {event["name"] for event in only(export("hostile_stacks.flt")["traceEvents"], "i")
                 if event["cat"] == "cpu"}
        self.assertLessEqual(names, {"cpu", *filter(None, map(
            at, sampled_lines("hostile_stacks.flt").values()))})

    def test_line_filter(self):
        """With a filter by line, operations and waits are drawn from the samples that pass."""
        stacks = stacks_of("stacks.flt")
        rows = [row for row in printed("stacks.flt") if row["kind"] == "sample"
                and "Loop.step" in {frame[0] for frame in stacks.get(row["stack"], ((),))[0]}]
        events = export("stacks.flt", options=["--function", "Loop.step"])["traceEvents"]
        for phase, chosen in ("X", [row for row in rows if row["state"] != "cpu"]), \
                             ("i", [row for row in rows if row["state"] == "cpu"]):
            self.assertEqual(
                sorted((event["tid"], event["ts"], event.get("dur", 0), event["args"]["weight_ns"])
                       for event in only(events, phase)),
                sorted((row["tid"], row["time_ns"] - 1000 * MS,
                        row["dur_ns"] if phase == "X" else 0, row["weight"]) for row in chosen))
            self.assertTrue(chosen)
        self.assertLessEqual({"lock", "pipe", "write"}, {event["name"] for event in only(events, "X")})

    def test_incomplete(self):
        done = call("export", "--to", "chrome", "-o", "-", trace("cut.flt"))
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"incomplete", done.stderr)
        document = parse(done.stdout)
        self.assertEqual([(t["complete"], t["lost"]) for t in document["otherData"]["traces"]],
                         [(False, None)])
        span, = only(document["traceEvents"], "X")
        self.assertEqual((span["dur"], span["args"]), (2 * MS, {"unfinished": True}))

    def test_gzip(self):
        plain, packed = self.path("a.json"), self.path("a.json.gz")
        for path in plain, packed:
            done = call("export", "--to", "chrome", "-o", path, trace("random.flt"))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(plain, "rb") as file, gzip.open(packed) as unpacked:
            self.assertEqual(file.read(), unpacked.read())
        self.assertLess(os.path.getsize(packed), os.path.getsize(plain) / 4)

    def test_existing_file(self):
        path = self.file("out.json", "mine")
        self.refused("-o", path, trace("nest.flt"), naming="--force")
        with open(path) as file:
            self.assertEqual(file.read(), "mine")
        self.assertEqual(call("export", "--to", "chrome", "--force", "-o", path,
                              trace("nest.flt")).returncode, 0)
        with open(path, "rb") as file:
            parse(file.read())
        copy = self.path("copy.flt")
        shutil.copy(trace("nest.flt"), copy)
        self.refused("--force", "-o", copy, copy, naming="is one of the traces")
        self.assertEqual(os.path.getsize(copy), os.path.getsize(trace("nest.flt")))

    def refused(self, *arguments, naming, to=("--to", "chrome")):
        super().refused("export", *to, *arguments, naming=naming)

    def test_bad_input(self):
        nest, out = trace("nest.flt"), self.path("x.json")
        self.refused("-o", out, nest, to=("--to", "vcd"), naming="formats are chrome")
        self.refused("-o", out, nest, to=("--to", "10"), naming="formats are chrome")
        self.refused("-o", out, nest, to=(), naming="no format given")
        self.refused(nest, naming="-o")
        self.refused("-o", out, naming="no trace given")
        self.refused("-o", out, self.path("missing.flt"), naming="missing.flt")
        self.refused("-o", out, self.directory, naming=self.directory)
        self.refused("-o", out, nest, nest, naming="same trace as")
        self.refused("-o", self.path("no/such/x.json"), nest, naming="no/such")
        self.refused("-o", self.directory, nest, naming=self.directory)
        self.refused("-o", out, "--from", "yesterday", nest, naming="yesterday")
        self.refused("-o", out, "--min-duration", "10 parsecs", nest, naming="10 parsecs")
        self.refused("-o", out, "--min-duration", "-1", nest, naming="-1")
        self.refused("-o", out, "--from", "99999999999999999999", nest, naming="--from")
        self.refused("-o", out, "--from", "5", "--until", "4", nest, naming="--from")
        done = call("export", "--to", "chrome", "-o", out, "--from", "5", nest)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1))
        self.assertIn(b"the run is over before --from", done.stderr)
        self.refused("-o", out, "--pid", "me", nest, naming="me")
        self.assertEqual(os.listdir(self.directory), [])

    def test_times(self):
        for text, ns in ("0.07", 70 * MS), ("70ms", 70 * MS), ("70.0000005ms", 70 * MS), \
                ("70000us", 70 * MS), ("0.07s", 70 * MS), ("70000001ns", 70 * MS + 1):
            other = export("nest.flt", options=["--from", text])["otherData"]
            self.assertEqual(other["from_ns"], ns, text)

    def test_output_fails(self):
        """A file that cannot be finished is removed; special files stay."""
        def little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        for name in "x.json", "x.json.gz":
            done = call("export", "--to", "chrome", "-o", self.path(name), trace("random.flt"),
                        preexec_fn=little_room)
            self.assertEqual(done.returncode, 1, done)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertIn(b"File too large", done.stderr)
        self.assertEqual(os.listdir(self.directory), [])
        done = call("export", "--to", "chrome", "--force", "-o", "/dev/full", trace("nest.flt"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left", done.stderr)
        self.assertTrue(os.path.exists("/dev/full"))

    def test_damaged(self):
        """Damage costs the block that contains it and is reported, unless that block is not needed.
        Only a file that is not a trace is refused, with one line and no partial output."""
        with open(trace("random.flt"), "rb") as file:
            whole = bytearray(file.read())
        out, seen = self.path("x.json"), set()
        call("export", "--to", "chrome", "-o", out, trace("random.flt"))
        with open(out, "rb") as file:
            exported = json.load(file)
        os.unlink(out)
        for at in range(0, len(whole), len(whole) // 40):
            bad = bytearray(whole)
            bad[at] ^= 0x55
            done = call("export", "--to", "chrome", "-o", out, self.file("bad.flt", bad))
            seen.add(done.returncode)
            # 1: a part is missing, the rest is exported.
            self.assertEqual(os.path.exists(out), done.returncode != 2)
            if done.returncode == 2:
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            else:
                with open(out, "rb") as file:
                    same = json.load(file)["traceEvents"] == exported["traceEvents"]
            if done.returncode or not same:
                self.assertIn(b"bad.flt: ", done.stderr)
            if os.path.exists(out):
                os.unlink(out)
        self.assertTrue(seen <= {0, 1, 2} and seen >= {0, 1}, seen)


if __name__ == "__main__":
    unittest.main()
