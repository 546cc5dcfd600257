# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for remote procedure calls of NFS clients, compared with /proc/self/mountstats."""
import monitor
import served
from job import VARIANTS, Job, check, equal

FILE_BYTES = 1 << 20
# An NFS 4 server on this machine, with its daemons' upcalls answered by hand. Opens fail during its
# grace period, 90 s by default and 10 s at minimum.
V4_SERVE = f"""load nfsd; load nfsv4; [ -d /proc/fs/nfsd ] && grep -q nfs4 /proc/filesystems || exit 77
mkdir -p /mnt/export /mnt/n; dd if=/dev/urandom of=/mnt/export/data bs={FILE_BYTES} count=1
mount -t nfsd nfsd /proc/fs/nfsd; cd /proc/fs/nfsd
echo 10 >nfsv4leasetime; echo 10 >nfsv4gracetime; echo "-3 +4" >versions; echo "tcp 2049" >portlist
cd /proc/net/rpc; echo "nfsd 127.0.0.1 2147483647 job" >auth.unix.ip/channel
echo "job /mnt/export 2147483647 9218 65534 65534 0" >nfsd.export/channel
printf "%s\\n" "job 1 \\x00000000 2147483647 /mnt/export" >nfsd.fh/channel
echo 2 >/proc/fs/nfsd/threads; cd $OUT"""
V4_MOUNT = "mount -t nfs4 -o %s,addr=127.0.0.1,clientaddr=127.0.0.1 127.0.0.1:%s /mnt/n || exit"
SERVE = f"{V4_SERVE}\n{V4_MOUNT % ('vers=4.2', '/')}"
STOP = "umount /mnt/n; echo 0 >/proc/fs/nfsd/threads; umount /proc/fs/nfsd"
WORK = """cd /mnt/n; ls -l; cat data missing >/dev/null; mkdir dir; head -c 300000 /dev/zero >dir/made
mv dir/made made; sync; rm made; rmdir dir; stat data"""
RECORD = f"""cat /proc/self/mountstats >before
$RUN -- sh -c "{WORK}"; s=$?
cat /proc/self/mountstats >after"""
V4 = f"""{SERVE}
{RECORD}
{STOP}; exit $s"""
# Mount options that change how calls are made: smaller ones, over several connections, more of them.
OTHER_V4 = {"v40": "vers=4.0,rsize=8192,wsize=4096", "v41": "vers=4.1,nconnect=4,noac,soft"}
# Another server, whose files are on the scratch disk.
GANESHA_CONF = """NFS_CORE_PARAM { Protocols = 3, 4; Enable_NLM = false; Enable_RQUOTA = false; MNT_Port = 2051;
Plugins_Dir = /usr/lib/ganesha; } NFSV4 { Graceless = true; Lease_Lifetime = 10; } LOG { Default_Log_Level = EVENT; }
EXPORT { Export_Id = 1; Path = /mnt/export; Pseudo = /data; Access_Type = RW; Squash = No_Root_Squash; SecType = sys;
Protocols = 3, 4; Transports = TCP; FSAL { Name = VFS; } }"""
GANESHA = f"""need rpcbind ganesha.nfsd; load nfsv3; load nfsv4; grep -q nfs4 /proc/filesystems || exit 77
mkdir -p /mnt/export /mnt/n /run/rpcbind /run/ganesha /var/run/ganesha /var/lib/nfs/ganesha /var/log /etc
dd if=/dev/urandom of=/mnt/export/data bs={FILE_BYTES} count=1; echo "{GANESHA_CONF}" >conf
printf "root:x:0:0::/:/bin/sh\n_rpc:x:107:65534::/:/bin/sh\n" >/etc/passwd; echo root:x:0: >/etc/group
printf "tcp tpi_cots_ord v inet tcp - -\n" >/etc/netconfig; rpcbind -f -h 127.0.0.1 >rpcbind 2>&1 & portmapper=$!
until netstat -ltn | grep -q :111; do sleep 0.1; done
ganesha.nfsd -F -f conf -L $OUT/ganesha.log -p $OUT/ganesha.pid & server=$!; tries=600
until netstat -ltn | grep -q :2049; do sleep 0.1; tries=$((tries - 1)); [ $tries -gt 0 ] || exit 99; done; sleep 1"""
GANESHA_STOP = "umount /mnt/n; kill -KILL $server $portmapper; wait"
GANESHA_V3 = ("mount -t nfs -o vers=3,proto=tcp,nolock,addr=127.0.0.1,mountaddr=127.0.0.1,mountproto=tcp,port=2049,"
              "mountport=2051 127.0.0.1:/mnt/export /mnt/n || exit")
GANESHA_MOUNTS = {"ganesha3": GANESHA_V3,
                  **{f"ganesha4{n}": V4_MOUNT % (f"vers=4.{n}", "/data") for n in (0, 1, 2)}}


def other_server(mount):
    return f"""{GANESHA}
{mount}
{RECORD}
{GANESHA_STOP}; exit $s"""


# A version 3 server of these tests, which lists the calls that it answered.
PORT, DELAY_MS, LINKED = 2050, 2, """load nfsv3; grep -q nfs$ /proc/filesystems || exit 77
mkdir -p /mnt/n"""
V3_SERVE = """nfs_serve %d %d served %s >ready & server=$!
until grep -q ready ready; do kill -0 $server || exit 99; sleep 0.1; done"""
V3_OPTIONS = ("vers=3,proto=tcp,nolock,noacl,nordirplus,rsize=65536,wsize=65536,addr=127.0.0.1,"
              f"mountaddr=127.0.0.1,mountproto=tcp,port={PORT},mountport={PORT}")
V3_MOUNT = f"""{LINKED}; {V3_SERVE % (PORT, DELAY_MS, "")}
mount -t nfs -o {V3_OPTIONS} 127.0.0.1:/export /mnt/n || exit
wc -l <served >mounting; cat /proc/self/mountstats >before"""
V3_STOP = """cat /proc/self/mountstats >after; wc -l <served >ended; umount /mnt/n; kill $server"""
V3_WORK = """cd /mnt/n; ls -l; cat data missing failing stale >/dev/null
head -c 300000 /dev/zero >made; sync; rm made; stat data"""
V3 = f"""{V3_MOUNT}
$RUN -- sh -c "{V3_WORK}"; s=$?
{V3_STOP}; exit $s"""
# The server dies when it is to answer a read, and comes back: the client calls again.
RESTARTED = f"""(while kill -0 $server; do sleep 0.1; done
exec nfs_serve {PORT} 0 served again >ready) & server=$!"""
BACK = f"""{V3_MOUNT}
{RESTARTED}
$RUN -- cat /mnt/n/die >/dev/null; s=$?
{V3_STOP}; exit $s"""
# One mount after the other of the same export, which get the same device number. The second is
# remounted with other options.
AGAIN = f"""{LINKED}; {V3_SERVE % (PORT, DELAY_MS, "")}
cat >work <<'END'
for n in 1 2; do mkdir -p /mnt/n$n; mount -t nfs -o {V3_OPTIONS} 127.0.0.1:/export /mnt/n$n || exit 97
for i in $(seq $n); do dd if=/mnt/n$n/data of=/dev/null bs=65536 iflag=direct || exit 95
[ $n = 1 ] || mount -o remount,ro /mnt/n$n || exit 94; done; umount /mnt/n$n || exit 96; done
END
$RUN -- sh work; s=$?; kill $server; exit $s"""
# The server is gone, and the client gives up.
SOFT = f"""{V3_MOUNT.replace(V3_OPTIONS, f"{V3_OPTIONS},soft,timeo=10,retrans=1")}
kill $server; wait $server
$RUN -- sh -c "cat /mnt/n/data; true"; s=$?
{V3_STOP}; exit $s"""
UNANSWERED = 2
# The modules are loaded while the recording runs, and unloaded, twice; the second time with one more.
LOAD = """was=$(grep -c "fl_nfs_count.* attached" $OUT/stderr); load nfsv%d || exit 77; mkdir -p /mnt/n
until [ $(grep -c "fl_nfs_count.* attached" $OUT/stderr) -gt $was ]; do sleep 0.1; done; sleep 1"""
LOADED = LOAD % 3
UNLOADED = """for module in nfsv4 nfsv3 nfs nfs_acl lockd grace; do rmmod $module; done 2>/dev/null
tries=100; until rmmod sunrpc; do tries=$((tries - 1)); [ $tries -gt 0 ] || exit 98; sleep 0.1; done 2>/dev/null"""
LATE_WORK = f"""cd $OUT; for n in 1 2; do {LOADED}
if [ $n = 2 ]; then {LOAD % 4}; fi
mount -t nfs -o {V3_OPTIONS} 127.0.0.1:/export /mnt/n || exit 97; wc -l <served >mounting$n
cat /mnt/n/data >/dev/null; wc -l <served >ended$n; umount /mnt/n || exit 96; {UNLOADED}
done"""
LATE = f"""[ ! -d /sys/module/nfs ] || exit 77; {V3_SERVE % (PORT, DELAY_MS, "")}
cat >work <<'END'
{LATE_WORK}
END
$RUN -- sh work; s=$?; kill $server; exit $s"""
MONITOR = f"""[ ! -d /sys/module/nfs ] || exit 77; {V3_SERVE % (PORT, DELAY_MS, "")}
{monitor.START % "task,syscall,pagecache,block,nfs"}
{LOADED}
mount -t nfs -o {V3_OPTIONS} 127.0.0.1:/export /mnt/n || exit; cat /mnt/n/data >/dev/null
{RESTARTED}
cat /mnt/n/die >/dev/null; cat /proc/self/mountstats >after
wget -q -O metrics http://127.0.0.1:9918/metrics || exit
umount /mnt/n; {UNLOADED}
kill $server $pid; wait $pid"""
PROCEDURES = ("null getattr setattr lookup access readlink read write create mkdir symlink mknod "
              "remove rmdir rename link readdir readdirplus fsstat fsinfo pathconf commit").split()
# Also made by kernel threads.
SHARED = ("SEQUENCE", "RENEW", "DELEGRETURN")
COLUMNS = ("calls", "transmissions", "time-outs", "sent", "received", "queue", "rtt", "time",
           "errors")
MS = 1000000


def counts(text, where="/mnt/n"):
    """The COLUMNS of each procedure; times in ms."""
    mount = text.split(f" mounted on {where} ")[1].split("\ndevice ")[0]
    lines = mount.split("per-op statistics\n")[1].splitlines()
    return {name.strip(): [int(number) for number in numbers.split()]
            for name, _, numbers in (line.partition(":") for line in lines) if numbers}


def reported(rows):
    """The same from rows of a trace, times in ns."""
    sums = {}
    for row in rows:
        entry = sums.setdefault(row["op"][4:].upper(), [0] * len(COLUMNS))
        for i, number in enumerate((1, row["retransmits"] + 1, 0, row["sent"], row["received"],
                                    row["queue"] if row["sent"] else 0, row["rtt"],
                                    row["dur_ns"], row["error"] != 0)):
            entry[i] += number
    return sums


def compare(rows, before, after):
    """Each procedure of the run equals the client's own counts, which are of all processes."""
    mine = reported(rows)
    theirs = {name: [late - early for late, early in zip(numbers, before[name])]
              for name, numbers in after.items()}
    used = {name for name, numbers in theirs.items() if numbers[0]} - set(SHARED)
    equal(set(mine) - set(SHARED), used, "procedures")
    for name in used:
        for what, got, expected in zip(COLUMNS, mine[name], theirs[name]):
            text = f"{what} of {name}: {got}, expected {expected}"
            if what in ("queue", "rtt", "time"):  # rounded down twice
                check(abs(got // MS - expected) <= 1, text)
            elif what != "time-outs":
                check(got == expected, text)
    return used


def named(rows, procedure):
    return [row for row in rows if row["op"] in (f"nfs_{procedure}", f"nfs_{procedure}_plus")]


def recorded(results):
    """The layer's rows, and the procedures that were used, after checks that hold for each job."""
    report, _, rows = served.recorded(results, "nfs")
    used = compare(rows, *(counts(results.text(name)) for name in ("before", "after")))
    served.of_run(report, rows)
    device, = [row for row in report["devices"] if row["name"].startswith("127.0.0.1:/")]
    served.same_sums(device, rows)
    for kind in ("read", "write"):
        of_kind = [row for row in rows if row["op"].split("_")[1] == kind]
        equal((device[kind]["retransmits"], device[kind]["rtt_ns"]),
              (sum(row["retransmits"] for row in of_kind), sum(row["rtt"] for row in of_kind)),
              f"round trips of {kind}s")
    return rows, used, device["name"]


def judge_v4(results, mount="127.0.0.1:/ (nfs4)"):
    rows, used, name = recorded(results)
    equal(name, mount, "name of the mount")
    check(len(used) > 8, f"only {used}")
    reads = named(rows, "read")
    equal({row.get("path") for row in reads}, {"/mnt/n/data"}, "files read")
    equal(sum(row["bytes"] for row in reads), FILE_BYTES, "bytes read")
    equal(sum(row["bytes"] for row in named(rows, "write")), 300000, "bytes written")
    return f"{len(rows)} calls of {len(used)} procedures"


def judge_other_server(results):
    is_v3 = "nfs3" in results.text("before")
    return judge_v4(results, "127.0.0.1:/mnt/export (nfs)" if is_v3 else "127.0.0.1:/data (nfs4)")


def answered(results, which=""):
    """Calls that the server answered between mounting and unmounting."""
    for procedure, *numbers in served.lines(results, which):
        yield (f"nfs_{PROCEDURES[procedure]}", *numbers)


def judge_v3(results):
    rows, used, name = recorded(results)
    equal(name, "127.0.0.1:/export (nfs)", "name of the mount")
    equal(sorted((row["op"], row["node"], row["offset"], row["asked"], row["bytes"],
                  {116: 70}.get(row["error"], row["error"])) for row in rows),
          sorted(answered(results)), "calls")
    for row in rows:
        check(row["rtt"] >= DELAY_MS * MS, f"{row['op']}: {row['rtt']} ns until the reply")
    for name, error in (("failing", 5), ("stale", 116)):
        errors = {row["error"] for row in rows
                  if row["op"] == "nfs_read" and row.get("path") == f"/mnt/n/{name}"}
        equal(errors, {error}, f"errors of {name}")
    return f"{len(rows)} calls of {len(used)} procedures"


def judge_back(results):
    rows, _, name = recorded(results)
    again = [row for row in rows if row["retransmits"]]
    check(again, "no call was sent again")
    for row in again:
        check(row["queue"] + row["rtt"] <= row["dur_ns"] and row["queue"] > row["rtt"],
              f"{row['op']}: {row['queue']} ns until it was last sent, {row['rtt']} ns from then")
    report = served.recorded(results, "nfs")[0]
    equal([(row["evidence"]["mount"], row["evidence"]["resent"]) for row in report["findings"]
           if row["id"] == "mount-retransmits"], [(name, len(again))], "mounts that lose requests")
    reads = named(rows, "read")
    equal(sum(row["bytes"] for row in reads), FILE_BYTES, "bytes read")
    return f"{len(again)} of {len(rows)} calls sent again"


def judge_again(results):
    report, _, rows = served.recorded(results, "nfs")
    devices = sorted((row for row in report["devices"] if row["name"] == "127.0.0.1:/export (nfs)"),
                     key=lambda row: (row["dev"], row["instance"]))
    equal([row["all"]["read"]["bytes"] for row in devices], [FILE_BYTES, 2 * FILE_BYTES],
          "bytes read from each mount")
    for n in 1, 2:
        file, = [row for row in report["files"] if row["path"] == f"/mnt/n{n}/data"]
        equal(file["read"]["bytes"], n * FILE_BYTES, "bytes read from a file")
        equal(sum(row["bytes"] for row in named(rows, "read") if row.get("path") == file["path"]),
              n * FILE_BYTES, "bytes of its calls")
    return "two mounts of one export"


def judge_soft(results):
    rows, _, _ = recorded(results)
    for row in rows:
        check(row["sent"] or row["queue"] == row["dur_ns"], f"{row['op']} had another wait")
        check(row["error"] in (5, 110) and row["flags"] & UNANSWERED and not row["received"],
              f"{row['op']}: error {row['error']}, flags {row['flags']}")
    check(rows, "no call failed")
    return f"{len(rows)} calls without a reply"


def judge_late(results):
    report, _, rows = served.recorded(results, "nfs")
    rows = [row for row in rows if row["op"] == "nfs_read"]
    equal(sorted((row["op"], row["node"], row["offset"], row["asked"], row["bytes"], row["error"])
                 for row in rows),
          sorted(call for which in "12" for call in answered(results, which)
                 if call[0] == "nfs_read"), "reads")
    equal({row.get("path") for row in rows}, {"/mnt/n/data"}, "files read")
    unseen = served.late(report, "nfs")
    equal(sum(row["read"]["bytes"] for row in report["devices"] if row["name"].startswith("127.")),
          2 * FILE_BYTES, "bytes read from the mounts")
    return f"{len(rows)} reads in two lives of the modules, not seen for {unseen:.1f} s"


def judge_monitor(results):
    """Two files, one of which the server answers only when it is back."""
    mount, text = "127.0.0.1:/export (nfs)", results.text("metrics")
    theirs = counts(results.text("after"))

    def ours(name, op):
        return monitor.told(text, f"faultline_nfs_{name}_total", device=mount, op=op)

    calls, sent, _, _, _, _, rtt_ms, _, _ = theirs["READ"]
    check(sent > calls, "no read was sent again")
    equal((ours("calls", "read"), ours("retransmits", "read")), (calls, sent - calls), "reads")
    check(abs(ours("round_trip_seconds", "read") * 1000 - rtt_ms) <= 1,
          f"{ours('round_trip_seconds', 'read')} s, expected {rtt_ms} ms")
    # Those of mounting are not about a file of the mount.
    others = sum(theirs[name][0] for name in theirs if name not in ("READ", "WRITE", "COMMIT"))
    check(theirs["LOOKUP"][0] <= ours("calls", "other") <= others,
          f"{ours('calls', 'other')} other calls of {others}")
    return (f"{served.monitored(results, mount, 2 * FILE_BYTES)}, {sent - calls} sent again, "
            f"{ours('calls', 'other'):.0f} other calls")


def for_kernel(quick):
    table = [("v3", V3, judge_v3), ("v4", V4, judge_v4), ("back", BACK, judge_back),
             ("soft", SOFT, judge_soft), ("again", AGAIN, judge_again)]
    others = [(name, f"{V4_SERVE}\n{V4_MOUNT % (options, '/')}\n{RECORD}\n{STOP}; exit $s", judge_v4)
              for name, options in OTHER_V4.items()]
    others += [(name, other_server(mount), judge_other_server)
               for name, mount in GANESHA_MOUNTS.items()]
    # First those that load the modules themselves.
    return [Job("nfs", "chosen", "late", LATE, judge_late),
            Job("monitor", "chosen", "nfs", MONITOR, judge_monitor),
            *(Job("nfs", variant, name, script, judge)
              for name, script, judge in table[:1 if quick else None]
              for variant in ("chosen", *([] if quick else VARIANTS["nfs"]))),
            *(Job("nfs", "chosen", name, script, judge)
              for name, script, judge in ([] if quick else others)),
            *served.of_no_use("nfs", "nfsv3", "sunrpc nfs", ["rpc_task_begin", "rpc_stats_latency"])]
