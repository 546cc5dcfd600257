#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Boots Debian kernels in QEMU and runs tests/vm/guest.sh in each: variants of the probes that the
# kernel of this machine refuses are tested here. Needs Debian's qemu-system-x86, busybox-static,
# cpio and xz-utils (scripts/setup.sh vm), not root and not KVM.
#
# usage: tests/vm/run.sh [VERSION...]      a version such as 6.1 or 6.12; both by default
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
cache=$build/vm
work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

fail() {
	echo "vmtest: $*" >&2
	exit 2
}

for tool in qemu-system-x86_64 cpio xz busybox mkfs.ext4; do
	PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || fail "$tool is missing: scripts/setup.sh vm installs it"
done
for program in "$build/faultline" "$build/tests/live/mapper"; do
	[ -x "$program" ] || fail "$program is not built: run make programs"
done

# The newest kernel image of a version that this machine's package lists know, unpacked.
fetch_kernel() {
	local version=$1 package
	package=$(apt-cache search --names-only "^linux-image-${version//./\\.}[.][0-9+deb-]*-?cloud-amd64\$" |
		cut -d' ' -f1 | sort -V | tail -n 1)
	[ -n "$package" ] || fail "no linux-image-$version*-cloud-amd64 in the package lists (apt-get update?)"
	if [ ! -e "$cache/$package/.done" ]; then
		rm -rf "${cache:?}/$package"
		mkdir -p "$cache/$package"
		(cd "$cache/$package" && apt-get download "$package" >/dev/null 2>&1) || fail "$package cannot be fetched"
		dpkg -x "$cache/$package"/*.deb "$cache/$package"
		touch "$cache/$package/.done"
	fi
	echo "$cache/$package"
}

# A module and what it needs, in the order of loading.
add_module() {
	local kernel=$1 name=$2 file dependency
	grep -qx "$name" "$work/root/modules/order" && return
	file=$(find "$kernel" -name "$name.ko" -o -name "$name.ko.xz" | head -n 1)
	[ -n "$file" ] || return 0 # built in
	case $file in
	*.xz) xz -dc "$file" ;;
	*) cat "$file" ;;
	esac >"$work/root/modules/$name.ko"
	for dependency in $(objcopy -O binary --only-section=.modinfo "$work/root/modules/$name.ko" /dev/stdout |
		tr '\0' '\n' | sed -n 's/^depends=//p' | tr , ' '); do
		add_module "$kernel" "$dependency"
	done
	echo "$name" >>"$work/root/modules/order"
}

add_program() {
	local library
	cp "$1" "$work/root/bin/"
	for library in $(ldd "$1" | grep -o '/[^ ]*'); do
		mkdir -p "$work/root$(dirname "$library")"
		cp -L "$library" "$work/root$library"
	done
}

make_root() {
	local kernel=$1
	mkdir -p "$work/root"/{bin,proc,sys,dev,tmp,mnt,modules}
	touch "$work/root/modules/order"
	cp "$(command -v busybox)" "$work/root/bin/busybox"
	add_program "$build/faultline"
	add_program "$build/tests/live/mapper"
	cp tests/vm/guest.sh "$work/root/guest.sh"
	for module in virtio_pci virtio_blk; do
		add_module "$kernel" "$module"
	done
	cat >"$work/root/init" <<-'INIT'
		#!/bin/busybox sh
		/bin/busybox --install -s /bin
		mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
		while read -r module; do insmod "/modules/$module.ko"; done </modules/order
		tries=50
		while [ ! -b /dev/vda ] && [ $tries -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done
		mount -t ext4 /dev/vda /mnt
		FAULT_VARIANT=$(sed -n 's/.*fault_variant=\([^ ]*\).*/\1/p' /proc/cmdline) sh /guest.sh >/dev/ttyS1 2>&1
		echo "status $?" >/dev/ttyS1
		poweroff -f
	INIT
	chmod +x "$work/root/init"
	(cd "$work/root" && find . -print0 | cpio -0 -o -H newc --quiet) >"$work/initramfs"
	truncate -s 256M "$work/disk"
	PATH=$PATH:/usr/sbin mkfs.ext4 -qF "$work/disk"
}

run_version() {
	local kernel
	kernel=$(fetch_kernel "$1")
	echo "=== Linux $1 ($(basename "$kernel"))"
	work=$(mktemp -d)
	make_root "$kernel"
	# One thread for all CPUs: with several, attaching probes has made emulated kernels panic.
	timeout 300 qemu-system-x86_64 -accel tcg,thread=single -cpu max -machine q35 -m 1024 -smp 2 -nodefaults \
		-no-user-config -display none -no-reboot -kernel "$(find "$kernel/boot" -name 'vmlinuz*')" \
		-initrd "$work/initramfs" -append "console=ttyS0 panic=-1 quiet fault_variant=fentry" \
		-serial file:"$work/console" -serial file:"$work/output" \
		-drive file="$work/disk",format=raw,if=none,id=disk -device virtio-blk-pci,drive=disk </dev/null || true
	tr -d '\r' <"$work/output" | grep -v '^status '
	if ! tr -d '\r' <"$work/output" | grep -qx 'status 0'; then
		grep -q '^status ' "$work/output" || tail -n 20 "$work/console"
		return 1
	fi
	rm -rf "$work"
	work=
}

[ $# -gt 0 ] || set -- 6.1 6.12
result=0
for version in "$@"; do
	run_version "$version" || result=1
done
exit $result
