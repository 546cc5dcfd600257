# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Traces as tables, for data analysis in Python."""

from __future__ import annotations

import functools
import html
import json
import os
import subprocess
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _frames
from ._blocks import Frame, TraceFile, TraceWarning, open_file
from ._frames import Choice, pd
from ._program import find_program

Paths = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]

__all__ = ["Trace", "TraceWarning", "read"]


def path_list(paths: Paths) -> List[str]:
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    listed = [os.fspath(path) for path in paths]
    if not listed:
        raise ValueError("no trace was specified")
    return listed


def read(paths: Paths) -> "Trace":
    """Reads a trace, or several as one job: `read("job.flt").calls`. Reads only headers and indexes
    at first. Damaged or incomplete traces issue a TraceWarning; the rest is read."""
    return Trace(path_list(paths))


class Trace:
    """Tables of a trace as pandas DataFrames (dicts of numpy arrays without pandas).

    `start_ns` and `end_ns` are ns since 1970, `dur_ns` is a duration in ns, and `time` is start_ns
    as datetime64 (UTC). Names are categoricals; unknown numbers are <NA>.
    """

    def __init__(self, paths: List[str]) -> None:
        self.paths = paths
        self.traces: List[TraceFile] = [open_file(path) for path in paths]

    @property
    def header(self) -> Dict[str, Any]:
        """The header of the first trace: host, kernel, command, layers and how they were
        attached."""
        return self.traces[0].header

    @property
    def complete(self) -> bool:
        return all(trace.totals is not None for trace in self.traces)

    def table(self, name: str, columns: Optional[Sequence[str]] = None,
              from_ns: Optional[int] = None, until_ns: Optional[int] = None,
              pid: Optional[int] = None) -> Any:
        """Reads part of calls, faults, requests, vfs, waits, thread_times or samples: some columns,
        or the rows that overlap a time range (ns since 1970, both ends included) or belong to a
        process. Skips blocks that cannot contain such rows."""
        _frames.check_table(name)
        return self._table(name, Choice(None if columns is None else tuple(columns), from_ns,
                                        until_ns, pid))

    def _table(self, name: str, choice: Choice = Choice(),
               traces: Optional[List[TraceFile]] = None) -> Any:
        _frames.check_columns(name, choice.columns)
        work = [(trace, block) for trace in traces or self.traces
                for block in _frames.wanted_blocks(trace, name, choice)]
        for trace in {id(trace): trace for trace, _ in work}.values():
            trace.strings, trace.file_rows  # once, before threads need them
            if name == "samples":
                trace.stack_rows, trace.frame_rows
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = pool.map(lambda item: _frames.from_block(item[0], name, item[1], choice), work)
            joined = _frames.join([part for part in parts if part is not None], name,
                                  choice.columns)
        return _frames.in_order(joined)

    @functools.cached_property
    def calls(self) -> Any:
        """System calls on files, and io_uring and libaio operations."""
        return self._table("calls")

    @functools.cached_property
    def faults(self) -> Any:
        """Page faults on mapped files."""
        return self._table("faults")

    @functools.cached_property
    def requests(self) -> Any:
        """Requests to block devices."""
        return self._table("requests")

    @functools.cached_property
    def vfs(self) -> Any:
        """Reads, writes and syncs in the kernel (--layers vfs), with or without a system call."""
        return self._table("vfs")

    @functools.cached_property
    def waits(self) -> Any:
        """Waits of threads for 1 ms or longer, other than for storage: what for, and the thread
        that ended them."""
        return self._table("waits")

    @functools.cached_property
    def thread_times(self) -> Any:
        """The time of each thread in each state, by interval: the states add up to dur_ns."""
        return self._table("thread_times")

    @functools.cached_property
    def samples(self) -> Any:
        """Samples of stacks: each stands for weight_ns of its thread in the state. source, line and
        function are those of the innermost frame; chain() returns all frames."""
        return self._table("samples")

    @functools.cached_property
    def stacks(self) -> Any:
        """Stacks of samples, one row per id and trace: the innermost frame, and the stack of its
        caller."""
        self._need_pandas("stacks")
        rows = [(trace.path, stack, caller, *(trace.chain(stack, 1)[0]))
                for trace in self.traces
                for stack, (caller, _) in sorted(trace.stack_rows.items()) if stack]
        names = ["trace", "stack", "caller", "source", "line", "function"]
        columns = dict(zip(names, zip(*rows) if rows else [()] * len(names)))
        return pd.DataFrame({name: _frames.numbers(values) if name in ("stack", "caller", "line")
                             else pd.Series(values, dtype="category")
                             for name, values in columns.items()})

    def chain(self, stack: int, trace: Optional[str] = None) -> List[Frame]:
        """Returns the frames of a sample's stack as (source, line, function), innermost first; none
        if the stack is unknown. Pass the sample's `trace` if several are open."""
        found = [of for of in self.traces if trace in (None, of.path)]
        if len(found) != 1:
            raise ValueError("several traces are open; pass `trace`" if found else
                             f"{trace}: not one of the open traces")
        return found[0].chain(int(stack))

    @functools.cached_property
    def spans(self) -> Any:
        """Spans as the program marked them. If it did not end a span before the process exited or
        executed another program, end_ns and dur_ns are <NA>; the report ends such spans there."""
        self._need_pandas("spans")
        parts = []
        for trace in self.traces:
            rows = {name: self._table(name, traces=[trace])
                    for name in ("span_begins", "span_ends", "forks", "execs", "exits")}
            parts.append(rows["span_begins"].assign(end_ns=span_ends(**rows)))
        spans = pd.concat(parts, ignore_index=True)
        spans["dur_ns"] = spans["end_ns"] - spans["start_ns"]
        spans["time"] = spans["start_ns"].to_numpy().astype("datetime64[ns]")
        for name in ("name", "category"):
            spans[name] = spans[name].astype("category")
        return spans[["time", "start_ns", "end_ns", "dur_ns", "pid", "tid", "id", "name", "category"]]

    @functools.cached_property
    def files(self) -> Any:
        """Files as last seen, one row per id and trace. The column instance tells apart devices
        that used the same number (dev) one after another, such as mounts; 0: unknown."""
        self._need_pandas("files")
        rows = []
        for trace in self.traces:
            for number, row in sorted(trace.file_rows.items()):
                rows.append({"trace": trace.path, "file_id": number,
                             "path": trace.strings.get(row.get("path", 0)),
                             "dev": f"{row['dev'] >> 20}:{row['dev'] & 0xFFFFF}",
                             "instance": row.get("instance", 0),
                             "ino": row["ino"], "size_bytes": row["size"],
                             "filesystem": trace.strings.get(row.get("filesystem", 0))})
        names = ["trace", "file_id", "path", "dev", "instance", "ino", "size_bytes", "filesystem"]
        return pd.DataFrame(rows, columns=names)

    @functools.cached_property
    def processes(self) -> Any:
        """Processes as last named. A reused pid is a separate process."""
        self._need_pandas("processes")
        rows = [row for trace in self.traces for row in self._lives(trace)]
        names = ["trace", "pid", "ppid", "comm", "command", "rank", "start_ns", "end_ns", "status"]
        frame = pd.DataFrame(rows, columns=names, dtype=object)  # times are not exact as float64
        return frame.astype({"pid": "int64", "ppid": "Int64", "rank": "Int64", "start_ns": "int64",
                             "end_ns": "Int64", "status": "Int64"})

    def _lives(self, trace: TraceFile) -> List[Dict[str, Any]]:
        events = []
        for kind in ("forks", "execs", "exits"):
            for row in self._table(kind, traces=[trace]).to_dict("records"):
                events.append((row.get("start_ns", row.get("end_ns")), kind, row))
        lives: List[Dict[str, Any]] = []
        now: Dict[int, Dict[str, Any]] = {}

        def begin(pid: int, start_ns: int) -> Dict[str, Any]:
            life = {"trace": trace.path, "pid": pid, "ppid": None, "comm": None, "command": None,
                    "rank": None, "start_ns": start_ns, "end_ns": None, "status": None}
            now[pid] = life
            lives.append(life)
            return life

        for at, kind, row in sorted(events, key=lambda event: (event[0], event[1] == "exits")):
            pid = row["child_pid"] if kind == "forks" else row["pid"]
            if kind == "forks" and pid == row["pid"]:
                continue  # a thread
            if kind == "exits" and not row["process"]:
                continue
            if kind == "forks":
                life, parent = begin(pid, at), now.get(row["pid"], {})
                life["ppid"] = row["pid"]
                for name in ("comm", "command", "rank"):
                    life[name] = parent.get(name)
                continue
            life = now.get(pid) or begin(pid, at)
            if kind == "execs":
                life["ppid"] = row["ppid"] or life["ppid"]
                life["comm"], command = row["comm"], row["command"]
                life["command"] = command.rstrip("\0").split("\0") if isinstance(command, str) \
                    else None
                life["rank"] = row["rank"] if row["rank"] is not pd.NA else life["rank"]
            else:
                life["end_ns"], life["status"] = at, row["code"]
                now.pop(pid, None)
        return lives

    @staticmethod
    def _need_pandas(name: str) -> None:
        if pd is None:
            raise ImportError(f"{name} requires pandas (Debian: python3-pandas)")

    # --- the C report ---

    @functools.cached_property
    def _report(self) -> Dict[str, Any]:
        return run_report("--", *self.paths)

    def report(self, table: Optional[str] = None) -> Any:
        """Returns the output of `faultline report --format json` as a dict, or one of its tables as
        a DataFrame: the columns and types that `--list-columns` prints, even without rows, followed
        by members that are not columns. If the trace lacks the data for the table, the frame is
        empty and a TraceWarning is issued."""
        if table is None:
            return self._report
        tables = [name for name, rows in self._report.items() if not isinstance(rows, int)]
        if table not in tables:
            raise ValueError(f"unknown table {table!r}; choose from {', '.join(tables)}")
        rows = self._report[table]
        self._need_pandas("report(table)")
        if rows is None:
            warnings.warn(f"{', '.join(self.paths)}: table {table} is unavailable: "
                          f"{self._what_it_lacks()}", TraceWarning, stacklevel=2)
        columns = run_report("--table", table, "--list-columns")["columns"]
        return _frames.report_frame(rows if isinstance(rows, list) else [rows] if rows else [],
                                    {column["column"]: column["type"] for column in columns})

    def _is_summed(self) -> bool:
        return any(row["id"] == "summed" for row in self._report["caveats"] or [])

    def _what_it_lacks(self) -> str:
        return "the necessary data was not recorded" + (
            "; operations were aggregated in the kernel (--mode trace records each one)"
            if self._is_summed() else "")

    def _why_no_findings(self) -> str:
        report = self._report
        if report["findings"] is None:
            return f"Findings are unavailable: {self._what_it_lacks()}"
        if report["trace"]["duration_ns"] is None:
            return "No findings: the trace has no events"
        if self._is_summed():
            return ("No findings: no known problem costs \u2265 0.2% of the run; findings that "
                    "need single operations were not checked, because operations were aggregated")
        if all(row["time_ns"] is None for row in report["access"] or []):
            return "No findings: no I/O layer was recorded"
        return "No findings: no known problem costs \u2265 0.2% of the run"

    def _repr_html_(self) -> str:
        """For notebooks: the findings and a picture of the run."""
        esc = html.escape
        command = esc(" ".join(map(str, self.header.get("command") or self.paths)))
        try:
            report = self._report
        except (OSError, RuntimeError) as error:
            return f"<p><code>{command}</code>: {esc(str(error))}</p>"
        findings = "".join(
            f"<li><b>{esc(row['title'])}</b><br>{esc(row['says'])}<br>&rarr; {esc(row['advice'])}</li>"
            for row in report["findings"] or [])
        findings = f"<ol>{findings}</ol>" if findings else f"<p>{esc(self._why_no_findings())}</p>"
        return (f"<div><p><code>{command}</code></p>{findings}"
                f"{picture(report['timeline'] or [])}</div>")


def span_ends(span_begins: Any, span_ends: Any, forks: Any, execs: Any, exits: Any) -> Any:
    """Returns when each span ended, as the report pairs them: an end belongs to the latest open span
    of its process and id, and no span is open after its process executes a program or exits."""
    forks, exits = forks[forks["child_pid"] != forks["pid"]], exits[exits["process"] != 0]
    new, begin, end, last = range(4)  # the order of events at the same time
    events = [(new, forks["start_ns"], forks["child_pid"]),
              (begin, span_begins["start_ns"], span_begins["pid"]),
              (end, span_ends["end_ns"], span_ends["pid"]),
              (last, execs["start_ns"], execs["pid"]), (last, exits["end_ns"], exits["pid"])]
    times = np.concatenate([times for _, times, _ in events])
    turns = np.concatenate([np.full(len(times), turn) for turn, times, _ in events])
    pids = np.concatenate([pids for *_, pids in events])
    ids = np.zeros(len(times), np.uint64)
    ids[turns == begin], ids[turns == end] = span_begins["id"], span_ends["id"]
    order = np.lexsort((turns, times))
    spans = order - np.searchsorted(turns, begin)  # rows of span_begins
    ends: List[Optional[int]] = [None] * len(span_begins)
    open_spans: Dict[int, Dict[int, List[int]]] = {}
    seen = set()  # pids; events before the first fork of a pid are assigned to that process
    for turn, time, pid, number, span in zip(*(column.tolist() for column in (
            turns[order], times[order], pids[order], ids[order], spans))):
        if turn == begin and number:
            open_spans.setdefault(pid, {}).setdefault(number, []).append(span)
        elif turn == end and number in open_spans.get(pid, {}):
            same = open_spans[pid][number]
            ends[same.pop()] = time
            if not same:
                del open_spans[pid][number]
        elif turn == last or turn == new and pid in seen:
            open_spans.pop(pid, None)
        if turn in (new, last):
            seen.add(pid)
    return _frames.known(np.array([end or 0 for end in ends], np.int64),
                         [end is None for end in ends])


def run_report(*arguments: str) -> Dict[str, Any]:
    """Returns the output of `faultline report --format json`."""
    done = subprocess.run([find_program(), "report", "--format", "json", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace").strip())
    report: Dict[str, Any] = json.loads(done.stdout)
    return report


def picture(timeline: List[Dict[str, Any]]) -> str:
    """Draws the run as bars: I/O or, if compute is known, unoverlapped I/O with compute above
    it."""
    if all(row["io_ns"] is None for row in timeline):
        return "<p><small>I/O over time is unavailable</small></p>"
    known = any(row["compute_ns"] is not None for row in timeline)
    says = "unoverlapped I/O" if known else "I/O"
    width, height, bars = 720, 60, []
    end = sum(row["length_ns"] for row in timeline) or 1
    for row in timeline:
        x, wide = row["start_ns"] / end * width, row["length_ns"] / end * width
        base = 0.0
        for name, colour in (("io_ns", "#c0392b"), ("compute_ns", "#c2cad2")):
            share = (row[name] or 0) / (row["length_ns"] or 1)
            if share:
                bars.append(f'<rect x="{x:.1f}" y="{height * (1 - base - share):.1f}" '
                            f'width="{wide:.1f}" height="{height * share:.1f}" fill="{colour}"/>')
            base += share
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-label="{says}{", and compute" if known else ""}">'
            f'<rect y="{height - 1}" width="{width}" height="1" fill="#9fb0c0"/>{"".join(bars)}</svg>'
            f"<p><small>red: {says}{', grey: compute' if known else ''}; height: share of time; "
            f"{end / 1e9:.3g} s</small></p>")
