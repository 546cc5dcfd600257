# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.torch.profiler. Faultline reads the results of PyTorch's profiler from its own
trace: `faultline report --spans FILE`."""

from typing import Any

__all__ = ["trace_handler"]


def trace_handler(profiler_result: Any) -> None:
    """For torch.profiler.profile(on_trace_ready=...): does nothing."""
