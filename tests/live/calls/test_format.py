# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The trace file matches its documentation: zstd and msgpack, readable with any libraries."""
import json
import os
import subprocess
import unittest

from harness import Recording, faultline, machine

# Columns whose names differ between the file and `print --format json`.
RENAMED = {"time": "time_ns", "dur": "dur_ns", "path": "given_path", "path2": "given_path2"}
TEXTS = ("call", "comm", "cgroup", "filesystem", "function", "given_path", "given_path2", "name",
         "path", "path2", "source", "state")


class Format(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.recording = Recording([machine().program("calls"), machine().new_dir()])

    def printed(self):
        """{kind: rows} of print --format json, with texts as bytes."""
        done = faultline("print", "--format", "json", self.recording.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        kinds = {}
        for line in done.stdout.splitlines():
            row = json.loads(line)
            for name in TEXTS:
                if isinstance(row.get(name), str):
                    row[name] = bytes.fromhex(row.pop(f"{name}_hex", row[name].encode().hex()))
            if "command" in row:
                hexes = row.pop("command_hex", [part.encode().hex() for part in row["command"]])
                row["command"] = b"".join(bytes.fromhex(part) + b"\0" for part in hexes)
            kinds.setdefault(row.pop("kind"), []).append(row)
        return kinds

    def test_same_events(self):
        """zstd, msgpack and msgpack_numpy yield what faultline prints, event by event."""
        printed, trace = self.printed(), self.recording.trace
        self.assertEqual(set(printed), set(trace.blocks))
        for kind in trace.blocks:
            with self.subTest(kind):
                decoded = []
                for row in trace.dicts(kind):
                    if kind != "file":  # its path was not passed to a call
                        row = {RENAMED.get(name, name): value for name, value in row.items()}
                    else:
                        row["time_ns"] = row.pop("time")
                    if "command" in row:
                        row["command"] = row["command"].rstrip(b"\0") + b"\0"
                    decoded.append(row)
                names = sorted(decoded[0])
                ours = sorted(
                    (tuple(row.get(name, b"") for name in names) for row in printed[kind]), key=repr
                )
                theirs = sorted((tuple(row[name] for name in names) for row in decoded), key=repr)
                self.assertEqual(len(ours), len(theirs))
                for a, b in zip(ours, theirs):
                    self.assertEqual(dict(zip(names, a)), dict(zip(names, b)))

    def test_print_is_in_order(self):
        done = faultline("print", "--format", "json", self.recording.path)
        times = [json.loads(line)["time_ns"] for line in done.stdout.splitlines()]
        self.assertEqual(times, sorted(times))

    def test_print_selects(self):
        """--layer, --pid and --file select exactly the matching events."""
        whole = [
            json.loads(line)
            for line in faultline(
                "print", "--format", "json", self.recording.path
            ).stdout.splitlines()
        ]
        pid = next(
            row["child_pid"]
            for row in whole
            if row["kind"] == "fork"
            if row["child_pid"] != row["pid"]
        )
        for arguments, wanted in (
            (["--layer", "fault"], lambda row: row["layer"] == "fault"),
            (["--pid", str(pid)], lambda row: pid in (row.get("pid"), row.get("child_pid"))),
        ):
            with self.subTest(arguments):
                done = faultline("print", "--format", "json", *arguments, self.recording.path)
                some = [json.loads(line) for line in done.stdout.splitlines()]
                some = [row for row in some if row["kind"] != "file"]
                self.assertGreater(len(some), 0)
                self.assertEqual(
                    some, [row for row in whole if row["kind"] != "file" and wanted(row)]
                )
        done = faultline("print", "--format", "json", "--file", "*/written", self.recording.path)
        some = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreater(len(some), 0)
        for row in some:
            self.assertTrue(
                row["path"].endswith("/written") or row.get("path2", "").endswith("/written"), row
            )

    def test_header(self):
        header = self.recording.trace.header
        self.assertEqual((header["format"], header["version"]), ("faultline", 1))
        self.assertEqual(header["host"], os.uname().nodename)
        self.assertEqual(header["kernel"], os.uname().release)
        with open("/proc/sys/kernel/random/boot_id") as file:
            self.assertEqual(header["boot_id"], file.read().strip())
        self.assertEqual(header["command"][0], machine().program("calls"))

    def test_frames(self):
        """Ordinary zstd frames with checksums: zstd itself detects one flipped bit."""
        done = subprocess.run(["zstd", "-tq", self.recording.path])
        self.assertEqual(done.returncode, 0)
        with open(self.recording.path, "rb") as file:
            content = bytearray(file.read())
        self.assertTrue(content[4] & 4, "no checksum of the content")
        # The checksum of the last block before the index: zstd ignores some other bits of a frame.
        index = int.from_bytes(content[-24:-16], "little")
        content[index - 1] ^= 16
        path = f"{machine().new_dir()}/flipped.flt"
        with open(path, "wb") as file:
            file.write(content)
        self.assertNotEqual(
            subprocess.run(["zstd", "-tq", path], stderr=subprocess.DEVNULL).returncode, 0
        )
        done = faultline("report", path)
        self.assertIn(done.returncode, (0, 1))
        self.assertNotEqual(done.stdout + done.stderr, b"")

    def test_clocks(self):
        """Wall-clock time of the trace's start, and rows between start and end."""
        trace, report = self.recording.trace, self.recording.report
        start, end = trace.totals["start_ns"], trace.totals["end_ns"]
        for kind in trace.blocks:
            if kind not in ("file", "device"):  # recorded when first seen, or after the end
                self.assertGreaterEqual(int(trace.rows(kind).time[0]), start, kind)
                self.assertLessEqual(int(trace.rows(kind).time[-1]), end, kind)
        wall = os.stat(self.recording.path).st_mtime_ns
        self.assertLess(abs(report["trace"]["start_unix_ns"] - wall), 60_000_000_000)
        self.assertEqual(report["trace"]["duration_ns"], end - start)


if __name__ == "__main__":
    unittest.main()
