# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Calls hooks after modules are imported, and wraps functions of third-party modules.
Errors do not reach the program; they become notes."""

from __future__ import annotations

import functools
import os
import sys
import threading
from typing import Any, Callable, Dict, FrozenSet, Iterable

from . import _notes, enabled, span

Hook = Callable[[Any], None]


def note(text: str) -> None:
    """Adds a line to faultline.notes(); prints it if FAULTLINE_PYTHON_SPANS_VERBOSE=1."""
    _notes.append(text)
    if os.environ.get("FAULTLINE_PYTHON_SPANS_VERBOSE") == "1":
        print(f"faultline: {text}", file=sys.stderr)


def when_imported(hooks: Dict[str, Hook]) -> None:
    """Calls each hook with the module of that name, right after the module's code has run, or
    immediately if it is already imported."""
    for name, hook in hooks.items():
        if name in sys.modules:
            _run(name, hook, sys.modules[name])
    missing = {name: hook for name, hook in hooks.items() if name not in sys.modules}
    if missing:
        sys.meta_path.insert(0, _Finder(missing))


def _run(name: str, hook: Hook, module: Any) -> None:
    try:
        hook(module)
    except Exception as error:
        note(f"{name} is not marked: {type(error).__name__}: {error}")


class _Finder:
    """Leaves finding to the other finders and adds a step to loading."""

    def __init__(self, hooks: Dict[str, Hook]) -> None:
        self.hooks = hooks

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        hook = self.hooks.get(name)
        if hook is None:
            return None
        for finder in sys.meta_path:
            find_spec = None if finder is self else getattr(finder, "find_spec", None)
            spec = find_spec(name, path, target) if find_spec else None
            if spec is not None:
                break
        else:
            return None
        loader = spec.loader
        try:
            execute = loader.exec_module
            # On the loader instance, which belongs to this module: its type stays the same, and
            # __loader__ and __spec__ do not change.
            loader.exec_module = lambda module: self._execute(name, hook, loader, execute, module)
        except AttributeError as error:
            note(f"{name} is not marked: its loader cannot be wrapped ({error})")
        return spec

    def _execute(self, name: str, hook: Hook, loader: Any, execute: Any, module: Any) -> None:
        try:
            del loader.exec_module
        except AttributeError:
            pass  # found and loaded twice
        execute(module)
        if self.hooks.pop(name, None) is not None:
            _run(name, hook, module)
        if not self.hooks and self in sys.meta_path:
            sys.meta_path.remove(self)


class _LastFinder:
    """Finds a module in a given directory if no other finder has found it."""

    def __init__(self, name: str, directory: str) -> None:
        self.name, self.directory = name, directory

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        from importlib.machinery import PathFinder
        return PathFinder.find_spec(name, [self.directory])


def when_missing(name: str, directory: str) -> None:
    """Lets `import name` use the module in `directory` if it is not installed elsewhere."""
    sys.meta_path.append(_LastFinder(name, directory))


class _Muted(threading.local):
    keys: FrozenSet[str] = frozenset()


_muted = _Muted()


def marked(function: Callable[..., Any], name: str, category: str, key: str = "",
           mutes: Iterable[str] = (),
           args: Callable[..., Dict[str, Any]] = lambda *_, **__: {}) -> Any:
    """Wraps `function` so that each call is a span. While it runs, functions marked with its key or
    a key in `mutes` make no spans on this thread, so only the outermost of nested calls is a span.
    `args` makes the span's arguments from those of the call."""
    muting = frozenset(mutes) | ({key} if key else frozenset())

    @functools.wraps(function)
    def wrapper(*positional: Any, **keywords: Any) -> Any:
        before = _muted.keys
        if key in before or not enabled():
            return function(*positional, **keywords)
        _muted.keys = before | muting
        try:
            with span(name, category, **args(*positional, **keywords)):
                return function(*positional, **keywords)
        finally:
            _muted.keys = before

    wrapper._faultline = True  # type: ignore[attr-defined]
    return wrapper


def mark(owner: Any, attribute: str, name: str, category: str, **options: Any) -> None:
    """Marks owner.attribute in place, once. Adds a note if it does not exist."""
    function = getattr(owner, attribute, None)
    if not callable(function):
        note(f"{name} is not marked: no {attribute} in {owner!r}")
    elif not getattr(function, "_faultline", False):
        setattr(owner, attribute, marked(function, name, category, **options))
