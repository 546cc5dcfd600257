# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for requests of 9p clients, compared with those that a server of these tests
answered."""
import re
from collections import Counter

import monitor
import served
from guest import SHARED, SHARED_BYTES, SHARED_LOG
from job import VARIANTS, Job, check, equal

FILE_BYTES, WRITTEN = 1 << 20, 300000
PORT, DELAY_MS, MS = 5640, 2, 1000000
LOAD = """load 9p; load 9pnet_fd; grep -q 9p$ /proc/filesystems || exit 77; mkdir -p /mnt/9"""
SERVE = f"""p9_serve {PORT} {DELAY_MS} served >ready & server=$!
until grep -q ready ready; do kill -0 $server || exit 99; sleep 0.1; done"""
OPTIONS = f"trans=tcp,port={PORT},version=9p2000.L,msize=65536"
MOUNT = f"""mount -t 9p -o {OPTIONS},cache=%s 127.0.0.1 /mnt/9 || exit
wc -l <served >mounting"""
STOP = "wc -l <served >ended; umount /mnt/9; kill $server"
WORK = f"""cd /mnt/9; ls -l; cat data missing failing >/dev/null; dd if=data of=/dev/null bs=3000 count=50
head -c {WRITTEN} /dev/zero >made; dd if=/dev/zero of=made bs=100 count=7 conv=fsync,notrunc
rm made; mkdir dir; stat data; df ."""


def job(cache, work):
    return f"""{LOAD}; {SERVE}
{MOUNT % cache}
$RUN -- sh -c "{work}; true"; s=$?
{STOP}; exit $s"""


NONE = job("none", WORK)
# Several readers, whose requests wait for each other.
TOGETHER = job("none", "for n in 1 2 3 4; do cat /mnt/9/data >/dev/null & done; wait")
# Read ahead, by calls and by faults, and written back.
CACHED = f"""echo 10 | tee /proc/sys/vm/dirty_expire_centisecs >/proc/sys/vm/dirty_writeback_centisecs
{job("loose", f"cat /mnt/9/data >/dev/null; (head -c {WRITTEN} /dev/zero; sleep 2) >/mnt/9/made")}"""
# Read by faults.
MAPPED = job("loose", "mapper random /mnt/9/data $OUT/account")
# The server ends the connection in the middle of a file.
DIES = job("none", "cat /mnt/9/data /mnt/9/die >/dev/null")
# A reader is killed that waits for the server.
HELD = job("none", "cat /mnt/9/held & sleep 1; kill -9 $! ; wait").replace("$!", "\\$!").replace(
    "server=\\$!", "server=$!")
# One mount after the other, which get the same device number.
AGAIN = f"""{LOAD}; {SERVE}
cat >work <<'END'
for n in 1 2; do mkdir -p /mnt/9$n; mount -t 9p -o {OPTIONS},cache=none 127.0.0.1 /mnt/9$n || exit
for i in $(seq $n); do cat /mnt/9$n/data >/dev/null; done; umount /mnt/9$n; done
END
$RUN -- sh work; s=$?; kill $server; exit $s"""
# From QEMU, to and from the program's own memory.
VIRTIO = f"""load 9p; load 9pnet_virtio; grep -q 9p$ /proc/filesystems || exit 77; mkdir -p /mnt/9
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none {SHARED} /mnt/9 || exit
$RUN -- sh -c "cat /mnt/9/data >/dev/null; dd if=/mnt/9/data of=/mnt/9/made bs=100000"; s=$?
umount /mnt/9; exit $s"""
# The modules are loaded while the recording runs, and unloaded, twice.
LOADED = f"""was=$(grep -c "fl_p9_begin.* attached" stderr)
{LOAD}
tries=600; until [ $(grep -c "fl_p9_begin.* attached" stderr) -gt $was ]; do sleep 0.1
tries=$((tries - 1)); [ $tries -gt 0 ] || exit 95; done; sleep 1"""
UNLOADED_YET = "[ -f /modules/9p.ko ] && [ ! -d /sys/module/9p ] || exit 77"
UNLOADED = """rmmod 9p 9pnet_fd
tries=100; until rmmod 9pnet; do tries=$((tries - 1)); [ $tries -gt 0 ] || exit 98; sleep 0.1; done 2>/dev/null"""
LATE = f"""{UNLOADED_YET}; {SERVE}
cat >work <<'END'
cd $OUT; for n in 1 2; do {LOADED}
{MOUNT % "none"}
mv mounting mounting$n; cat /mnt/9/data >/dev/null; wc -l <served >ended$n; umount /mnt/9 || exit 96; {UNLOADED}
done
END
$RUN -- sh work; s=$?; kill $server; exit $s"""
MONITOR = f"""{UNLOADED_YET}; {SERVE}
{monitor.START % "task,syscall,pagecache,block,9p"}
{LOADED}
{MOUNT % "none"}
cat /mnt/9/data >/dev/null
wget -q -O metrics http://127.0.0.1:9918/metrics || exit
umount /mnt/9; {UNLOADED}
kill $server $pid; wait $pid"""
TYPES = {8: "statfs", 12: "lopen", 14: "lcreate", 24: "getattr", 26: "setattr", 30: "xattrwalk",
         40: "readdir", 50: "fsync", 72: "mkdir", 76: "unlinkat", 100: "version", 104: "attach",
         108: "flush", 110: "walk", 116: "read", 118: "write", 120: "clunk", 122: "remove"}
BACKGROUND, UNANSWERED, INTERRUPTED = 1, 2, 4


def answered(results, which=""):
    """The requests between mounting and unmounting: as rows have them, and when they arrived and
    were answered."""
    for kind, *numbers, arrived_ns, answered_ns in served.lines(results, which):
        yield (f"9p_{TYPES[kind]}", *numbers), (arrived_ns, answered_ns)


def as_served(row):
    return tuple(row[key] for key in ("op", "node", "offset", "asked", "bytes", "error", "sent",
                                      "received"))


def named(rows, *names):
    return [row for row in rows if row["op"][3:] in names]


def same(rows, theirs):
    """Each request once, except that the kernel itself may make closes later."""
    mine, theirs = Counter(rows), Counter(theirs)
    equal(mine - theirs, Counter(), "requests without an owner")
    missing = theirs - mine
    equal({request[0] for request in missing} - {"9p_clunk"}, set(), f"missing: {missing}")


def compare(results, ordered=True):
    """Each request of the run. `ordered`: they were sent one by one, so each round trip holds the
    server's own time for it."""
    report, _, rows = served.recorded(results, "9p")
    rows.sort(key=lambda row: row["time_ns"])
    theirs = list(answered(results))
    check(len(theirs) > 20, f"{len(theirs)} requests")
    same(map(as_served, rows), (request for request, _ in theirs))
    theirs = [one for one in theirs if one[0][0] != "9p_clunk"]
    others = [row for row in rows if row["op"] != "9p_clunk"]
    for row, (_, (arrived_ns, answered_ns)) in zip(others, theirs if ordered else ()):
        check(row["time_ns"] <= arrived_ns and
              (answered_ns <= row["time_ns"] + row["dur_ns"] or row["flags"] & UNANSWERED),
              f"{row['op']} lasted from {row['time_ns']} for {row['dur_ns']} ns, "
              f"at the server from {arrived_ns} to {answered_ns}")
    for row in rows:
        check(row["dur_ns"] >= DELAY_MS * MS, f"{row['op']} took {row['dur_ns']} ns")
        equal((row["queue"], row["rtt"]), (-1, -1), "what is unknown")
    served.of_run(report, rows)
    device, = [row for row in report["devices"] if row["name"] == "127.0.0.1 (9p)"]
    served.same_sums(device, rows)
    return report, rows, device


def held(reads, results, layer, path="/mnt/9/data"):
    """Each round trip is part of the call or fault of its thread that waits for it."""
    waits = [row for row in results.printed(layer) if row.get("path") == path]
    for row in reads:
        check(any(wait["tid"] == row["tid"] and wait["time_ns"] <= row["time_ns"] and
                  row["time_ns"] + row["dur_ns"] <= wait["time_ns"] + wait["dur_ns"]
                  for wait in waits), f"nothing waits for the read at {row['offset']}")
    return len(waits)


def judge_none(results):
    report, rows, device = compare(results)
    moved = Counter()
    for row in named(rows, "read", "write", "fsync"):
        moved[row.get("path")] += row["bytes"]
    equal(moved, {"/mnt/9/data": FILE_BYTES + 50 * 3000, "/mnt/9/made": WRITTEN + 7 * 100,
                  "/mnt/9/failing": 0}, "bytes of files")
    equal({row["error"] for row in rows}, {0, 2, 5, 95}, "errors")
    equal(device["flush"]["requests"], len(named(rows, "fsync")), "flushes")
    held([row for row in named(rows, "read") if row["path"] == "/mnt/9/data"], results, "syscall")
    check(all(row["pid"] for row in rows), "a request has no owner")
    check(all(row["dev"] for row in named(rows, "walk", "lopen")), "a request has no mount")
    return f"{len(rows)} requests of {len({row['op'] for row in rows})} types"


def judge_together(results):
    _, rows, _ = compare(results, ordered=False)
    equal(sum(row["bytes"] for row in named(rows, "read")), 4 * FILE_BYTES, "bytes read")
    return f"{len(rows)} requests of {len({row['pid'] for row in named(rows, 'read')})} readers"


def judge_cached(results):
    _, rows, _ = compare(results, ordered=False)
    reads, writes = named(rows, "read"), named(rows, "write")
    # The kernel may read the last page of what it is to write.
    equal({row.get("path") for row in reads} - {"/mnt/9/made"}, {"/mnt/9/data"}, "files read")
    equal(sum(row["bytes"] for row in reads), FILE_BYTES, "bytes read")
    check(all(row["pid"] for row in reads), "a read ahead has no owner")
    equal({row.get("path") for row in writes}, {"/mnt/9/made"}, "files written")
    equal(sum(row["bytes"] for row in writes), WRITTEN, "bytes written")
    check(not any(row["pid"] for row in writes), "a write back has an owner")
    for row in rows:
        equal(bool(row["flags"] & BACKGROUND), not row["pid"], f"{row['op']} in the background")
    return f"{len(reads)} reads, {len(writes)} writes by the kernel"


def judge_mapped(results):
    _, rows, _ = compare(results, ordered=False)
    reads, truth = named(rows, "read"), results.account()
    equal(sum(row["bytes"] for row in reads), truth["resident"] * truth["page_bytes"],
          "bytes read, mincore's")
    return f"{len(reads)} reads in {held(reads, results, 'fault')} faults"


def unanswered(rows):
    found, = [row for row in rows if row["flags"] & UNANSWERED]
    equal((found["op"], found["bytes"], found["received"]), ("9p_read", 0, 0), "without a reply")
    return found


def judge_dies(results):
    _, _, rows = served.recorded(results, "9p")
    lost = unanswered(rows)
    equal((lost["path"], lost["offset"]), ("/mnt/9/die", FILE_BYTES // 2), "what it was about")
    equal(lost["flags"], UNANSWERED, "flags of its end")
    same((as_served(row)[:5] for row in rows), (request[:5] for request, _ in answered(results)))
    failed = {-row["result"] for row in results.printed("syscall")
              if row.get("path") == "/mnt/9/die" and row["result"] < 0}
    equal(failed, {lost["error"]}, "errors of calls")
    return f"a read failed with {lost['error']} after {lost['dur_ns'] / MS:.1f} ms"


def judge_held(results):
    _, _, rows = served.recorded(results, "9p")
    lost = unanswered(rows)
    equal((lost["path"], lost["error"], lost["flags"]),
          ("/mnt/9/held", 4, UNANSWERED | INTERRUPTED), "its end")
    check(lost["dur_ns"] >= 500 * MS, f"it took {lost['dur_ns']} ns")
    same(map(as_served, rows), (request for request, _ in answered(results)))
    equal(len(named(rows, "flush")), 1, "flushes of requests")
    return f"a read was given up after {lost['dur_ns'] / MS:.0f} ms"


def judge_virtio(results):
    _, _, rows = served.recorded(results, "9p")
    with open(f"{results.outcome.top}/{SHARED_LOG}") as file:
        log = file.read()
    for kind, count in (("read", "max_count"), ("write", "count")):
        mine = [(row["offset"], row["asked"], row["bytes"], row["received"])
                for row in named(rows, kind)]
        requested = re.findall(rf"v9fs_{kind} .* off (\d+) {count} (\d+)", log)
        moved = re.findall(rf"v9fs_{kind}_return .* (?:count|total) (\d+) err (\d+)", log)
        equal(sorted(mine), sorted(tuple(map(int, one + other)) for one, other in zip(requested, moved)),
              f"{kind}s")
    equal([sum(row["bytes"] for row in named(rows, kind)) for kind in ("read", "write")],
          [2 * SHARED_BYTES, SHARED_BYTES], "bytes moved")
    for row in named(rows, "write"):
        equal(row["sent"], 23 + row["asked"], "bytes of a write")
    return f"{len(rows)} requests as QEMU logs them"


def judge_late(results):
    report, _, rows = served.recorded(results, "9p")
    reads = named(rows, "read")
    equal(sorted(map(as_served, reads)),
          sorted(request for which in "12" for request, _ in answered(results, which)
                 if request[0] == "9p_read"), "reads")
    equal({row.get("path") for row in reads}, {"/mnt/9/data"}, "files read")
    unseen = served.late(report, "9p")
    return f"{len(reads)} reads in two lives of the modules, not seen for {unseen:.1f} s"


def judge_again(results):
    report, _, rows = served.recorded(results, "9p")
    devices = [row for row in report["devices"] if row["name"] == "127.0.0.1 (9p)"]
    equal(len({row["dev"] for row in devices}), 1, "numbers of the mounts")
    equal([row["all"]["read"]["bytes"] for row in sorted(devices, key=lambda row: row["instance"])],
          [FILE_BYTES, 2 * FILE_BYTES], "bytes read from each mount")
    for n in 1, 2:
        file, = [row for row in report["files"] if row["path"] == f"/mnt/9{n}/data"]
        equal(file["read"]["bytes"], n * FILE_BYTES, "bytes read from a file")
        equal(sum(row["bytes"] for row in named(rows, "read") if row.get("path") == file["path"]),
              n * FILE_BYTES, "bytes of its requests")
    return "two mounts with one number"


def judge_monitor(results):
    return served.monitored(results, "127.0.0.1 (9p)", FILE_BYTES)


def for_kernel(quick):
    table = [("none", NONE, judge_none), ("cached", CACHED, judge_cached),
             ("mapped", MAPPED, judge_mapped), ("dies", DIES, judge_dies),
             ("held", HELD, judge_held), ("together", TOGETHER, judge_together),
             ("again", AGAIN, judge_again)]
    # First those that load the modules themselves.
    return [Job("9p", "chosen", "late", LATE, judge_late),
            Job("monitor", "chosen", "9p", MONITOR, judge_monitor),
            Job("9p", "chosen", "virtio", VIRTIO, judge_virtio),
            *(Job("9p", variant, name, script, judge) for name, script, judge in table
              for variant in ("chosen", *([] if quick else VARIANTS["9p"][1:]))),
            *served.of_no_use("9p", "9p", "9pnet", ["9p_client_req", "9p_client_res"])]
