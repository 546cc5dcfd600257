# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Copies of a real summary, as if other hosts and ranks had made them."""
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "fuzz"))
from damage_columns import frames_of, numbers, places_of, written  # noqa: E402

SIGNED = 2  # type of a cell, see summary_cell in trace/format/columns.h


class Summary:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.frames, self.places = frames_of(data), places_of(data)
        self.host = self.frames[0]["host"]
        texts = {}
        for frame in self._blocks("string"):
            texts.update(zip(numbers(frame["id"]).tolist(), frame["text"]))
        self.ranks = set()  # (table, column) of columns of ranks
        table, column = None, 0
        for frame in self._blocks("summary_column"):
            for of, name in zip(numbers(frame["table"]).tolist(), numbers(frame["name"]).tolist()):
                column = column + 1 if of == table else 0
                table = of
                if texts.get(name) == "rank":
                    self.ranks.add((table, column))

    def _blocks(self, kind):
        return [frame for frame in self.frames if frame.get("block") == kind]

    def _renamed(self, frame, host, rank, moved):
        frame = dict(frame)
        if "host" in frame:
            frame["host"], frame["boot_id"] = host, f"{rank:08d}-0000-4000-8000-000000000000"
        if frame.get("block") == "string":
            frame["text"] = [host if text == self.host else text.replace(*moved)
                             for text in frame["text"]]
        if frame.get("block") == "summary_cell":
            table, column, kind = (numbers(frame[name]) for name in ("table", "column", "type"))
            values = numbers(frame["value"]).astype("<u8")
            for of in self.ranks:
                values[(table == of[0]) & (column == of[1]) & (kind == SIGNED)] = rank
            frame["value"] = {**frame["value"], b"type": "<u8", b"data": values.tobytes()}
        return frame

    def write(self, path, host, rank, moved):
        """Writes a copy with that host and rank. moved: part of each path, and its replacement."""
        frames = [self._renamed(frame, host, rank, moved) for frame in self.frames]
        with open(path, "wb") as file:
            file.write(written(frames, self.places))
