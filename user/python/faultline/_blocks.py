# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds the blocks of a trace file by its index and reads them one by one. Requires numpy, msgpack
and zstandard."""

from __future__ import annotations

import functools
import mmap
import os
import struct
import warnings
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

import msgpack
import numpy as np
import zstandard

TAIL = struct.Struct("<IIQQQQ")
TAIL_SKIPPABLE, TAIL_MAGIC = 0x184D2A50, 0x0A444E45544C460A
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
FRAME_MAX = 256 << 20  # bytes of a decompressed frame; Faultline's are far smaller
STRING_MAX = 1 << 13  # length of a string; the recorder's are shorter
FEED = 1 << 12  # bytes read at once, which may become 64 Ki times as many
TYPES = {sign + width for sign in ("<u", "<i", "|u", "|i") for width in "1248"}
VERSION = 1
FILE_COLUMNS = ("id", "dev", "ino", "size")  # required in rows of files
FRAMES_MAX = 128  # of a stack: the recorder's limit
ANY_PID = (1 << 64) - 1  # see key(): the processes of a block are unknown
# Exceptions from reading a frame that is damaged or was written by another program.
DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, zstandard.ZstdError,
           msgpack.UnpackException)


class TraceWarning(UserWarning):
    """A trace is incomplete, damaged or lacks the data for a table; results contain only what could
    be read."""


class Block(NamedTuple):
    """An index entry. Times are on the trace's own clock; pids is a bit mask, see key()."""
    kind: str
    offset: int
    rows: int
    start: int
    end: int
    pids: int


class Frame(NamedTuple):
    """A line of a function, as the interpreter names them; None: unknown."""
    source: Optional[str]
    line: Optional[int]
    function: Optional[str]


def key(pid: int) -> int:
    """Returns the bit of a pid in a block's mask."""
    return 1 << ((pid * 0x9E3779B97F4A7C15 & (1 << 64) - 1) >> 58)


def _column(value: Dict[Any, Any]) -> Any:
    if not value.get(b"nd"):
        return value
    kind = value[b"type"]
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if kind not in TYPES:
        raise ValueError(f"unsupported column type {kind!r}")
    array = np.frombuffer(value[b"data"], dtype=kind)
    if list(array.shape) != list(value[b"shape"]):
        raise ValueError("column data does not match its shape")
    return array


class TraceFile:
    """A trace file: its header, its totals (None if the trace has no end) and its blocks."""

    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            self._bytes: Union[bytes, mmap.mmap] = \
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        if not size:
            raise ValueError(f"{path}: the file is empty")
        try:
            self.header: Dict[str, Any] = self.frame(0)[0]
        except DAMAGED as error:
            raise ValueError(f"{path}: not a Faultline trace: {error}") from None
        if self.header.get("format") != "faultline":
            raise ValueError(f"{path}: not a Faultline trace")
        if self.header.get("version") != VERSION:
            raise ValueError(f"{path}: trace version {self.header.get('version')} is not "
                             f"supported; this package reads version {VERSION}")
        try:
            clock = self.header["clock"]
            self.shift = int(clock["realtime_ns"]) - int(clock["monotonic_ns"])
        except DAMAGED as error:
            raise ValueError(f"{path}: the header is damaged: {error!r}") from None
        self.totals: Optional[Dict[str, Any]] = None
        self.blocks: List[Block] = []
        if not self._read_index():
            self._scan()

    def __reduce__(self) -> Tuple[Any, ...]:
        return open_file, (self.path,)

    def frame(self, offset: int) -> Tuple[Dict[str, Any], int]:
        """Returns the object in the frame at an offset, and the offset after it."""
        unpack = zstandard.ZstdDecompressor().decompressobj()
        data, at = bytearray(), offset
        while not unpack.eof:
            piece = self._bytes[at:at + FEED]
            if not piece:
                raise ValueError("the file ends inside a frame")
            data += unpack.decompress(piece)
            at += len(piece)
            if len(data) > FRAME_MAX:
                raise ValueError("a frame is too large for a Faultline trace")
        value = msgpack.unpackb(bytes(data), raw=False, strict_map_key=False, object_hook=_column,
                                unicode_errors="backslashreplace")
        if not isinstance(value, dict):
            raise ValueError("a frame does not contain a map")
        return value, at - len(unpack.unused_data)

    def _read_index(self) -> bool:
        size = len(self._bytes)
        if size < TAIL.size:
            return False
        skippable, _, magic, index, totals, length = TAIL.unpack(self._bytes[size - TAIL.size:])
        if (skippable, magic, length) != (TAIL_SKIPPABLE, TAIL_MAGIC, size):
            return False
        try:
            self.totals = self.frame(totals)[0]
            parts = []
            while index:
                part = self.frame(index)[0]
                if int(part["previous"]) >= index:
                    raise ValueError("index parts form a loop")
                index = int(part["previous"])
                parts.append(part)
            blocks: List[Block] = []
            for part in reversed(parts):
                columns = [part[name].tolist() for name in ("kind", "offset", "rows", "start", "end")]
                columns.append(part["pids"].tolist() if "pids" in part else [ANY_PID] * len(columns[0]))
                blocks += [Block(part["kinds"][row[0]], *row[1:]) for row in zip(*columns)]
        except DAMAGED as error:
            warnings.warn(f"{self.path}: the index is damaged ({error}); scanning the whole "
                          "file", TraceWarning, stacklevel=4)
            self.totals = None
            return False
        self.blocks = blocks
        return True

    def _scan(self) -> None:
        """Finds the complete frames of a trace without an end."""
        offset, why = 0, "the trace has no end: the tracer was killed or could not write"
        while offset < len(self._bytes):
            magic = int.from_bytes(self._bytes[offset:offset + 4], "little")
            if magic in SKIPPABLE:
                offset += 8 + int.from_bytes(self._bytes[offset + 4:offset + 8], "little")
                continue
            try:
                value, after = self.frame(offset)
                kind = value.get("of", value.get("block"))
                if kind == "totals":
                    self.totals = value
                elif kind not in (None, "header", "index", "flush"):
                    times = self._times(value) if "dts" in value else np.zeros(1, np.int64)
                    ends = times + value["dur"].astype(np.int64) if "dur" in value else times
                    self.blocks.append(Block(kind, offset, int(value["n"]), int(times.min()),
                                             int(ends.max()), ANY_PID))
            except DAMAGED as error:
                why = f"readable up to byte {offset} ({error})"
                break
            offset = after
        warnings.warn(f"{self.path}: incomplete: {why}", TraceWarning, stacklevel=5)

    @staticmethod
    def _times(block: Dict[str, Any]) -> "np.ndarray[Any, Any]":
        """Returns times on the trace's clock."""
        times: "np.ndarray[Any, Any]" = np.cumsum(block["dts"].astype(np.uint64))
        return (times + np.uint64(block["t0"])).astype(np.int64)

    def rows(self, block: Block) -> Optional[Dict[str, "np.ndarray[Any, Any]"]]:
        """Returns the columns of a block, with `time` as Unix time. Warns and returns None if
        damaged."""
        try:
            value = self.frame(block.offset)[0]
            columns = {name: column for name, column in value.items()
                       if isinstance(column, np.ndarray)}
            if any(len(column) != value["n"] for column in columns.values()):
                raise ValueError("columns differ in length")
            columns["time"] = self._times(value) + self.shift
        except DAMAGED as error:
            self.warn_of(block, error)
            return None
        return columns

    def warn_of(self, block: Block, error: Exception) -> None:
        """Warns about a block that cannot be read."""
        warnings.warn(f"{self.path}: {block.rows} rows of {block.kind} cannot be read ({error})",
                      TraceWarning, stacklevel=4)

    @functools.cached_property
    def strings(self) -> Dict[int, str]:
        """Names and paths by id; bytes that are not UTF-8 become \\xHH, as in the report."""
        found: Dict[int, str] = {}
        cut = 0
        for block in self.blocks:
            if block.kind != "string":
                continue
            try:
                value = self.frame(block.offset)[0]
                for number, text in zip(value["id"].tolist(), value["text"]):
                    if len(text) > STRING_MAX:
                        text = text[:STRING_MAX] + ("…" if isinstance(text, str) else "…".encode())
                        cut += 1
                    found[number] = text if isinstance(text, str) \
                        else text.decode("utf-8", "backslashreplace")
            except DAMAGED as error:
                self.warn_of(block, error)
        if cut:
            warnings.warn(f"{self.path}: {cut} names longer than {STRING_MAX} bytes are cut",
                          TraceWarning, stacklevel=4)
        return found

    @functools.cached_property
    def operations(self) -> List[str]:
        return [operation["name"] for operation in self.header["operations"]]

    @functools.cached_property
    def file_rows(self) -> Dict[int, Dict[str, int]]:
        """The latest row of each file id."""
        latest: Dict[int, Dict[str, int]] = {}
        for block, columns in self.of_kind("file"):
            names = list(columns)
            missing = [name for name in FILE_COLUMNS if name not in names]
            if missing:
                self.warn_of(block, ValueError(f"missing column {missing[0]}"))
                continue
            for values in zip(*(columns[name].tolist() for name in names)):
                row = dict(zip(names, values))
                known = latest.get(row["id"])
                if known is None or row["time"] >= known["time"]:
                    latest[row["id"]] = row
        return latest

    def _by_id(self, kind: str, *names: str) -> Dict[int, Tuple[int, ...]]:
        """Columns of the first row of each id."""
        found: Dict[int, Tuple[int, ...]] = {}
        for block, columns in self.of_kind(kind):
            try:
                rows = [columns[name].tolist() for name in ("id", *names)]
            except KeyError as error:
                self.warn_of(block, ValueError(f"missing column {error}"))
                continue
            for number, *row in zip(*rows):
                found.setdefault(number, tuple(row))
        return found

    @functools.cached_property
    def frame_rows(self) -> Dict[int, Frame]:
        """Frames of stacks by id."""
        return {number: Frame(self.strings.get(source), line or None, self.strings.get(function))
                for number, (source, line, function)
                in self._by_id("frame", "source", "line", "function").items()}

    @functools.cached_property
    def stack_rows(self) -> Dict[int, Tuple[int, ...]]:
        """The stack of the caller, and the innermost frame, of stacks by id; 0: none."""
        return self._by_id("stack", "caller", "frame")

    def chain(self, stack: int, most: int = FRAMES_MAX) -> List[Frame]:
        """Returns the frames of a stack, innermost first; none if it is unknown. In a damaged or
        forged trace, callers may be missing or form a loop, which ends after `most` frames."""
        frames: List[Frame] = []
        while stack in self.stack_rows and stack and len(frames) < most:
            stack, frame = self.stack_rows[stack]
            frames.append(self.frame_rows.get(frame, Frame(None, None, None)))
        return frames

    def of_kind(self, kind: str) -> Iterator[Tuple[Block, Dict[str, "np.ndarray[Any, Any]"]]]:
        for block in self.blocks:
            columns = self.rows(block) if block.kind == kind else None
            if columns is not None:
                yield block, columns


@functools.lru_cache(maxsize=64)
def _open(path: str, _identity: Tuple[int, int, int]) -> TraceFile:
    return TraceFile(path)


def open_file(path: str) -> TraceFile:
    """Caches open files, so that each worker of a cluster reads the names of a trace once."""
    about = os.stat(path)
    return _open(path, (about.st_ino, about.st_size, about.st_mtime_ns))
