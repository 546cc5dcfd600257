# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.dbg.torch: the same as without dbg."""

from ...torch import *  # noqa: F401,F403
from ...torch import __all__  # noqa: F401
