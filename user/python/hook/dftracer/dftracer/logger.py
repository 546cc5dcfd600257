# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.logger: the older name of dftracer.python."""

from .python import *  # noqa: F401,F403
from .python import __all__  # noqa: F401
