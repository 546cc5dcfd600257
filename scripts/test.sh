#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# From nothing to all tests passed: installs what is missing, builds, runs make test.
# Must not know which packages, which files or which tests there are.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
. scripts/owner.sh

fail() {
	echo "test.sh: $*" >&2
	exit 1
}

if [ "$(id -u)" != 0 ] && ! sudo -v 2>/dev/null; then
	fail "only root may trace: run it as root (make test-unit needs no root)"
fi

echo "==> Packages: what building and testing need"
scripts/setup.sh build test || fail "packages are missing"

echo "==> Build: make programs"
"${owner[@]}" make -j"$(nproc)" programs || fail "the build failed"

echo "==> Tests: make test"
make test || fail "not all tests passed"
