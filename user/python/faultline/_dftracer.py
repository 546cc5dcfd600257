# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Records DFTracer's events as spans: from its own library if installed, otherwise from the
modules that replace it. Must not change what the library does, except to supply a clock if it has
none."""

from __future__ import annotations

import functools
import inspect
import time
from typing import Any, Callable, Dict

from . import enabled, record as _record
from ._hooks import note


def category_of(cat: Any) -> str:
    """Returns Faultline's category. DFTracer's users capitalize categories as they like, so those
    with a meaning here are recognized in any case."""
    text = str(cat)
    return text.lower() if text.lower() in ("compute", "io") else text


def record(name: Any, cat: Any, start_us: Any, duration_us: Any,
           args: Dict[str, Any]) -> None:
    """Records a span of `duration_us` microseconds that began `start_us` after the epoch. If the
    start is on another clock, the span is assumed to end now. A span longer than the machine's
    uptime began before its logger had a clock, and is dropped."""
    now_ns = time.monotonic_ns()
    start_ns = int(start_us) * 1000 - (time.time_ns() - now_ns)
    if not 0 <= start_ns <= now_ns:
        start_ns = now_ns - int(duration_us) * 1000
    if start_ns < 0:
        return
    _record(str(name), category_of(cat), start_ns, start_ns + int(duration_us) * 1000, **args)


def _recorded(log_event: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps log_event() of DFTracer's logger to record a span, too."""
    signature = inspect.signature(log_event)

    @functools.wraps(log_event)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if enabled() and _logs(args[0] if args else None):
            try:
                _record_event(signature.bind(*args, **kwargs).arguments)
            except Exception as error:
                note(f"DFTracer event not recorded: {type(error).__name__}: {error}")
        return log_event(*args, **kwargs)

    wrapper._faultline = True  # type: ignore[attr-defined]
    return wrapper


def _logs(logger: Any) -> bool:
    """Returns whether the logger is initialised: until then, DFTracer logs nothing."""
    return getattr(logger, "logger", True) is not None


def _timed(get_time: Callable[..., int]) -> Callable[..., int]:
    """Wraps get_time() of DFTracer's logger. Its clock is in its native library; without that (DLIO
    installs only pydftracer), every span would begin at 0 and take no time."""
    @functools.wraps(get_time)
    def wrapper(*args: Any, **kwargs: Any) -> int:
        time_us = get_time(*args, **kwargs)
        if time_us == 0 and args and getattr(args[0], "logger", None) is not None and enabled():
            return time.time_ns() // 1000
        return time_us

    return wrapper


def _record_event(given: Dict[str, Any]) -> None:
    args = {}
    for key in ("int_args", "float_args", "string_args"):
        for name, value in (given.get(key) or {}).items():
            args[str(name)] = value[1] if isinstance(value, tuple) and len(value) == 2 else value
    record(given["name"], given["cat"], given["start_time"], given["duration"], args)


def _listen(module: Any) -> None:
    logger: Any = getattr(module, "dftracer", None)
    log_event = getattr(logger, "log_event", None)
    if getattr(logger, "_faultline", False) or getattr(log_event, "_faultline", False):
        return
    if log_event is None:
        return note(f"{module.__name__} is not hooked: it has no dftracer.log_event")
    logger.log_event = _recorded(log_event)
    if getattr(logger, "get_time", None) is not None:
        logger.get_time = _timed(logger.get_time)
    if not getattr(module, "DFTRACER_ENABLE", True):
        note("DFTracer is disabled; set DFTRACER_ENABLE=1 to record its marks as spans")


HOOKS: Dict[str, Callable[[Any], None]] = {
    "dftracer.python.common": _listen,
    "dftracer.logger": _listen,
}
