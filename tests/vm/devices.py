# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for block devices and for a throttled writer, compared with the kernel's own counts
and its own trace."""
from job import check, equal, reported_losses

# Fields of /sys/block/*/stat, and their names in a device's row.
STAT = {0: "read_requests", 1: "read_merges", 2: "read_bytes", 4: "write_requests",
        5: "write_merges", 6: "write_bytes", 15: "flush_requests"}
# A virtual disk with a volatile cache, and a device on which nothing takes less than NULL_NS. The
# job waits for readahead still in flight.
NULL_DEVICE = "nullb0"
DEVICES = ("vdb", NULL_DEVICE)
NULL_NS, SECTOR_BYTES = 1000000, 512
BLOCK = """load null_blk nr_devices=1 gb=1 irqmode=2 completion_nsec=%(ns)d
for name in %(names)s; do cat /sys/block/$name/stat >before-$name || exit; done
$RUN -- sh -c 'for name in %(names)s; do for i in $(seq %(programs)d); do (
dd if=/dev/$name of=/dev/null bs=64k count=100 iflag=direct
dd if=/dev/zero of=/dev/$name bs=16k count=50 oflag=direct
dd if=/dev/$name of=/dev/null bs=1M count=8 skip=32
dd if=/dev/zero of=/dev/$name bs=1M count=8 seek=48 conv=fsync,notrunc) & done; wait
until grep -q "^ *0 *0$" /sys/block/$name/inflight; do sleep 0.1; done; done'
for name in %(names)s; do cat /sys/block/$name/stat >after-$name; done"""
# With a low machine-wide dirty limit, restored afterwards. On a disk slower than any writer; the
# kernel's own trace gives the number of pauses.
THROTTLED, TICK_NS = "/mnt/slow/throttled", 10000000
THROTTLE = """disks 1 irqmode=2 completion_nsec=20000000 hw_queue_depth=1 || exit 77
mke2fs -F -b 4096 /dev/nullb0 65536; mkdir -p /mnt/slow; mount -t ext4 /dev/nullb0 /mnt/slow || exit
sync; cd /proc/sys/vm; before=$(cat dirty_ratio); background=$(cat dirty_background_ratio)
echo 524288 >dirty_background_bytes; echo 1048576 >dirty_bytes; cd $OUT; trace=/sys/kernel/tracing; mount -t tracefs none $trace
event=$trace/events/writeback/balance_dirty_pages/enable; echo >$trace/trace; echo 1 >$event
$RUN -- dd if=/dev/zero of=%s bs=64k count=256; status=$?
echo 0 >$event; grep -c "dd-.* balance_dirty_pages: .* pause=[1-9]" $trace/trace >paused
echo $before >/proc/sys/vm/dirty_ratio; echo $background >/proc/sys/vm/dirty_background_ratio
umount $trace /mnt/slow; disks 0; exit $status""" % THROTTLED


def block(programs):
    return BLOCK % {"ns": NULL_NS, "names": " ".join(DEVICES), "programs": programs}


def judge_devices(results):
    """Requests of dedicated devices, compared with the kernel's own counts."""
    report, missing = results.report(), 0
    lost = reported_losses(results, report)
    rows = results.printed("block")
    for name in DEVICES:
        before, after = (results.text(f"{when}-{name}").split() for when in ("before", "after"))
        done = [row for row in rows if row["kind"] == "device" and row["name"] == name]
        check(done, f"nothing of {name}")
        for field, column in STAT.items():
            theirs = int(after[field]) - int(before[field])
            theirs *= SECTOR_BYTES if column.endswith("_bytes") else 1
            ours = done[-1][column]
            check(ours == theirs or (lost and ours < theirs),
                  f"{name}: {column} {ours}, by the kernel's count {theirs}")
            missing += 0 if column.endswith("_bytes") else theirs - ours
        if name == NULL_DEVICE:
            times = [row["dur_ns"] for row in rows
                     if row["kind"] == "request" and row["dev"] == done[-1]["dev"]]
            check(times or lost, f"no request to {name}")
            check(min(times, default=NULL_NS) >= NULL_NS, f"one to {name} took {min(times)} ns")
    lost = report["trace"]["lost"]["by_layer"].get("block") or 0
    check(missing <= lost, f"{missing} requests are missing, {lost} reported lost")
    reported = f", {missing} requests missing, {lost} reported lost" if lost else ""
    return f"{' and '.join(DEVICES)} as by their own counts, {len(times)} requests timed{reported}"


def judge_throttled(results):
    """A writer that waits for writeback: its recorded pauses lie within its calls."""
    report = results.report()
    lost = reported_losses(results, report)
    pauses, totals = results.printed("throttle"), report["totals"]["throttled"]
    reported = sum(row["pause_ns"] for row in pauses)
    calls = [row for row in results.printed("syscall") if row["op"] == "write"]
    paused = int(results.text("paused") or 0)
    check(totals["pauses"] == paused > 0 or (lost and totals["pauses"] < paused),
          f"{totals['pauses']} pauses, by the kernel's own trace {paused}")
    check(lost or (totals["pauses"], totals["pause_ns"]) == (len(pauses), reported),
          f"{len(pauses)} pauses of {reported} ns, in the totals {totals}")
    equal({row["path"] for row in pauses}, {THROTTLED}, "files of the pauses")
    took = sum(row["dur_ns"] for row in calls if row.get("path") == THROTTLED)
    check(lost or reported <= took + len(pauses) * TICK_NS,
          f"reported {reported} ns of sleep in calls that took {took} ns")
    return f"{len(pauses)} pauses of {reported // 1000000} ms in writes of {took // 1000000} ms"
