# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes tables from blocks: which kinds and columns each table needs, and how values are converted.
Tables are pandas DataFrames, or dicts of numpy arrays without pandas."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._blocks import DAMAGED, Block, Frame, TraceFile, key

try:
    import pandas
    pd: Any = pandas
except ImportError:  # numpy is enough for numbers
    pd = None

Columns = Dict[str, Any]
FAULT_MAJOR, FAULT_WRITE = 1, 2
STATES = ("cpu", "runnable", "storage", "memory", "lock", "pipe", "child", "sleep", "device",
          "stopped", "other")


class Choice(NamedTuple):
    """Selects part of a table; None means everything. Times are in ns since 1970."""
    columns: Optional[Tuple[str, ...]] = None
    from_ns: Optional[int] = None
    until_ns: Optional[int] = None
    pid: Optional[int] = None


def categories(codes: Any, names: Sequence[str]) -> Any:
    """Returns the names of codes; -1 means none."""
    if pd is None:
        table = np.array([*names, ""], dtype=object)
        return table[codes]
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(names), dtype=object))


def known(values: Any, missing: Any, kind: Any = np.int64) -> Any:
    """Returns integers, unknown where `missing` is set."""
    values = values.astype(kind)
    return values if pd is None else pd.arrays.IntegerArray(values, np.asarray(missing, dtype=bool))


def numbers(values: Sequence[Optional[int]]) -> Any:
    """Returns unsigned integers, unknown where they are None or 0."""
    made = np.array([value or 0 for value in values], dtype=np.uint64)
    return known(made, made == 0, np.uint64)


def path_of(trace: TraceFile, ids: Any) -> Any:
    """Returns the paths of file ids; equal paths share a category."""
    used, inverse = np.unique(ids, return_inverse=True)
    paths: Dict[str, int] = {}
    codes = np.full(len(used), -1, dtype=np.int32)
    for i, number in enumerate(used.tolist()):
        row = trace.file_rows.get(number)
        path = trace.strings.get(row.get("path", 0)) if row else None
        if path is not None:
            codes[i] = paths.setdefault(path, len(paths))
    return categories(codes[inverse], list(paths))


def text_of(trace: TraceFile, ids: Any) -> Any:
    used, inverse = np.unique(ids, return_inverse=True)
    texts: Dict[str, int] = {}
    codes = np.full(len(used), -1, dtype=np.int32)
    for i, number in enumerate(used.tolist()):
        text = trace.strings.get(number)
        if text is not None:
            codes[i] = texts.setdefault(text, len(texts))
    return categories(codes[inverse], list(texts))


def operation_of(trace: TraceFile, numbers: Any) -> Any:
    names = sorted(set(trace.operations) - {"none"})
    place = {"none": -1, **{name: i for i, name in enumerate(names)}}
    table = np.array([place[name] for name in trace.operations], dtype=np.int32)
    if (numbers < 0).any():
        raise ValueError("negative operation number")
    return categories(table[numbers], names)


def device_of(trace: TraceFile, numbers: Any) -> Any:
    used, inverse = np.unique(numbers, return_inverse=True)
    return categories(inverse.astype(np.int32),
                      [f"{int(dev) >> 20}:{int(dev) & 0xFFFFF}" for dev in used])


Maker = Callable[[TraceFile, Columns], Any]


def plain(name: str) -> Maker:
    return lambda trace, rows: rows[name].astype(np.int64) if name in rows \
        else np.zeros(len(rows["time"]), np.int64)


def moment(trace: TraceFile, rows: Columns) -> Any:
    return rows["time"].astype("datetime64[ns]")


def offset(trace: TraceFile, rows: Columns) -> Any:
    values = rows["offset"].astype(np.int64)
    return known(values, values < 0)


def unless_zero(name: str, kind: Any = np.int64) -> Maker:
    def make(trace: TraceFile, rows: Columns) -> Any:
        values = plain(name)(trace, rows)
        return known(values, values == 0, kind)
    return make


def innermost(part: str) -> Maker:
    """Makes a column of the innermost frames of stacks: a member of Frame."""
    def make(trace: TraceFile, rows: Columns) -> Any:
        used, inverse = np.unique(plain("stack")(trace, rows), return_inverse=True)
        found = [getattr(frame, part) for number in used.tolist()
                 for frame in trace.chain(number, 1) or [Frame(None, None, None)]]
        if part == "line":
            return numbers(found)[inverse]
        names = sorted({name for name in found if name is not None})
        place = {name: i for i, name in enumerate(names)}
        codes = np.array([place.get(name, -1) for name in found], dtype=np.int32)
        return categories(codes[inverse], names)
    return make


def trace_of(trace: TraceFile, rows: Columns) -> Any:
    return categories(np.zeros(len(rows["time"]), dtype=np.int32), [trace.path])


def rank_none(trace: TraceFile, rows: Columns) -> Any:
    return known(rows["rank"], rows["rank"].astype(np.int64) < 0)


HEAD: List[Tuple[str, Maker]] = [
    ("time", moment), ("start_ns", plain("time")), ("dur_ns", plain("dur")),
    ("pid", plain("pid")), ("tid", plain("tid"))]

TABLES: Dict[str, Tuple[Tuple[str, ...], List[Tuple[str, Maker]]]] = {
    "calls": (("syscall", "syscall_path", "async"), [
        *HEAD, ("op", lambda trace, rows: operation_of(trace, rows["op"])),
        ("file", lambda trace, rows: path_of(trace, rows["file"])), ("file_id", plain("file")),
        ("offset", offset), ("asked_bytes", plain("asked")), ("result", plain("result")),
        ("fetched_bytes", plain("fetched_bytes")), ("created_bytes", plain("created_bytes")),
        ("read_for_write_bytes", plain("read_for_write_bytes")),
        ("flags", plain("flags")),
        ("path", lambda trace, rows: text_of(trace, plain("path")(trace, rows)))]),
    "faults": (("fault",), [
        *HEAD, ("file", lambda trace, rows: path_of(trace, rows["file"])),
        ("file_id", plain("file")), ("offset", plain("offset")),
        ("major", lambda trace, rows: rows["flags"] & FAULT_MAJOR != 0),
        ("write", lambda trace, rows: rows["flags"] & FAULT_WRITE != 0),
        ("fetched_bytes", plain("fetched_bytes")), ("dirtied_bytes", plain("dirtied_bytes")),
        ("flags", plain("flags"))]),
    "vfs": (("vfs",), [
        *HEAD, ("op", lambda trace, rows: operation_of(trace, rows["op"])),
        ("file", lambda trace, rows: path_of(trace, rows["file"])), ("file_id", plain("file")),
        ("offset", offset), ("asked_bytes", plain("asked")), ("result", plain("result")),
        ("flags", plain("flags"))]),
    "requests": (("request",), [
        *HEAD, ("op", lambda trace, rows: operation_of(trace, rows["op"])),
        ("device", lambda trace, rows: device_of(trace, rows["dev"])),
        ("sector", plain("sector")), ("bytes", plain("bytes")), ("own_bytes", plain("own_bytes")),
        ("queue_ns", plain("queue")), ("status", plain("status")),
        ("file", lambda trace, rows: path_of(trace, rows["file"]))]),
    "waits": (("wait",), [
        *HEAD, ("state", lambda trace, rows: text_of(trace, plain("state")(trace, rows))),
        ("call", lambda trace, rows: text_of(trace, plain("call")(trace, rows))),
        ("object", unless_zero("object", np.uint64)), ("waker_pid", unless_zero("waker_pid")),
        ("waker_tid", unless_zero("waker_tid")), ("owner_pid", unless_zero("owner_pid")),
        ("owner_tid", unless_zero("owner_tid")), ("flags", plain("flags"))]),
    "thread_times": (("thread_time",), [
        *HEAD, *((f"{name}_ns", plain(name))
                 for name in (*STATES, "io_wait", "user", "system", "io"))]),
    "samples": (("sample",), [
        *HEAD, ("state", lambda trace, rows: text_of(trace, plain("state")(trace, rows))),
        ("weight_ns", plain("weight")),
        ("op", lambda trace, rows: operation_of(trace, rows["op"])),
        ("file", lambda trace, rows: path_of(trace, rows["file"])), ("file_id", plain("file")),
        ("offset", offset), ("fetched_bytes", plain("fetched_bytes")),
        ("source", innermost("source")), ("line", innermost("line")),
        ("function", innermost("function")), ("trace", trace_of), ("stack", plain("stack")),
        ("flags", plain("flags"))]),
    "span_begins": (("span_begin",), [
        ("start_ns", plain("time")), ("pid", plain("pid")), ("tid", plain("tid")),
        ("id", lambda trace, rows: rows["id"].astype(np.uint64)),
        ("name", lambda trace, rows: text_of(trace, rows["name"])),
        ("category", lambda trace, rows: text_of(trace, rows["category"]))]),
    "span_ends": (("span_end",), [
        ("end_ns", plain("time")), ("pid", plain("pid")),
        ("id", lambda trace, rows: rows["id"].astype(np.uint64))]),
    "forks": (("fork",), [("start_ns", plain("time")), ("pid", plain("pid")),
                          ("child_pid", plain("child_pid"))]),
    "execs": (("exec",), [
        ("start_ns", plain("time")), ("pid", plain("pid")), ("ppid", plain("ppid")),
        ("comm", lambda trace, rows: text_of(trace, rows["comm"])),
        ("command", lambda trace, rows: text_of(trace, rows["command"])), ("rank", rank_none)]),
    "exits": (("exit",), [("end_ns", plain("time")), ("pid", plain("pid")),
                          ("process", plain("process")), ("code", plain("code"))]),
}

# Tables that may be larger than memory, and can be read in parts.
LARGE = ("calls", "faults", "requests", "vfs", "waits", "thread_times", "samples")


def check_table(name: str) -> None:
    if name not in LARGE:
        raise ValueError(f"unknown table {name!r}; choose from {', '.join(LARGE)}")


def check_columns(table: str, columns: Optional[Sequence[str]]) -> List[str]:
    have = [name for name, _ in TABLES[table][1]]
    for name in columns or ():
        if name not in have:
            raise ValueError(f"{table} has no column {name!r}; choose from {', '.join(have)}")
    return [name for name in have if columns is None or name in columns]


def wanted_blocks(trace: TraceFile, table: str, choice: Choice) -> List[Block]:
    """Returns the blocks that may contain wanted rows."""
    first = None if choice.from_ns is None else choice.from_ns - trace.shift
    last = None if choice.until_ns is None else choice.until_ns - trace.shift
    return [block for block in trace.blocks if block.kind in TABLES[table][0]
            and (first is None or block.end >= first) and (last is None or block.start <= last)
            and (choice.pid is None or block.pids & key(choice.pid))]


def _chosen(rows: Columns, choice: Choice) -> Columns:
    """Returns the rows of the chosen process that overlap the chosen times, both ends included."""
    keep = np.ones(len(rows["time"]), dtype=bool)
    end = rows["time"] + (rows["dur"].astype(np.int64) if "dur" in rows else 0)
    if choice.from_ns is not None:
        keep &= end >= choice.from_ns
    if choice.until_ns is not None:
        keep &= rows["time"] <= choice.until_ns
    if choice.pid is not None:
        keep &= rows["pid"] == choice.pid
    return rows if keep.all() else {name: column[keep] for name, column in rows.items()}


def from_block(trace: TraceFile, table: str, block: Block, choice: Choice) -> Optional[Columns]:
    """Makes a table from a block. Warns and returns None if the block is damaged."""
    rows = trace.rows(block)
    if rows is None:
        return None
    names = check_columns(table, choice.columns)
    try:
        rows = _chosen(rows, choice)
        return {name: make(trace, rows) for name, make in TABLES[table][1] if name in names}
    except DAMAGED as error:  # a column is missing, or a reference is invalid
        trace.warn_of(block, error)
        return None


def empty(table: str, columns: Optional[Sequence[str]]) -> Columns:
    none = np.zeros(0, dtype=np.int64)
    texts = {"op", "file", "path", "device", "name", "category", "comm", "command", "state", "call",
             "source", "function", "trace"}
    unknown = {"rank", "waker_pid", "waker_tid", "owner_pid", "owner_tid"} \
        | ({"offset"} if table != "faults" else set())
    out: Columns = {}
    for name in check_columns(table, columns):
        out[name] = categories(none.astype(np.int32), []) if name in texts \
            else none.astype("datetime64[ns]") if name == "time" \
            else none.astype(bool) if name in ("major", "write") \
            else none.astype(np.uint64) if name == "id" \
            else known(none, none != 0, np.uint64) if name in ("object", "line") \
            else known(none, none != 0) if name in unknown else none
    return out


def in_order(table: Any) -> Any:
    """Sorts by start_ns, if present: blocks are in the order in which they filled."""
    if "start_ns" not in table:
        return table
    if pd is not None:
        return table.sort_values("start_ns", kind="stable", ignore_index=True)
    order = np.argsort(table["start_ns"], kind="stable")
    return {name: column[order] for name, column in table.items()}


def join(parts: List[Columns], table: str, columns: Optional[Sequence[str]]) -> Any:
    """Concatenates tables in order."""
    parts = [part for part in parts if part] or [empty(table, columns)]
    if pd is None:
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    out = {}
    for name in parts[0]:
        values = [part[name] for part in parts]
        if isinstance(values[0], pd.Categorical):
            out[name] = pd.api.types.union_categoricals(values) if len(values) > 1 else values[0]
        else:
            out[name] = pd.concat([pd.Series(value) for value in values], ignore_index=True) \
                if len(values) > 1 else values[0]
    return pd.DataFrame(out)


def _flat(row: Dict[str, Any], types: Dict[str, str], before: str = "") -> Dict[str, Any]:
    """Flattens nested members to dotted names, down to those that are columns."""
    out: Dict[str, Any] = {}
    for member, value in row.items():
        name = before + member
        if isinstance(value, dict) and name not in types:
            out.update(_flat(value, types, f"{name}."))
        elif value is not None or name in types:
            out[name] = value
    return out


def report_frame(rows: List[Dict[str, Any]], types: Dict[str, str]) -> Any:
    """Makes a table of the report; `types` are the column types that --list-columns prints."""
    flat = [_flat(row, types) for row in rows]
    more = {name: "text" for row in flat for name in row if name not in types}
    out = {}
    for name, kind in {**types, **more}.items():
        values = [row.get(name) for row in flat]
        if kind == "integer":  # 64 bits: an inode number may not fit in a signed one
            large = any(value is not None and value >= 1 << 63 for value in values)
            out[name] = pd.array(values, dtype="UInt64" if large else "Int64")
        elif kind == "bool":
            out[name] = pd.array(values, dtype="boolean")
        elif kind == "real":
            out[name] = np.array([np.nan if value is None else value for value in values], float)
        else:
            out[name] = pd.Series(values, dtype=object)
    return pd.DataFrame(out)
