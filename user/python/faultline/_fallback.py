# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replaces faultline._core if that could not be built or loaded: does nothing.
Must accept and reject the same parameters and uses, so that a program behaves the same with either."""

from __future__ import annotations

import operator
from typing import Any, Dict, Tuple


def _check(positional: Tuple[Any, ...], keywords: Dict[str, Any]) -> Tuple[str, str]:
    if len(positional) > 2:
        raise TypeError("takes at most 2 positional arguments (name, category); "
                        "pass others by keyword")
    given = dict(zip(("name", "category"), positional))
    for key in ("name", "category"):
        if key in keywords:
            if key in given:
                raise TypeError(f"got multiple values for argument '{key}'")
            given[key] = keywords[key]
        if key in given and not isinstance(given[key], str):
            raise TypeError(f"{key} must be a str, not {type(given[key])!r}")
    if "name" not in given:
        raise TypeError("missing required argument 'name'")
    return given["name"], given.get("category", "")


class Span:
    """A span, as returned by span()."""

    __slots__ = ("_name", "_category")
    _name: str
    _category: str

    def __new__(cls, *positional: Any, **keywords: Any) -> Span:
        raise TypeError("Span cannot be created directly; use span()")

    def __init_subclass__(cls) -> None:
        raise TypeError("type 'faultline._fallback.Span' is not an acceptable base type")

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle faultline.Span objects")

    @property
    def name(self) -> str:
        return self._name

    @property
    def category(self) -> str:
        return self._category

    def begin(self) -> Span:
        return self

    def end(self) -> None:
        return None

    def __enter__(self) -> Span:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None

    def __call__(self, function: Any) -> Any:
        from ._decorate import decorate
        return decorate(self, function)

    def _copy(self) -> Span:
        return self

    def __repr__(self) -> str:
        category = f", category={self.category!r}" if self.category else ""
        return f"span({self.name!r}{category})"


def span(*positional: Any, **keywords: Any) -> Span:
    """span(name, category='', **args): does nothing without the C extension."""
    made = object.__new__(Span)
    made._name, made._category = _check(positional, keywords)
    return made


def instant(*positional: Any, **keywords: Any) -> None:
    """instant(name, category='', **args): does nothing without the C extension."""
    _check(positional, keywords)


def record(*positional: Any, **keywords: Any) -> None:
    """record(name, category, start_ns, end_ns, **args): does nothing without the C extension."""
    if len(positional) != 4:
        raise TypeError("record() takes exactly 4 positional arguments (name, category, start_ns, "
                        "end_ns); pass others by keyword")
    _check(positional[:2], {})
    for time in positional[2:]:
        operator.index(time)


def enabled() -> bool:
    """Returns False: without the C extension, no tracer can listen."""
    return False
