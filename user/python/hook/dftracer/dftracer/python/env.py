# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""DFTracer's environment variables. Under Faultline marking is on unless switched off, because
`--python-spans dftracer` asks for the spans."""

import os

DFTRACER_ENABLE_ENV = "DFTRACER_ENABLE"
DFTRACER_INIT_ENV = "DFTRACER_INIT"
DFTRACER_LOG_LEVEL_ENV = "DFTRACER_LOG_LEVEL"

DFTRACER_ENABLE = os.environ.get(DFTRACER_ENABLE_ENV, "1") != "0"
DFTRACER_INIT_PRELOAD = os.environ.get(DFTRACER_INIT_ENV, "PRELOAD") == "PRELOAD"
DFTRACER_LOG_LEVEL = os.environ.get(DFTRACER_LOG_LEVEL_ENV, "ERROR")

__all__ = ["DFTRACER_ENABLE", "DFTRACER_ENABLE_ENV", "DFTRACER_INIT_ENV", "DFTRACER_INIT_PRELOAD",
           "DFTRACER_LOG_LEVEL", "DFTRACER_LOG_LEVEL_ENV"]
