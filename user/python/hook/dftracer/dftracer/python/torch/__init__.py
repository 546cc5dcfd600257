# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.torch: the handler for PyTorch's profiler."""

from .profiler import *  # noqa: F401,F403
from .profiler import __all__  # noqa: F401
