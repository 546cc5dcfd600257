# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python.common: dft_fn, the logger, and the types of their values."""

from . import _entities, _logger, _tags, env as _env
from ._entities import *  # noqa: F401,F403
from ._logger import *  # noqa: F401,F403
from ._tags import *  # noqa: F401,F403
from .env import *  # noqa: F401,F403

__all__ = [*_entities.__all__, *_logger.__all__, *_tags.__all__, *_env.__all__]
