# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer and dft_fn. What DFTracer writes to its file is recorded as spans."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Dict, Iterable, Iterator, Optional

import faultline
from faultline import _dftracer

from ._entities import EntityRelation, EntityRole, EntityStore
from ._marker import Marker, call_arguments
from ._tags import plain
from .env import DFTRACER_ENABLE

__all__ = ["dft_fn", "dftracer", "get_default_args"]


class dftracer:
    """The process's logger. There is no log file: initialising and finalising do nothing."""

    _faultline = True  # a replacement: must not be hooked
    _instance: Optional[dftracer] = None

    def __init__(self) -> None:
        self.logger: Any = None
        self.dbg_logging: Any = None
        dftracer._instance = self

    @classmethod
    def get_instance(cls) -> dftracer:
        return cls._instance or cls()

    @staticmethod
    def initialize_log(logfile: Any = None, data_dir: Any = None, process_id: int = -1,
                       **other: Any) -> dftracer:
        return dftracer.get_instance()

    def get_time(self) -> int:
        """Returns microseconds since the epoch, as DFTracer does; 0 if it is disabled."""
        return time.time_ns() // 1000 if DFTRACER_ENABLE else 0

    def enter_event(self) -> None:
        pass

    def exit_event(self) -> None:
        pass

    def log_event(self, name: Any, cat: Any, start_time: int, duration: int,
                  int_args: Optional[Dict[str, Any]] = None,
                  float_args: Optional[Dict[str, Any]] = None,
                  string_args: Optional[Dict[str, Any]] = None, **other: Any) -> None:
        """Records a span that has ended. Its start is from get_time(), its duration in us."""
        if DFTRACER_ENABLE and faultline.enabled():
            args = {str(key): plain(value) for given in (int_args, float_args, string_args)
                    for key, value in (given or {}).items()}
            _dftracer.record(name, cat, start_time, duration, args)

    def log_metadata_event(self, key: Any, value: Any) -> None:
        if DFTRACER_ENABLE and faultline.enabled():
            faultline.instant(str(key), "metadata", value=plain(value))

    def finalize(self) -> None:
        pass

    # --- entities and other application metadata: not used by Faultline

    def declare_entity(self, type: Any, key: Any, store: Any = EntityStore.MEMORY,
                       uri: Any = "") -> int:
        return 0

    def declare_entity_type(self, type: Any, role: Any = EntityRole.UNKNOWN,
                            description: Any = "") -> None:
        pass

    def relate_entities(self, relation: Any, subject: Any, object: Any) -> None:
        pass

    def set_app_metadata_int(self, key: Any, value: Any) -> None:
        pass

    def set_app_metadata_string(self, key: Any, value: Any) -> None:
        pass

    def mark_used(self, name: Any) -> None:
        pass

    def get_config(self, *asked: Any) -> Any:
        return None


def get_default_args(func: Callable[..., Any]) -> Dict[str, Any]:
    import inspect
    return {name: parameter.default for name, parameter in inspect.signature(func).parameters.items()
            if parameter.default is not inspect.Parameter.empty}


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
        """Sets arguments of open and later blocks."""
        self.set(args, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size)
        return self

    def log(self, func: Any = None, name: Optional[str] = None) -> Any:
        if func is None:  # @d.log(name=...)
            return lambda function: self.log(function, name)
        shown = getattr(func, "__func__", func)
        return self.wrap(func, name or getattr(shown, "__qualname__", repr(func)),
                         call_arguments(func))

    log_init = log
    log_static = log

    def log_metadata(self, key: Any, value: Any) -> None:
        if self._enable:
            dftracer.get_instance().log_metadata_event(key, value)

    def iter(self, func: Iterable[Any], name: str = "loop", iter_name: str = "step",
             **options: Any) -> Iterator[Any]:
        return self.loop(func, f"{name}.iter", f"{name}.yield", iter_name)

    # --- entities: not used by Faultline

    def uses(self, type: Any, key: Any, store: Any = EntityStore.MEMORY, uri: Any = "") -> int:
        return 0

    def generates(self, type: Any, key: Any, store: Any = EntityStore.MEMORY,
                  uri: Any = "") -> int:
        return 0

    def relate_entity(self, relation: EntityRelation, type: Any, key: Any,
                      store: Any = EntityStore.MEMORY, uri: Any = "") -> int:
        return 0

    def relate(self, relation: EntityRelation, entity: Any) -> None:
        pass
