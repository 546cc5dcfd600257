# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""ai: a tree of names for the usual phases of training jobs, such as ai.compute.forward. Each works
as a decorator, a block, a loop, or with start() and stop()."""

from __future__ import annotations

import enum
from typing import Any, Callable, Dict, Iterable, Iterator, Optional

from ._logger import dftracer
from ._marker import Marker

INIT_NAME = "init"
ITER_COUNT_NAME = "count"
BLOCK_NAME = "block"
ITER_NAME = "iter"
CTX_SEPARATOR = "."
ROOT_NAME = ROOT_CAT = "ai_root"
START_METADATA_NAME = "start"
STOP_METADATA_NAME = "end"


class StringEnum(str, enum.Enum):
    """Members whose values are their names in lower case."""

    def _generate_next_value_(name, *others: Any) -> str:  # type: ignore[override]
        return name.lower()

    def __str__(self) -> str:
        return str(self.value)


def _names(name: str, members: str) -> Any:
    return StringEnum(name, [(member, member.lower()) for member in members.split()],
                      module=__name__)


ProfileCategory = _names("ProfileCategory",
                         "COMPUTE DATA DATALOADER COMM DEVICE CHECKPOINT PIPELINE OTHER")
ComputeEvent = _names("ComputeEvent", "FORWARD BACKWARD STEP")
DataEvent = _names("DataEvent", "PREPROCESS ITEM")
DataLoaderEvent = _names("DataLoaderEvent", "FETCH")
CommunicationEvent = _names("CommunicationEvent", "SEND RECEIVE BARRIER BCAST REDUCE ALL_REDUCE "
                            "GATHER ALL_GATHER SCATTER REDUCE_SCATTER ALL_TO_ALL")
DeviceEvent = _names("DeviceEvent", "TRANSFER")
PipelineEvent = _names("PipelineEvent", "EPOCH TRAIN EVALUATE TEST")
CheckpointEvent = _names("CheckpointEvent", "CAPTURE RESTART")
OtherEvent = _names("OtherEvent", "LOG")
IOEvent = _names("IOEvent", "OPEN READ WRITE CLOSE")


def _suffixed(name: str, suffix: str) -> str:
    suffix = CTX_SEPARATOR + suffix
    return name if name.endswith(suffix) else name + suffix


def get_iter_block_name(name: str) -> str:
    return _suffixed(name, BLOCK_NAME)


def get_iter_handle_name(name: str) -> str:
    return _suffixed(name, ITER_NAME)


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

    @property
    def profiler(self) -> DFTracerAI:
        return self

    def __call__(self, fn: Optional[Callable[..., Any]] = None, *, enable: Optional[bool] = None,
                 epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None,
                 args: Optional[Dict[str, Any]] = None) -> Any:
        """`@x` and `@x(step=1)` decorate, `with x(step=1)` marks a block."""
        other = DFTracerAI(self._cat, self._name, enable=self._enable if enable is None else enable)
        given = other.set(args, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size)
        if fn is not None:
            # Through `self`, whose arguments and switch may change after decoration.
            return (self if enable is None else other).wrap(fn, self._name, lambda *_: given)
        return other

    def __enter__(self) -> DFTracerAI:
        self.begin()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.end()

    def get_time(self) -> int:
        return dftracer.get_instance().get_time()

    def start(self, metadata: bool = False) -> None:
        if metadata:
            self._log_time(START_METADATA_NAME)
        else:
            self.begin()

    def stop(self, metadata: bool = False) -> None:
        if metadata:
            self._log_time(STOP_METADATA_NAME)
        else:
            self.end()

    def _log_time(self, what: str) -> None:
        if self._enable:
            logger = dftracer.get_instance()
            logger.log_metadata_event(self._name + CTX_SEPARATOR + what, str(logger.get_time()))

    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None,
               image_size: Any = None, args: Optional[Dict[str, Any]] = None) -> DFTracerAI:
        """Sets arguments of open and later blocks, here and in children."""
        self.set(args, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size)
        for child in self._children.values():
            child.update(epoch, step, image_idx, image_size, args)
        return self

    def iter(self, iterator: Iterable[Any], *, include_block: bool = True,
             include_iter: bool = True, iter_name: Optional[str] = None,
             block_name: Optional[str] = None) -> Iterator[Any]:
        return self.loop(iterator,
                         iter_name or get_iter_handle_name(self._name) if include_iter else None,
                         block_name or get_iter_block_name(self._name) if include_block else None,
                         ITER_COUNT_NAME)

    def enable(self) -> None:
        self._enable = True
        for child in self._children.values():
            child.enable()

    def disable(self) -> None:
        self._enable = False
        for child in self._children.values():
            child.disable()

    def derive(self, name: str) -> DFTracerAI:
        """Returns another object of this category, named after this one, a dot, and `name`."""
        return self._child(name, self._name + CTX_SEPARATOR + name)

    @property
    def init(self) -> DFTracerAI:
        """Marks initialization: `@ai.checkpoint.init` above an __init__."""
        return self.derive(INIT_NAME)

    def create_children(self, names: Dict[str, Any]) -> None:
        for attribute, name in names.items():
            setattr(self, attribute, self._child(attribute, str(name)))

    def _child(self, key: str, name: str) -> DFTracerAI:
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = DFTracerAI(self._cat, name, enable=self._enable)
            child._arguments.update(self._arguments)
        return child


class _Branch(DFTracerAI):
    """A category and what can be marked in it. `dotted`: names begin with the category's; `has_io`:
    it has I/O of its own, such as `io.open`."""

    category: Any = None
    events: Any = ()
    dotted = has_io = False

    def __init__(self, epoch: Any = None, step: Any = None, image_idx: Any = None,
                 image_size: Any = None, enable: bool = True) -> None:
        super().__init__(str(self.category), None, epoch, step, image_idx, image_size, enable)
        self.create_children({
            event.value: self._name + CTX_SEPARATOR + event.value if self.dotted else event.value
            for event in self.events})
        if self.has_io:
            self.io = self._children["io"] = IO(cat=self._cat, parent_name=self._name,
                                                enable=enable)


class IO(DFTracerAI):
    def __init__(self, *, cat: Any, parent_name: str, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None, enable: bool = True) -> None:
        super().__init__(cat, parent_name + CTX_SEPARATOR + "io", epoch, step, image_idx,
                         image_size, enable)
        self.create_children({event.value: self._name + CTX_SEPARATOR + event.value
                              for event in IOEvent})


class Compute(_Branch):
    category, events = ProfileCategory.COMPUTE, ComputeEvent


class Data(_Branch):
    category, events, has_io = ProfileCategory.DATA, DataEvent, True


class DataLoader(_Branch):
    category, events = ProfileCategory.DATALOADER, DataLoaderEvent


class Communication(_Branch):
    category, events = ProfileCategory.COMM, CommunicationEvent


class Device(_Branch):
    category, events = ProfileCategory.DEVICE, DeviceEvent


class Checkpoint(_Branch):
    category, events, has_io = ProfileCategory.CHECKPOINT, CheckpointEvent, True


class Pipeline(_Branch):
    category, events = ProfileCategory.PIPELINE, PipelineEvent


class Other(_Branch):
    category, events, dotted, has_io = ProfileCategory.OTHER, OtherEvent, True, True


class AI(DFTracerAI):
    """The root of the tree."""

    def __init__(self, epoch: Any = None, step: Any = None, image_idx: Any = None,
                 image_size: Any = None, enable: bool = True) -> None:
        super().__init__(ROOT_CAT, ROOT_NAME, epoch, step, image_idx, image_size, enable)
        for branch in (Compute, Data, DataLoader, Communication, Device, Checkpoint, Pipeline,
                       Other):
            made = branch(epoch, step, image_idx, image_size, enable)
            self._children[made.cat] = made
            setattr(self, made.cat, made)


ai: Any = AI()
checkpoint, comm, compute, data = ai.checkpoint, ai.comm, ai.compute, ai.data
dataloader, device, other, pipeline = ai.dataloader, ai.device, ai.other, ai.pipeline

__all__ = [name for name in list(globals()) if name[0] != "_" and name not in (
    "Any", "Callable", "Dict", "Iterable", "Iterator", "Marker", "Optional", "annotations",
    "dftracer", "enum")]
