# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds the program `faultline`."""

from __future__ import annotations

import os
import shutil


def find_program() -> str:
    """Returns its path: FAULTLINE, or from PATH. Raises FileNotFoundError if there is none."""
    program = os.environ.get("FAULTLINE") or shutil.which("faultline")
    if not program:
        raise FileNotFoundError("faultline is not in PATH; set the environment variable FAULTLINE "
                                "to its path")
    return program
