# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What dft_fn and the ai objects have in common: a name, a category, arguments that change, and the
spans that were begun with them. Knows nothing of DFTracer's files."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import faultline

from ._tags import plain

ARGUMENTS = ("epoch", "step", "image_idx", "image_size")


def category_of(cat: Any) -> str:
    """DFTracer's users write categories as they like; those that Faultline gives a meaning to are
    known in capitals too."""
    text = str(cat)
    return text.lower() if text.lower() in ("compute", "io") else text


class Marker:
    def __init__(self, cat: Any, name: Any, enable: bool, arguments: Dict[str, Any]) -> None:
        self._cat = cat
        self._name = name
        self._enable = enable
        self._arguments = {key: value for key, value in arguments.items() if value is not None}
        self._open: List[Tuple[int, faultline.Span]] = []

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_open": []}  # another process has begun nothing

    def on(self) -> bool:
        return self._enable and faultline.enabled()

    def make(self, name: Any = None, arguments: Optional[Dict[str, Any]] = None) -> faultline.Span:
        """A span that has not begun."""
        merged = {str(key): plain(value)
                  for key, value in {**self._arguments, **(arguments or {})}.items()
                  if str(key) not in ("name", "category")}
        return faultline.span(str(self._name if name is None else name), category_of(self._cat),
                              **merged)

    def begin(self) -> None:
        if self.on():
            self._open.append((threading.get_ident(), self.make().begin()))

    def end(self) -> None:
        """Ends the latest that this thread began, or else the latest."""
        thread = threading.get_ident()
        for i in range(len(self._open) - 1, -1, -1):
            if self._open[i][0] == thread:
                self._open.pop(i)[1].end()
                return
        if self._open:
            self._open.pop()[1].end()

    def set(self, args: Optional[Dict[str, Any]], **named: Any) -> Dict[str, Any]:
        """Keeps arguments for the spans that begin from now on; returns what was given."""
        given = {key: value for key, value in named.items() if value is not None}
        given.update(args or {})
        self._arguments.update(given)
        return given

    def wrap(self, function: Callable[..., Any], name: str,
             arguments: Callable[[tuple, dict], Dict[str, Any]]) -> Callable[..., Any]:
        """`function`, each call a span, with what `arguments` makes of those of the call."""
        if _is_lazy(function):  # its spans begin when it runs, not when it is called
            return faultline.span(str(name), category_of(self._cat))(function) \
                if self._enable else function

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not self.on():
                return function(*args, **kwargs)
            with self.make(name, arguments(args, kwargs)):
                return function(*args, **kwargs)
        return wrapper

    def loop(self, iterable: Iterable[Any], wait: Optional[str], block: Optional[str],
             count: str) -> Iterator[Any]:
        """Yields the items: each wait for one is a span called `wait`, each pass of the loop's body
        one called `block`, both with the number of the pass. Where the iterable knows its length,
        the call that finds the end is no span."""
        try:
            length = len(iterable)  # type: ignore[arg-type]
        except Exception:
            length = -1
        iterator, end, number = iter(iterable), object(), 1
        while True:
            if wait is None or not self.on() or number == length + 1:
                item = next(iterator, end)
            else:
                with self.make(wait, {count: number}):
                    item = next(iterator, end)
            if item is end:
                return
            if block is None or not self.on():
                yield item
            else:
                with self.make(block, {count: number}):
                    yield item
            number += 1


def _is_lazy(function: Any) -> bool:
    return (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or
            inspect.isasyncgenfunction(function))


def call_arguments(function: Callable[..., Any]) -> Callable[[tuple, dict], Dict[str, Any]]:
    """How to find epoch, step and their like in a call of `function`: among its arguments, or, in a
    method, among the attributes of its object."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []

    def find(args: tuple, kwargs: dict) -> Dict[str, Any]:
        found: Dict[str, Any] = {}
        if names[:1] == ["self"] and args:
            attributes = getattr(args[0], "__dict__", {})
            found = {key: attributes[key] for key in ARGUMENTS if key in attributes}
        found.update((key, value) for key, value in zip(names, args) if key in ARGUMENTS)
        found.update((key, value) for key, value in kwargs.items() if key in ARGUMENTS)
        return found
    return find
