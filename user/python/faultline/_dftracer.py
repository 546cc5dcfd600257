# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Turns what DFTracer logs into spans: of its own library if that is installed, otherwise of the
names that stand in for it. Must not change what the library does, except its clock if it has
none."""

from __future__ import annotations

import functools
import inspect
import time
from typing import Any, Callable, Dict

from . import enabled, record as _record
from ._hooks import note


def category_of(cat: Any) -> str:
    """Returns Faultline's category. DFTracer's users spell categories as they like: those with a
    meaning are recognized in capitals, too."""
    text = str(cat)
    return text.lower() if text.lower() in ("compute", "io") else text


def record(name: Any, cat: Any, start_us: Any, duration_us: Any,
           args: Dict[str, Any]) -> None:
    """Records a span of `duration_us` microseconds from `start_us` since the epoch. A start on
    another clock cannot be converted: such a span is assumed to end now. One that is longer than
    the machine has been up began before its logger had a clock, and is left out."""
    now_ns = time.monotonic_ns()
    start_ns = int(start_us) * 1000 - (time.time_ns() - now_ns)
    if not 0 <= start_ns <= now_ns:
        start_ns = now_ns - int(duration_us) * 1000
    if start_ns < 0:
        return
    _record(str(name), category_of(cat), start_ns, start_ns + int(duration_us) * 1000, **args)


def _told(log_event: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps log_event() of DFTracer's logger, which also records a span then."""
    signature = inspect.signature(log_event)

    @functools.wraps(log_event)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if enabled() and _logs(args[0] if args else None):
            try:
                _tell(signature.bind(*args, **kwargs).arguments)
            except Exception as error:
                note(f"an event of DFTracer is not told: {type(error).__name__}: {error}")
        return log_event(*args, **kwargs)

    wrapper._faultline = True  # type: ignore[attr-defined]
    return wrapper


def _logs(logger: Any) -> bool:
    """Returns whether it is initialised: before that DFTracer logs nothing."""
    return getattr(logger, "logger", True) is not None


def _timed(get_time: Callable[..., int]) -> Callable[..., int]:
    """Wraps get_time() of DFTracer's logger. The clock is in its native library, without which
    (DLIO installs only pydftracer) every span would begin at 0 and take no time."""
    @functools.wraps(get_time)
    def wrapper(*args: Any, **kwargs: Any) -> int:
        told = get_time(*args, **kwargs)
        if told == 0 and args and getattr(args[0], "logger", None) is not None and enabled():
            return time.time_ns() // 1000
        return told

    return wrapper


def _tell(given: Dict[str, Any]) -> None:
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
        return note(f"{module.__name__} is not listened to: it has no dftracer.log_event")
    logger.log_event = _told(log_event)
    if getattr(logger, "get_time", None) is not None:
        logger.get_time = _timed(logger.get_time)
    if not getattr(module, "DFTRACER_ENABLE", True):
        note("DFTracer is switched off: with DFTRACER_ENABLE=1 its marks become spans")


HOOKS: Dict[str, Callable[[Any], None]] = {
    "dftracer.python.common": _listen,
    "dftracer.logger": _listen,
}
