# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Marks phases of a program, so that Faultline tells its I/O by them.

    import faultline

    for step, batch in enumerate(faultline.trace_iter(loader, "fetch")):
        with faultline.span("step", category="compute", step=step):
            train(batch)

While nobody listens a span costs what an empty `with` costs. Nothing here changes what a program
does: no function raises for the values that it is given to tell of, and without the C extension
that carries the probes everything is there and does nothing; status() says so.
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

_notes: List[str] = []


def trace_iter(iterable: Iterable[T], name: str, category: str = "data",
               **args: Any) -> Iterator[T]:
    """Yields what `iterable` yields, and marks the wait for each item as a span.

    Making the iterator (iter(iterable)) is part of the first wait: a DataLoader starts its workers
    there. The call that finds the end is a span too, but where the iterable knows its length: then
    there are as many spans as items. What the loop does with an item is in no span of this.
    """
    again = span(name, category, **args)._copy
    try:
        length = len(iterable)  # type: ignore[arg-type]
    except Exception:  # a DataLoader over an iterable dataset raises TypeError
        length = -1
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
    """What works, as a dict: "extension" (bool) is False when spans do nothing, and "reason" (str
    or None) then says why; "enabled" (bool) is whether somebody listens now."""
    return {"extension": _missing is None, "reason": _missing, "enabled": enabled()}


def notes() -> List[str]:
    """What the start-up hook of `faultline run --python-spans` could not mark, and why: one line
    each, in a list of the caller's own."""
    return list(_notes)


def read(paths: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]) -> "Trace":
    """A trace, or several as one job, as tables: read("job.flt").calls. See help(faultline._trace).

    Needs numpy, msgpack and zstandard, and pandas for DataFrames; programs that only mark spans need
    none of these.
    """
    from . import _trace
    return _trace.read(paths)


def read_dask(paths: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]],
              table: str = "calls", **choice: Any) -> Any:
    """The same lazily, as a Dask DataFrame. See help(faultline._dask.read_dask)."""
    from . import _dask
    return _dask.read_dask(paths, table, **choice)
