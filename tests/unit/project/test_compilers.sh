#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# scripts/compilers.sh fails only if the output of another compiler is refused or wrong; anything
# unavailable is reported as skipped. Small scripts stand in for setup.sh, make, Clang and the live
# tests; nothing is built.
set -euo pipefail

. tests/unit/project/_played.sh
tested=scripts/compilers.sh
mkdir -p "$top/tests/live"
cp scripts/{compilers,owner,within}.sh "$top/scripts"

plays scripts/setup.sh <<<'echo "setup $*"'
plays bin/clang <<<'echo 14.0.6'
plays bin/clang-19 <<<'echo 19.1.7'
plays bin/make <<<'echo "make $*"'
echo 'print("ok    test_calls")' >"$top/tests/live/run.py"
expect 2 usage
expect 2 usage soon
expect 0 "ok    test_calls" 400
grep -q "setup clang-19" "$top/out"
grep -q "make .*CLANG=clang-19 build/clang-19/faultline" "$top/out"
! grep -q skipped "$top/out" || { echo "nothing was skipped" && exit 1; }

# What is wrong fails.
plays bin/make <<<'exit 2'
expect 2 "==> Build" 400
plays bin/make <<<'exit 0'
echo 'print("FAIL  test_calls"); exit(1)' >"$top/tests/live/run.py"
expect 1 "tests fail when built with clang-19" 400

# Anything unavailable is skipped.
echo 'exit("killed")' >"$top/tests/live/run.py"
expect 0 "skipped: the tests did not" 400
plays bin/clang <<<'echo 19.1.7'
expect 0 "skipped: it is the default" 400
plays scripts/setup.sh <<<'exit 1'
expect 0 "skipped: packages" 400

# Nor what hangs: the limit is as in the original, but shorter.
plays bin/clang <<<'echo 14.0.6'
plays scripts/setup.sh <<<'exit 0'
plays bin/make <<<'sleep 1000'
sed -i 's/^least=.*/least=2/' "$top/scripts/compilers.sh"
expect 0 "skipped: the build did not" 3
cp scripts/compilers.sh "$top/scripts"

# Without enough time, nothing starts.
plays scripts/setup.sh <<<'echo begun'
expect 0 "skipped: 200 s" 200
expect 0 "skipped: -5 s" -5
! grep -q begun "$top/out"
