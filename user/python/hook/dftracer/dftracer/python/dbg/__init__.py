# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.dbg: the same as without dbg; there is no debug log."""

from .. import *  # noqa: F401,F403
from .. import __all__  # noqa: F401
