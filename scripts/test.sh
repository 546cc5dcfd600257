#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# From a fresh clone to all tests passed: installs missing packages, builds, runs make test.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
. scripts/owner.sh

fail() {
	echo "test.sh: $*" >&2
	exit 1
}

if [ "$(id -u)" != 0 ] && ! sudo -v 2>/dev/null; then
	fail "tracing requires root; run this as root (make test-unit does not require it)"
fi

echo "==> Packages for building and testing"
scripts/setup.sh build test || fail "packages are missing"

echo "==> Build: make programs"
"${owner[@]}" make -j"$(nproc)" programs || fail "the build failed"
"${owner[@]}" scripts/setup.sh npm || echo "    the test with the official MCP client is skipped"
"${owner[@]}" scripts/setup.sh pythons || echo "    tests of stacks of the newest Pythons are skipped"

echo "==> Tests: make test"
make test || fail "not all tests passed"
