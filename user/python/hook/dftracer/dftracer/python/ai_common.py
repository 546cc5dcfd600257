# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.ai_common: another module with the ai names."""

from ._ai import *  # noqa: F401,F403
from ._ai import __all__  # noqa: F401
