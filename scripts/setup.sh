#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Installs the missing Debian packages of the given profiles. Profile npm also installs the client
# that tests `faultline mcp`, with npm, in $BUILD/npm; profile pythons fetches newer versions of
# Python than this system has, in $BUILD/pythons.
#
# usage: [BUILD=DIR] setup.sh PROFILE...
# If nothing is missing, it requires neither root nor the network.
set -euo pipefail

profiles='build, test, npm, pythons, demo, bench, deb, image, clang-19, vm, vm-arm64'

packages() {
	case $1 in
	build) echo gcc libc6-dev make pkg-config clang bpftool libbpf-dev libelf-dev libdw-dev libiberty-dev libbz2-dev \
		libmsgpack-dev libzstd-dev libjson-c-dev zlib1g-dev libsqlite3-dev libdeflate-dev \
		libmicrohttpd-dev \
		systemtap-sdt-dev python3-dev node-d3 ;;
	test) echo libcmocka-dev libclang-rt-dev libprotobuf-c-dev protobuf-c-compiler \
		clang-format python3 python3-msgpack \
		python3-msgpack-numpy python3-numpy python3-torch python3-pip python3-pandas \
		python3-dask python3-distributed python3-zstandard python3-jsonschema mypy \
		python3-prometheus-client prometheus \
		g++ binutils openmpi-bin python3-mpi4py zstd strace procps fio e2fsprogs xfsprogs \
		btrfs-progs bindfs mount sudo chromium node-v8-compile-cache eslint tidy systemd curl \
		python3-yaml python3-greenlet rpm patchelf musl-tools ;;
	npm) command -v npm >/dev/null || echo nodejs npm ;;
	pythons) echo patchelf python3 ;;
	demo) echo python3 python3-numpy "$(command -v fincore >/dev/null || echo util-linux-extra)" ;;
	bench) echo python3 python3-h5py python3-msgpack python3-numpy python3-zstandard strace linux-perf bpftrace ;;
	deb) echo "$(packages build)" build-essential dpkg-dev debhelper dh-python lintian mmdebstrap ;;
	image) echo buildah mmdebstrap ;;
	clang-19) echo clang-19 ;;
	vm) echo qemu-system-x86 busybox-static cpio xz-utils lz4 zstd binutils e2fsprogs xfsprogs \
		dmsetup btrfs-progs strace python3 libgcc-s1 \
		libglib2.0-0 libnl-genl-3-200 ;;
	vm-arm64) echo qemu-system-arm gcc-aarch64-linux-gnu cpio xz-utils zstd binutils e2fsprogs \
		xfsprogs python3 ;;
	*) return 1 ;;
	esac
}

fail() {
	echo "setup.sh: $*" >&2
	exit 1
}

installed() {
	dpkg-query -W -f '${db:Status-Abbrev}\n' "$1" 2>/dev/null | grep -q '^.i'
}

[ $# -gt 0 ] || fail "usage: setup.sh PROFILE... ($profiles)"
needed=()
for profile; do
	list=$(packages "$profile") || fail "unknown profile '$profile'; profiles are $profiles"
	read -ra more <<<"$list"
	needed+=("${more[@]}")
	[ "$profile" != npm ] || npm_wanted=1
	[ "$profile" != pythons ] || pythons_wanted=1
done

# Ends the script, when the packages are there.
finish() {
	[ -z "${npm_wanted:-}" ] || install_npm_package
	[ -z "${pythons_wanted:-}" ] || fetch_pythons
	exit 0
}

install_npm_package() {
	local directory=${BUILD:-build}/npm name=@modelcontextprotocol/sdk version=1.32.2
	! grep -qs "\"version\": \"$version\"" "$directory/node_modules/$name/package.json" || return 0
	echo "    installing $name $version with npm"
	mkdir -p "$directory"
	npm install --prefix "$directory" --cache "$directory/.cache" --loglevel=error --no-save --no-package-lock \
		--no-audit --no-fund --ignore-scripts "$name@$version" </dev/null >"$directory/log" 2>&1 ||
		fail "npm could not install $name: $(grep -m 1 . "$directory/log")"
}

fetch_pythons() {
	local directory=${BUILD:-build}/pythons output
	[ -d "$directory" ] || echo "    fetching Python 3.14 and later"
	output=$(python3 tests/live/pythons.py "$directory" 2>&1 </dev/null) || fail "$output"
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	fail "not a Debian system; install the equivalents of these packages and run make: ${needed[*]}"
fi

missing=()
for package in "${needed[@]}"; do
	installed "$package" || [[ " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || finish

as_root=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || fail "not root, and these packages are missing: ${missing[*]}"
	as_root=(sudo)
	[ -t 0 ] || as_root+=(-n)
	"${as_root[@]}" true || fail "sudo refused, and these packages are missing: ${missing[*]}"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Another apt may be running on a machine that has just started: wait for its lock. A configuration
# file that was changed here stays as it is: without a terminal, dpkg would ask and fail.
apt_get() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y \
		-o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 \
		-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" </dev/null >>"$log" 2>&1
}

update() {
	echo "    updating the package lists"
	apt_get update || failed "update the package lists"
}

failed() {
	why=$(grep '^E: ' "$log" | head -n 1) || why="no reason was given"
	kept=$(mktemp --suffix=.log) && cp "$log" "$kept"
	fail "apt-get could not $1: ${why#E: } (log: $kept)"
}

echo "    installing ${#missing[@]} Debian packages: ${missing[*]}"
install=(install --no-install-recommends "${missing[@]}")
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1; then
	update
elif apt_get "${install[@]}"; then
	finish
else
	update # the package lists exist, but are too old to install from
fi
apt_get "${install[@]}" || failed "install ${missing[*]}"
finish
