# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced by scripts that do as much as they can within a number of seconds.

# skip WORDS: reports what is unavailable; that is not a failure.
skip() {
	echo "${0##*/}: skipped: $*"
	exit 0
}

# within LEAST [SECONDS]: exits if fewer than LEAST seconds are given.
within() {
	[[ ${2:-} =~ ^-?[0-9]+$ ]] || { echo "usage: ${0##*/} SECONDS" >&2 && exit 2; }
	[ "$2" -ge "$1" ] || skip "$2 s are left, $1 are needed"
}
