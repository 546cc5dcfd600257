#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Builds the BPF programs with a newer Clang than the default and runs live tests with them: the
# kernel may reject one compiler's code and accept another's. Fails if a test fails; reports what is
# unavailable (a package, time) as skipped.
#
# usage: compilers.sh SECONDS   (time limit; run as root, after `make programs`)
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
. scripts/owner.sh
. scripts/within.sh

clang=clang-19 # Debian 13's default; Debian 12 has it next to 14
tests='test_start. test_calls test_profile test_flight.Flight test_block test_async'
python=/usr/bin/python3 # Debian's
least=300 # minimum, in seconds

within $least "$@"

echo "==> Packages: another Clang"
timeout -s INT -k 60 $(($1 / 2)) scripts/setup.sh "$clang" || skip "packages are missing"
[ "$(clang -dumpversion)" != "$($clang -dumpversion)" ] || skip "it is the default Clang"

echo "==> Build: make CLANG=$clang"
build=build/$clang
status=0
timeout $(($1 - SECONDS)) "${owner[@]}" \
	make -s -j"$(nproc)" BUILD="$build" CLANG="$clang" "$build/faultline" || status=$?
[ $status != 124 ] || skip "the build did not finish"
[ $status = 0 ] || exit $status

left=$(($1 - SECONDS))
[ $left -gt 0 ] || skip "no time is left"
echo "==> Tests: $tests, at most $left s"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
# shellcheck disable=SC2086
env --default-signal=INT,QUIT BUILD="$PWD/build" FAULTLINE="$PWD/$build/faultline" \
	PYTHON="$python" PYTHONDONTWRITEBYTECODE=1 \
	timeout --foreground -k 30 $left "$python" tests/live/run.py $tests \
	2>&1 </dev/null | tee "$output" && exit 0
grep -q '^FAIL' "$output" || skip "the tests did not finish"
echo "compilers.sh: tests fail when built with $clang" >&2
exit 1
