# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.torch.common: another module with trace_handler."""

from .profiler import *  # noqa: F401,F403
from .profiler import __all__  # noqa: F401
