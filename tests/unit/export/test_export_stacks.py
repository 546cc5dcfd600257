# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks `faultline export --to collapsed` and `--to pprof` on the traces of export_traces.c against
stacks put together from `faultline print`."""

import collections
import fnmatch
import glob
import gzip
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from _exported import ALL, DEPTH_MAX, TRACES, call, printed, stacks_of, trace

UNKNOWN = "cut", "no python", "no thread", "no frame", "unread", "lost"
CONTROL = set(range(0x20)) | {0x7f}


def samples_of(name, programs):
    """(frames, sample) of each sample; `programs` are the outermost frames, by thread."""
    stacks = stacks_of(name)
    for sample in printed(name):
        if sample["kind"] != "sample":
            continue
        frames, cut = stacks.get(sample["stack"], ((), False))
        flags = sample["flags"] & (1 if frames else 0x3e) | cut
        unknown = [word for bit, word in enumerate(UNKNOWN) if flags >> bit & 1]
        if unknown or not frames:
            frames = ((f"({(unknown or ['no stack'])[0]})", "", 0), *frames)
        yield ((programs[sample["tid"]], "", 0), *frames), sample


def escaped(text):
    """A text that `print` has made UTF-8, as exports write it."""
    return "".join(f"\\x{ord(c):02x}" if ord(c) in CONTROL else c for c in text)


def shown(frame):
    function, source, line = (escaped(part).replace(";", "\\x3b") if isinstance(part, str) else part
                              for part in frame)
    function = function or "(unknown)"
    return function if not source else f"{function} ({source}:{line})"


STACKS = {100: "python3 main", 101: "python3 helper", 200: "python3 worker"}
OTHERS = {100: "python3 main"}


class Collapsed(unittest.TestCase):
    def export(self, *names, options=()):
        done = call("export", "-q", "--to", "collapsed", "-o", "-", *options, *map(trace, names))
        self.assertEqual(done.returncode, 0, done)
        lines = {}
        for line in done.stdout.decode().splitlines():
            self.assertFalse(set(line.encode()) & CONTROL, line)
            stack, weight = line.rsplit(" ", 1)
            self.assertNotIn(stack, lines)
            lines[stack] = int(weight)
            self.assertGreaterEqual(stack.count(";"), 2 if "main" in stack else 1)
        return lines

    def wanted(self, *names_and_programs):
        lines = collections.Counter()
        for name, programs in names_and_programs:
            for frames, sample in samples_of(name, programs):
                lines[";".join([*map(shown, frames), f"[{sample['state']}]"])] += sample["weight"]
        return dict(lines)

    def test_lines(self):
        lines = self.export("stacks.flt")
        self.assertEqual(lines, self.wanted(("stacks.flt", STACKS)))
        self.assertEqual(lines["python3 main;(no python);[io]"], 1000001)
        self.assertEqual(lines["python3 main;<module> (/job/train.py:10);Loop.step "
                               "(/job/train.py:21);[cpu]"], 20408163)

    def test_traces(self):
        """Equal stacks of several traces are one line, whatever their ids."""
        lines = self.export("stacks.flt", "other_stacks.flt")
        self.assertEqual(lines, self.wanted(("stacks.flt", STACKS), ("other_stacks.flt", OTHERS)))
        self.assertEqual(len(lines), len(self.export("stacks.flt")))

    def test_filters(self):
        io = {stack: weight for stack, weight in self.export("stacks.flt").items()
              if stack.endswith("[io]")}
        chosen = self.export("stacks.flt", options=["--op", "pread64"])
        self.assertEqual(list(chosen.values()), [7000000])
        self.assertLessEqual(chosen.keys(), io.keys())
        self.assertEqual(self.export("stacks.flt", options=["--file", "/data/*"]), io)
        self.assertEqual(sum(self.export("stacks.flt", options=["--pid", "200"]).values()), 9000000)
        # Time on a CPU has no duration to filter by.
        long = self.export("stacks.flt", options=["--min-duration", "5ms"])
        self.assertEqual(sorted(long.values()), [6000000, 8000000])
        self.assertEqual(self.export("stacks.flt", "other_stacks.flt", options=["--rank", "4"]),
                         self.export("other_stacks.flt"))

    def test_window(self):
        """A part of the run has the times of table lines."""
        whole = sum(self.export("stacks.flt").values())
        parts = 0
        for start in range(0, 100):
            window = "--from", f"{start}ms", "--until", f"{start + 1}ms"
            done = call("report", "-q", "--format", "json", "--table", "lines", *window,
                        trace("stacks.flt"))
            if done.returncode or not json.loads(done.stdout)["lines"]:
                continue
            wanted = collections.Counter()
            for row in json.loads(done.stdout)["lines"]:
                wanted[row["state"]] += row["time_ns"]
            found = collections.Counter()
            for stack, weight in self.export("stacks.flt", options=window).items():
                found[stack.rsplit("[", 1)[1][:-1]] += weight
            self.assertEqual(found, wanted, window)
            parts += found["io"]
        self.assertGreater(parts, 0)
        self.assertLess(parts, whole)

    def test_nothing(self):
        for to in "collapsed", "pprof":
            done = call("export", "-q", "--to", to, "-o", "-", "--pid", "1", trace("stacks.flt"))
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"no samples match these filters", done.stderr)

    def test_hostile(self):
        lines = self.export("hostile_stacks.flt")
        # The deepest stack, with what is known of it, the program and the state.
        self.assertEqual(max(line.count(";") for line in lines), DEPTH_MAX + 2)
        weights = [sample["weight"] for sample in printed("hostile_stacks.flt")
                   if sample["kind"] == "sample"]
        self.assertEqual(sum(lines.values()), sum(weights))

    def test_without_stacks(self):
        for name in ALL:
            done = call("export", "--to", "collapsed", "-o", "-", trace(name))
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual((b"" == done.stdout, b"has no stacks" in done.stderr),
                             ("stacks" not in name,) * 2)


class Lines(unittest.TestCase):
    """--line and --function select the same samples in print and in all formats that have them."""

    def wanted(self, pattern, member, **equal):
        stacks = stacks_of("stacks.flt")
        return [row for row in printed("stacks.flt") if row["kind"] == "sample"
                and any(fnmatch.fnmatchcase(member(frame), pattern)
                        for frame in stacks.get(row["stack"], ((), False))[0])
                and all(row.get(name) == value for name, value in equal.items())]

    def check(self, wanted, *options):
        self.assertTrue(wanted)
        done = call("print", "-q", "--format", "json", *options, trace("stacks.flt"))
        self.assertEqual([json.loads(line) for line in done.stdout.splitlines()], wanted)
        for table, columns in ("samples", ("dur_ns", "pid", "weight")), ("calls", ()):
            done = call("export", "-q", "--to", "jsonl", "--table", table, "-o", "-", *options,
                        trace("stacks.flt"))
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([[row["weight_ns" if name == "weight" else name] for name in columns]
                              for row in rows],
                             [[row[name] for name in columns] for row in wanted if columns])
        done = call("export", "-q", "--to", "collapsed", "-o", "-", *options, trace("stacks.flt"))
        self.assertEqual(sum(int(line.rsplit(b" ", 1)[1]) for line in done.stdout.splitlines()),
                         sum(row["weight"] for row in wanted))

    def test_print_and_export(self):
        line = lambda frame: "{1}:{2}".format(*frame)
        base = lambda frame: line(frame).rsplit("/", 1)[-1]
        function = lambda frame: frame[0]
        self.check(self.wanted("train.py:21", base), "--line", "train.py:21")
        self.check(self.wanted("/job/*", line), "--line", "/job/*")
        self.check(self.wanted("Data.*", function), "--function", "Data.*")
        self.check(self.wanted("Data.*", function, op="pread64"),
                   "--function", "Data.*", "--op", "pread64")
        self.check(self.wanted("*", function, pid=100, op="write"),
                   "--function", "*", "--pid", "100", "--op", "write", "--file", "/data/*",
                   "--min-duration", "1ms", "--rank", "3")

    def test_refused(self):
        for options in ("--line", "train.py:*"), ("--function", "*"):
            for kind in "speedscope", "pfw":
                done = call("export", "--to", kind, "-o", "-", *options, trace("stacks.flt"))
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(f"{kind} does not contain".encode(), done.stderr)
            done = call("print", options[0], "none", trace("stacks.flt"))
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(b"no events match these filters", done.stderr)


# Field numbers of profile.proto (github.com/google/pprof), by message: name, and the message or type.
PROFILE = {
    "Profile": {1: ("sample_type", "ValueType"), 2: ("sample", "Sample"), 3: ("mapping", "Mapping"),
                4: ("location", "Location"), 5: ("function", "Function"),
                6: ("string_table", str), 9: ("time_nanos", int), 10: ("duration_nanos", int),
                14: ("default_sample_type", int)},
    "ValueType": {1: ("type", int), 2: ("unit", int)},
    "Sample": {1: ("location_id", int), 2: ("value", int), 3: ("label", "Label")},
    "Label": {1: ("key", int), 2: ("str", int), 3: ("num", int), 4: ("num_unit", int)},
    "Mapping": {1: ("id", int), 5: ("filename", int), 7: ("has_functions", int),
                8: ("has_filenames", int), 9: ("has_line_numbers", int)},
    "Location": {1: ("id", int), 2: ("mapping_id", int), 4: ("line", "Line")},
    "Line": {1: ("function_id", int), 2: ("line", int)},
    "Function": {1: ("id", int), 2: ("name", int), 4: ("filename", int)},
}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def decoded(message, data):
    """{field: list of values}; an unknown field or type is an error."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = PROFILE[message][tag >> 3]
        value, at = varint(data, at)
        assert tag & 7 == (0 if kind is int else 2), (message, name)
        if kind is not int:
            value, at = data[at:at + value], at + value
            value = value.decode() if kind is str else decoded(kind, value)
        found[name].append(value)
    assert at == len(data)
    return found


class Pprof(unittest.TestCase):
    def export(self, *names, options=()):
        """[(frames, values, labels)], outermost frame first."""
        done = call("export", "-q", "--to", "pprof", "-o", "-", *options, *map(trace, names))
        self.assertEqual(done.returncode, 0, done)
        self.profile = profile = decoded("Profile", gzip.decompress(done.stdout))
        texts = profile["string_table"]
        self.assertEqual((texts[0], len(texts)), ("", len(set(texts))))
        self.assertFalse(set("".join(texts).encode()) & CONTROL)
        self.types = [(texts[of["type"][0]], texts[of["unit"][0]]) for of in profile["sample_type"]]
        functions = {of["id"][0]: of for of in profile["function"]}
        self.assertEqual(len(functions), len({(of["name"][0], of["filename"][0])
                                              for of in functions.values()}))
        places = {}
        for of in profile["location"]:
            (line,), (mapping,) = of["line"], of["mapping_id"]
            self.assertEqual(mapping, profile["mapping"][0]["id"][0])
            function = functions[line["function_id"][0]]
            self.assertNotIn(of["id"][0], places)
            places[of["id"][0]] = (texts[function["name"][0]], texts[function["filename"][0]],
                                   line["line"][0])
        samples = []
        for of in profile["sample"]:
            labels = {texts[label["key"][0]]: texts[label["str"][0]] if "str" in label
                      else label["num"][0] for label in of["label"]}
            self.assertEqual(len(labels), len(of["label"]))
            for label in of["label"]:  # without a unit, pprof drops the number 0
                self.assertEqual(label["num_unit"], label["key"] if "num" in label else [])
            self.assertEqual(len(of["value"]), len(self.types))
            samples.append((tuple(places[location] for location in reversed(of["location_id"])),
                            of["value"], labels))
        return samples

    def test_samples(self):
        sums = {}
        for frames, sample in samples_of("stacks.flt", STACKS):
            labels = {"state": sample["state"], "pid": sample["pid"], "thread": sample["tid"],
                      "rank": 3}
            if sample["op"] != "compat":  # stands for none
                labels["operation"] = sample["op"]
            frames = tuple((escaped(function) or "(unknown)", escaped(source), line)
                           for function, source, line in frames)
            values = sums.setdefault((frames, *sorted(labels.items())), [0, 0, 0])
            values[0] += 1
            values[1] += sample["weight"]
            values[2] += sample["fetched_bytes"] * sample["weight"] // sample["dur_ns"]
        found = {(frames, *sorted(labels.items())): values
                 for frames, values, labels in self.export("stacks.flt")}
        self.assertEqual(found, sums)
        self.assertIn([2, 7000000, (1 << 20) + 5 * 4096], found.values())
        self.assertEqual(self.types, [("samples", "count"), ("time", "nanoseconds"),
                                      ("storage", "bytes")])

    def test_profile(self):
        self.export("stacks.flt")
        texts = self.profile["string_table"]
        self.assertEqual(texts[self.profile["default_sample_type"][0]], "time")
        self.assertEqual(self.profile["time_nanos"], [5000 * 10**6])
        self.assertEqual(self.profile["duration_nanos"], [100 * 10**6])
        self.assertEqual(texts[self.profile["mapping"][0]["filename"][0]], "python3")

    def test_hostile(self):
        for name in ALL:
            for _, values, _ in self.export(name):
                self.assertTrue(all(0 <= value < 2**63 for value in values), values)

    def test_file(self):
        """Compressed once, whatever the name."""
        for name in "a.pb", "b.pb.gz":
            path = os.path.join(TRACES, name)
            done = call("export", "-q", "--to", "pprof", "-o", path, trace("stacks.flt"))
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            with open(path, "rb") as file:
                self.assertEqual(decoded("Profile", gzip.decompress(file.read())).keys(),
                                 {name for name, _ in PROFILE["Profile"].values()})

    def test_pprof(self):
        go = shutil.which("go") or next(iter(glob.glob("/usr/lib/go-*/bin/go")), None)
        if not go:
            self.skipTest("requires go")
        path = os.path.join(TRACES, "go.pb.gz")
        self.assertEqual(call("export", "-q", "--to", "pprof", "-o", path, trace("stacks.flt"))
                         .returncode, 0)
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run([go, "tool", "pprof", "-top", "-lines", "-unit=ns",
                                   "-tagfocus=state=pipe", path], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": home})
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("File: python3\n", done.stdout)
        self.assertRegex(done.stdout, r"8000000ns .* Queue\.get /usr/lib/python3\.11/queue\.py:171\n")
        self.assertRegex(done.stdout, r" <module> /job/train\.py:10\n")


if __name__ == "__main__":
    unittest.main()
