#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Builds Debian packages from the tree, checks them with lintian, and tries them in a fresh Debian.
# Fills in their control files; make does the build itself.
#
# usage: deb.sh build VERSION DIRECTORY   writes the packages to DIRECTORY (make deb)
#        deb.sh control VERSION DIRECTORY writes the control files to DIRECTORY/debian, builds nothing
#        deb.sh check DIRECTORY           as root: runs lintian, then installs, uses and removes them in
#                                         a minimal Debian; exits with 77 if none is available
# MAINTAINER is the maintainer of the packages ("Name <address>").
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

maintainer=${MAINTAINER:-The Faultline authors <faultline@packages.faultline.invalid>}
names=(faultline libfaultline0 libfaultline-dev python3-faultline)

fail() {
	echo "deb.sh: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# The date of the sources: that of the newest commit or, without git, of the newest file.
source_epoch() {
	echo "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null ||
		find bpf user vmlinux Makefile -type f -printf '%Ts\n' | sort -n | tail -n 1)}"
}

# The licence's first text, as a field of debian/copyright.
bsd_text() {
	sed -n '/^Redistribution and use/,/POSSIBILITY OF SUCH DAMAGE/p' LICENSE | sed 's/^$/./; s/^/ /'
}

control() {
	local version=$1 directory=$2
	rm -rf "$directory/debian"
	cp -R scripts/debian "$directory/debian"
	sed -i "s|@MAINTAINER@|$maintainer|" "$directory/debian/control"
	sed -i "s|@YEAR@|$(date -u +%Y -d "@$(source_epoch)")|" "$directory/debian/copyright"
	sed -i -e '/^@BSD@$/{r /dev/stdin' -e 'd}' "$directory/debian/copyright" < <(bsd_text)
	printf 'faultline (%s) unstable; urgency=medium\n\n  * Faultline %s.\n\n -- %s  %s\n' \
		"$version" "$version" "$maintainer" "$(date -R -u -d "@$(source_epoch)")" \
		>"$directory/debian/changelog"
}

build() {
	local version=$1 directory=$2 tree
	command -v dh >/dev/null || fail "debhelper is missing: scripts/setup.sh deb installs it"
	tree=$directory/faultline-$version
	rm -rf "$directory"
	mkdir -p "$tree"
	cp -R Makefile README.md CONTRIBUTING.md CHANGELOG.md LICENSE bpf user vmlinux tests scripts "$tree"
	find "$tree" -name __pycache__ -prune -exec rm -r {} +
	control "$version" "$tree"
	# Variables of an outer make must not affect the inner one.
	(cd "$tree" && env -u MAKEFLAGS -u MAKELEVEL -u BUILD -u CC -u CFLAGS -u LDFLAGS \
		dpkg-buildpackage -b -us -uc >../log 2>&1) ||
		fail "dpkg-buildpackage failed: $(tail -n 15 "$directory/log")"
	ls "$directory"/*.deb
}

# --- a fresh Debian ---

root=

# Unmounts whatever a test may have left mounted, and removes the root.
leave() {
	local mount
	for mount in sys/fs/bpf sys proc dev; do
		umount -l "$root/$mount" 2>/dev/null || true
	done
	rm -rf --one-file-system "$(dirname "$root")"
}

make_root() {
	root=$(mktemp -d --tmpdir faultline-deb.XXXXXX)/root
	trap leave EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	mkdir -p "$root"
	mmdebstrap --quiet --mode=root --variant=minbase --skip=check/empty,cleanup/apt bookworm "$root" \
		"${MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
		skip "no fresh Debian is available: $(tail -n 1 "$root.log")"
	mount -t proc proc "$root/proc"
	mount --bind /sys "$root/sys"
	mount --bind /dev "$root/dev"
	# shellcheck disable=SC2015
	[ ! -d /sys/fs/bpf ] || mount --bind /sys/fs/bpf "$root/sys/fs/bpf" 2>/dev/null || true
}

inside() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		chroot "$root" "$@" </dev/null
}

files_in_root() {
	(cd "$root" && find . -xdev \( -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
		-o -path ./var/log -o -path ./tmp \) -prune -o -print) | sed 's/^\.//' | sort
}

# Lists the files that dpkg assigns to packages, both under / and under /usr where / has links.
files_of_packages() {
	sed 's/:.*//' "$root"/var/lib/dpkg/info/*.list | sed -E 'p; s,^/(bin|sbin|lib|lib64)(/|$),/usr/\1\2,' |
		sort -u
}

check() {
	local directory=$1 left
	lintian --fail-on error,warning --allow-root "$directory"/*.changes
	echo "lintian: no errors, no warnings"
	make_root
	files_in_root >"$root.before"
	mkdir "$root/packages"
	cp "$directory"/*.deb "$root/packages"
	inside sh -c 'cd /packages && apt-get install -qq -y --no-install-recommends ./faultline_*.deb \
		./libfaultline*_*.deb ./python3-faultline_*.deb gcc libc6-dev pkg-config' \
		>"$root.log" 2>&1 || fail "the packages do not install: $(tail -n 5 "$root.log")"
	rm -r "$root/packages"
	cp scripts/debian/tests/smoke "$root/smoke"
	inside bash /smoke
	rm "$root/smoke"
	inside apt-get purge -qq -y "${names[@]}" >"$root.log" 2>&1 ||
		fail "the packages cannot be removed: $(tail -n 5 "$root.log")"
	left=$(comm -13 "$root.before" <(files_in_root) | comm -23 - <(files_of_packages) |
		grep faultline || true)
	[ -z "$left" ] || fail "files left after removal: $left"
	echo "installed, used and removed, with nothing left"
}

case ${1:-}.$# in
control.3) control "$2" "$3" ;;
build.3) build "$2" "$3" ;;
check.2) check "$2" ;;
*) fail "usage: deb.sh build VERSION DIRECTORY | control VERSION DIRECTORY | check DIRECTORY" ;;
esac
