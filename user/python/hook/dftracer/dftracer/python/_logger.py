# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer and dft_fn. What DFTracer writes into its file is emitted as spans, when it happens."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Dict, Iterable, Iterator, Optional

import faultline

from ._marker import Marker, call_arguments, category_of
from ._tags import plain

DFTRACER_ENABLE = True


class dftracer:
    """The process's logger. There is no log: initialising and finalising it do nothing."""

    _instance: Optional[dftracer] = None

    @classmethod
    def get_instance(cls) -> dftracer:
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    @staticmethod
    def initialize_log(logfile: Any = None, data_dir: Any = None, process_id: int = -1,
                       **other: Any) -> dftracer:
        return dftracer.get_instance()

    def get_time(self) -> int:
        """Microseconds, as DFTracer counts them."""
        return time.time_ns() // 1000

    def enter_event(self) -> None:
        pass

    def exit_event(self) -> None:
        pass

    def log_event(self, name: Any, cat: Any, start_time: int, duration: int,
                  string_args: Optional[Dict[str, Any]] = None,
                  int_args: Optional[Dict[str, Any]] = None,
                  float_args: Optional[Dict[str, Any]] = None) -> None:
        """Told after it happened, it is no span: a moment, which says when it began and how long it
        took (microseconds)."""
        args = {"start_time": start_time, "duration": duration}
        for more in (string_args, int_args, float_args):
            args.update((str(key), plain(value)) for key, value in (more or {}).items())
        _instant(name, cat, args)

    def log_metadata_event(self, key: Any, value: Any) -> None:
        _instant(key, "metadata", {"value": value})

    def finalize(self) -> None:
        pass


def _instant(name: Any, cat: Any, args: Dict[str, Any]) -> None:
    if faultline.enabled():
        kept = {key: value for key, value in args.items() if key not in ("name", "category")}
        faultline.instant(str(name), category_of(cat), **kept)


class dft_fn(Marker):
    """Marks blocks (`with dft_fn(cat, name) as d: d.update(step=1)`), functions (`@d.log`,
    `@d.log_init`, `@d.log_static`, `@dft_fn(cat)`) and loops (`for x in d.iter(loader)`)."""

    def __init__(self, cat: Any, name: Any = None, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None, enable: bool = True) -> None:
        super().__init__(cat, name or sys._getframe(1).f_code.co_name, enable,
                         {"epoch": epoch, "step": step, "image_idx": image_idx,
                          "image_size": image_size})

    def __enter__(self) -> dft_fn:
        self.begin()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.end()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return self.log(func)

    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None,
               image_size: Any = None, args: Optional[Dict[str, Any]] = None) -> dft_fn:
        """Arguments of what begins from now on. Of a block that is open, whose begin has been told,
        they are told as a moment of the same name."""
        given = self.set(args, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size)
        if self._open and given:
            _instant(self._name, self._cat, {str(key): plain(given[key]) for key in given})
        return self

    def flush(self) -> dft_fn:
        self.end()
        return self

    def reset(self) -> dft_fn:
        """Begins anew; what is open ends."""
        self.end()
        self.begin()
        return self

    def log(self, func: Optional[Callable[..., Any]] = None, **options: Any) -> Any:
        if func is None:  # @d.log(name=...)
            return lambda function: self.log(function, **options)
        name = options.get("name") or getattr(func, "__qualname__", repr(func))
        return self.wrap(func, name, call_arguments(func))

    log_init = log
    log_static = log

    def log_metadata(self, key: Any, value: Any) -> None:
        if self._enable:
            dftracer.get_instance().log_metadata_event(key, value)

    def iter(self, func: Iterable[Any], name: str = "loop", iter_name: str = "step",
             **options: Any) -> Iterator[Any]:
        return self.loop(func, f"{name}.iter", f"{name}.yield", iter_name)
