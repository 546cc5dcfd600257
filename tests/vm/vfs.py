# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for the VFS layer, which is unavailable if kernels lack kprobes and BPF
trampolines: bytes moved to and from files, compared with the workload's own account; no byte
counts twice."""
import collections
import json
import re

import nfs
from async_io import judge_forms
from job import VARIANTS as ALL_VARIANTS
from job import Absent, Job, NotRun, check, equal, file_row, reported_losses

VARIANTS = ALL_VARIANTS["vfs"]
FILE_BYTES = nfs.FILE_BYTES
STEP, PIECE = 3 * 4096, 4096
SIZES = 1  # what a row of classes counts by
UNENDED_READERS = 60  # more than the kernel tracks returns for at a time
# Files of the workload `moves` read and written by calls that its account names.
READ = {"pread": "pread", "preadv": "preadv"}
WRITTEN = {"write": "write", "append": "append", "writev": "writev"}
# Files moved file to file: where an account's bytes go.
MOVED = {"sent": "sent_to", "spliced": "spliced_to", "copied": "copied_to"}


def recorded(results):
    """The report, unless the kernel lacks functions that the variant needs."""
    report = results.report()
    layer = report["trace"]["layers"]["vfs"]
    if layer["state"] == "off" and "does not exist in this kernel" in layer["reason"]:
        raise Absent(layer["reason"])
    return report


def apart(report):
    """Operations that are in no total, by name."""
    return {row["op"]: row for row in report["operations"]
            if row["layer"] == "vfs" and row["op"].endswith("_apart") and row["count"]}


def moved(report, directory, account, calls):
    """Each file's bytes, once; counts only if the calls themselves are counted."""
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


def methods(report):
    return {(row["method"], row["op"]): row for row in report["methods"]}


def methods_add_up(report):
    for side in ("read", "write"):
        rows = [row for row in report["methods"] if row["op"] == side and row["method"] != "mmap"]
        for number in ("count", "bytes"):
            equal(sum(row[number] for row in rows), report["totals"][side][number],
                  f"{number} of the methods of {side}, the totals'")


def judge_alone(results):
    """The VFS layer without system calls."""
    report, account = recorded(results), results.account()
    equal(reported_losses(results, report), 0, "events lost")
    moved(report, "/mnt/m", account, calls=False)
    methods_add_up(report)
    totals, by_method = report["totals"], methods(report)
    equal(totals["metadata"], None, "metadata calls")
    transfers = sum(account[name]["bytes"] for name in MOVED)
    equal((by_method["splice", "read"]["bytes"], by_method["splice", "write"]["bytes"]),
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
    """With system calls: their operations do not count again; those below them are separate."""
    report, account = recorded(results), results.account()
    before = results.report("without.flt")
    equal(reported_losses(results, report), 0, "events lost")
    moved(report, "/mnt/m", account, calls=True)
    methods_add_up(report)
    with_vfs, without = methods(report), methods(before)
    for method in without:
        equal([with_vfs[method][number] for number in ("count", "bytes")],
              [without[method][number] for number in ("count", "bytes")],
              f"{method} with and without the VFS layer")
    check(("kernel", "read") not in without, "the method kernel without the VFS layer")
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
    check("vfs_read_apart" not in below, "reads reported twice")
    return f"{kernel['count']} reads by the kernel itself, {transfers} bytes apart"


def judge_overlay(results):
    """On an overlay the outermost operation counts; the lower file's is separate."""
    status, account = recorded(results), results.account()
    if "/sent_to" in [row["path"] for row in status["files"]]:  # of the layer's file, up to 5.15
        raise Absent("overlays that splice by functions of the VFS")
    equal(reported_losses(results, status), 0, "events lost")
    moved(status, "/mnt/merged", account, calls=results.job.endswith("calls"))
    methods_add_up(status)
    rows = results.printed("vfs")
    lower = [row for row in rows if row["op"].endswith("_apart") and row["offset"] >= 0
             and re.search(r"/(lower|upper)/(pread|write|append)$", row.get("path", ""))]
    for name in ("pread", "write", "append"):
        mine = [row for row in lower if row["path"].endswith(f"/{name}")]
        equal((len(mine), sum(row["result"] for row in mine)),
              (account[name]["calls"], account[name]["bytes"]), f"of the layer's file {name}")
    return f"{len(lower)} operations on the layers' files apart"


def judge_changed(results):
    """A function with a changed signature is not attached to, and the rest continues."""
    report = results.report()
    layer = report["trace"]["layers"]["vfs"]
    equal(layer["state"], "off", "the layer")
    check("has a different signature in this kernel" in layer["reason"], layer["reason"])
    check(report["totals"]["read"]["count"] > 0, "no read calls")
    part = results.report("part.flt")["trace"]["layers"]["vfs"]
    equal(part["state"], "on", "the layer without splice")
    check("splice writes" in part["reason"] and "different signature" in part["reason"],
          part["reason"])
    return layer["reason"]


def judge_loop(results):
    """A kernel thread's reads for a loop device belong to the kernel."""
    report = recorded(results)
    equal(reported_losses(results, report), 0, "events lost")
    device = file_row(report, results.text("device").strip())
    equal(device["read"]["bytes"], FILE_BYTES, "bytes read of the device")
    rows = [row for row in results.printed("vfs") if row.get("path") == "/mnt/image"]
    equal({row["pid"] for row in rows} - {0}, set(), "owners of what is read of its file")
    check("/mnt/image" not in [row["path"] for row in report["files"]], "its file among the job's")
    if not rows:
        raise Absent("loop devices read by functions that are no more of the VFS")
    equal(sum(row["result"] for row in rows), FILE_BYTES, "bytes read of its file")
    return f"{len(rows)} reads by threads of the kernel"


def judge_ending(results):
    """Recordings that end, one after the other, while a kernel thread is in the middle of calls."""
    report = recorded(results)
    if "/mnt/image" not in [row.get("path") for row in results.printed("vfs")]:
        raise Absent("loop devices read by functions that are no more of the VFS")
    lost = [one["trace"]["lost"]["by_layer"]["vfs"] or 0
            for one in (report, *(results.report(f"{number}.flt") for number in (1, 2, 3)))]
    equal(lost, [0] * len(lost), "operations lost")
    return f"{len(lost)} recordings ended without a loss"


def judge_workers(results):
    """Syncs and splices by io workers belong to the io_uring requests, and are separate; if
    requests are not recorded they are reported, once."""
    recorded(results)
    judge_forms(results)
    lines = [json.loads(line) for line in results.text("account").splitlines()]
    syncs = sum(row["op"] == "io_uring_fsync" for row in lines)
    halves = [row for row in lines if row["op"] == "io_uring_splice"]
    moved = tuple(sum(row["result"] for row in halves if row[side]) for side in ("path", "path2"))
    check(syncs and all(moved), f"{syncs} times synced, {moved} bytes spliced: this tests nothing")
    below = apart(results.report())
    equal(below["vfs_fsync_range_apart"]["count"], syncs, "fsync apart")
    equal(tuple(below[f"splice_{side}_apart"]["bytes"] for side in ("read", "write")), moved,
          "bytes spliced apart")
    for name in ("trace.flt", "alone.flt"):
        methods_add_up(results.report(name))
    alone = results.report("alone.flt")
    by_method = methods(alone)
    equal(alone["totals"]["sync"]["count"], syncs, "fsync only by the VFS")
    equal(tuple(by_method["splice", side]["bytes"] for side in ("read", "write")), moved,
          "bytes spliced only by the VFS")
    return f"{syncs} fsync and {sum(moved)} bytes spliced by workers, apart or once"


def judge_nfsd(results):
    """The in-kernel server's reads and writes for the job belong to the kernel, as it counts
    them."""
    report = recorded(results)
    equal(reported_losses(results, report), 0, "events lost")
    before, after = (results.text(name).split()[1:3] for name in ("before", "after"))
    theirs = [int(late) - int(early) for early, late in zip(before, after)]
    equal(theirs, [FILE_BYTES, FILE_BYTES], "what nfsd counts, read and written")
    rows = results.printed("vfs")
    for name, count in zip(("data", "made"), theirs):
        path = f"/mnt/export/{name}"
        mine = [row for row in rows if row.get("path") == path and "fsync" not in row["op"]]
        equal(sum(row["result"] for row in mine), count, f"bytes of {path}")
        equal({row["pid"] for row in mine}, {0}, f"owners of what is done with {path}")
        check(path not in [row["path"] for row in report["files"]], f"{path} among the job's files")
    for name, side in (("data", "read"), ("made", "write")):
        equal(file_row(report, f"/mnt/n/{name}")[side]["bytes"], FILE_BYTES, f"the job's {name}")
    methods_add_up(report)
    return f"{theirs} bytes read and written by nfsd's threads, apart"


def judge_synced(results):
    """In mode profile, writes have sizes, and a sync has none."""
    layer = results.report()["trace"]["layers"]["vfs"]
    if layer["state"] == "off":
        raise Absent(layer["reason"])
    counts, sizes = collections.Counter(), collections.Counter()
    for row in results.printed("profile"):
        if row["kind"] == "profile":
            counts[row["op"]] += row["count"]
        elif row["what"] == SIZES:
            sizes[row["op"]] += row["count"]
    equal(counts["vfs_fsync_range"], 1, "syncs")
    equal(sizes["vfs_fsync_range"], 0, "sizes of syncs")
    equal(sizes["vfs_write"], counts["vfs_write"], "sizes of writes")
    return f"{counts['vfs_write']} writes with sizes, one sync without"


def judge_unended(results):
    """Reads whose returns are mostly missed: each is reported correctly, or as lost."""
    expected = "fl_vfs_cut_tp" if results.passed_over else "fl_vfs_cut"
    check(expected in results.attached(), f"{expected} is not attached")
    rows = [row for row in results.printed("vfs")
            if row["op"] == "vfs_read" and row.get("path", "").endswith("/fifo")]
    lost = results.report()["trace"]["lost"]["by_layer"]["vfs"]
    equal({row["result"] for row in rows} - {0}, set(), "results of reads at the end of a file")
    if len(rows) == UNENDED_READERS and not lost:
        raise NotRun("the kernel saw all of them end")
    equal(len(rows) + lost, UNENDED_READERS, "reads reported and lost")
    return f"{len(rows)} reads reported, {lost} lost"


MAKE = "rm -rf /mnt/m /mnt/lower /mnt/upper /mnt/work; mkdir /mnt/m; moves make /mnt/m || exit"
ALONE = f"{MAKE}; $RUN --layers vfs --best-effort -- moves /mnt/m account"
WITH_CALLS = f"""{MAKE}; faultline run -q -o without.flt --layers syscall -- sh -c 'moves /mnt/m other; exit $?'
rm /mnt/m/*; moves make /mnt/m; $RUN --layers syscall,vfs -- sh -c 'moves /mnt/m account; exit $?'"""
OVERLAY = """{make}; umount /mnt/merged 2>/dev/null; mv /mnt/m /mnt/lower
mkdir -p /mnt/upper /mnt/work /mnt/merged
load overlay; mount -t overlay o -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work /mnt/merged
$RUN --layers {layers} -- moves /mnt/merged account; s=$?; umount /mnt/merged; exit $s"""
SYNCED = """$RUN --mode profile --layers vfs --best-effort -- \\
dd if=/dev/zero of=/mnt/synced bs=64k count=4 conv=fsync"""
CHANGED = """$RUN --layers syscall,vfs --force-changed x,vfs_iter_read -- cat /plan
faultline run -q -o part.flt --layers syscall,vfs --force-changed iter_file_splice_write -- true"""
LOOP = f"""dd if=/dev/urandom of=/mnt/image bs={FILE_BYTES} count=1 2>/dev/null; sync
load loop; losetup -f >device; losetup $(cat device) /mnt/image || exit; echo 3 >/proc/sys/vm/drop_caches
$RUN --layers syscall,vfs -- dd if=$(cat device) of=/dev/null bs=64k; s=$?
losetup -d $(cat device); exit $s"""
ENDING = f"""dd if=/dev/urandom of=/mnt/image bs={FILE_BYTES} count=1 2>/dev/null
load loop; losetup -f >device; losetup $(cat device) /mnt/image || exit
(until [ -e ended ]; do dd if=$(cat device) of=/dev/null bs=4k iflag=direct 2>/dev/null; done) &
for number in 1 2 3; do faultline run -q -o $number.flt --layers vfs --best-effort -- sleep 0.2; done
$RUN --layers vfs --best-effort -- sleep 0.5; s=$?
touch ended; wait; losetup -d $(cat device); exit $s"""

WORKERS = """rm -rf /mnt/forms; mkdir /mnt/forms
$RUN --file-types all --layers syscall,async,vfs -- uring_forms /mnt/forms account || exit
faultline run -q -o alone.flt --layers vfs --best-effort -- uring_forms /mnt/forms other"""
NFSD = f"""{nfs.SERVE}
grep ^io /proc/net/rpc/nfsd >before
$RUN --layers syscall,vfs -- sh -c "dd if=/mnt/n/data of=/dev/null bs=64k
dd if=/dev/zero of=/mnt/n/made bs=64k count={FILE_BYTES >> 16} conv=fsync"; s=$?
grep ^io /proc/net/rpc/nfsd >after
{nfs.STOP}; exit $s"""
# All wait for the end of one file, in the same function at the same time: a shell that is not
# recorded checks which of them sleep. Then they end, or first make other VFS calls, on files that
# are not recorded.
UNENDED = """mkfifo fifo; echo other >other
(exec 3<>fifo; tries=600; until grep -ls pipe_read /proc/[0-9]*/wchan >asleep; [ $(wc -l <asleep) -ge %d ] || [ $tries = 0 ]; do
sleep 0.1; tries=$((tries - 1)); done) &
$RUN --layers vfs --best-effort --file-types fifo -- sh -c 'for i in %s; do
grep nothing - %%s <fifo & done; wait'""" % (UNENDED_READERS, " ".join(["x"] * UNENDED_READERS))
OTHERS = " ".join(["other"] * 40)


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
    jobs.append(Job("vfs", "chosen", "synced", SYNCED, judge_synced))
    for name, others in (("unended", ""), ("unended_others", OTHERS)):
        jobs.append(Job("vfs", "kprobe", name, UNENDED % others, judge_unended))
    for name, script, judge in (("loop", LOOP, judge_loop), ("ending", ENDING, judge_ending),
                                ("workers", WORKERS, judge_workers),
                                ("nfsd", NFSD, judge_nfsd)):
        jobs += [Job("vfs", v, name, script, judge) for v in VARIANTS]
    return jobs
