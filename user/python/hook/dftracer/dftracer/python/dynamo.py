# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.dynamo: functions whose operations DFTracer would time individually. Here they
run unchanged: PyTorch's profiler records operations (`faultline report --spans FILE`)."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from ._ai import DFTracerAI

__all__ = ["Dynamo", "create_backend", "dynamo"]

CAT_DYNAMO = "dynamo"


class Dynamo(DFTracerAI):
    def __init__(self, name: Any = None, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None, enable: bool = True) -> None:
        super().__init__(CAT_DYNAMO, name, epoch, step, image_idx, image_size, enable)
        self.call_stack: List[Any] = []

    def compile(self, f_py: Optional[Callable[..., Any]] = None, autograd: bool = True) -> Any:
        """`@dynamo.compile` and `@dynamo.compile(autograd=False)`: leave the function unchanged."""
        return f_py if callable(f_py) else lambda function: function

    def count_parameters(self, module: Any) -> Optional[int]:
        if not hasattr(module, "parameters"):
            return None
        return int(sum(parameter.numel() for parameter in module.parameters()))


def create_backend(name: Any = None, epoch: Any = None, step: Any = None, image_idx: Any = None,
                   image_size: Any = None, enable: bool = True, autograd: bool = True) -> Any:
    """Returns a backend for torch.compile that runs the graph unchanged."""
    return lambda graph, inputs, **options: graph.forward


dynamo = Dynamo()
