#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# That scripts/setup.sh leaves alone what is there, asks the network for no more than it needs, and
# fails with one line. Debian's tools are played by small scripts; nothing is installed.
set -euo pipefail

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
mkdir "$directory/bin"

# tool NAME: a program of that name; stdin is its body, $directory its state.
tool() {
	{ printf '#!/bin/bash\ndirectory=%q\n' "$directory" && cat; } >"$directory/bin/$1"
	chmod +x "$directory/bin/$1"
}
tool dpkg-query <<'BODY'
for package; do :; done
grep -qx "$package" "$directory/missing" || echo "ii "
BODY
tool apt-get <<'BODY'
for word; do case $word in update | install) verb=$word ;; esac; done
echo "$verb" >>"$directory/calls"
[ "$verb" != update ] || touch "$directory/fresh"
! grep -qx "$verb" "$directory/broken" || { echo "E: The $verb is broken" && exit 100; }
[ "$verb" != install ] || [ ! -e "$directory/stale" ] || [ -e "$directory/fresh" ] || exit 100
BODY
tool apt-cache <<'BODY'
[ -e "$directory/known" ]
BODY
tool id <<'BODY'
cat "$directory/uid"
BODY
tool npm <<'BODY'
echo npm >>"$directory/calls"
! grep -qx npm "$directory/broken" || { echo "npm is broken" >&2 && exit 1; }
for word; do :; done
mkdir -p "$directory/build/npm/node_modules/${word%@*}"
echo "  \"version\": \"${word##*@}\"," >"$directory/build/npm/node_modules/${word%@*}/package.json"
BODY
tool python3 <<'BODY'
echo python3 >>"$directory/calls"
! grep -qx python3 "$directory/broken" || { echo "The mirror is broken" >&2 && exit 1; }
BODY
tool sudo <<'BODY'
[ -e "$directory/trusted" ] || exit 1
[ "$1" != -n ] || shift
exec "$@"
BODY

# expect STATUS CALLS [PROFILE...]: runs setup.sh; CALLS are apt-get's verbs, as they should come.
expect() {
	local status=0 expected=$1 calls=$2
	shift 2
	: >"$directory/calls"
	rm -f "$directory/fresh"
	PATH=$directory/bin:$PATH TMPDIR=$directory BUILD=$directory/build scripts/setup.sh "$@" >"$directory/out" 2>"$directory/err" \
		</dev/null || status=$?
	set -- "$(tr '\n' ' ' <"$directory/calls")" "$(wc -l <"$directory/err")"
	if [ "$status" != "$expected" ] || [ "$1" != "$calls" ] || [ "$2" != "$((status > 0))" ]; then
		echo "wanted status $expected and calls '$calls', got status $status and calls '$1':"
		cat "$directory/out" "$directory/err"
		exit 1
	fi
}

says() {
	grep -q -- "$1" "$directory/err" || { echo "no '$1' in:" && cat "$directory/err" && exit 1; }
}

: >"$directory/missing"
: >"$directory/broken"
echo 1000 >"$directory/uid"
expect 0 "" build test demo bench # all is there: no apt, no root
expect 1 "" nonsense
says nonsense

echo clang >"$directory/missing"
expect 1 "" build # not root, and sudo refuses
says clang
touch "$directory/trusted" "$directory/known"
expect 0 "install " build # through sudo

echo 0 >"$directory/uid"
rm "$directory/trusted"
expect 0 "install " build
expect 0 "" demo
rm "$directory/known" # no list of packages
expect 0 "update install " build
touch "$directory/known" "$directory/stale"
expect 0 "install update install " build

echo install >"$directory/broken"
expect 1 "install update install " build
says "The install is broken"
echo update >"$directory/broken"
rm "$directory/known"
expect 1 "update " build
says "The update is broken"

: >"$directory/missing"
echo npm >"$directory/broken"
expect 1 "npm " npm
says "npm is broken"
: >"$directory/broken"
echo clang >"$directory/missing"
touch "$directory/known"
rm "$directory/stale"
expect 0 "install npm " build npm
: >"$directory/missing"
expect 0 "" npm # it is there
expect 0 "python3 " pythons
echo python3 >"$directory/broken"
expect 1 "python3 " pythons
says "The mirror is broken"
