# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced by what is called with the seconds that it may take, and does what it can in them. Must not
# know what that is.

# skip WORDS: what cannot be had is told, and is no failure.
skip() {
	echo "${0##*/}: skipped: $*"
	exit 0
}

# within LEAST [SECONDS]: ends here with fewer seconds than it is worth beginning with.
within() {
	[[ ${2:-} =~ ^-?[0-9]+$ ]] || { echo "usage: ${0##*/} SECONDS" >&2 && exit 2; }
	[ "$2" -ge "$1" ] || skip "$2 s are left, $1 are needed"
}
