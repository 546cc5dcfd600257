# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Marks PyTorch's operations: a table of its modules, and what to mark in each when it is imported.
Must not change what a program computes: draws no random numbers, keeps the order of calls, and
replaces no object that the program holds."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any, Callable, Dict, Iterator, Optional

from . import span
from ._hooks import mark, marked, note

_FORWARD = ("forward",)  # a transform that is a Module is not a forward pass of the model


def _missing(module: Any, what: str, name: str) -> None:
    note(f"{name} is not marked: PyTorch {_version()} has no {what} in {module.__name__}")


def _version() -> str:
    return str(getattr(sys.modules.get("torch"), "__version__", "of this version"))


# --- data loading: "pass" is one pass over a DataLoader, "start" the start of its workers, "fetch"
# the wait for a batch, "stop" the end of its workers, "item" and "collate" the making of batches

class _Pass:
    """A pass over a DataLoader: ends with the data, or when the iterator is abandoned."""

    def __init__(self, loader: Any) -> None:
        passes = loader.__dict__.get("_faultline_passes", 0)
        loader.__dict__["_faultline_passes"] = passes + 1
        self._pid = os.getpid()
        self._span = span("pass", "epoch", epoch=passes).begin()

    def end(self) -> None:
        if self._pid == os.getpid():  # a worker has a copy
            self._span.end()

    __del__ = end


def _dataloader(module: Any) -> None:
    loader: Any = getattr(module, "DataLoader", None)
    iterator: Any = getattr(module, "_BaseDataLoaderIter", None)
    iterate: Any = getattr(loader, "__iter__", None)
    original: Any = getattr(iterator, "__next__", None)
    if iterate is None or original is None:
        return _missing(module, "DataLoader.__iter__ or _BaseDataLoaderIter.__next__",
                        "pass and fetch")
    fetch = marked(original, "fetch", "data", mutes=_FORWARD)
    start = marked(iterate, "start", "data", mutes=_FORWARD)
    stop = marked(original, "stop", "data", mutes=_FORWARD)

    @functools.wraps(iterate)
    def __iter__(self: Any) -> Any:
        # A reused iterator may have an abandoned pass.
        own_pass = _Pass(self)
        made = start(self) if getattr(self, "num_workers", 0) else iterate(self)
        made._faultline_pass = own_pass
        return made

    @functools.wraps(original)
    def __next__(self: Any) -> Any:
        try:
            # The call that reaches the end waits for no batch, but possibly for workers.
            if getattr(self, "_num_yielded", None) == _batches(self):
                return stop(self) if getattr(self, "_num_workers", 0) else original(self)
            return fetch(self)
        except StopIteration:
            if "_faultline_pass" in self.__dict__:
                self._faultline_pass.end()
            raise

    loader.__iter__ = __iter__
    iterator.__next__ = __next__


def _batches(iterator: Any) -> int:
    """Returns count_batches(), which it calls only once."""
    count: Optional[int] = iterator.__dict__.get("_faultline_batches")
    if count is None:
        count = iterator._faultline_batches = count_batches(iterator)
    return count


def count_batches(loader: Any) -> int:
    """Returns the number of batches of a loader or its iterator, or -1. Calls len() only on PyTorch's
    own samplers, which may call the dataset's, as PyTorch does when it starts an iteration: that of
    other samplers may do anything."""
    try:
        sampler = loader._index_sampler
        inner = getattr(sampler, "sampler", sampler)
        if all(type(each).__module__.startswith("torch.") for each in (sampler, inner)):
            return len(sampler)
    except Exception:  # a loader over an iterable dataset raises TypeError
        pass
    return -1


class _Dataset:
    """Replaces a fetcher's dataset: the same items, each marked as a span."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._get = marked(lambda index: dataset[index], "item", "data", mutes=_FORWARD)

    def __getitem__(self, index: Any) -> Any:
        return self._get(index)

    def __iter__(self) -> Iterator[Any]:
        return _Items(iter(self._dataset))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._dataset, name)
        if name == "__getitems__" and callable(value):
            return marked(value, "item", "data", mutes=_FORWARD)
        return value


class _Items:
    """An iterator over a dataset's own iterator, which was made at the same time."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._next = marked(iterator.__next__, "item", "data", mutes=_FORWARD)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._next()


def _fetch(module: Any) -> None:
    fetcher = getattr(module, "_BaseDatasetFetcher", None)
    if fetcher is None:
        return _missing(module, "_BaseDatasetFetcher", "item and collate")
    for kind in {fetcher, *fetcher.__subclasses__()}:
        if "__init__" in vars(kind):
            kind.__init__ = _reads_marked(kind.__init__)


def _reads_marked(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def __init__(self: Any, dataset: Any, auto_collation: Any, collate_fn: Any, drop_last: Any,
                 *more: Any, **named: Any) -> None:
        if not isinstance(dataset, _Dataset):  # a subclass calls the __init__ of its base
            dataset = _Dataset(dataset)
            collate_fn = marked(collate_fn, "collate", "preprocess", mutes=_FORWARD)
        init(self, dataset, auto_collation, collate_fn, drop_last, *more, **named)
    return __init__


# --- compute

def _module(module: Any) -> None:
    kind = getattr(module, "Module", None)
    if kind is None:
        return _missing(module, "Module", "forward")
    original = kind.__call__
    forward = marked(original, "forward", "compute", key="forward",
                     args=lambda self, *_, **__: {"module": type(self).__name__})

    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_compiling():
            return original(self, *args, **kwargs)
        return forward(self, *args, **kwargs)

    kind.__call__ = __call__


def _is_compiling() -> bool:
    """Returns whether torch.compile is tracing: it must see modules unchanged."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", None)
    return bool(is_compiling and is_compiling())


def _autograd(module: Any) -> None:
    # Tensor.backward calls this one. A forward pass inside it recomputes activations.
    mark(module, "backward", "backward", "compute", key="backward", mutes=_FORWARD)


def _optimizer(module: Any) -> None:
    kind = getattr(module, "Optimizer", None)
    if kind is None:
        return _missing(module, "Optimizer", "optimizer.step")
    original = kind.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        # On the class of the instance, because each has its own step; before a scheduler wraps it.
        mark(type(self), "step", "optimizer.step", "compute", key="step",
             args=lambda self, *_, **__: {"optimizer": type(self).__name__})

    kind.__init__ = __init__


# --- checkpoints

def _serialization(module: Any) -> None:
    mark(module, "save", "torch.save", "checkpoint", key="save")
    mark(module, "load", "torch.load", "checkpoint", key="load")


HOOKS: Dict[str, Callable[[Any], None]] = {
    "torch.utils.data.dataloader": _dataloader,
    "torch.utils.data._utils.fetch": _fetch,
    "torch.nn.modules.module": _module,
    "torch.autograd": _autograd,
    "torch.optim.optimizer": _optimizer,
    "torch.serialization": _serialization,
}
