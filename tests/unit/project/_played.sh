# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced by tests of scripts that install and build: they run in a directory $top of their own, where
# small scripts stand in for the programs that they call.
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir "$top/scripts" "$top/bin"

# plays FILE: a program of that name below $top; stdin is its body.
plays() {
	{ echo '#!/bin/bash' && cat; } >"$top/$1"
	chmod +x "$top/$1"
}

# expect STATUS TEXT [ARGUMENT...]: runs $tested below $top; its output must hold TEXT.
expect() {
	local status=0
	PATH=$top/bin:$PATH "$top/$tested" "${@:3}" >"$top/out" 2>&1 </dev/null || status=$?
	if [ "$status" != "$1" ] || ! grep -q -- "$2" "$top/out"; then
		echo "wanted status $1 and '$2', got status $status and:"
		cat "$top/out"
		exit 1
	fi
}
