# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Wraps functions of every kind as spans. Each call has its own span, so that recursive calls,
threads and interleaved coroutines end the spans they began."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Tuple


def decorate(span: Any, function: Any) -> Any:
    """Implements `span(...)(function)`: returns the same kind of function, with its metadata."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(span, function.__func__))
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"a span can only decorate functions, not {function!r}")
    for is_kind, wrap in _KINDS:
        if is_kind(function):
            break
    else:
        wrap = _function
    return functools.wraps(function)(wrap(function, span._copy))


def _function(function: Callable[..., Any], again: Callable[[], Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with again():
            return function(*args, **kwargs)
    return wrapper


def _coroutine(function: Callable[..., Any], again: Callable[[], Any]) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with again():
            return await function(*args, **kwargs)
    return wrapper


def _generator(function: Callable[..., Any], again: Callable[[], Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, value = generator.send, None
        while True:
            try:
                with again():
                    item = resume(value)
            except StopIteration as end:
                return end.value
            try:
                value = yield item
                resume = generator.send
            except GeneratorExit:
                with again():
                    generator.close()
                raise
            except BaseException as error:
                resume, value = generator.throw, error
    return wrapper


def _async_generator(function: Callable[..., Any], again: Callable[[], Any]) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, value = generator.asend, None
        while True:
            try:
                with again():
                    item = await resume(value)
            except StopAsyncIteration:
                return
            try:
                value = yield item
                resume = generator.asend
            except GeneratorExit:
                with again():
                    await generator.aclose()
                raise
            except BaseException as error:
                resume, value = generator.athrow, error
    return wrapper


_KINDS: Tuple[Tuple[Callable[[Any], bool], Callable[..., Callable[..., Any]]], ...] = (
    (inspect.isasyncgenfunction, _async_generator),
    (inspect.iscoroutinefunction, _coroutine),
    (inspect.isgeneratorfunction, _generator),
)
