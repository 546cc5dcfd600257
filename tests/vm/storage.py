# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for block devices that appear during the run, are stacked, or fail: compared with
the kernel's own counts, device by device."""
import collections
import re

from devices import SECTOR_BYTES, STAT
from job import Job, check, reported_losses

BLOCK_BYTES, DIRECT_BYTES = 4096, 4 << 20
PART, DIRECT = 1 << 8, 1 << 5  # as in the man page of the trace format
READ_ROUNDS = 11  # how often `uring` reads each of its blocks: 5 rounds by each, 1 polled
STACKED_FILE = "/mnt/stacked/data"
# Files that `uring` reads with O_DIRECT, and its account of that.
READ_DIRECTLY = {STACKED_FILE: "account", "/dev/nullb2p2": "account-part",
                 "/dev/md_job": "account-md"}


def difference(results, device):
    """{column: the kernel's count in between}; `device` may also be a partition."""
    before, after = (results.text(f"{when}-{device.replace('/', '-')}") for when in
                     ("before", "after"))
    check(before is not None and after, f"no counts of {device}: {results.messages()}")
    before = before.split() or ["0"] * 17  # it did not exist
    return {
        column: (int(after.split()[field]) - int(before[field]))
        * (SECTOR_BYTES if column.endswith("_bytes") else 1)
        for field, column in STAT.items()
    }


def check_counts(results, names, lost):
    """Each device's row has its name and its counts; {name: row}."""
    rows = {row["name"]: row for row in results.printed("block") if row["kind"] == "device"}
    for name in names:
        check(name in rows, f"nothing of {name}, but of {sorted(rows)}")
        theirs = difference(results, name)
        ours = {column: rows[name][column] for column in theirs}
        if name.startswith("dm-"):  # there the kernel counts a flush as a write
            ours["write_requests"] += ours.pop("flush_requests")
            theirs.pop("flush_requests")
        elif name.startswith("md"):  # there it does not, but counts each piece split off a bio
            theirs["flush_requests"] = ours["flush_requests"]
            for column in ("read_requests", "write_requests"):
                theirs[column] = min(theirs[column], ours[column])
        wrong = {column: (ours[column], theirs[column]) for column in theirs
                 if (ours[column] > theirs[column] if lost else ours[column] != theirs[column])}
        check(not wrong, f"{name}: (reported, counted by the kernel): {wrong}")
    return {name: rows[name] for name in names}


def judge_late(results):
    """Drivers and file systems loaded long after the recording began."""
    lost = reported_losses(results, results.report())
    check_counts(results, ("nvme0n1", "nullb0"), lost)
    wanted = {f"/mnt/x/f{i}": 8192 for i in range(1, 101)}
    wanted["/mnt/x/direct"] = 20 * 65536
    written, read = collections.Counter(), collections.Counter()
    for row in results.printed("block"):
        if row["kind"] != "bio" or row["flags"] & 1:
            continue
        sums = {"request_write": written, "request_read": read}.get(row["op"])
        if sums is not None:
            sums[row.get("path", "")] += row["bytes"]
    wrong = {path: (written[path], size) for path, size in wanted.items()
             if (written[path] > size if lost else written[path] != size)}
    check(not wrong, f"(reported, written): {wrong}")
    # If the overlay module came later, lower files read ahead cannot be mapped to overlay files,
    # and keep their own names.
    for name, size in (("direct", 20 * 65536), ("f1", 8192)):
        reported = read[f"/mnt/merged/{name}"] + read[f"/mnt/x/{name}"]
        check(reported == size or (lost and reported <= size), f"{reported} bytes read of {name}, not {size}")
    return f"nvme0n1 and nullb0 as by their own counts, {len(wanted)} files on xfs"


def judge_stacked(results):
    """Stacked devices and partitions: named as in /sys/block, each with its counts."""
    lost = reported_losses(results, results.report())
    devices = ("nullb0", "nullb1", "nullb2", "md_job", "dm-0")
    check_counts(results, devices, lost)
    requests = [row for row in results.printed("block") if row["kind"] == "request"]
    for number in (1, 2):
        part = [row for row in requests if row["part"] == int(results.text(f"number-{number}"))]
        theirs = difference(results, f"nullb2/nullb2p{number}")
        for side in ("read", "write"):
            # An empty flushing write is recorded as a flush; the kernel counts it as a write.
            names = ("request_write", "request_flush") if side == "write" else ("request_read",)
            own = [row for row in part if row["op"] in names]
            ours = {f"{side}_requests": len(own),
                    f"{side}_bytes": sum(row["bytes"] for row in own)}
            for column, value in ours.items():
                check(value == theirs[column] or (lost and value < theirs[column]),
                      f"partition {number}: {column} {value}, by the kernel {theirs[column]}")
    check_direct(results, lost)
    return f"{', '.join(devices)} as by their own counts, and each direct bio at its place"


def judge_paths(results):
    """An NVMe disk with two paths: what it does is what its paths do, by the kernel's counts, and
    its requests are of the files that the job read and wrote."""
    lost = reported_losses(results, results.report())
    name, *paths = results.text("names").split()
    rows = {row["name"]: row for row in results.printed("block") if row["kind"] == "device"}
    check(name in rows and not rows.keys() & {*paths}, f"{name} has {paths}: rows of {[*rows]}")
    each = [difference(results, path) for path in paths]
    check(all(counts["read_bytes"] for counts in each), f"a path is not used: {each}")
    wrong = {}
    for column in STAT.values():
        ours, theirs = rows[name][column], sum(counts[column] for counts in each)
        if ours > theirs if lost else ours != theirs:
            wrong[column] = ours, theirs
    check(not wrong, f"{name}: (recorded, counted by the kernel): {wrong}")
    sums, dev = collections.Counter(), rows[name]["dev"]
    for row in results.printed("block"):
        if row["kind"] == "bio" and row["dev"] == dev and row["pid"]:
            sums[row["op"], row.get("path")] += row["bytes"]
    wanted = {("request_write", f"/dev/{name}"): PATH_BYTES,
              ("request_read", f"/dev/{name}"): PATH_BYTES,
              ("request_write", "/mnt/paths/direct"): PATH_BYTES,
              ("request_read", "/mnt/paths/direct"): 2 * PATH_BYTES}
    wrong = {key: (sums[key], size) for key, size in wanted.items()
             if (sums[key] > size if lost else sums[key] != size)}
    check(not wrong, f"(recorded, moved): {wrong}, of {dict(sums)}")
    parts = {row["part"] for row in results.printed("block") if row["kind"] == "request"
             and row["dev"] == dev}
    check(parts == {dev}, f"requests of {name} are of the partitions {parts}")
    stale = results.report()["trace"]["notes"].get("bios_ended_unseen", 0)
    check(lost or not stale, f"{stale} bios without an end")
    return f"{name} by {' and '.join(paths)}: {rows[name]['read_requests']} reads"


def direct_places(results, path):
    """{operation: {file offset: count}}, by block, for O_DIRECT requests."""
    places = collections.defaultdict(collections.Counter)
    for row in results.printed("block"):
        # Bios without an offset are zeros that a file system writes ahead of the data, or a call
        # waits for them.
        if (row["kind"] == "bio" and row.get("path") == path and row["flags"] & DIRECT
                and row["offset"] >= 0):
            for at in range(row["offset"], row["offset"] + row["bytes"], BLOCK_BYTES):
                places[row["op"]][at] += 1
    return places


def check_direct(results, lost):
    """O_DIRECT requests to a file or device on stacked devices belong to the file, at its
    offset, however they are split: written by calls, read by io_uring and libaio."""
    for path, account in READ_DIRECTLY.items():
        truth, places = results.account(account), direct_places(results, path)
        blocks = (truth["io_uring"] + truth["libaio"] + truth["polled"]) // READ_ROUNDS
        wanted = {"request_read": {at * BLOCK_BYTES: READ_ROUNDS for at in range(blocks)}}
        if path == STACKED_FILE:
            wanted["request_write"] = {at: 1 for at in range(0, DIRECT_BYTES, BLOCK_BYTES)}
        for name, counts in wanted.items():
            reported = places[name]
            wrong = {at: (reported[at], counts.get(at, 0)) for at in {*reported, *counts}
                     if reported[at] != counts.get(at, 0)}
            check(all(ours < theirs for ours, theirs in wrong.values()) if lost else not wrong,
                  f"{path}: {name}: (reported, done) at {dict(list(wrong.items())[:5])}")


def judge_failing(results):
    """Requests requeued by the driver, completed in parts, or failed, as counted by the kernel's
    own tracer and the disk's driver."""
    lost = reported_losses(results, results.report())
    row = check_counts(results, ("sda",), lost)["sda"]
    requests = [request for request in results.printed("block")
                if request["kind"] == "request" and request["dev"] == row["dev"]]
    traced = (results.text("traced") or "").count(" block_rq_requeue: ")
    check(traced > 10, f"{traced} requests were given back: this tests nothing")
    check(row["read_requeues"] == traced or (lost and row["read_requeues"] < traced),
          f"{row['read_requeues']} requeues, by the kernel's tracer {traced}")
    failed = (results.text("stderr") or "").count("dd: /dev/sda: ")
    check(failed == 1 and (row["read_errors"] == failed or lost), f"{row['read_errors']} failed")
    check(lost or [request["status"] > 0 for request in requests].count(True) == failed,
          "failed requests")
    parts = [request for request in requests if request["flags"] & PART]
    check(parts or lost, "no request ended in parts: this tests nothing")
    check(lost or sum(request["bytes"] for request in requests) == row["read_bytes"],
          "bytes of all requests and their parts")
    return (f"{row['read_requests']} requests as by the kernel's counts, {traced} times given back, "
            f"{len(parts)} parts, {failed} failed")


def judge_zoned(results):
    """Zone appends have the disk position from the completion, and the file offset from the
    writer: as the kernel's own tracer saw each request end, and each block of a file once."""
    lost = reported_losses(results, results.report())
    row = check_counts(results, ("nullb0",), lost)["nullb0"]
    traced = collections.Counter(
        (int(sector), int(sectors) * SECTOR_BYTES) for sector, sectors in
        re.findall(r" block_rq_complete: .*\) (\d+) \+ (\d+) ", results.text("traced") or ""))
    rows = [one for one in results.printed("block") if one.get("dev") == row["dev"]]
    placed, written = collections.Counter(), collections.defaultdict(collections.Counter)
    for one in rows:
        if one["kind"] == "bio" and one["op"] == "request_write" and one.get("path") in ZONED_FILES:
            placed[one["sector"], one["bytes"]] += 1
            for block in range(one["bytes"] // BLOCK_BYTES):
                reported = one["offset"] // BLOCK_BYTES + block if one["offset"] >= 0 else "somewhere"
                written[one["path"]][reported] += 1
    check(not placed - traced, f"not at its place: {dict((placed - traced).most_common(5))}")
    for path, size in ZONED_FILES.items():
        wanted = collections.Counter(range(size // BLOCK_BYTES))
        if written[path]["somewhere"] and path == ZONED_DIRECT:  # not in the bio up to 6.1
            wanted = collections.Counter({"somewhere": size // BLOCK_BYTES})
        check(not written[path] - wanted and (lost or not wanted - written[path]),
              f"{path}: blocks {written[path].most_common(5)} of {len(wanted)}")
    empty = [one["op"] for one in rows if one["kind"] == "request" and not one["bytes"]]
    check(lost or "request_write" in empty, f"a zone was reset, which is recorded as {set(empty)}")
    return f"{sum(placed.values())} bios in {sum(traced.values())} requests, each at its place"


# The NVMe driver if it is a module, otherwise the device, which is unbound beforehand.
LATE = """pci=/sys/bus/pci/drivers/nvme; export late=$(cd $pci && ls -d 0000:*)
[ -z "$late" ] || echo $late >$pci/unbind; until [ ! -e /dev/nvme0n1 ]; do sleep 0.1; done
[ -n "$late" ] || [ -f /modules/nvme.ko ] || exit 77
disks 0; : >before-nullb0; : >before-nvme0n1; mkdir -p /mnt/x /mnt/merged
$RUN -- sh -c 'load null_blk nr_devices=1 gb=1; load nvme
[ -z "$late" ] || echo $late >/sys/bus/pci/drivers/nvme/bind; until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
dd if=/dev/nullb0 of=/dev/null bs=64k count=50 iflag=direct
load xfs; mount -t xfs /dev/nvme0n1 /mnt/x || exit
for i in $(seq 100); do dd if=/dev/zero of=/mnt/x/f$i bs=5000 count=1; done
dd if=/dev/zero of=/mnt/x/direct bs=64k count=20 oflag=direct
sync; echo 3 >/proc/sys/vm/drop_caches
load overlay; mkdir /mnt/x/upper /mnt/x/work
mount -t overlay o -o lowerdir=/mnt/x,upperdir=/mnt/x/upper,workdir=/mnt/x/work /mnt/merged ||
mount -t overlay o -o lowerdir=/mnt/x:/mnt/x/upper /mnt/merged || exit
dd if=/mnt/merged/direct of=/dev/null bs=64k iflag=direct; cat /mnt/merged/f1
umount /mnt/merged; umount /mnt/x'; s=$?
for name in nvme0n1 nullb0; do cat /sys/block/$name/stat >after-$name; done; exit $s"""

# Two partitions of 32 MiB each, at 1 MiB and at 33 MiB.
STACKED = """need dmsetup mke2fs || exit; disks 3 cache_size=64 || exit 77
load raid0 && load dm_mod || exit 77
printf '\\000\\000\\000\\000\\203\\000\\000\\000\\000\\010\\000\\000\\000\\000\\001\\000' >table
printf '\\000\\000\\000\\000\\203\\000\\000\\000\\000\\010\\001\\000\\000\\000\\001\\000' >>table
dd if=table of=/dev/nullb2 bs=1 seek=446; printf '\\125\\252' | dd of=/dev/nullb2 bs=1 seek=510
blockdev --rereadpt /dev/nullb2; sleep 1
echo md_job >/sys/module/md_mod/parameters/new_array; cd /sys/block/md_job/md || exit
echo none >metadata_version; echo raid0 >level; echo 2 >raid_disks; echo 65536 >chunk_size
for n in 0 1; do cat /sys/block/nullb$n/dev >new_dev; echo 1048576 >dev-nullb$n/size; echo $n >dev-nullb$n/slot; done
echo active >array_state || echo clean >array_state; cd $OUT
DM_DISABLE_UDEV=1 dmsetup create line --table "0 65536 linear /dev/nullb2p1 0" || exit
counts() { for name in nullb0 nullb1 nullb2 md_job dm-0 nullb2/nullb2p1 nullb2/nullb2p2; do
cat /sys/block/$name/stat >$1-$(echo $name | tr / -); done; }
for n in 1 2; do IFS=: read major minor </sys/block/nullb2/nullb2p$n/dev
echo $((major << 20 | minor)) >number-$n; done
mkdir -p /mnt/stacked; counts before
$RUN -- sh -c 'for name in md_job mapper/line; do
dd if=/dev/zero of=/dev/$name bs=64k count=50 oflag=direct
dd if=/dev/$name of=/dev/null bs=64k count=50 iflag=direct
dd if=/dev/zero of=/dev/$name bs=1M count=8 seek=16 conv=fsync,notrunc; done
dd if=/dev/nullb2p2 of=/dev/null bs=16k count=40 iflag=direct
uring /dev/nullb2p2 account-part direct && uring /dev/md_job account-md direct || exit
mke2fs -q /dev/md_job || exit; mount -t ext4 /dev/md_job /mnt/stacked || exit
dd if=/dev/zero of=/mnt/stacked/part bs=512 count=1 seek=3 oflag=direct
dd if=/dev/zero of=/mnt/stacked/data bs=1M count=4 oflag=direct
uring /mnt/stacked/data account direct; s=$?; umount /mnt/stacked; exit $s'; s=$?
counts after
DM_DISABLE_UDEV=1 dmsetup remove line; echo clear >/sys/block/md_job/md/array_state
exit $s"""

# Both paths take turns. The whole disk is written and read first, then a file with O_DIRECT, which
# is then read through the page cache.
PATH_BYTES = 8 << 20
PATHS = f"""need mke2fs || exit; load nvme
[ "$(cat /sys/module/nvme_core/parameters/multipath)" = Y ] || exit 77
paths on; until [ "$(ls -d /sys/block/nvme*c*n1 | wc -l)" = 2 ]; do sleep 0.1; done
paths=$(cd /sys/block && ls -d nvme*c*n1); set -- $paths; name=$(echo $1 | sed 's/c[0-9]*//')
until [ -b /dev/$name ]; do sleep 0.1; done; echo $name $paths >names
for policy in /sys/class/nvme-subsystem/*/iopolicy; do echo round-robin >$policy; done
mkdir -p /mnt/paths; counts() {{ for one in $paths; do cat /sys/block/$one/stat >$1-$one; done; }}; counts before
export name; $RUN -- sh -c 'dd if=/dev/zero of=/dev/$name bs=64k count={PATH_BYTES >> 16} oflag=direct
dd if=/dev/$name of=/dev/null bs=64k count={PATH_BYTES >> 16} iflag=direct
mke2fs -q /dev/$name && mount -t ext4 /dev/$name /mnt/paths || exit
dd if=/dev/zero of=/mnt/paths/direct bs=64k count={PATH_BYTES >> 16} oflag=direct
dd if=/mnt/paths/direct of=/dev/null bs=128k iflag=direct; cat /mnt/paths/direct >/dev/null
umount /mnt/paths'; s=$?; counts after; paths off; exit $s"""

# A disk of 64 MiB that fails at sector 4660; for some requests requeues every seventh, and for
# others transfers every fifth only partly. The kernel's tracer gives the numbers.
FAILING = """[ -f /modules/scsi_debug.ko ] || exit 77; load sd_mod; load scsi_debug dev_size_mb=64 delay=0 || exit 77
until [ -b /dev/sda ]; do sleep 0.1; done; sleep 1
debug=/sys/bus/pseudo/drivers/scsi_debug; cd /sys/kernel; mount -t tracefs none tracing; cd tracing
echo 'dev == 8388608' >events/block/block_rq_requeue/filter || exit 77
echo 1 >events/block/block_rq_requeue/enable; cd $OUT
cat /sys/block/sda/stat >before-sda
$RUN -- sh -c "echo 2 >$debug/opts
dd if=/dev/sda of=/dev/null bs=64k count=64 iflag=direct conv=noerror
echo 32768 >$debug/opts; echo 7 >$debug/every_nth
dd if=/dev/sda of=/dev/null bs=16k count=100 skip=1024 iflag=direct
echo 256 >$debug/opts; echo 5 >$debug/every_nth
dd if=/dev/sda of=/dev/null bs=16k count=100 skip=2048 iflag=direct
echo 0 >$debug/opts; echo 0 >$debug/every_nth"; s=$?
cat /sys/block/sda/stat >after-sda;
cat /sys/kernel/tracing/trace >traced; umount /sys/kernel/tracing
rmmod scsi_debug; exit $s"""

# Zones of 16 MiB, with appends by the driver or, since 6.10, emulated by the block layer.
ZONED_FILES = {f"/mnt/zoned/f{i}": 37 * BLOCK_BYTES for i in range(1, 21)}
EMULATED = "zone_append_max_sectors=0"
ZONED_DIRECT = "/mnt/zoned/direct"
ZONED_FILES[ZONED_DIRECT] = 20 * 65536
ZONED = """need mkfs.btrfs blkzone || exit; load btrfs; grep -qw btrfs /proc/filesystems || exit 77
disks 1 zoned=1 zone_size=16 %s || exit 77
for option in %s; do [ -e /sys/module/null_blk/parameters/${option%%%%=*} ] || exit 77; done
mkfs.btrfs -q -O zoned -d single -m single /dev/nullb0 || exit 77
IFS=: read major minor </sys/block/nullb0/dev; mkdir -p /mnt/zoned
cd /sys/kernel; mount -t tracefs none tracing; cd tracing; : >trace
echo "dev == $((major << 20 | minor))" >events/block/block_rq_complete/filter || exit
echo 1 >events/block/block_rq_complete/enable; cd $OUT; cat /sys/block/nullb0/stat >before-nullb0
$RUN -- sh -c 'mount -t btrfs /dev/nullb0 /mnt/zoned || exit
for i in $(seq 20); do dd if=/dev/zero of=/mnt/zoned/f$i bs=4k count=37; done
dd if=/dev/zero of=/mnt/zoned/direct bs=64k count=20 oflag=direct
sync; umount /mnt/zoned && blkzone reset -o $((63 << 15)) -c 1 /dev/nullb0'; s=$?
cat /sys/block/nullb0/stat >after-nullb0; echo 0 >/sys/kernel/tracing/events/block/enable
cat /sys/kernel/tracing/trace >traced; umount /sys/kernel/tracing; disks 0; exit $s"""


def for_kernel(quick):
    """The jobs for a supported kernel."""
    return [Job("block", "chosen", "late", LATE, judge_late),
            Job("block", "chosen", "stacked", STACKED, judge_stacked),
            Job("block", "chosen", "paths", PATHS, judge_paths),
            Job("block", "chosen", "failing", FAILING, judge_failing),
            Job("block", "chosen", "zoned", ZONED % ("", ""), judge_zoned),
            Job("block", "chosen", "appended", ZONED % (EMULATED, EMULATED), judge_zoned)]
