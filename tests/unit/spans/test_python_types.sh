#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Checks the types of the Python package, which is py.typed, with mypy --strict.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../../../user/python" || exit 1

command -v mypy >/dev/null || { echo "mypy is not installed"; exit 77; }
exec mypy --strict --cache-dir "${BUILD:-../../build}/mypy" -p faultline
