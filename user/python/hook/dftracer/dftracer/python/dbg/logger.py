# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.dbg.logger: dft_fn and the logger."""

from .._logger import *  # noqa: F401,F403
from .._logger import __all__  # noqa: F401
