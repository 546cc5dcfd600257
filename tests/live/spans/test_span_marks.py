# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Spans marked by C programs, compared with the programs' own log of their calls and times.

The library is compiled in, linked, loaded at run time, or part of a static program.
"""
import collections
import functools
import json
import os
import shutil
import struct
import subprocess
import unittest

import harness
from harness import Recording, machine

CUT, UNREAD = 1, 2  # flags of rows
NAME, CATEGORY, ARGS = 255, 63, 1024  # byte limits

LIBRARY = "libfaultline.so.0"
WAYS_TO_BUILD = {
    "built in": ["{build}/libfaultline.a"],
    "static": ["-static", "{build}/libfaultline.a"],
    "linked": ["-L{bin}", "-l:" + LIBRARY, "-Wl,-rpath,{bin}"],
    "opened": ["-DOPENED"],
}


@functools.lru_cache(maxsize=None)
def library():
    """A copy of the shared library, which a concurrent build does not change."""
    return shutil.copy(os.path.join(harness.BUILD, LIBRARY), machine().bin)


@functools.lru_cache(maxsize=None)
def program(way):
    """The program that marks spans, with the library included in this way."""
    library()
    path = machine().program(f"span_marks {way}")
    words = {"build": harness.BUILD, "bin": machine().bin}
    sources = os.path.join(harness.WORKLOADS, "spans/span_marks.c")
    harness.run(
        *("gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-pthread", "-o", path, sources),
        f"-I{harness.TOP}/user/span", f"-I{harness.WORKLOADS}",
        *(word.format(**words) for word in WAYS_TO_BUILD[way]),
    )
    return path


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def marks(trace):
    """Span rows sorted by time, each with its kind."""
    found = [
        {"what": what, **row}
        for kind, what in (("span_begin", "begin"), ("span_end", "end"), ("instant", "instant"))
        for row in trace.dicts(kind)
    ]
    return sorted(found, key=lambda row: row["time"])


def by_thread(rows, time):
    threads = {}
    for row in sorted(rows, key=lambda row: row[time]):
        threads.setdefault((row["pid"], row["tid"]), []).append(row)
    return threads


def write_endless(source, path, more=16000, name_bytes=4 << 20):
    """A working copy of a program with many sections prepended, and an unterminated table of
    their names."""
    with open(source, "rb") as file:
        whole = bytearray(file.read())
    (table,) = struct.unpack_from("<Q", whole, 40)
    count, names = struct.unpack_from("<HH", whole, 60)
    headers = whole[table : table + 64 * count]
    empty = struct.pack("<2I4Q2I2Q", 5, 8, 0, 0, 0, 0, 0, 0, 1, 0)
    (at,) = struct.unpack_from("<Q", headers, 64 * names + 24)
    whole += b"x" * (name_bytes - len(whole) % 8)
    struct.pack_into("<Q", headers, 64 * names + 32, len(whole) - at)
    struct.pack_into("<Q", whole, 40, len(whole))
    struct.pack_into("<HH", whole, 60, count + more, names + more)
    with open(path, "wb") as file:
        file.write(whole + headers[:64] + empty * more + headers[64:])
    os.chmod(path, 0o755)


class Marked(unittest.TestCase):
    def record(self, what, way="built in", *arguments, **options):
        out = f"{machine().new_dir()}/calls.json"
        recording = Recording(
            [*options.pop("before", []), options.pop("program", None) or program(way), out, what],
            *arguments,
            **options,
        )
        return recording, lines(out)

    def check(self, recording, calls, named=True):
        """One row for each call except ends of ID 0, at its time, on its thread."""
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        rows = by_thread(marks(recording.trace), "time")
        calls = by_thread((c for c in calls if c["what"] != "end" or c["id"]), "before")
        self.assertEqual(set(rows), set(calls))
        for thread, made in calls.items():
            seen = rows[thread]
            self.assertEqual([row["what"] for row in seen], [call["what"] for call in made])
            for row, call in zip(seen, made):
                self.assertLessEqual(call["before"], row["time"], call)
                self.assertLessEqual(row["time"], call["after"], call)
                if row["what"] != "instant":
                    self.assertEqual(row["id"], call["id"])
                if row["what"] == "begin":
                    self.assertNotEqual(call["id"], 0)
                if named and row["what"] != "end":
                    self.assertEqual(row["name"], call["name"].encode())
                    self.assertEqual((row["category"], row["flags"]), (b"test", 0))

    def test_nested(self):
        for way in WAYS_TO_BUILD:
            with self.subTest(way):
                self.check(*self.record("nested", way, env=self.environment()))

    @staticmethod
    def environment():
        return {**os.environ, "SPAN_LIBRARY": library()}

    def test_threads(self):
        recording, calls = self.record("threads")
        self.assertEqual(len({call["tid"] for call in calls}), 4)
        self.check(recording, calls)

    def test_fork(self):
        recording, calls = self.record("fork")
        self.assertEqual(len({call["pid"] for call in calls}), 2)
        self.check(recording, calls)

    def check_report(self, recording, calls, unfinished=()):
        """Each span counts once; those that the program did not end are reported as such."""
        rows = {row["name"]: row for row in recording.report["spans"]}
        begun = [call["name"] for call in calls if call["what"] == "begin"]
        counts = {name: row["count"] for name, row in rows.items() if row["count"]}
        self.assertEqual(counts, collections.Counter(begun))
        self.assertEqual({n for n, row in rows.items() if row["unfinished"]}, set(unfinished))
        return rows

    def test_handed_over(self):
        """Ended by another thread than the one that began it."""
        recording, calls = self.record("handed_over")
        self.assertEqual(len({call["tid"] for call in calls}), 2)
        self.check(recording, calls)
        self.check_report(recording, calls)

    def test_ended_twice(self):
        """The first end counts."""
        recording, calls = self.record("ended_twice")
        self.check(recording, calls)
        rows = self.check_report(recording, calls)
        ends = {}
        for call in calls:
            if call["what"] == "end":
                ends.setdefault(call["id"], call["after"])
        for call in calls:
            if call["what"] == "begin":
                longest = ends[call["id"]] - call["before"]
                self.assertLessEqual(rows[call["name"]]["time_ns"], longest)

    def test_never_ended(self):
        recording, calls = self.record("never_ended")
        self.check(recording, calls)
        left = ("left by exit", "left by a kill", "left by its thread")
        self.check_report(recording, calls, left)

    def test_exec(self):
        recording, calls = self.record("exec")
        self.check(recording, calls)
        self.check_report(recording, calls, ["before the exec"])

    def test_first(self):
        """The very first span of a program is seen every time, however the library is included."""
        for way in WAYS_TO_BUILD:
            for i in range(5):
                layers = ["--layers", "span"] if i else []
                with self.subTest(way):
                    self.check(*self.record("one", way, *layers, env=self.environment()))

    def test_started_later(self):
        """Started by a shell, after a first one was already seen, and from copies not seen
        before."""
        directory = machine().new_dir()
        script = """
            "$0" "$1/a" nested
            cp "$0" "$1/copy"
            "$1/copy" "$1/b" nested &
            "$1/copy" "$1/c" threads
            wait
            mv "$1/copy" "$1/moved"
            cp "$0" "$1/copy"
            "$1/copy" "$1/d" nested"""
        recording = Recording(["sh", "-c", script, program("built in"), directory])
        self.check(recording, sum((lines(f"{directory}/{name}") for name in "abcd"), []))

    def test_names(self):
        recording, calls = self.record("names")
        self.check(recording, calls, named=False)
        rows = {row["id"]: row for row in recording.trace.dicts("span_begin")}
        seen = {c["name"]: rows[c["id"]] for c in calls if c["what"] == "begin"}

        def texts(name):
            return seen[name]["name"] or b"", seen[name]["category"] or b""

        self.assertEqual(texts("empty"), (b"", b""))
        self.assertEqual(texts("null"), (b"", b""))
        self.assertEqual(texts("huge"), (b"n" * NAME, b"n" * CATEGORY))
        self.assertEqual(seen["huge"]["flags"] & CUT, CUT)
        self.assertEqual(texts("edge"), (b"e" * 254, b"test"))
        self.assertEqual(texts("not UTF-8"), (b"\xff\xfe\x80 \xc3(", b"\x80"))
        self.assertEqual(texts("control"), (b'a\n"\\\t\x1b[31m\x7f', b"b\r"))
        self.assertEqual(seen["args"]["args"], b"\x81\xa4step\x07")
        self.assertFalse(seen["long args"]["args"])
        self.assertEqual(seen["long args"]["flags"] & CUT, CUT)
        self.assertEqual(seen["broken args"]["args"], b"\xdf\xff\xff\xff\xff")
        for name in ("empty", "null", "not UTF-8", "control", "args", "broken args"):
            self.assertEqual(seen[name]["flags"], 0, name)

    def test_names_printed(self):
        """Whatever they contain: JSON stays valid, and nothing reaches a terminal unescaped."""
        recording, _ = self.record("names")
        for command in ("print", "report"):
            done = harness.faultline(command, "--format", "json", recording.path)
            self.assertEqual(done.returncode, 0, done.stderr)
            for text in done.stdout.splitlines() if command == "print" else [done.stdout]:
                json.loads(text)
            done = harness.faultline(command, recording.path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(b"\x1b", done.stdout)
            done.stdout.decode()

    def test_own_mounts(self):
        """The library is on a mount that only the program sees."""
        if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no mounts of its own for a program here (in a chroot, say)")
        script = """
            mount -t tmpfs none "$2" && cp "$1" "$2/lib.so" && shift 2
            SPAN_LIBRARY="$1/lib.so" exec "$2" "$3" "$4" """
        directory = machine().new_dir()
        recording, calls = self.record(
            "nested",
            "opened",
            before=["unshare", "-m", "sh", "-c", script, "sh", library(), directory, directory],
        )
        self.assertEqual(os.listdir(directory), [])
        self.check(recording, calls)

    def test_without_notes(self):
        """Nothing can be seen, nothing breaks, and the program does not wait long."""
        directory = machine().new_dir()
        stripped = f"{directory}/stripped.so"
        harness.run("objcopy", "-R", ".note.stapsdt", library(), stripped)
        for what in ("one", "threads", "names"):
            with self.subTest(what):
                recording, calls = self.record(
                    what, "opened", env={**os.environ, "SPAN_LIBRARY": stripped}
                )
                self.assertEqual({call["id"] for call in calls}, {0})
                self.assertEqual(marks(recording.trace), [])

    def test_spoilt_notes(self):
        """Notes of random bytes, and truncated notes: the program runs as without them."""
        directory = machine().new_dir()
        notes = f"{directory}/notes"
        harness.run("objcopy", f"--dump-section=.note.stapsdt={notes}", library(), "/dev/null")
        with open(notes, "rb") as file:
            whole = file.read()
        self.assertIn(b"span_begin", whole)
        for name, text in {
            "cut": whole[: len(whole) // 2 - 3],
            "far away": whole.replace(whole[20:28], b"\xf0" * 8),
            "no arguments": whole.replace(b"@", b"?"),
            "lengths": b"\xff" * 12 + whole[12:],
            "noise": bytes(7 * i % 251 for i in range(len(whole))),
        }.items():
            with self.subTest(name):
                spoilt = f"{directory}/spoilt.so"
                with open(notes, "wb") as file:
                    file.write(text)
                option = f"--update-section=.note.stapsdt={notes}"
                harness.run("objcopy", option, library(), spoilt)
                recording, calls = self.record(
                    "nested", "opened", env={**os.environ, "SPAN_LIBRARY": spoilt}
                )
                self.assertEqual(len(calls), 17)
                self.assertEqual(recording.report["trace"]["exit_code"], 0)

    def test_with_files_that_take_long_to_inspect(self):
        """Programs that connect from files with endless section names: nothing blocks."""
        directory = machine().new_dir()
        script = """
            for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
                cp "$1/endless" "$1/endless-$i"
                "$1/endless-$i" "$1/ignored-$i" one &
            done
            cp "$0" "$1/copy"
            "$1/copy" "$1/calls" nested
            wait"""
        write_endless(program("built in"), f"{directory}/endless")
        recording = Recording(["sh", "-c", script, program("built in"), directory])
        calls = lines(f"{directory}/calls")
        ignored = sum((lines(f"{directory}/ignored-{i}") for i in range(1, 16)), [])
        self.check(recording, calls + ignored)

    def test_layer_off(self):
        """The library does not wait for a tracer without the layer. Uses a separate program: the
        kernel may still be detaching the previous one's markers."""
        copy = shutil.copy(program("built in"), machine().new_dir())
        recording, calls = self.record("nested", None, "--layers", "task,syscall", program=copy)
        self.assertEqual({call["id"] for call in calls}, {0})
        self.assertEqual(marks(recording.trace), [])
        self.assertEqual(recording.report["trace"]["layers"]["span"]["state"], "off")


class Forged(unittest.TestCase):
    """Probes as our library never fires them."""

    HONEST = (b"honest", b"honest", b"\x81\xa1k\x01", 0)
    PLAIN = (b"honest", b"honest", b"", 0)
    EXPECTED = {
        "honest": HONEST,
        "nothing": (b"", b"", b"", 0),
        "length without arguments": PLAIN,
        "arguments without length": PLAIN,
        "endless name": (b"x" * NAME, b"honest", b"", CUT),
        "endless category": (b"honest", b"x" * CATEGORY, b"", CUT),
        "name over the edge": (b"", b"honest", b"", UNREAD),
        "arguments up to the edge": (b"honest", b"honest", b"z" * ARGS, 0),
        "arguments over the edge": (b"honest", b"honest", b"", UNREAD),
        "too long by one": (b"honest", b"honest", b"", CUT),
        "as long as can be": (b"honest", b"honest", b"", CUT),
        "negative": (b"honest", b"honest", b"", CUT),
        "32 bits of nothing": (b"honest", b"honest", b"", CUT),
        **{f"wild name {i}": (b"", b"honest", b"", UNREAD) for i in range(5)},
        **{f"wild arguments {i}": (b"honest", b"honest", b"", UNREAD) for i in range(5)},
        "all of it": (b"", b"", b"", UNREAD),
    }

    def check(self, recording, cases):
        begun = {row["id"]: row for row in recording.trace.dicts("span_begin")}
        for case in cases:
            *texts, flags = self.EXPECTED[case["case"]]
            row = begun[case["id"]]
            with self.subTest(case["case"]):
                self.assertEqual([row[k] or b"" for k in ("name", "category", "args")], texts)
                if flags is not None:
                    self.assertEqual(row["flags"], flags)

    def test_wild(self):
        out = f"{machine().new_dir()}/cases.json"
        recording = Recording([machine().program("span_forger"), out])
        cases = lines(out)
        self.assertEqual({case["case"] for case in cases}, set(self.EXPECTED))
        self.check(recording, cases)
        instants = list(recording.trace.dicts("instant"))
        self.assertEqual(len(instants), len(cases))
        for case, row in zip(cases, instants):
            *texts, flags = self.EXPECTED[case["case"]]
            with self.subTest(f"instant: {case['case']}"):
                self.assertEqual([row[k] or b"" for k in ("name", "category", "args")], texts)
        for command in ("print", "report"):
            for style in ("text", "json"):
                done = harness.faultline(command, "--format", style, recording.path)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_with_an_honest_one(self):
        """Another process's spans are unaffected by the forger, including IDs."""
        directory = machine().new_dir()
        script = '"$0" "$2/forged" 500 & "$1" "$2/calls" threads; wait'
        forger = machine().program("span_forger")
        recording = Recording(["sh", "-c", script, forger, program("built in"), directory])
        calls = lines(f"{directory}/calls")
        (pid,) = {call["pid"] for call in calls}
        seen = [row for row in marks(recording.trace) if row["pid"] == pid]
        self.assertEqual(
            sorted((row["what"], row["id"]) for row in seen),
            sorted((call["what"], call["id"]) for call in calls),
        )
        self.assertEqual({row["name"] for row in seen if row["what"] == "begin"}, {b"threaded"})
        forged = lines(f"{directory}/forged")
        self.assertEqual(len(marks(recording.trace)) - len(seen), 3 * len(forged))
        # It waits to be found without connecting: what it marked before is unknown.
        self.assertEqual(recording.report["trace"]["lost"]["total"], 1)
        self.assertEqual(recording.report["trace"]["lost"]["by_layer"]["span"], 1)


if __name__ == "__main__":
    unittest.main()
