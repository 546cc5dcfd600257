# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Answers of tools: JSON of bounded size, with control and bidirectional characters escaped."""

from __future__ import annotations

import json
import math
from typing import Any, Dict, List

TEXT_MAX = 1000  # characters of one text; paths have at most 4096 bytes
READ_MAX = 1000  # rows of a table that are read at all
LIST_MAX = 32    # items of a list in a row, such as a command line ...
LIST_BYTES = 4 << 10  # ... and bytes of those that are texts
Answer = Dict[str, Any]


class ToolError(Exception):
    """A tool cannot answer; its text says why and what to do."""


def escape(text: str) -> str:
    """Replaces what a terminal or reader might interpret by \\x1b or \\u202e: control characters,
    line ends, those that reorder or hide text, and bytes that are not UTF-8."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\x{ord(c) & 255:02x}" if ord(c) < 256 or
                   0xdc80 <= ord(c) <= 0xdcff else f"\\u{ord(c):04x}" for c in text)


def clean(value: Any) -> Any:
    """Escapes and shortens all texts of a JSON value."""
    if isinstance(value, str):
        rest = len(value) - TEXT_MAX
        text = escape(value[:TEXT_MAX])
        return text if rest <= 0 else f"{text}... ({rest} more characters)"
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def cut_lists(report: Answer) -> Answer:
    """Cuts the lists in rows of tables, and counts what is left out; bound() cuts the tables."""
    return {name: [_cut(row) for row in table] if isinstance(table, list) else _cut(table)
            for name, table in report.items()}


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(member) for name, member in value.items()}
    if not isinstance(value, list):
        return value
    kept: List[Any] = []
    text_bytes = 0
    for item in value[:LIST_MAX]:
        text_bytes += size(clean(item)) if isinstance(item, str) else 0
        if text_bytes > LIST_BYTES and kept:
            break
        kept.append(_cut(item))
    return kept + [f"... ({len(value) - len(kept)} more)"] * (len(kept) < len(value))


def load(output: bytes, messages: str) -> Answer:
    """Reads JSON that a program wrote; `messages` are what it wrote to stderr."""
    try:
        answer: Answer = json.loads(output)
        return answer
    except ValueError:
        raise ToolError(messages or "the answer is cut short") from None


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def size(value: Any) -> int:
    return len(dump(value).encode())


def bound(answer: Answer, limit: int, rows_max: int) -> Answer:
    """Keeps at most `rows_max` rows (objects, lists) of each table of an answer, and drops more
    from the ends of the longest ones until it has at most `limit` bytes. "truncated" says so.
    Raises ToolError if that is impossible."""
    lists = {name: rows for name, rows in answer.items()
             if isinstance(rows, list) and rows and not isinstance(rows[0], str)}
    answer.update((name, rows[:rows_max]) for name, rows in lists.items())
    while True:
        cuts = [f"{name}: {len(answer[name])} of {'at least ' * (len(rows) >= READ_MAX)}{len(rows)} "
                "rows; narrow with columns, sort or a filter, or with SQL"
                for name, rows in lists.items() if len(answer[name]) < len(rows)]
        whole: Answer = {"truncated": cuts, **answer} if cuts else answer
        excess = size(whole) - limit
        if excess <= 0:
            return whole
        longest = max(lists, key=lambda name: size(answer[name]), default="")
        if not longest or not answer[longest]:
            raise ToolError(f"the answer has more than {limit} bytes; ask for less, or start "
                            "the server with a larger --answer")
        while answer[longest] and excess > 0:
            excess -= size(answer[longest].pop()) + 1
