#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The first program of a guest: loads what the disks need, runs the jobs of /plan, and leaves what
# each wrote on the third disk as soon as it has ended. Knows no job and judges nothing.

/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin HOME=/root TERM=dumb
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mkdir -p /dev/shm /out /mnt /sys/fs/cgroup
mount -t tmpfs none /dev/shm
ip link set lo up 2>/dev/null
ulimit -c 0

while read -r module; do
	insmod "/modules/$module.ko" || echo "vm: module $module cannot be loaded"
done </modules/at-start
tries=100
while [ ! -b /dev/vdc ] && [ $tries -gt 0 ]; do
	sleep 0.1
	tries=$((tries - 1))
done
# /dev/vdb is nobody's: a job may write to it.
mount -t ext4 /dev/vda /mnt || echo "vm: no scratch disk"

# keep NAME: leaves /out/NAME on the third disk: a block that says "NAME BLOCKS", and then so many
# with the archive. The first is written when the others are there, so that what a guest leaves that
# is cut off is whole.
kept=0
keep() {
	tar cf - "out/$1" | dd of=/dev/vdc bs=64k seek=$((kept + 1)) iflag=fullblock conv=notrunc,fsync 2>/tmp/kept ||
		{ echo "vm: no room for $1" && return; }
	# "2+1 records out": two whole blocks, and one that is not.
	blocks=$(($(sed -n 's/ records out$//p' /tmp/kept)))
	echo "$1 $blocks" | dd of=/dev/vdc bs=64k seek=$kept conv=notrunc,fsync 2>/dev/null
	kept=$((kept + 1 + blocks))
}

# job NAME SECONDS COMMAND: unless the time is over (the plan sets SECONDS_LEFT), runs it in a directory of its own, $OUT, and keeps how it ended.
job() {
	[ "$(cut -d . -f 1 /proc/uptime)" -lt "$SECONDS_LEFT" ] || return
	export OUT="/out/$1"
	mkdir -p "$OUT"
	cd "$OUT" || return
	timeout -s KILL "$2" sh -c "$3" </dev/null >"$OUT/stdout" 2>"$OUT/stderr"
	status=$?
	echo $status >"$OUT/status"
	cd / && keep "$1"
	echo "vm: $(cut -d ' ' -f 1 /proc/uptime) s: $1: $status"
}

# fresh FILE MIB: random data on the scratch disk, not in memory.
cat >/bin/fresh <<'END'
#!/bin/busybox sh
dd if=/dev/urandom of="$1" bs=1M count="$2" 2>/dev/null
sync
echo 3 >/proc/sys/vm/drop_caches
END
# load NAME [OPTION...]: a module, built in or not; what it needs may be there already.
cat >/bin/load <<'END'
#!/bin/busybox sh
name=$1
shift
while read -r module; do
	[ "$module" = "$name" ] || insmod "/modules/$module.ko" 2>/dev/null
done <"/modules/$name"
[ ! -f "/modules/$name.ko" ] || insmod "/modules/$name.ko" "$@"
END
# disks COUNT [OPTION...]: null_blk disks of 1 GiB that keep what is written, and no others. Older
# kernels have no parameter for that.
cat >/bin/disks <<'END'
#!/bin/busybox sh
at=/sys/kernel/config/nullb
rmdir $at/nullb* 2>/dev/null
rmmod null_blk 2>/dev/null
count=$1
shift
[ "$count" = 0 ] && exit
load null_blk nr_devices="$count" gb=1 memory_backed=1 "$@" || exit
[ -e /sys/module/null_blk/parameters/memory_backed ] && exit
rmmod null_blk
load null_blk nr_devices=0 || exit
[ -d $at ] || mount -t configfs none /sys/kernel/config
for disk in $(seq 0 $((count - 1))); do
	mkdir $at/nullb"$disk" || exit
	for option in size=1024 memory_backed=1 "$@" power=1; do
		echo "${option#*=}" >$at/nullb"$disk"/"${option%=*}" || exit
	done
done
END
# paths on|off: both controllers of the NVMe disk with two paths get a driver, or lose it.
cat >/bin/paths <<'END'
#!/bin/busybox sh
for path in /sys/bus/pci/devices/0000:00:1[01].0; do
	address=${path##*/}
	[ "$1" = on ] && echo >"$path"/driver_override && echo "$address" >/sys/bus/pci/drivers_probe && continue
	echo none >"$path"/driver_override
	[ ! -e "$path"/driver ] || echo "$address" >"$path"/driver/unbind
done
END
# need TOOL...: programs of their own, not what busybox has by that name.
cat >/bin/need <<'END'
#!/bin/busybox sh
for tool; do
	[ -x "/bin/$tool" ] && [ ! -L "/bin/$tool" ] && continue
	echo "$tool is not in the guest" >&2
	exit 76
done
END
chmod +x /bin/fresh /bin/load /bin/disks /bin/paths /bin/need
paths off

. /plan
echo "vm: done"
poweroff -f
