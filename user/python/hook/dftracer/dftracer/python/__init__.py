# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements DFTracer's API, so that code annotated for it emits Faultline spans. Found only under
`faultline run --python-spans dftracer`, and only if DFTracer itself is not installed; writes no
files and installs no signal handlers."""

# The modules ai and dynamo come first: the objects of the same names must replace them here.
from . import _ai, _entities, _logger, _tags, ai as _ai_module, dynamo as _dynamo, env as _env
from ._ai import *  # noqa: F401,F403
from ._entities import *  # noqa: F401,F403
from ._logger import *  # noqa: F401,F403
from ._tags import *  # noqa: F401,F403
from .dynamo import *  # noqa: F401,F403
from .env import *  # noqa: F401,F403

__all__ = [*_ai.__all__, *_entities.__all__, *_logger.__all__, *_tags.__all__, *_dynamo.__all__,
           *_env.__all__]
