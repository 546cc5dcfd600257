# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for requests to a FUSE daemon, compared with those that it answered."""
import served
from job import VARIANTS, Job, check, equal

DELAY_MS, FILE_BYTES, MS = 2, 1 << 20, 1000000
SERVE = f"""mkdir -p /tmp/fuse; rm -f ready; fuse_serve /tmp/fuse source kind {DELAY_MS} served%s >ready & daemon=$!
until grep -q ready ready; do kill -0 $daemon || exit 77; sleep 0.1; done"""
SERVED = f"""load fuse; {SERVE % ""}
$RUN -- sh -c "ls /tmp/fuse; cat /tmp/fuse/data /tmp/fuse/direct >/dev/null; head -c 300000 /dev/zero >/tmp/fuse/other; cat /tmp/fuse/missing /tmp/fuse/failing; true"
umount /tmp/fuse"""
# Several readers, whose requests wait for each other.
TOGETHER = f"""load fuse; {SERVE % ""}
$RUN -- sh -c "for n in 1 2 3 4; do cat /tmp/fuse/direct >/dev/null & done; cat /tmp/fuse/data /tmp/fuse/other >/dev/null; wait"
umount /tmp/fuse"""
# The module is loaded while the recording runs. A kprobe lets it be unloaded, and loaded again.
LATE = f"""[ ! -d /sys/module/fuse ] || exit 77
cat >work <<'END'
cd $OUT; for n in 1 2; do was=$(grep -c "fl_fuse_end.* attached" stderr); load fuse || exit 77
until [ $(grep -c "fl_fuse_end.* attached" stderr) -gt $was ]; do sleep 0.1
! grep -q "are not recorded" stderr || exit 77; done; sleep 1
{SERVE % "$n"}
cat /tmp/fuse/data >/dev/null; umount /tmp/fuse || exit 98; wait $daemon
rmmod fuse 2>/dev/null || break; sleep 1; done
END
$RUN -- sh work; s=$?; rmmod fuse; exit $s"""
OPS = {1: "lookup", 3: "getattr", 4: "setattr", 14: "open", 15: "read", 16: "write", 25: "flush",
       27: "opendir", 28: "readdir", 22: "getxattr"}


def answered(results, tids, name="served"):
    """The run's requests in the order in which the daemon took them: as rows have them, and when it
    began to read each, had it, and replied."""
    for line in (results.text(name) or "").splitlines():
        opcode, tid, node, offset, requested, moved, error, *times = map(int, line.split())
        if opcode in OPS and tid in tids:
            yield ((f"fuse_{OPS[opcode]}", tid, node, offset if opcode in (15, 16) else -1, requested,
                    moved, error), times)


def recorded(results):
    """The report, its layer and the rows of the run's own requests, in the same order."""
    report, layer, rows = served.recorded(results, "fuse")
    rows = [row for row in rows if row["op"][5:] in OPS.values()]
    return report, layer, sorted(rows, key=lambda row: row["time_ns"] + max(row["queue"], 0))


def compare(rows, own, known):
    """Each request, once; `known`: the time at which the daemon took it."""
    reported = [tuple(row[key] for key in ("op", "tid", "node", "offset", "asked", "bytes", "error"))
            for row in rows]
    order = list if known else sorted
    equal(order(reported), order(request for request, _ in own), "requests")
    for row, (_, (waiting_ns, taken_ns, answered_ns)) in zip(rows, own):
        equal(row["queue"] >= 0, known, "the queue's time is known")
        if known:
            taken = row["time_ns"] + row["queue"]
            check(waiting_ns <= taken <= taken_ns and answered_ns <= row["time_ns"] + row["dur_ns"],
                  f"{row['op']} was taken at {taken} and ended {row['time_ns'] + row['dur_ns']}, "
                  f"not in {waiting_ns} to {taken_ns} and from {answered_ns} on")
        check(row["dur_ns"] - max(row["queue"], 0) >= DELAY_MS * MS,
              f"{row['op']} took {row['dur_ns']} ns, {row['queue']} of them in the queue")


def judge(results):
    report, layer, rows = recorded(results)
    own = list(answered(results, {row["pid"] for row in report["processes"] if row["pid"]}))
    check(len(own) > 20, f"{len(own)} requests")
    known = "in the queue" not in (layer["reason"] or "")
    compare(rows, own, known)
    device, = [row for row in report["devices"] if row["name"] == "source (fuse.kind)"]
    reads = [row for row in rows if row["op"] == "fuse_read"]
    equal((device["read"]["requests"], device["read"]["bytes"]),
          (len(reads), sum(row["bytes"] for row in reads)), "reads of the mount")
    return f"{len(own)} requests{', with time in the queue' if known else ''}"


def judge_together(results):
    output = judge(results)
    report, _, rows = recorded(results)
    if rows[0]["queue"] >= 0:
        found = {row["evidence"].get("device") for row in report["findings"]
                 if row["id"] == "device-overloaded"}
        equal(found, {"source (fuse.kind)"}, "overloaded devices")
    waited = sum(row["queue"] > DELAY_MS * MS for row in rows)
    check(waited or rows[0]["queue"] < 0, "no request had to wait for another")
    return f"{output}, {waited} of them behind others"


def judge_late(results):
    report, _, rows = recorded(results)
    tids = {row["pid"] for row in report["processes"] if row["pid"]}
    lives = [name for name in ("served1", "served2") if results.text(name)]
    compare(rows, [one for name in lives for one in answered(results, tids, name)], True)
    reads = [row for row in rows if row["op"] == "fuse_read"]
    equal({row.get("path") for row in reads}, {"/tmp/fuse/data"}, "files read")
    equal(sum(row["bytes"] for row in reads), len(lives) * FILE_BYTES, "bytes read")
    unseen = served.late(report, "fuse")
    return f"{len(rows)} requests in {len(lives)} lives of the module, not seen for {unseen:.1f} s"


def for_kernel(quick):
    # First those that load the module themselves.
    late, variants = ([], []) if quick else (["fentry", "kprobe"], VARIANTS["fuse"])
    return [*(Job("fuse", variant, "late", LATE, judge_late) for variant in ("chosen", *late)),
            *(Job("fuse", variant, "served", SERVED, judge) for variant in ("chosen", *variants)),
            Job("fuse", "chosen", "together", TOGETHER, judge_together),
            *served.of_no_use("fuse", "fuse", "fuse", [
                "fuse_request_send,queue_request_and_unlock", "fuse_request_end"])]
