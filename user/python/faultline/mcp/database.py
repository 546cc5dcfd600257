# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""SQLite exports of traces in a private directory, made when they are first asked for."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import Dict, List, Sequence, Tuple

from .answers import READ_MAX, Answer, load
from .child import Children
from .traces import Identity, Trace

KEPT = 4  # exports at a time
EXPORT_MAX = 6 << 30
EXPORTS_MAX = 8 << 30  # all together
RESULT_MAX = 16 << 20
QUERY_SECONDS = 20.0
QUERY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "query.py")

Key = Tuple[Tuple[Identity, ...], Tuple[str, ...]]


class Databases:
    """Exports are named by the identities of their traces: of one that has changed, there is
    another export. The oldest are removed."""

    def __init__(self, program: str, children: Children, memory: int) -> None:
        self.program, self.children, self.memory = program, children, memory
        self.directory = tempfile.mkdtemp(prefix="faultline-mcp-")  # mode 0700
        self.exports: Dict[Key, str] = {}
        self.number = 0

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def query(self, traces: List[Trace], filters: Sequence[str], query: str) -> Answer:
        """Returns "columns", and as "rows" at most READ_MAX lists of their values."""
        return load(*self.children.run(
            [sys.executable, "-I", QUERY, self._export(traces, filters), str(READ_MAX)],
            self.memory, QUERY_SECONDS, RESULT_MAX, query))

    def _used(self) -> int:
        """Bytes of all exports. Forgets those that a cleaner of old files has removed."""
        self.exports = {key: path for key, path in self.exports.items() if os.path.exists(path)}
        return sum(os.path.getsize(path) for path in self.exports.values())

    def _export(self, traces: List[Trace], filters: Sequence[str]) -> str:
        key = tuple(trace.identity for trace in traces), tuple(filters)
        path = self.exports.pop(key, None)
        if path is None or not os.path.exists(path):
            while len(self.exports) >= KEPT or self._used() > EXPORTS_MAX - EXPORT_MAX:
                oldest = self.exports.pop(next(iter(self.exports)))
                shutil.rmtree(os.path.dirname(oldest), ignore_errors=True)
            self.number += 1
            path = os.path.join(self.directory, str(self.number), "traces.sqlite")
            os.mkdir(os.path.dirname(path))
            try:
                self.children.run(
                    [self.program, "export", "--to=sqlite", f"--output={path}", *filters, "--",
                     *(trace.path for trace in traces)], 2 * self.memory + (512 << 20),
                    output_max=EXPORT_MAX)
            except BaseException:
                shutil.rmtree(os.path.dirname(path), ignore_errors=True)
                raise
        self.exports[key] = path  # the newest
        return path
