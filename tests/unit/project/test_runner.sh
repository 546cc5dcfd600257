#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# That tests/run.sh cannot say "passed" of what did not pass: CI believes it.
set -euo pipefail

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir -p "$top"/tests/{unit,live} "$top/build/tests/unit"
cp tests/run.sh "$top/tests"

# program FILE STATUS: a test that says something and ends so.
program() {
	printf '#!/bin/bash\necho "%s speaks"\nexit %d\n' "$(basename "$1")" "$2" >"$top/$1"
	chmod +x "$top/$1"
}

# expect STATUS LAST-LINE SUITE...: runs the runner; its output goes to $top/output.
expect() {
	local status=0 expected=$1 last=$2
	shift 2
	BUILD=$top/build "$top/tests/run.sh" "$@" >"$top/output" 2>&1 || status=$?
	if [ "$status" != "$expected" ] || [ "$(tail -n 1 "$top/output")" != "$last" ]; then
		echo "wanted status $expected and '$last', got status $status and:"
		cat "$top/output"
		exit 1
	fi
}

contains() {
	grep -q -- "$1" "$top/output" || { echo "no '$1' in:" && cat "$top/output" && exit 1; }
}

expect 1 "0 passed, 1 failed, 0 skipped" unit # no tests at all is no success

touch "$top/tests/unit/test_c.c" "$top/tests/unit/_helper.sh"
expect 1 "0 passed, 1 failed, 0 skipped" unit # not built

program build/tests/unit/test_c 0
program tests/unit/shell.sh 0
expect 0 "2 passed, 0 failed, 0 skipped" unit
! grep -q speaks "$top/output" || { echo "what passed should be silent" && exit 1; }

chmod -x "$top/tests/unit/shell.sh"
expect 0 "2 passed, 0 failed, 0 skipped" unit # a lost executable bit loses no test

program tests/unit/skips.sh 77
expect 0 "2 passed, 0 failed, 1 skipped" unit
contains "skips.sh speaks"

program tests/unit/fails.sh 3
expect 1 "2 passed, 1 failed, 1 skipped" unit
contains "fails.sh: exit status 3"
contains "fails.sh speaks"

printf '#!/bin/bash\nkill -SEGV $$\n' >"$top/tests/unit/fails.sh"
expect 1 "2 passed, 1 failed, 1 skipped" unit
printf 'import sys\nsys.exit(1 / 0)\n' >"$top/tests/unit/fails.py"
expect 1 "2 passed, 2 failed, 1 skipped" unit
contains ZeroDivisionError
rm "$top"/tests/unit/fails.*

[ "$(id -u)" = 0 ] || exit 0 # the rest needs root, as live tests do
expect 1 "2 passed, 1 failed, 1 skipped" unit live # no runner of live tests
program tests/live/run.sh 0
expect 0 "3 passed, 0 failed, 1 skipped" unit live
program tests/live/run.sh 1
expect 1 "2 passed, 1 failed, 1 skipped" unit live
contains "run.sh speaks"
