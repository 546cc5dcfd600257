# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Jobs for the VFS layer, which cannot be had wherever kernels lack kprobes and BPF trampolines:
what was moved to and from files against the workload's own account, and that no byte of it is told
twice. Knows nothing of virtual machines."""
import re

from jobs import VARIANTS as ALL_VARIANTS
from jobs import Absent, Job, check, equal, file_row, told_losses

VARIANTS = ALL_VARIANTS["vfs"]
FILE_BYTES = 1 << 20
STEP, PIECE = 3 * 4096, 4096
# Files of the workload `moves` that are read, and written, by calls that the account names.
READ = {"pread": "pread", "preadv": "preadv"}
WRITTEN = {"write": "write", "append": "append", "writev": "writev"}
# ... and from file to file: where the bytes of an account go.
MOVED = {"sent": "sent_to", "spliced": "spliced_to", "copied": "copied_to"}


def apart(report):
    """Operations that are in no total, by name."""
    return {row["op"]: row for row in report["operations"]
            if row["layer"] == "vfs" and row["op"].endswith("_apart") and row["count"]}


def moved(report, directory, account, calls):
    """Each file's bytes, once; how often only where the calls themselves are counted."""
    for name, of in READ.items():
        row, truth = file_row(report, f"{directory}/{name}"), account[of]
        equal((row["read"]["count"], row["read"]["bytes"]), (truth["calls"], truth["bytes"]), name)
    for name, of in WRITTEN.items():
        row, truth = file_row(report, f"{directory}/{name}"), account[of]
        equal((row["write"]["count"], row["write"]["bytes"]), (truth["calls"], truth["bytes"]),
              name)
    for name, target in MOVED.items():
        read = file_row(report, f"{directory}/{name}")["read"]
        written = file_row(report, f"{directory}/{target}")["write"]
        equal(read["bytes"], account[name]["bytes"], f"bytes read of {name}")
        equal(written["bytes"], account[name]["bytes"], f"bytes written to {target}")
        if calls:
            equal(read["count"], account[name]["calls"], f"calls on {name}")


def doors(report):
    return {(row["door"], row["op"]): row for row in report["doors"]}


def doors_add_up(report):
    for side in ("read", "write"):
        rows = [row for row in report["doors"] if row["op"] == side and row["door"] != "mmap"]
        for number in ("count", "bytes"):
            equal(sum(row[number] for row in rows), report["totals"][side][number],
                  f"{number} of the doors of {side}, the totals'")


def judge_alone(results):
    """The VFS layer without system calls."""
    report, account = results.report(), results.account()
    equal(told_losses(results, report), 0, "events lost")
    moved(report, "/mnt/m", account, calls=False)
    doors_add_up(report)
    totals, by_door = report["totals"], doors(report)
    equal(totals["metadata"], None, "metadata calls")
    transfers = sum(account[name]["bytes"] for name in MOVED)
    equal((by_door["splice", "read"]["bytes"], by_door["splice", "write"]["bytes"]),
          (transfers, transfers), "bytes by splice")
    equal(totals["sync"]["count"], 2, "fsync")
    rows = [row for row in results.printed("vfs")
            if row.get("path") == "/mnt/m/pread" and row["op"] == "vfs_read"]
    equal([row["offset"] for row in rows],
          [i * STEP % FILE_BYTES for i in range(account["pread"]["calls"])], "offsets of pread")
    appended = [row for row in results.printed("vfs") if row.get("path") == "/mnt/m/append"
                and row["op"] == "vfs_write"]
    equal([row["offset"] for row in appended], [i * 5000 for i in range(50)], "offsets of append")
    check(all(row["dur_ns"] > 0 for row in rows + appended), "durations")
    return f"{totals['read']['bytes']} bytes read, {totals['write']['bytes']} written"


def judge_with_calls(results):
    """With system calls: what those tell is not told again, what is below them stands apart."""
    report, account = results.report(), results.account()
    before = results.report("without.flt")
    equal(told_losses(results, report), 0, "events lost")
    moved(report, "/mnt/m", account, calls=True)
    doors_add_up(report)
    with_vfs, without = doors(report), doors(before)
    for door in without:
        equal([with_vfs[door][number] for number in ("count", "bytes")],
              [without[door][number] for number in ("count", "bytes")],
              f"{door} with and without the VFS layer")
    check(("kernel", "read") not in without, "the door kernel without the VFS layer")
    kernel = with_vfs["kernel", "read"]
    heads = [row for row in results.printed("vfs")
             if row["op"] == "kernel_read" and row["path"] == "/bin/moves"]
    check(heads and (heads[0]["offset"], heads[0]["result"]) == (0, 256),
          f"what executing /bin/moves reads of it: {heads}")
    below = apart(report)
    transfers = sum(account[name]["bytes"] for name in MOVED)
    equal(below["splice_read_apart"]["bytes"], transfers, "bytes of halves of transfers, read")
    equal(below["splice_write_apart"]["bytes"], transfers, "bytes of halves of transfers, written")
    equal(below["vfs_fsync_range_apart"]["count"], 2, "fsync apart")
    check("vfs_read_apart" not in below, "reads told twice")
    return f"{kernel['count']} reads by the kernel itself, {transfers} bytes apart"


def judge_overlay(results):
    """On an overlay the outermost operation is the operation; the layer's file stands apart."""
    status, account = results.report(), results.account()
    equal(told_losses(results, status), 0, "events lost")
    moved(status, "/mnt/merged", account, calls=results.job.endswith("calls"))
    doors_add_up(status)
    rows = results.printed("vfs")
    lower = [row for row in rows if row["op"].endswith("_apart") and row["offset"] >= 0
             and re.search(r"/(lower|upper)/(pread|write|append)$", row.get("path", ""))]
    for name in ("pread", "write", "append"):
        mine = [row for row in lower if row["path"].endswith(f"/{name}")]
        equal((len(mine), sum(row["result"] for row in mine)),
              (account[name]["calls"], account[name]["bytes"]), f"of the layer's file {name}")
    return f"{len(lower)} operations on the layers' files apart"


def judge_changed(results):
    """A function that takes other arguments is not attached to, and the rest goes on."""
    report = results.report()
    layer = report["trace"]["layers"]["vfs"]
    equal(layer["state"], "off", "the layer")
    check("has other arguments in this kernel" in layer["reason"], layer["reason"])
    check(report["totals"]["read"]["count"] > 0, "no read calls")
    part = results.report("part.flt")["trace"]["layers"]["vfs"]
    equal(part["state"], "on", "the layer without splice")
    check("splice writes" in part["reason"] and "other arguments" in part["reason"],
          part["reason"])
    return layer["reason"]


def judge_loop(results):
    """What a thread of the kernel reads for a loop device is the kernel's."""
    report = results.report()
    equal(told_losses(results, report), 0, "events lost")
    device = file_row(report, results.text("device").strip())
    equal(device["read"]["bytes"], FILE_BYTES, "bytes read of the device")
    rows = [row for row in results.printed("vfs") if row.get("path") == "/mnt/image"]
    equal({row["pid"] for row in rows} - {0}, set(), "owners of what is read of its file")
    check("/mnt/image" not in [row["path"] for row in report["files"]], "its file among the job's")
    if not rows:
        raise Absent("loop devices read by functions that are no more of the VFS")
    equal(sum(row["result"] for row in rows), FILE_BYTES, "bytes read of its file")
    return f"{len(rows)} reads by threads of the kernel"


MAKE = "rm -rf /mnt/m /mnt/lower /mnt/upper /mnt/work; mkdir /mnt/m; moves make /mnt/m || exit"
ALONE = f"{MAKE}; $RUN --layers vfs -- moves /mnt/m account"
WITH_CALLS = f"""{MAKE}; faultline run -q -o without.flt --layers syscall -- sh -c 'moves /mnt/m other; exit $?'
rm /mnt/m/*; moves make /mnt/m; $RUN --layers syscall,vfs -- sh -c 'moves /mnt/m account; exit $?'"""
OVERLAY = """{make}; umount /mnt/merged 2>/dev/null; mv /mnt/m /mnt/lower
mkdir -p /mnt/upper /mnt/work /mnt/merged
load overlay; mount -t overlay o -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work /mnt/merged
$RUN --layers {layers} -- moves /mnt/merged account; s=$?; umount /mnt/merged; exit $s"""
CHANGED = """$RUN --layers syscall,vfs --force-changed x,vfs_iter_read -- cat /plan
faultline run -q -o part.flt --layers syscall,vfs --force-changed iter_file_splice_write -- true"""
LOOP = f"""dd if=/dev/urandom of=/mnt/image bs={FILE_BYTES} count=1 2>/dev/null; sync
load loop; losetup -f >device; losetup $(cat device) /mnt/image || exit; echo 3 >/proc/sys/vm/drop_caches
$RUN --layers syscall,vfs -- dd if=$(cat device) of=/dev/null bs=64k; s=$?
losetup -d $(cat device); exit $s"""


def for_kernel(quick):
    if quick:
        script = OVERLAY.format(make=MAKE, layers="syscall,vfs")
        return [Job("vfs", "chosen", "calls", WITH_CALLS, judge_with_calls),
                Job("vfs", "chosen", "overlay_calls", script, judge_overlay)]
    all_ways = ("chosen", *VARIANTS)
    jobs = [Job("vfs", v, "alone", ALONE, judge_alone) for v in all_ways]
    jobs += [Job("vfs", v, "calls", WITH_CALLS, judge_with_calls) for v in all_ways]
    for v in VARIANTS:
        for name, layers in (("overlay", "vfs"), ("overlay_calls", "syscall,vfs")):
            script = OVERLAY.format(make=MAKE, layers=layers)
            jobs.append(Job("vfs", v, name, script, judge_overlay))
    jobs.append(Job("vfs", "chosen", "changed", CHANGED, judge_changed))
    jobs += [Job("vfs", v, "loop", LOOP, judge_loop) for v in VARIANTS]
    return jobs
