# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""ai: names for what training jobs have in common, as a tree: ai.compute.forward and its like, each
to be used as decorator, block, loop, or with start() and stop()."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Iterator, Optional

from ._logger import dftracer
from ._marker import Marker

# category: what can be marked in it
EVENTS = {
    "compute": ("forward", "backward", "step"),
    "data": ("preprocess", "item"),
    "dataloader": ("fetch",),
    "comm": ("send", "receive", "barrier", "bcast", "reduce", "all_reduce", "gather", "all_gather",
             "scatter", "reduce_scatter", "all_to_all"),
    "device": ("transfer",),
    "checkpoint": ("capture", "restart"),
    "pipeline": ("epoch", "train", "evaluate", "test"),
}


class DFTracerAI(Marker):
    def __init__(self, cat: Any, name: Any = None, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None, enable: bool = True) -> None:
        super().__init__(cat, name or cat, enable,
                         {"epoch": epoch, "step": step, "image_idx": image_idx,
                          "image_size": image_size})
        self._children: Dict[str, DFTracerAI] = {}

    @property
    def cat(self) -> Any:
        return self._cat

    @property
    def name(self) -> Any:
        return self._name

    def __call__(self, fn: Optional[Callable[..., Any]] = None, *, enable: Optional[bool] = None,
                 epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None,
                 args: Optional[Dict[str, Any]] = None) -> Any:
        """As `@x` and `@x(step=1)` a decorator, as `with x(step=1)` a block."""
        other = DFTracerAI(self._cat, self._name, enable=self._enable if enable is None else enable)
        given = other.set(args, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size)
        if fn is not None:
            # Through `self`, whose arguments and switch may change after the decoration.
            return (self if enable is None else other).wrap(fn, self._name, lambda *_: given)
        other._arguments = {**self._arguments, **given}
        return other

    def __enter__(self) -> DFTracerAI:
        self.begin()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.end()

    def start(self, metadata: bool = False) -> None:
        if metadata:
            self._log_time("start")
        else:
            self.begin()

    def stop(self, metadata: bool = False) -> None:
        if metadata:
            self._log_time("end")
        else:
            self.end()

    def _log_time(self, what: str) -> None:
        if self._enable:
            logger = dftracer.get_instance()
            logger.log_metadata_event(f"{self._name}.{what}", logger.get_time())

    def reset(self) -> None:
        self.end()
        self.begin()

    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None,
               image_size: Any = None, args: Optional[Dict[str, Any]] = None) -> DFTracerAI:
        """Arguments of what begins from now on, here and below."""
        self.set(args, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size)
        for child in self._children.values():
            child.update(epoch, step, image_idx, image_size, args)
        return self

    def iter(self, iterator: Iterable[Any], *, include_block: bool = True,
             include_iter: bool = True, iter_name: Optional[str] = None,
             block_name: Optional[str] = None) -> Iterator[Any]:
        return self.loop(iterator,
                         (iter_name or f"{self._name}.iter") if include_iter else None,
                         (block_name or f"{self._name}.block") if include_block else None, "count")

    def enable(self) -> None:
        self._enable = True
        for child in self._children.values():
            child.enable()

    def disable(self) -> None:
        self._enable = False
        for child in self._children.values():
            child.disable()

    def derive(self, name: str) -> DFTracerAI:
        """One more of this category, whose name is this one's, a dot, and `name`."""
        return self._child(name, f"{self._name}.{name}")

    @property
    def init(self) -> DFTracerAI:
        """For what is made ready: `@ai.checkpoint.init` above an __init__."""
        return self.derive("init")

    def _child(self, key: str, name: str) -> DFTracerAI:
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = DFTracerAI(self._cat, name, enable=self._enable)
            child._arguments.update(self._arguments)
        return child


class AI(DFTracerAI):
    """The tree's root."""

    def __init__(self) -> None:
        super().__init__("ai_root")
        for category, events in EVENTS.items():
            branch = self._children[category] = DFTracerAI(category)
            setattr(self, category, branch)
            for event in events:
                setattr(branch, event, branch._child(event, event))


ai = AI()
checkpoint = ai.checkpoint  # type: ignore[attr-defined]
comm = ai.comm  # type: ignore[attr-defined]
compute = ai.compute  # type: ignore[attr-defined]
data = ai.data  # type: ignore[attr-defined]
dataloader = ai.dataloader  # type: ignore[attr-defined]
device = ai.device  # type: ignore[attr-defined]
pipeline = ai.pipeline  # type: ignore[attr-defined]
