# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.ai: names for the usual phases of training jobs."""

from ._ai import *  # noqa: F401,F403
from ._ai import __all__  # noqa: F401
