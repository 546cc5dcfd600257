# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.dbg.torch.profiler: trace_handler."""

from ...torch.profiler import *  # noqa: F401,F403
from ...torch.profiler import __all__  # noqa: F401
