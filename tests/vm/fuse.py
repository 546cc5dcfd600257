# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for requests to a FUSE daemon, compared with those that it answered."""
from job import VARIANTS, Absent, Job, check, equal, told_losses

DELAY_MS = 2
MOUNT = """load fuse
mkdir -p /tmp/fuse
fuse_serve /tmp/fuse source kind %d served >ready &
daemon=$!
until grep -q ready ready; do
	kill -0 $daemon || exit 77
	sleep 0.1
done
$RUN -- sh -c "ls /tmp/fuse; cat /tmp/fuse/data /tmp/fuse/direct >/dev/null; head -c 300000 /dev/zero >/tmp/fuse/other; cat /tmp/fuse/missing /tmp/fuse/failing; true"
umount /tmp/fuse""" % DELAY_MS
OPS = {1: "lookup", 3: "getattr", 4: "setattr", 14: "open", 15: "read", 16: "write", 25: "flush",
       27: "opendir", 28: "readdir", 22: "getxattr"}


def answered(results):
    for line in (results.text("served") or "").splitlines():
        opcode, tid, node, offset, asked, moved, error = map(int, line.split())
        if opcode in OPS:
            yield (f"fuse_{OPS[opcode]}", tid, node, offset if opcode in (15, 16) else -1, asked,
                   moved, error)


def judge(results):
    report = results.report()
    layer = report["trace"]["layers"]["fuse"]
    if layer["state"] == "off":
        raise Absent(layer["reason"])
    equal(told_losses(results, report), 0, "events lost")
    rows = results.printed("fuse")
    tids = {row["pid"] for row in report["processes"] if row["pid"]}
    own = sorted(request for request in answered(results) if request[1] in tids)
    equal(sorted((row["op"], row["tid"], row["node"], row["offset"], row["asked"], row["bytes"],
                  row["error"]) for row in rows if row["op"][5:] in OPS.values()), own, "requests")
    check(len(own) > 20, f"{len(own)} requests")
    known = "in the queue" not in (layer["reason"] or "")
    for row in rows:
        equal(row["queue"] >= 0, known, "the queue's time is known")
        check(row["dur_ns"] - max(row["queue"], 0) >= DELAY_MS * 1000000,
              f"{row['op']} took {row['dur_ns']} ns, {row['queue']} of them in the queue")
    device, = [row for row in report["devices"] if row["name"] == "source (fuse.kind)"]
    reads = [row for row in rows if row["op"] == "fuse_read"]
    equal((device["read"]["requests"], device["read"]["bytes"]),
          (len(reads), sum(row["bytes"] for row in reads)), "reads of the mount")
    return f"{len(own)} requests{', with time in the queue' if known else ''}"


def for_kernel(quick):
    return [Job("fuse", variant, "served", MOUNT, judge)
            for variant in ("chosen", *([] if quick else VARIANTS["fuse"]))]
