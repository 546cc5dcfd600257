# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Traces as Dask DataFrames. A partition is a group of blocks, read by the worker that needs it."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import dask
import dask.dataframe as dd

from . import _frames
from ._blocks import Block, open_file
from ._frames import Choice, pd
from ._trace import Paths, path_list


def _load(path: str, table: str, blocks: List[Block], choice: Choice) -> Any:
    trace = open_file(path)
    parts = (_frames.from_block(trace, table, block, choice) for block in blocks)
    return _frames.in_order(
        _frames.join([part for part in parts if part is not None], table, choice.columns))


def _groups(blocks: List[Block], rows: int) -> List[List[Block]]:
    groups: List[List[Block]] = []
    held = 0
    for block in blocks:
        if not groups or held + block.rows > rows:
            groups.append([])
            held = 0
        groups[-1].append(block)
        held += block.rows
    return groups


def read_dask(paths: Paths, table: str = "calls", columns: Optional[Sequence[str]] = None,
              from_ns: Optional[int] = None, until_ns: Optional[int] = None,
              pid: Optional[int] = None, partition_rows: int = 1_000_000) -> Any:
    """Returns calls, faults, requests, vfs, waits, thread_times or samples as a Dask DataFrame with
    partitions of about `partition_rows` rows, for traces larger than memory. Reads only headers and
    indexes now; the blocks that match a time range (ns since 1970) and a pid are read when they are
    needed. Workers must find the traces under the same paths."""
    _frames.check_table(table)
    choice = Choice(None if columns is None else tuple(columns), from_ns, until_ns, pid)
    none = _frames.join([], table, choice.columns)
    meta = none.copy()
    for name in meta.columns:
        if isinstance(meta[name].dtype, pd.CategoricalDtype):
            meta[name] = meta[name].cat.set_categories(["__UNKNOWN_CATEGORIES__"])
    work: List[Tuple[str, List[Block]]] = []
    for path in path_list(paths):
        blocks = _frames.wanted_blocks(open_file(path), table, choice)
        work += [(path, group) for group in _groups(blocks, partition_rows)]
    if not work:
        return dd.from_pandas(none, npartitions=1)
    load = dask.delayed(_load, pure=True)
    return dd.from_delayed([load(path, table, group, choice) for path, group in work], meta=meta,
                           verify_meta=False)
