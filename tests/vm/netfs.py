# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for requests of file systems that use the module netfs: those of a CIFS mount of the
kernel's own SMB server, compared with /proc/fs/cifs/Stats."""
import re
from collections import Counter

import monitor
import p9
import served
from job import VARIANTS, Job, check, equal

FILE_BYTES, WRITTEN, SIZE = 1000001, 300001, 65536
# The server's programs read their settings below /etc/ksmbd; its kernel threads open files as users
# of the share. The user's name is "job", the password "word".
LOAD = "load ksmbd; load nls_utf8; load cifs; grep -q cifs$ /proc/filesystems || exit 77"
SERVE = f"""need ksmbd.mountd
mkdir -p /mnt/export /mnt/s /etc/ksmbd /run; chmod 755 /; chmod 777 /mnt/export
printf "[global]\\n[share]\\npath = /mnt/export\\nread only = no\\n" >/etc/ksmbd/ksmbd.conf
echo job:4ZKjXR6HK26bJW5cyrQUVw== >/etc/ksmbd/ksmbdpwd.db
head -c {FILE_BYTES} /dev/urandom >/mnt/export/data; chmod 666 /mnt/export/data; sync
ksmbd.mountd -n >mountd 2>&1 & server=$!
tries=100; until netstat -ltn | grep -q :445; do tries=$((tries - 1)); [ $tries -gt 0 ] || exit 99; sleep 0.1; done"""
OPTIONS = f"ip=127.0.0.1,vers=2.1,username=job,password=word,rsize={SIZE},wsize={SIZE}"
MOUNT = f"""mount -t cifs -o {OPTIONS} //127.0.0.1/share /mnt/s || exit 98
cat /proc/fs/cifs/Stats >before"""
STOP = """cat /proc/fs/cifs/Stats >after; umount /mnt/s; kill $server; wait $server
echo hard >/sys/class/ksmbd-control/kill_server; while netstat -ltn | grep -q :445; do sleep 0.1; done"""


def job(work):
    return f"""{LOAD}; {SERVE}
{MOUNT}
$RUN -- sh -c "{work}; true"; s=$?
{STOP}; exit $s"""


WORK = job(f"""cd /mnt/s; ls -l; cat data missing >/dev/null
dd if=data of=/dev/null bs=100000 iflag=direct; head -c {WRITTEN} /dev/zero >made
dd if=/dev/zero of=made bs=100 count=7 conv=fsync,notrunc; dd if=/dev/zero of=direct bs=100000 count=3 oflag=direct""")


# Written back while the only process that has the file open waits: each close writes, too. Read
# through a mapping.
BACK = f"""echo 10 | tee /proc/sys/vm/dirty_expire_centisecs >/proc/sys/vm/dirty_writeback_centisecs
{job(f"(head -c {WRITTEN} /dev/zero; until grep -q 'written: {WRITTEN}' /proc/fs/cifs/Stats; do sleep 0.1; done) | cat >/mnt/s/made; mapper random /mnt/s/data $OUT/account")}"""
# The server goes away in the middle of a file.
GONE = f"""truncate -s 1G /mnt/export/big
{job(f"(sleep 1; echo hard >/sys/class/ksmbd-control/kill_server) & dd if=/mnt/s/big of=/dev/null bs={SIZE} iflag=direct")}"""
# The module is loaded while the recording runs.
LATE = f"""[ -f /modules/netfs.ko ] && [ ! -d /sys/module/netfs ] || exit 77; load ksmbd; {SERVE}
cat >work <<'END'
cd $OUT; {LOAD}
tries=600; until grep -q "fl_netfs_sreq.* attached" stderr; do sleep 0.1
tries=$((tries - 1)); [ $tries -gt 0 ] || exit 95; done; sleep 1
{MOUNT}; cat /mnt/s/data >/dev/null
END
$RUN -- sh work; s=$?
{STOP}; exit $s"""
MONITOR = f"""{LOAD}; {SERVE}
{monitor.START % "task,syscall,pagecache,block,netfs"}
{MOUNT}; cat /mnt/s/data >/dev/null
wget -q -O metrics http://127.0.0.1:9918/metrics || exit
{STOP}; kill $pid; wait $pid"""


def counts(text):
    """Successful reads and writes of the share since it was mounted: requests and bytes."""
    share = text.split("\\share")[1]
    found = {}
    for kind, moved in (("read", "read"), ("write", "written")):
        requests, failed = re.search(rf"{kind.capitalize()}s: (\d+) total (\d+) failed", share).groups()
        found[kind] = [int(requests) - int(failed),
                       int(re.search(rf"Bytes {moved}: (\d+)", share)[1])]
    return found


def named(rows, kind):
    return [row for row in rows if row["op"] == f"netfs_{kind}"]


def recorded(results):
    """The layer's rows, after checks that hold for each job."""
    report, _, rows = served.recorded(results, "netfs")
    served.of_run(report, rows)
    before, after = (counts(results.text(name)) for name in ("before", "after"))
    for kind, numbers in after.items():
        mine = [row for row in named(rows, kind) if not row["error"]]
        equal([len(mine), sum(row["bytes"] for row in mine)],
              [late - early for late, early in zip(numbers, before[kind])], f"{kind}s and bytes")
    for row in rows:
        check(row["bytes"] <= row["asked"] <= SIZE, f"{row['bytes']} of {row['asked']} bytes")
        equal((row["queue"], row["rtt"]), (-1, -1), "what is unknown")
    device, = [row for row in report["devices"] if "127.0.0.1" in row["name"]]
    equal(device["name"], "//127.0.0.1/share (cifs)", "name of the mount")
    served.same_sums(device, rows)
    return report, rows


def judge_work(results):
    _, rows = recorded(results)
    moved = Counter()
    for row in rows:
        moved[row["op"], row.get("path")] += row["bytes"]
    equal(moved["netfs_read", "/mnt/s/data"], 2 * FILE_BYTES, "bytes read")
    check(moved["netfs_write", "/mnt/s/made"] >= WRITTEN + 7 * 100, "bytes written")
    equal(moved["netfs_write", "/mnt/s/direct"], 300000, "bytes written directly")
    check(all(row["pid"] and not row["error"] for row in rows), "an owner is missing, or an error")
    direct = [row for row in named(rows, "write") if row["path"] == "/mnt/s/direct"]
    p9.held(direct, results, "syscall", "/mnt/s/direct")
    return f"{len(rows)} requests"


def judge_back(results):
    _, rows = recorded(results)
    writes, truth = named(rows, "write"), results.account()
    equal({row.get("path") for row in writes}, {"/mnt/s/made"}, "files written")
    equal(sum(row["bytes"] for row in writes), WRITTEN, "bytes written")
    check(not any(row["pid"] for row in writes), "a write back has an owner")
    reads, pages = sum(row["bytes"] for row in named(rows, "read")), truth["page_bytes"]
    check(0 <= truth["resident"] * pages - reads < pages, f"{reads} bytes read, mincore's "
          f"{truth['resident']} pages")
    return f"{len(writes)} writes by the kernel, {len(rows) - len(writes)} reads for faults"


def judge_gone(results):
    _, rows = recorded(results)
    failed = [row for row in rows if row["error"]]
    check(failed, "no read failed")
    check(all(row["bytes"] == 0 for row in failed), "a failed read moved bytes")
    calls = {-row["result"] for row in results.printed("syscall")
             if row.get("path") == "/mnt/s/big" and row["result"] < 0}
    check(calls and calls <= {row["error"] for row in failed}, f"calls failed with {calls}")
    return f"{len(failed)} of {len(rows)} reads failed with {sorted({row['error'] for row in failed})}"


def judge_late(results):
    report, rows = recorded(results)
    equal(sum(row["bytes"] for row in named(rows, "read")), FILE_BYTES, "bytes read")
    return f"{len(rows)} reads, not seen for {served.late(report, 'netfs'):.1f} s"


def judge_monitor(results):
    return served.monitored(results, "//127.0.0.1/share (cifs)", FILE_BYTES)


def judge_9p(results):
    """The layer 9p has them, this one not: they would count twice."""
    _, _, rows = served.recorded(results, "netfs")
    equal(rows, [], "requests of a 9p mount")
    check(len(results.printed("9p")) > 20, "no requests")
    return "none of a 9p mount"


def for_kernel(quick):
    table = [("work", WORK, judge_work), ("back", BACK, judge_back), ("gone", GONE, judge_gone)]
    # First the one that loads the modules itself.
    return [Job("netfs", "chosen", "late", LATE, judge_late),
            *(Job("netfs", variant, name, script, judge) for name, script, judge in table
              for variant in ("chosen", *([] if quick else VARIANTS["netfs"][1:]))),
            Job("monitor", "chosen", "netfs", MONITOR, judge_monitor),
            Job("netfs", "chosen", "9p", p9.CACHED, judge_9p),
            *served.of_no_use("netfs", "cifs", "netfs", ["netfs_sreq"])]
