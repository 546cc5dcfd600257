# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A trace decoded from its documented format (zstd, msgpack, msgpack-numpy), without Faultline."""
import collections
import functools
import os
import subprocess

import msgpack
import msgpack_numpy
import numpy


class Trace:
    """A trace as any msgpack library reads it. Columns of a kind of row: rows("syscall").pid
    etc."""

    STRINGS = ("path", "path2", "comm", "command", "cgroup", "name", "category", "args",
               "filesystem", "source", "function", "state")

    def __init__(self, path):
        unzip = subprocess.run(
            ["zstd", "-dcq", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        unpacker = msgpack.Unpacker(object_hook=msgpack_numpy.decode, raw=False,
                                    strict_map_key=False, unicode_errors="surrogateescape",
                                    max_buffer_size=0)
        unpacker.feed(unzip.stdout)
        self.header, self.totals, self.flushed = next(unpacker), None, 0
        self.on_memory = {operation["name"] for operation in self.header["operations"]
                          if operation["family"] == "map" and operation["layer"] == "syscall"}
        self.strings, self.blocks = {0: b""}, collections.defaultdict(list)
        for block in unpacker:
            kind = block["block"]
            if kind == "string":
                for number, text in zip(block["id"].tolist(), block["text"]):
                    self.strings[number] = text if isinstance(text, bytes) else os.fsencode(text)
            elif kind == "totals":
                self.totals = block
            elif kind == "flush":
                self.flushed = block["t0"]
            elif kind not in ("index", "header"):  # a copy of the first object
                self.blocks[kind].append(block)

    @functools.lru_cache(maxsize=None)
    def rows(self, kind):
        """Columns by name, as arrays; `time` from t0 and dts. Rows sorted by time."""
        columns = {}
        blocks = self.blocks.get(kind, [])
        for name in blocks[0] if blocks else []:
            if name in ("block", "n", "t0"):
                continue
            parts = [block[name] for block in blocks]
            if name == "dts":
                name = "time"
                parts = [block["t0"] + numpy.cumsum(block["dts"].astype("<i8")) for block in blocks]
            columns[name] = numpy.concatenate(parts)
        if not columns:
            return None
        order = numpy.argsort(columns["time"], kind="stable")
        return collections.namedtuple("Rows", columns)(
            *(column[order] for column in columns.values())
        )

    def row_count(self, kind):
        return sum(block["n"] for block in self.blocks.get(kind, []))

    def dicts(self, kind):
        """The rows of a kind one by one, with numbers resolved to names; for kinds with few
        rows."""
        rows = self.rows(kind)
        if rows is None:
            return
        operations = self.header["operations"]
        for values in zip(*(column.tolist() for column in rows)):
            row = dict(zip(rows._fields, values))
            if "op" in row:
                row["op"] = operations[row["op"]]["name"]
            for name in (*self.STRINGS, *("call",) * (kind == "wait")):
                if name in row:
                    row[name] = self.strings.get(row[name])
            yield row

    @functools.cached_property
    def files(self):
        """{file id: its last row}."""
        return {row["id"]: row for row in self.dicts("file")}

    def file_ids(self, path):
        """IDs of the files that ever had this path."""
        return {row["id"] for row in self.dicts("file") if row["path"] == os.fsencode(path)}

    def calls(self, path=None, **wanted):
        """System calls, from both kinds of rows, sorted by time; of one file if a path is given."""
        ids = self.file_ids(path) if path is not None else None
        found = [
            row
            for kind in ("syscall", "syscall_path")
            for row in self.dicts(kind)
            if (ids is None or row["file"] in ids) and all(row[k] == v for k, v in wanted.items())
        ]
        return sorted(found, key=lambda row: row["time"])

    def is_io(self, call):
        """Whether a system call is I/O: one on memory is, if it brought in or dirtied pages."""
        return call["op"] not in self.on_memory or any(
            call[name] for name in ("fetched_bytes", "fault_fetched_bytes", "dirtied_bytes",
                                    "major"))

    def look_ups(self, ops):
        """Absolute paths passed to calls of these names, with their results."""
        for row in self.dicts("syscall_path"):
            if row["op"] in ops:
                path = row["path"]
                if not path.startswith(b"/"):
                    path = os.path.join(self.files[row["dir"]]["path"], path)
                yield path, row["result"]
