# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reading traces in Python: rows as in `print`, sums as in `report`, damage as warnings, Dask
partitions on worker processes. Needs no root."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

BUILD = os.environ.get("BUILD", "build")
FAULTLINE = os.path.abspath(os.environ.setdefault("FAULTLINE", f"{BUILD}/faultline"))
os.environ["FAULTLINE"] = FAULTLINE
SAMPLE, SPANS = (os.path.join("tests", "golden", name) for name in ("sample.flt", "spans.flt"))
sys.path.insert(0, os.path.join("user", "python"))


def missing():
    for module in ("numpy", "msgpack", "zstandard", "pandas", "dask.dataframe", "distributed"):
        try:
            if importlib.util.find_spec(module) is None:
                return f"python3-{module.split('.')[0]} is not installed"
        except ModuleNotFoundError as error:
            return f"{error.name} is not installed"
    return None


if missing():
    print(missing())
    sys.exit(77)

import msgpack  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import zstandard  # noqa: E402

import faultline  # noqa: E402
from faultline import _blocks, _frames, _trace  # noqa: E402


def printed(path):
    done = subprocess.run([FAULTLINE, "print", "--format", "json", path], check=True,
                          capture_output=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def worker_pid(frame):
    return pd.DataFrame({"worker": [os.getpid()], "rows": [len(frame)],
                         "time": [int(frame["dur_ns"].sum())]})


def written(path, blocks, clock=(0, 0)):
    """Writes a trace with these blocks, [(kind, [row])], and a clock of which the second time is
    the first since 1970. It has no end. Returns its path."""
    header = {**_blocks.TraceFile(SPANS).header, "start": None,
              "clock": {"monotonic_ns": clock[0], "realtime_ns": clock[1]}}
    with open(path, "wb") as file:
        file.write(zstandard.compress(msgpack.packb(header)))
        for kind, rows in blocks:
            times = [row["time"] for row in rows]
            columns = {name: [row.get(name, 0) for row in rows] for name in rows[0] if name != "time"}
            columns["dts"] = [time - before for time, before in zip(times, [times[0], *times])]
            block = {"block": kind, "n": len(rows), "t0": times[0]}
            for name, values in columns.items():
                block[name] = values if name == "text" else {
                    b"nd": True, b"type": "<i8", b"kind": b"", b"shape": [len(values)],
                    b"data": np.array(values, "<i8").tobytes()}
            if kind == "string":
                del block["t0"], block["dts"]
            file.write(zstandard.compress(msgpack.packb(block)))
    return path


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="faultline-read-")
        cls.made = os.path.join(cls.directory.name, "made.flt")
        subprocess.run([os.path.join(BUILD, "tests", "unit", "test_output_html"), "--make", cls.made],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_rows_of_print(self):
        """Every call and fault is present, as in `print`."""
        rows = printed(SAMPLE)
        trace = faultline.read(SAMPLE)
        for table, layers in (("calls", ("syscall",)), ("faults", ("fault",))):
            frame = trace.table(table)
            theirs = sorted((row["dur_ns"], row["pid"], row["tid"]) for row in rows
                            if row["layer"] in layers)
            ours = sorted(map(tuple, frame[["dur_ns", "pid", "tid"]].to_numpy().tolist()))
            self.assertGreater(len(ours), 0)
            self.assertEqual(ours, theirs, table)
        self.assertTrue(trace.calls["start_ns"].is_monotonic_increasing)
        self.assertEqual(trace.calls["time"].astype("int64").tolist(),
                         trace.calls["start_ns"].tolist())
        self.assertTrue((trace.calls["offset"].dropna() >= 0).all())
        self.assertGreater(trace.calls["offset"].isna().sum(), 0)
        self.assertIn("/data/train.bin", trace.calls["file"].cat.categories)

    def test_vfs(self):
        """The kernel's own I/O, inside and outside calls; the same with Dask."""
        path = os.path.join(self.directory.name, "vfs.flt")
        subprocess.run([os.path.join(BUILD, "tests", "unit", "test_analysis_vfs"), "--make", path],
                       check=True)
        trace = faultline.read(path)
        theirs = [(row["dur_ns"], row["pid"], row["op"], row["path"], row["result"])
                  for row in printed(path) if row["layer"] == "vfs"]
        ours = trace.vfs[["dur_ns", "pid", "op", "file", "result"]].to_numpy().tolist()
        self.assertEqual(len(ours), 4)
        self.assertEqual([tuple(row) for row in ours], theirs)
        self.assertEqual(faultline.read_dask(path, "vfs").dur_ns.sum().compute(), 200)
        self.assertEqual(len(faultline.read(SAMPLE).vfs), 0)

    def test_threads(self):
        """Waits and times of threads, as in `print`; what is unknown is <NA>; the same with Dask."""
        subprocess.run([os.path.join(BUILD, "tests", "unit", "export_traces"), self.directory.name],
                       check=True)
        path = os.path.join(self.directory.name, "whole.flt")
        rows, trace = printed(path), faultline.read(path)
        names = ["dur_ns", "pid", "tid", "state", "call", "object", "waker_pid", "waker_tid", "owner_pid",
                 "owner_tid"]
        theirs = [[row[name] or pd.NA for name in names] for row in rows if row["kind"] == "wait"]
        ours = trace.waits[names].astype(object).to_numpy().tolist()
        self.assertEqual(len(ours), 13)
        self.assertEqual([list(map(str, row)) for row in ours],
                         [list(map(str, row)) for row in theirs])
        self.assertEqual(trace.waits["waker_pid"].isna().sum(), 1)
        times = [row for row in rows if row["kind"] == "thread_time"]
        for state in _frames.STATES:
            self.assertEqual(trace.thread_times[f"{state}_ns"].tolist(),
                             [row[state] for row in times], state)
        self.assertEqual(trace.thread_times[[f"{state}_ns" for state in _frames.STATES]]
                         .sum(axis=1).tolist(), [row["dur_ns"] for row in times])
        self.assertEqual(faultline.read_dask(path, "waits").dur_ns.sum().compute(),
                         trace.waits["dur_ns"].sum())
        hostile = faultline.read(os.path.join(self.directory.name, "hostile.flt")).waits
        self.assertEqual(hostile["object"].max(), 2**64 - 1)
        none = faultline.read(SAMPLE)
        self.assertEqual((len(none.waits), len(none.thread_times)), (0, 0))
        self.assertEqual(list(none.waits.columns), list(trace.waits.columns))
        self.assertEqual(none.waits.dtypes["object"], trace.waits.dtypes["object"])

    def test_stacks(self):
        """Samples and their stacks, as in `print`; the same with Dask."""
        subprocess.run([os.path.join(BUILD, "tests", "unit", "export_traces"), self.directory.name],
                       check=True)
        path, other, hostile = (os.path.join(self.directory.name, f"{name}.flt")
                                for name in ("stacks", "other_stacks", "hostile_stacks"))
        rows, trace = printed(path), faultline.read(path)
        of = {kind: {row["id"]: row for row in rows if row["kind"] == kind}
              for kind in ("frame", "stack")}
        samples = sorted((row for row in rows if row["kind"] == "sample"),
                         key=lambda row: row["time_ns"])
        self.assertEqual(len(trace.samples), 15)
        for row, sample in zip(samples, trace.samples.to_dict("records")):
            chain, stack = [], row["stack"]
            while stack:
                frame, stack = of["frame"][of["stack"][stack]["frame"]], of["stack"][stack]["caller"]
                chain.append(tuple(frame[name] or None for name in ("source", "line", "function")))
            self.assertEqual(trace.chain(sample["stack"]), chain)
            inner = [sample[name] if not pd.isna(sample[name]) else None
                     for name in ("source", "line", "function")]
            self.assertEqual(inner, list(chain[0] if chain else [None] * 3))
            self.assertEqual([sample[name] for name in ("state", "weight_ns", "dur_ns", "tid",
                                                        "stack", "flags", "fetched_bytes", "op")],
                             [row[name] for name in ("state", "weight", "dur_ns", "tid", "stack",
                                                     "flags", "fetched_bytes", "op")])
        self.assertEqual(trace.stacks["stack"].tolist(), sorted(of["stack"]))
        self.assertEqual(trace.stacks["caller"].fillna(0).tolist(),
                         [of["stack"][stack]["caller"] for stack in trace.stacks["stack"]])
        lazy = faultline.read_dask([path, other], "samples")
        self.assertEqual(lazy.groupby("function", observed=True).weight_ns.sum().compute()
                         ["Loop.step"], 1000000 + 20408163 + 3000000 + 4000000)
        both = faultline.read([path, other])
        last = both.samples[both.samples["trace"] == other].iloc[-1]
        self.assertEqual([frame.line for frame in both.chain(last["stack"], last["trace"])],
                         [21, 10])
        with self.assertRaisesRegex(ValueError, "several traces are open; pass `trace`"):
            both.chain(last["stack"])
        with self.assertRaisesRegex(ValueError, "x.flt: not one of the open traces"):
            both.chain(last["stack"], "x.flt")
        loops = faultline.read(hostile)
        self.assertEqual([len(loops.chain(stack)) for stack in range(7)],
                         [0, 128, 128, 128, 1, 1, 0])
        self.assertEqual(len(loops.samples), 12)
        self.assertEqual(loops.stacks["stack"].max(), 2**64 - 1)
        none = faultline.read(SAMPLE)
        self.assertEqual((len(none.samples), len(none.stacks)), (0, 0))
        self.assertEqual(list(none.samples.columns), list(trace.samples.columns))
        self.assertEqual(none.samples.dtypes["line"], trace.samples.dtypes["line"])
        self.assertEqual(list(none.stacks.columns), list(trace.stacks.columns))

    def test_sums_of_report(self):
        trace = faultline.read(self.made)
        report = trace.report()
        for row in report["files"]:
            calls = trace.calls[trace.calls["file"] == row["path"]]
            self.assertEqual(len(calls), row["read"]["count"])
            self.assertEqual(int(calls["result"].sum()), row["read"]["bytes"])
            self.assertEqual(int(calls["fetched_bytes"].sum()), row["fetched_bytes"])
        for row in report["spans"]:
            spans = trace.spans[(trace.spans["name"] == row["name"])
                                & (trace.spans["category"] == row["category"])]
            self.assertEqual((len(spans), int(spans["dur_ns"].sum())), (row["count"], row["time_ns"]))
        processes = {row["pid"]: row["comm"] for row in report["processes"]}
        self.assertEqual(dict(zip(trace.processes["pid"], trace.processes["comm"])), processes)
        self.assertEqual(len(trace.report("files")), len(report["files"]))
        self.assertTrue(trace.complete)

    def test_spans_without_an_end(self):
        trace = faultline.read(SPANS)
        counts = {}
        for row in trace.report()["spans"]:
            key = row["name"]
            count, unfinished = counts.get(key, (0, 0))
            counts[key] = count + row["count"], unfinished + row["unfinished"]
        self.assertGreater(len(trace.spans), 0)
        for name, (count, _) in counts.items():
            self.assertEqual(int((trace.spans["name"] == name).sum()), count, name)

    def test_spans_and_their_ends(self):
        """Exact times; each end belongs to the latest span of its id that is open, and none is open
        after an exec or the end of the process. The report's spans are the same."""
        names = "abcdefghijklmn"
        begins, ends, execs, exits, forks, expected = [], [], [], [], [], {}

        def begin(time, number, end, pid=10):
            name = len(begins) + 1
            begins.append({"time": time, "pid": pid, "tid": pid, "id": number, "name": name,
                           "category": 0, "args": 0, "flags": 0})
            expected[names[name - 1]] = (time, end)

        def of(time, pid=10, **more):
            return {"time": time, "pid": pid, "tid": pid, **more}

        begin(101, 1, 409)             # an end that a double cannot hold since 1970
        begin(103, 2, None)            # open when the process executes another program,
        begin(501, 2, 507)             # whose ids begin again
        begin(511, 3, None)            # open when the process ends
        begin(601, 3, 605)             # by another process with the same pid
        begin(613, 4, 618)             # two with one id: the inner ends first
        begin(614, 4, 616)
        begin(621, 5, 621)             # of no length
        begin(631, 6, 632)             # the same id twice, in turns
        begin(633, 6, 634)
        begin(641, 7, None)            # the exit of a thread ends no span, ...
        begin(645, 8, 646, pid=11)     # nor does a thread's fork, nor an exec at the end of a span
        begin(700, 9, None, pid=12)    # a new process has the pid, and the old one's end is lost
        begin(700, 9, 720, pid=13)     # its fork has a later time
        ends += [of(end, begun["pid"], id=begun["id"]) for begun, (_, end) in
                 zip(begins, expected.values()) if end]
        ends.append(of(90, id=1))      # without a begin
        ends.append(of(720, 12, id=9))
        ends.reverse()                 # rows of a block may have any order
        execs += [of(time, pid, ppid=1, uid=0, comm=0, command=0, cgroup=0, rank=-1, flags=0,
                     started_ns=0) for time, pid in ((500, 10), (646, 11), (690, 12))]
        exits += [of(519, process=1, code=0, comm=0, major=0, minor=0),
                  of(642, process=0, code=0, comm=0, major=0, minor=0)]
        forks += [of(600, 1, child_pid=10, child_tid=10), of(645, 11, child_pid=11, child_tid=99),
                  of(710, 1, child_pid=12, child_tid=12), of(710, 1, child_pid=13, child_tid=13)]
        strings = [{"time": 0, "id": i + 1, "text": name} for i, name in enumerate(names)]
        blocks = [("string", strings), ("exec", execs), ("exit", exits), ("fork", forks),
                  ("span_end", ends[:5]), ("span_begin", begins), ("span_end", ends[5:])]
        shift = 1_767_600_000_000_000_000
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", _trace.TraceWarning)
            trace = faultline.read(written(os.path.join(self.directory.name, "ends.flt"), blocks,
                                           (50, shift + 50)))
        spans = {row["name"]: row for row in trace.spans.to_dict("records")}
        self.assertEqual(
            {name: (row["start_ns"], None if row["end_ns"] is pd.NA else row["end_ns"])
             for name, row in spans.items()},
            {name: (start + shift, None if end is None else end + shift)
             for name, (start, end) in expected.items()})
        self.assertEqual({name: row["dur_ns"] for name, row in spans.items() if row["dur_ns"] is not pd.NA},
                         {name: end - start for name, (start, end) in expected.items() if end})
        self.assertEqual(str(trace.spans.dtypes["end_ns"]), "Int64")
        theirs = {row["name"]: row for row in trace.report()["spans"]}
        self.assertEqual({name: row["unfinished"] for name, row in theirs.items()},
                         {name: int(end is None) for name, (_, end) in expected.items()})
        self.assertEqual({name: row["time_ns"] for name, row in theirs.items() if not row["unfinished"]},
                         {name: end - start for name, (start, end) in expected.items() if end})
        processes = trace.processes
        self.assertEqual(processes["end_ns"].dropna().tolist(), [shift + 519])
        self.assertGreater(len(processes), 1)

    def test_choosing(self):
        """Columns, times and processes selected before reading: the same as afterwards."""
        trace = faultline.read(self.made)
        calls, columns = trace.calls, ["start_ns", "dur_ns", "file"]
        middle = int(calls["start_ns"].median())
        some = trace.table("calls", columns, from_ns=middle)
        whole = calls[calls["start_ns"] + calls["dur_ns"] >= middle]
        self.assertEqual(list(some.columns), columns)
        self.assertEqual(some["start_ns"].tolist(), whole["start_ns"].tolist())
        self.assertEqual(len(trace.table("calls", pid=10)), len(calls))
        self.assertEqual(len(trace.table("calls", pid=11)), 0)
        with self.assertRaisesRegex(ValueError, "no column 'nothing'"):
            trace.table("calls", ["nothing"])

    def test_damage(self):
        """A truncated trace and one with a hole: reported, and the rest is read."""
        with open(self.made, "rb") as file:
            data = file.read()
        cut = os.path.join(self.directory.name, "cut.flt")
        with open(cut, "wb") as file:
            file.write(data[:len(data) * 2 // 3])
        with self.assertWarnsRegex(_trace.TraceWarning, "incomplete"):
            trace = faultline.read(cut)
        self.assertFalse(trace.complete)
        self.assertLessEqual(len(trace.calls), 200)
        hole = os.path.join(self.directory.name, "hole.flt")

        def cut_hole(kind):
            block = next(item for item in _blocks.TraceFile(self.made).blocks if item.kind == kind)
            with open(hole, "wb") as file:
                file.write(data[:block.offset + 12] + bytes(8) + data[block.offset + 20:])
            return block, faultline.read(hole)

        block, trace = cut_hole("string")
        with self.assertWarnsRegex(_trace.TraceWarning, f"{block.rows} rows of string"):
            self.assertEqual(len(trace.calls), 200)
        block, trace = cut_hole("syscall")
        with self.assertWarnsRegex(_trace.TraceWarning, f"{block.rows} rows of syscall"):
            left = len(trace.calls)
        self.assertEqual(left, 200 - block.rows)
        for name, content in (("none.flt", b"x" * 100), ("empty.flt", b"")):
            path = os.path.join(self.directory.name, name)
            with open(path, "wb") as file:
                file.write(content)
            with self.assertRaises(ValueError):
                faultline.read(path)

    def test_small_files_of_large_frames(self):
        """Zeros compress a thousandfold; memory is bounded nevertheless."""
        path = os.path.join(self.directory.name, "zeros.flt")
        with open(path, "wb") as file:
            file.write(zstandard.compress(bytes(1 << 30)))
        self.assertLess(os.path.getsize(path), 1 << 17)
        code = """if True:
            import resource, sys
            sys.path.insert(0, "user/python")
            import faultline
            from faultline import _blocks
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            try: faultline.read(sys.argv[1])
            except ValueError as error: assert "too large" in str(error), error
            else: raise SystemExit("no error")
            used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
            assert used < 3 * _blocks.FRAME_MAX, used
        """
        subprocess.run([sys.executable, "-c", code, path], check=True)

    def test_foreign_whole_frames(self):
        """Invalid contents only cause a warning."""
        column = {b"nd": True, b"type": "<u8", b"kind": b"", b"shape": [1], b"data": bytes(8)}
        with open(self.made, "rb") as file:
            data = file.read()
        header = data[:_blocks.TraceFile(self.made).frame(0)[1]]
        path = os.path.join(self.directory.name, "forged.flt")
        for block in (
            {"block": "syscall"},
            {"block": "syscall", "n": "many"},
            {"block": "syscall", "n": 1, "t0": 0, "dts": 5},
            {"block": "syscall", "n": 0, "t0": 0, "dts": {**column, b"shape": [0], b"data": b""}},
            {"block": "syscall", "n": 1, "t0": 0, "dts": {b"nd": True}},
            {"block": "syscall", "n": 1, "t0": 0, "dts": {**column, b"type": []}},
            {"block": "syscall", "n": 1, "t0": 0, "dts": {**column, b"shape": 1}},
            {"block": "syscall", "n": 1, "t0": 0, "dts": {**column, b"data": 8}},
        ):
            with open(path, "wb") as file:
                file.write(header + zstandard.compress(msgpack.packb(block)))
            with self.subTest(block=block), self.assertWarnsRegex(_trace.TraceWarning, "incomplete"):
                self.assertEqual(len(faultline.read(path).calls), 0)

    def test_long_strings(self):
        ids = {b"nd": True, b"type": "<u1", b"kind": b"", b"shape": [3], b"data": bytes((1, 2, 3))}
        most = _blocks.STRING_MAX
        texts = ["x" * most, "x" * (1 << 20), b"\xff" * (most + 1)]
        with open(self.made, "rb") as file:
            header = file.read()[:_blocks.TraceFile(self.made).frame(0)[1]]
        path = os.path.join(self.directory.name, "long.flt")
        with open(path, "wb") as file:
            block = {"block": "string", "n": 3, "id": ids, "text": texts}
            file.write(header + zstandard.compress(msgpack.packb(block)))
        with self.assertWarnsRegex(_trace.TraceWarning, "2 names longer than 8192 bytes are cut"):
            self.assertEqual(_blocks.TraceFile(path).strings,
                             {1: texts[0], 2: "x" * most + "…", 3: "\\xff" * most + "…"})

    def test_foreign_whole_ends(self):
        """An index takes memory for its content, not for its claims; a header has the time."""
        none = {b"nd": True, b"type": "<u8", b"kind": b"", b"shape": [0], b"data": b""}
        part = {"n": 1 << 44, "previous": 0, "kinds": [],
                **{name: none for name in ("kind", "offset", "rows", "start", "end")}}
        with open(self.made, "rb") as file:
            header = file.read()[:_blocks.TraceFile(self.made).frame(0)[1]]
        path = os.path.join(self.directory.name, "ends.flt")
        index, totals = (zstandard.compress(msgpack.packb(value)) for value in (part, {}))
        size = len(header) + len(index) + len(totals) + _blocks.TAIL.size
        with open(path, "wb") as file:
            file.write(header + index + totals + _blocks.TAIL.pack(
                _blocks.TAIL_SKIPPABLE, _blocks.TAIL.size - 8, _blocks.TAIL_MAGIC, len(header),
                len(header) + len(index), size))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(_blocks.TraceFile(path).blocks, [])
        for clock in ({}, {"clock": 5}, {"clock": {"realtime_ns": []}}):
            header = {"format": "faultline", "version": _blocks.VERSION, **clock}
            with open(path, "wb") as file:
                file.write(zstandard.compress(msgpack.packb(header)))
            with self.subTest(clock=clock), self.assertRaisesRegex(ValueError, "header is damaged"):
                faultline.read(path)

    def test_damaged_columns(self):
        """A block that lacks a column or has an invalid one is left out with a warning; an
        unreadable trace is a ValueError, and nothing else can happen."""
        sys.path.insert(0, os.path.join("tests", "fuzz"))
        import damage_columns

        path = os.path.join(self.directory.name, "damaged.flt")
        with open(SPANS, "rb") as file:
            traces = list(damage_columns.damaged_traces(file.read(), ""))
        tables = ("calls", "faults", "requests", "vfs", "spans", "files", "processes")
        warned = 0
        for name, trace in traces[::23]:
            with self.subTest(name), warnings.catch_warnings(record=True) as rows_reported:
                warnings.simplefilter("always")
                with open(path, "wb") as file:
                    file.write(trace)
                try:
                    damaged = _trace.Trace([path])
                    for table in tables:
                        getattr(damaged, table)
                except ValueError as error:
                    self.assertIn(path, str(error))
                self.assertEqual({w.category for w in rows_reported} - {_trace.TraceWarning}, set())
                warned += bool(rows_reported)
        self.assertGreater(warned, 10)

    def test_paths_are_no_options(self):
        os.symlink(os.path.abspath(self.made), os.path.join(self.directory.name, "-x.flt"))
        before = os.getcwd()
        os.chdir(self.directory.name)
        try:
            self.assertEqual(len(faultline.read("-x.flt").report("files")),
                             len(faultline.read("made.flt").report("files")))
        finally:
            os.chdir(before)

    def test_several(self):
        calls = faultline.read([self.made, SAMPLE]).calls
        self.assertEqual(len(calls), len(faultline.read(self.made).calls)
                         + len(faultline.read(SAMPLE).calls))

    def test_notebook(self):
        text = faultline.read(self.made)._repr_html_()
        self.assertIn("<svg", text)
        self.assertIn("red: unoverlapped I/O, grey: compute;", text)
        self.assertIn("red: I/O; ", faultline.read(SAMPLE)._repr_html_())  # no compute was marked
        self.assertIn("&lt;/script&gt;", text)
        self.assertNotIn("<script", text)

    def test_unavailable_tables(self):
        """A missing table differs from one without rows."""
        trace = faultline.read(SAMPLE)
        self.assertIsNone(trace.report()["devices"])
        with self.assertWarnsRegex(_trace.TraceWarning, "table devices is unavailable"):
            self.assertEqual(len(trace.report("devices")), 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            trace.report("findings")
        # As for a table that totals cannot give.
        trace.report().update(findings=None, caveats=[{"id": "summed"}])
        with self.assertWarnsRegex(_trace.TraceWarning, "operations were aggregated"):
            trace.report("findings")
        text = trace._repr_html_()
        self.assertNotIn("no known problem", text)
        self.assertIn("Findings are unavailable", text)

    def test_no_findings(self):
        """The reason for their absence is given; unknown values have no picture."""
        nothing = "No findings: no known problem costs ≥ 0.2% of the run"
        known = [{"time_ns": 5}]
        for report, says in (
            ({"trace": {"duration_ns": None}, "access": known},
             "No findings: the trace has no events"),
            ({"access": [{"time_ns": None}]}, "No findings: no I/O layer was recorded"),
            ({"access": [{"time_ns": None}], "caveats": [{"id": "summed"}]},
             f"{nothing}; findings that need single operations were not checked, because "
             "operations were aggregated"),
            ({"access": known}, nothing),
        ):
            trace = faultline.read(SAMPLE)
            trace.report().update({"findings": [], "caveats": [], **report})
            self.assertIn(f"<p>{says}</p>", trace._repr_html_())
            self.assertNotIn("<li>", trace._repr_html_())
        trace.report()["timeline"] = []
        self.assertNotIn("<svg", trace._repr_html_())

    def test_columns_of_the_report(self):
        """The same columns with the same types, with or without rows."""
        dtypes = {"integer": "Int64", "bool": "boolean", "real": "float64", "text": "object"}
        some, other = faultline.read(self.made), faultline.read(SPANS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", _trace.TraceWarning)
            for table in some.report():
                if table == "schema":
                    continue
                listed = subprocess.run([FAULTLINE, "report", "--table", table, "--list-columns",
                                         "--format", "json"], check=True, capture_output=True)
                types = {row["column"]: dtypes[row["type"]]
                         for row in json.loads(listed.stdout)["columns"]}
                for frame in (some.report(table), other.report(table)):
                    shown = {name: str(dtype) for name, dtype in frame.dtypes.items()}
                    self.assertEqual({name: shown.get(name) for name in types}, types, table)
            self.assertEqual(len(some.report("devices")), 0)
        files = some.report("files")
        self.assertEqual(files["read.bytes"].sum(),
                         sum(row["read"]["bytes"] for row in some.report()["files"]))
        self.assertEqual(_frames.report_frame([{"ino": 1 << 63}], {"ino": "integer"})["ino"][0],
                         1 << 63)
        with self.assertRaisesRegex(ValueError, "unknown table 'schema'"):
            some.report("schema")

    def test_numpy_only(self):
        """Without pandas, tables are dictionaries of arrays; marking spans needs neither."""
        code = ("import sys\nsys.modules['pandas'] = None\nimport faultline\n"
                "assert 'numpy' not in sys.modules\n"
                "calls = faultline.read(sys.argv[1]).calls\n"
                "assert type(calls) is dict, type(calls)\n"
                "print(len(calls['pid']), int(calls['result'].sum()), calls['file'][0])\n")
        done = subprocess.run([sys.executable, "-c", code, self.made], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.path.join("user", "python")})
        self.assertEqual(done.stdout.split(maxsplit=2)[:2], ["200", str(200 * 4096)], done.stderr)

    def test_pandas_required(self):
        """It is missed before anything is read."""
        code = ("import sys\nsys.modules['pandas'] = None\nimport faultline\n"
                "for table in 'files', 'processes', 'spans', 'stacks':\n"
                "    trace = faultline.read(sys.argv[1])\n"
                "    before = set(vars(trace.traces[0]))\n"
                "    try:\n        getattr(trace, table)\n"
                "    except ImportError as error:\n"
                "        print(table, 'requires pandas' in str(error),"
                " *(set(vars(trace.traces[0])) - before))\n")
        done = subprocess.run([sys.executable, "-c", code, self.made], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.path.join("user", "python")})
        self.assertEqual(done.stdout.splitlines(), [
            f"{table} True" for table in ("files", "processes", "spans", "stacks")], done.stderr)

    def test_dask(self):
        """On a cluster of worker processes: the same sums as the C report, lazily."""
        import distributed
        warnings.simplefilter("ignore")
        frame = faultline.read_dask([self.made, SAMPLE], partition_rows=50)
        self.assertEqual(frame.npartitions, 2)  # a block is never split
        calls = faultline.read([self.made, SAMPLE]).calls
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                      dashboard_address=None) as cluster, \
                distributed.Client(cluster):
            parts = frame.map_partitions(worker_pid, meta={"worker": int, "rows": int, "time": int})
            parts = parts.compute()
            self.assertEqual(int(parts["rows"].sum()), len(calls))
            self.assertEqual(int(parts["time"].sum()), int(calls["dur_ns"].sum()))
            self.assertNotIn(os.getpid(), set(parts["worker"]))
            by_op = frame.groupby("op", observed=True)["dur_ns"].sum().compute()
        rows = [row for path in (self.made, SAMPLE)
                for row in faultline.read(path).report()["operations"] if row["op"] == "pread64"]
        theirs = sum(row["thread_time_ns"] for row in rows)
        lost = theirs - int(by_op["pread64"])
        self.assertGreaterEqual(lost, 0)  # the sample's lost events have no rows
        made = [row for row in faultline.read(self.made).report()["operations"]
                if row["op"] == "pread64"]
        alone = faultline.read_dask(self.made, columns=["op", "dur_ns"])
        self.assertEqual(int(alone["dur_ns"].sum().compute(scheduler="synchronous")),
                         made[0]["thread_time_ns"])
        self.assertEqual(faultline.read_dask(self.made, until_ns=0).compute(
            scheduler="synchronous").shape[0], 0)
        self.assertEqual(alone.dtypes["dur_ns"], np.int64)


if __name__ == "__main__":
    unittest.main()
