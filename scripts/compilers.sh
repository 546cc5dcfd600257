#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Builds the kernel side with a newer Clang than the one that is called so, and records with it: what
# one compiler makes the kernel takes, what another makes it may refuse. Fails when something is
# wrong then; what cannot be had (a package, the time) is told as skipped. Must not know what is
# compared.
#
# usage: compilers.sh SECONDS   (to be done in, as root; `make programs` was run before)
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
. scripts/owner.sh
. scripts/within.sh

clang=clang-19 # Debian 13's own; Debian 12 has it beside 14
tests='test_start. test_calls test_profile test_flight.Flight test_block test_async'
python=/usr/bin/python3 # Debian's own
least=300 # seconds below which it is not worth beginning

within $least "$@"

echo "==> Packages: another Clang"
timeout -s INT -k 60 $(($1 / 2)) scripts/setup.sh "$clang" || skip "packages are missing"
[ "$(clang -dumpversion)" != "$($clang -dumpversion)" ] || skip "it is the one that everything is built with"

echo "==> Build: make CLANG=$clang"
build=build/$clang
status=0
timeout $(($1 - SECONDS)) "${owner[@]}" \
	make -s -j"$(nproc)" BUILD="$build" CLANG="$clang" "$build/faultline" || status=$?
[ $status != 124 ] || skip "the build did not come to its end"
[ $status = 0 ] || exit $status

left=$(($1 - SECONDS))
[ $left -gt 0 ] || skip "no time is left"
echo "==> Tests: $tests, for $left s at most"
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# shellcheck disable=SC2086
env --default-signal=INT,QUIT BUILD="$PWD/build" FAULTLINE="$PWD/$build/faultline" \
	PYTHON="$python" PYTHONDONTWRITEBYTECODE=1 \
	timeout --foreground -k 30 $left "$python" tests/live/run.py $tests \
	2>&1 </dev/null | tee "$said" && exit 0
grep -q '^FAIL' "$said" || skip "the tests did not come to their end"
echo "compilers.sh: Faultline is wrong when $clang has built it" >&2
exit 1
