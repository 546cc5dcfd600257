#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs test programs: prints a line for each, the output of failed ones, and a summary. Unit tests
# run in parallel, live tests three at a time. Both suites run concurrently: live tests mostly wait.
#
# usage: BUILD=DIR [JOBS=N] tests/run.sh [unit] [live]   (make test and make check call it)
#   JOBS  concurrent unit tests: by default one more than CPUs, as some wait; two fewer alongside the
#         live tests
#   unit  *.py and *.sh of each folder of tests/unit, and $BUILD/tests/unit/test_* for each test_*.c
#   live  tests/live/run.py or run.sh; needs root
# A test runs in the top directory, with BUILD, FAULTLINE (the program) and PYTHON set to absolute
# paths, and with empty stdin. Exit status 0 means passed, 77 skipped (the last line of output says
# why), anything else failed. Files whose names begin with _ are not tests.
set -uo pipefail
cd "$(dirname "$(realpath "$0")")/.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
FAULTLINE=$BUILD/faultline
# Debian's own Python, for which python3-msgpack and python3-numpy are installed.
PYTHON=${PYTHON:-$(command -v /usr/bin/python3 || command -v python3)}
export BUILD FAULTLINE PYTHON PYTHONDONTWRITEBYTECODE=1
# Hides sudo's caller: faultline would run its commands as that user. Also restores the signals that
# the shell ignores in background jobs.
not_by_sudo=(env -u SUDO_UID -u SUDO_GID -u SUDO_USER -u SUDO_COMMAND "--default-signal=INT,QUIT")
unit_limit=900 live_limit=2400 # seconds; only to stop a test that hangs

passed=0 failed=0 skipped=0
directory=$(mktemp -d) # outputs; number, status and seconds of finished tests
output=$directory/output
# Held by tests of markers (shared), and by live tests that trace everything on the machine: a second
# tracer changes what a program with markers does.
export MACHINE_LOCK=$directory/machine
: >"$MACHINE_LOCK"
units= # process that runs the unit tests alongside the live tests
trap '[ -z "$units" ] || kill $units; rm -rf "$directory"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# judge NAME STATUS SECONDS: counts a test and prints its line.
judge() {
	case $2 in
	0) passed=$((passed + 1)) && printf 'ok    %-44s %4d s\n' "$1" "$3" ;;
	77) skipped=$((skipped + 1)) && printf 'skip  %s: %s\n' "$1" "$(tail -n 1 "$output")" ;;
	124 | 137) failed=$((failed + 1)) && printf 'FAIL  %s: still running after %d s\n' "$1" "$3" ;;
	*) failed=$((failed + 1)) && printf 'FAIL  %s: exit status %d\n' "$1" "$2" ;;
	esac
}

# with_interpreter FILE: sets `call` to the command that runs it, even without an executable bit.
with_interpreter() {
	case $1 in
	*.py) call=("$PYTHON" "$1") ;;
	*.sh) call=(bash "$1") ;;
	*) call=("$1") ;;
	esac
}

# run_unit NUMBER TEST: writes its output, and its number, status and seconds, to files.
run_unit() {
	local call started=$SECONDS status
	with_interpreter "$2"
	case $2 in
	*/spans/* | */test_span*) call=(flock --shared --no-fork "$MACHINE_LOCK" "${call[@]}") ;;
	esac
	timeout --foreground -k 10 $unit_limit \
		"${not_by_sudo[@]}" "${call[@]}" </dev/null >"$directory/$1.output" 2>&1
	status=$?
	echo "$1" $status $((SECONDS - started)) >"$directory/$1.new"
	mv "$directory/$1.new" "$directory/$1.ended"
}

# Prints and counts the unit tests that have finished.
show_units() {
	local ended number status seconds output
	for ended in "$directory"/*.ended; do
		read -r number status seconds <"$ended"
		rm "$ended"
		output=$directory/$number.output
		judge "${unit_tests[number]#"$BUILD/"}" "$status" "$seconds"
		[ "$status" = 0 ] || [ "$status" = 77 ] || sed 's/^/      /' "$output"
	done
}

unit_tests=()

find_units() {
	local source
	shopt -s nullglob
	# Last folders first: theirs take longest, and short tests fill the gaps at the end.
	for source in tests/unit/{.,*}/[!_]*; do
		case ${source##*/} in
		test_*.c) source=${source##*/} && source=$BUILD/tests/unit/${source%.c} ;;
		*.py | *.sh) ;;
		*) continue ;;
		esac
		unit_tests=("$source" "${unit_tests[@]}")
	done
	[ ${#unit_tests[@]} != 0 ] || judge "tests/unit (has no tests)" 1 0
}

# run_units JOBS [SHOW]: runs SHOW whenever a test finishes.
run_units() {
	local number running=0
	for number in "${!unit_tests[@]}"; do
		if [ $running -ge "$1" ]; then
			wait -n
			running=$((running - 1))
			"${2:-true}"
		fi
		run_unit "$number" "${unit_tests[number]}" &
		running=$((running + 1))
	done
	wait
}

unit() {
	find_units
	run_units "${JOBS:-$(($(nproc) + 1))}" show_units
	show_units
}

# The live tests take minutes, so their output is shown as they run.
live() {
	local runner started status as_root=()
	shopt -s nullglob
	set -- tests/live/run.[ps][yh]
	if [ $# != 1 ]; then
		judge "tests/live (wants one of run.py and run.sh, has $#)" 1 0
		return
	fi
	runner=$1
	if [ "$(id -u)" != 0 ]; then
		if ! sudo -n true 2>/dev/null; then
			echo "not root, and only root may trace (sudo make test runs them)" >"$output"
			judge "$runner" 77 0
			return
		fi
		as_root=(sudo -n BUILD="$BUILD" FAULTLINE="$FAULTLINE" PYTHON="$PYTHON"
			PYTHONDONTWRITEBYTECODE=1 MACHINE_LOCK="$MACHINE_LOCK")
	fi
	with_interpreter "$runner"
	started=$SECONDS
	timeout --foreground -k 10 $live_limit "${as_root[@]}" "${not_by_sudo[@]}" "${call[@]}" \
		</dev/null 2>&1 | tee "$output"
	status=${PIPESTATUS[0]}
	judge "$runner" "$status" $((SECONDS - started))
}

# Unit tests do not affect anything that a live test measures, so they use the CPUs that the live
# tests leave idle. Their lines are printed after the live tests.
unit_and_live() {
	local beside=$(($(nproc) - 1))
	find_units
	run_units "${JOBS:-$((beside > 0 ? beside : 1))}" &
	units=$!
	live
	wait $units
	units=
	show_units
}

[ $# -gt 0 ] || set -- unit live
case "$*" in
unit | live) "$1" ;;
"unit live" | "live unit") unit_and_live ;;
*) echo "run.sh: no suite '$*'; there are unit and live" >&2 && exit 2 ;;
esac

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
