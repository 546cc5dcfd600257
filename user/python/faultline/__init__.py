# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Marks phases of a program, so that Faultline can report I/O by phase.

    import faultline

    for step, batch in enumerate(faultline.trace_iter(loader, "fetch")):
        with faultline.span("step", category="compute", step=step):
            train(batch)

While no tracer listens, a span costs about as much as an empty `with` block. Marking changes
nothing in the program: no function raises because of the values it records. Without the C
extension, which contains the probes, all names exist and do nothing; status() says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Sequence, TypeVar, Union

try:
    from ._core import Span, enabled, instant, record, span
    _missing = None
except ImportError as _error:
    from ._fallback import (  # type: ignore[assignment]
        Span, enabled, instant, record, span)
    _missing = str(_error)

if TYPE_CHECKING:
    import os

    from ._trace import Trace

__all__ = ["Span", "enabled", "instant", "notes", "read", "read_dask", "record", "span", "status",
           "trace_iter"]
__version__ = "0.1.0"

T = TypeVar("T")

_SIZED = (bytearray, bytes, dict, frozenset, list, range, set, str, tuple)

_notes: List[str] = []


def _length(iterable: Any) -> int:
    """Returns the number of items, or -1. Calls len() only on built-in types and PyTorch's loaders:
    that of others may load all rows of a database, or print warnings."""
    if type(iterable) in _SIZED:
        return len(iterable)
    if enabled() and type(iterable).__module__.startswith("torch."):
        from . import _torch
        return _torch.count_batches(iterable)
    return -1


def trace_iter(iterable: Iterable[T], name: str, category: str = "data",
               **args: Any) -> Iterator[T]:
    """Yields the items of `iterable` and marks the wait for each as a span.

    Creating the iterator, iter(iterable), is part of the first wait: a DataLoader starts its
    workers there. The call that reaches the end is a span, too, unless the iterable is of a built-in
    type, or a DataLoader of known length: then there are as many spans as items (one, if it has
    none). The body of the loop is in none of these spans.
    """
    again = span(name, category, **args)._copy
    length = _length(iterable)
    end: Any = object()
    iterator = None
    taken = 0
    while True:
        if taken == length and iterator is not None:
            item = next(iterator, end)
        else:
            with again():
                if iterator is None:
                    iterator = iter(iterable)
                item = next(iterator, end)
        if item is end:
            return
        taken += 1
        yield item


def status() -> Dict[str, Any]:
    """Returns a dict: "extension" (bool) is False if spans do nothing, and "reason" (str or None)
    then says why; "enabled" (bool) is True while a tracer listens."""
    return {"extension": _missing is None, "reason": _missing, "enabled": enabled()}


def notes() -> List[str]:
    """Returns what the startup hook of `faultline run --python-spans` could not mark, and why: a
    new list with one line each."""
    return list(_notes)


def read(paths: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]) -> "Trace":
    """Reads a trace, or several as one job: read("job.flt").calls. See help(faultline._trace).

    Requires numpy, msgpack and zstandard, and pandas for DataFrames; marking spans requires none.
    """
    from . import _trace
    return _trace.read(paths)


def read_dask(paths: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]],
              table: str = "calls", **choice: Any) -> Any:
    """Reads traces lazily, as a Dask DataFrame. See help(faultline._dask.read_dask)."""
    from . import _dask
    return _dask.read_dask(paths, table, **choice)
