#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# That scripts/setup.sh leaves alone what is there, asks the network for no more than it needs, and
# fails with one line. Debian's tools are played by small scripts; nothing is installed.
set -euo pipefail

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/bin"

# tool NAME: a program of that name; stdin is its body, $place its state.
tool() {
	{ printf '#!/bin/bash\nplace=%q\n' "$place" && cat; } >"$place/bin/$1"
	chmod +x "$place/bin/$1"
}
tool dpkg-query <<'BODY'
for package; do :; done
grep -qx "$package" "$place/missing" || echo "ii "
BODY
tool apt-get <<'BODY'
for word; do case $word in update | install) verb=$word ;; esac; done
echo "$verb" >>"$place/calls"
[ "$verb" != update ] || touch "$place/fresh"
! grep -qx "$verb" "$place/broken" || { echo "E: The $verb is broken" && exit 100; }
[ "$verb" != install ] || [ ! -e "$place/stale" ] || [ -e "$place/fresh" ] || exit 100
BODY
tool apt-cache <<'BODY'
[ -e "$place/known" ]
BODY
tool id <<'BODY'
cat "$place/uid"
BODY
tool npm <<'BODY'
echo npm >>"$place/calls"
! grep -qx npm "$place/broken" || { echo "npm is broken" >&2 && exit 1; }
for word; do :; done
mkdir -p "$place/build/npm/node_modules/${word%@*}"
echo "  \"version\": \"${word##*@}\"," >"$place/build/npm/node_modules/${word%@*}/package.json"
BODY
tool python3 <<'BODY'
echo python3 >>"$place/calls"
! grep -qx python3 "$place/broken" || { echo "The mirror is broken" >&2 && exit 1; }
BODY
tool sudo <<'BODY'
[ -e "$place/trusted" ] || exit 1
[ "$1" != -n ] || shift
exec "$@"
BODY

# expect STATUS CALLS [PROFILE...]: runs setup.sh; CALLS are apt-get's verbs, as they should come.
expect() {
	local status=0 expected=$1 calls=$2
	shift 2
	: >"$place/calls"
	rm -f "$place/fresh"
	PATH=$place/bin:$PATH TMPDIR=$place BUILD=$place/build scripts/setup.sh "$@" >"$place/out" 2>"$place/err" \
		</dev/null || status=$?
	set -- "$(tr '\n' ' ' <"$place/calls")" "$(wc -l <"$place/err")"
	if [ "$status" != "$expected" ] || [ "$1" != "$calls" ] || [ "$2" != "$((status > 0))" ]; then
		echo "wanted status $expected and calls '$calls', got status $status and calls '$1':"
		cat "$place/out" "$place/err"
		exit 1
	fi
}

says() {
	grep -q -- "$1" "$place/err" || { echo "no '$1' in:" && cat "$place/err" && exit 1; }
}

: >"$place/missing"
: >"$place/broken"
echo 1000 >"$place/uid"
expect 0 "" build test demo bench # all is there: no apt, no root
expect 1 "" nonsense
says nonsense

echo clang >"$place/missing"
expect 1 "" build # not root, and sudo refuses
says clang
touch "$place/trusted" "$place/known"
expect 0 "install " build # through sudo

echo 0 >"$place/uid"
rm "$place/trusted"
expect 0 "install " build
expect 0 "" demo
rm "$place/known" # no list of packages
expect 0 "update install " build
touch "$place/known" "$place/stale"
expect 0 "install update install " build

echo install >"$place/broken"
expect 1 "install update install " build
says "The install is broken"
echo update >"$place/broken"
rm "$place/known"
expect 1 "update " build
says "The update is broken"

: >"$place/missing"
echo npm >"$place/broken"
expect 1 "npm " npm
says "npm is broken"
: >"$place/broken"
echo clang >"$place/missing"
touch "$place/known"
rm "$place/stale"
expect 0 "install npm " build npm
: >"$place/missing"
expect 0 "" npm # it is there
expect 0 "python3 " pythons
echo python3 >"$place/broken"
expect 1 "python3 " pythons
says "The mirror is broken"
