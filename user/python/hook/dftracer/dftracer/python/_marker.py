# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shared by dft_fn and the ai objects: a name, a category, arguments that change, and when blocks
began. As in DFTracer, a span is recorded when it has ended, with the arguments at that time."""

from __future__ import annotations

import functools
import inspect
import threading
from time import monotonic_ns
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import faultline
from faultline._dftracer import category_of

from ._tags import plain
from .env import DFTRACER_ENABLE

ARGUMENTS = ("epoch", "step", "image_idx", "image_size")


def record(name: Any, cat: Any, start_ns: int, end_ns: int, arguments: Dict[Any, Any]) -> None:
    faultline.record(str(name), category_of(cat), start_ns, end_ns,
                     **{str(key): plain(value) for key, value in arguments.items()})


class Block:
    """An open block: when it began, or None once it has been recorded."""

    __slots__ = ("thread", "start_ns")

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.start_ns: Optional[int] = monotonic_ns()


class Marker:
    def __init__(self, cat: Any, name: Any, enable: bool, arguments: Dict[str, Any]) -> None:
        self._cat = cat
        self._name = name
        self._enable = enable
        self._arguments = {key: value for key, value in arguments.items() if value is not None}
        self._blocks: List[Block] = []
        self._made_ns = monotonic_ns()  # or last reset outside a block

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_blocks": []}  # another process has no open blocks

    def on(self) -> bool:
        return DFTRACER_ENABLE and self._enable and faultline.enabled()

    def tell(self, name: Any, start_ns: int, arguments: Optional[Dict[Any, Any]] = None) -> None:
        if self.on():
            record(name, self._cat, start_ns, monotonic_ns(),
                   {**self._arguments, **(arguments or {})})

    # --- blocks: one object may have several open, nested or in several threads

    def _block(self) -> Optional[Block]:
        """Returns the latest open block of this thread, or else of any thread."""
        thread = threading.get_ident()
        for block in reversed(self._blocks):
            if block.thread == thread:
                return block
        return self._blocks[-1] if self._blocks else None

    def begin(self) -> None:
        self._blocks.append(Block())

    def end(self) -> None:
        block = self._block()
        if block is not None:
            self._blocks.remove(block)
            if block.start_ns is not None:
                self.tell(self._name, block.start_ns)

    def flush(self) -> Any:
        """Records the open block; its end then records nothing more. Without a block, records the
        time since the object was made or reset."""
        block = self._block()
        if block is None:
            self.tell(self._name, self._made_ns)
        elif block.start_ns is not None:
            self.tell(self._name, block.start_ns)
            block.start_ns = None
        return self

    def reset(self) -> Any:
        """Restarts the clock; the time so far is not recorded."""
        block = self._block()
        if block is None:
            self._made_ns = monotonic_ns()
        else:
            block.start_ns = monotonic_ns()
        return self

    # --- arguments

    def set(self, args: Optional[Dict[str, Any]], **named: Any) -> Dict[str, Any]:
        """Sets arguments of spans recorded from now on, open blocks included. Returns the given
        ones."""
        given = {key: value for key, value in named.items() if value is not None}
        given.update(args or {})
        self._arguments.update(given)
        return given

    # --- functions and loops

    def wrap(self, function: Any, name: str,
             arguments: Callable[[tuple, dict], Dict[str, Any]]) -> Any:
        """Wraps `function` so that each call is a span, with what `arguments` makes of the call's
        arguments. For a generator or coroutine only the call itself, as in DFTracer."""
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(self.wrap(function.__func__, name, arguments))

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not self.on():
                return function(*args, **kwargs)
            found, start_ns = arguments(args, kwargs), monotonic_ns()
            try:
                return function(*args, **kwargs)
            finally:
                self.tell(name, start_ns, found)
        return wrapper

    def loop(self, iterable: Iterable[Any], wait: Optional[str], block: Optional[str],
             count: str) -> Iterator[Any]:
        """Yields the items: each wait for one is a span called `wait`, each run of the loop's body
        one called `block`, both with the number of the iteration. As in DFTracer, the first wait
        begins before iter() is called; a wait that reaches the end makes no span, and neither does
        a run of the body that leaves the loop."""
        number, start_ns = 1, monotonic_ns()
        for item in iterable:
            if wait is not None:
                self.tell(wait, start_ns, {count: number})
            start_ns = monotonic_ns()
            yield item
            if block is not None:
                self.tell(block, start_ns, {count: number})
            number += 1
            start_ns = monotonic_ns()


def call_arguments(function: Any) -> Callable[[tuple, dict], Dict[str, Any]]:
    """Returns a function that finds epoch, step and the like in a call of `function`: among its
    arguments or, for a method, among the attributes of its object."""
    try:
        parameters = inspect.signature(getattr(function, "__func__", function)).parameters
    except (TypeError, ValueError):
        parameters = {}  # type: ignore[assignment]
    names = list(parameters)
    defaults: Tuple[Tuple[str, Any], ...] = tuple(
        (name, parameter.default) for name, parameter in parameters.items()
        if name in ARGUMENTS and parameter.default not in (inspect.Parameter.empty, None))

    def find(args: tuple, kwargs: dict) -> Dict[str, Any]:
        found: Dict[str, Any] = dict(defaults)
        if names[:1] == ["self"] and args:
            attributes = getattr(args[0], "__dict__", {})
            found.update((key, attributes[key]) for key in ARGUMENTS if key in attributes)
        found.update((key, value) for key, value in zip(names, args) if key in ARGUMENTS)
        found.update((key, value) for key, value in kwargs.items() if key in ARGUMENTS)
        return found
    return find
