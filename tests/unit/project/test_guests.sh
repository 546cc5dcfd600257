#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# scripts/guests.sh fails only if a comparison finds a difference; anything unavailable is reported as
# skipped. Small scripts stand in for setup.sh and make; nothing boots.
set -euo pipefail

. tests/unit/project/_played.sh
tested=scripts/guests.sh
cp scripts/{guests,within}.sh "$top/scripts"

plays scripts/setup.sh <<<'echo "setup $*"'
plays bin/uname <<<'echo x86_64'
plays bin/make <<<'echo "6.1  syscall  tp  calls  ok: all"'
expect 2 usage
expect 2 usage soon
expect 0 "ok: all" 200
grep -q "setup vm" "$top/out"
! grep -q skipped "$top/out" || { echo "nothing was skipped" && exit 1; }

# A difference fails, even if the runner does not finish.
plays bin/make <<<'echo "6.1  syscall  tp  calls  FAIL: 2, expected 3"; exit 2'
expect 1 "checks fail on another kernel" 200
plays bin/make <<<'echo "6.1  syscall  tp  calls  FAIL: 2, expected 3"; kill $$'
expect 1 "checks fail on another kernel" 200

# Anything unavailable is skipped.
plays bin/make <<<'echo "7.2  -  -  -  skipped: no kernel"; exit 0'
expect 0 "no kernel" 200
plays bin/make <<<'echo "Traceback: FAILED" >&2; exit 2'
expect 0 "skipped: the guests did not" 200
plays scripts/setup.sh <<<'exit 1'
expect 0 "skipped: packages" 200
plays bin/uname <<<'echo riscv64'
expect 0 "skipped: no kernels are named" 200

# Without enough time, nothing starts.
plays bin/make <<<'echo begun'
expect 0 "skipped: 100 s" 100
expect 0 "skipped: -5 s" -5
! grep -q begun "$top/out"

# What hangs is ended: the limits are as in the original, but shorter.
sed -i 's/^least=.*/least=2/; s/^rest=.*/rest=2/' "$top/scripts/guests.sh"
plays bin/uname <<<'echo x86_64'
plays scripts/setup.sh <<<'sleep 1000'
expect 0 "skipped: packages" 2
plays scripts/setup.sh <<<'exit 0'
plays bin/make <<<'trap "" INT; echo "6.1  a  b  c  FAIL: 2"; sleep 1000; sleep 1000'
expect 1 "checks fail on another kernel" 12
sed -i 's/^rest=.*/rest=20/' "$top/scripts/guests.sh"
expect 0 "skipped: no time is left" 25
