# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for the monitoring service: it counts what strace counts; its overhead for a
process without I/O; and its flight recording of chosen jobs."""
import re

from job import Job, NotRun, check, equal, strace_counts, reported_losses

READS = ("read", "pread64", "readv", "preadv", "preadv2")
# Starts the service, and waits until it watches; %s: layers.
START = """faultline monitor -v --listen 127.0.0.1:9918 --layers %s --ready-fd 3 3>ready 2>>stderr &
pid=$!; until grep -q watching ready; do sleep 0.1; kill -0 $pid || exit; done"""
CALLS = f"""head -c 1048576 /dev/urandom >/mnt/hot; cd $OUT
strace -f -qq -c -U name,calls,errors -o strace hotread /mnt/hot account 3 reads 500 || exit
{START % "task,syscall,fault,pagecache"}
hotread /mnt/hot account 3 reads 500 || exit
sleep 0.1; wget -q -O metrics http://127.0.0.1:9918/metrics || exit
kill $pid; wait $pid"""
# On a machine that has room for this many CPUs: buffers for all, whether they are there or not. What
# the service's memory is: smaps.
CPUS, BESIDE_BYTES = 128, 64 << 20
MANY_CPUS = f"""head -c 1048576 /dev/urandom >/mnt/hot; cd $OUT
cat /sys/devices/system/cpu/possible >possible
{START.replace("--layers %s ", "")}
hotread /mnt/hot account 3 reads 500 || exit
sleep 0.1; wget -q -O metrics http://127.0.0.1:9918/metrics || exit
cat /proc/$pid/smaps >smaps; kill $pid; wait $pid"""
# Runs of our programs, by the kernel's own count, for a number of calls.
NEIGHBOUR = """echo 1 >/proc/sys/kernel/bpf_stats_enabled
for layer in vfs syscall; do rm -f ready
%s
runs() { cat /proc/$pid/fdinfo/* | awk '/^run_cnt/ { all += $2 } END { print all + 0 }'; }
before=$(runs); neighbour asks 1 >asked || exit; echo "$before $(runs) $(cat asked)" >$layer
kill $pid; wait $pid || exit; done""" % (START % "task,$layer")

# Shells in cgroup v2 groups without controllers, which read byte after byte: in the chosen ones, a
# process that was there before, one that enters, and a child of one that enters; and one in another
# group.
KEPT, LEFT = {"before": "chosen", "late": "chosen", "child": "more"}, {"other": "others"}
FLIGHT_OF = """mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; of=/sys/fs/cgroup; mkdir -p $of/chosen $of/more $of/others
for n in %s; do seq 400 >/mnt/of-$n; mkfifo go-$n; done; jobs=
begin() { body="read x <go-$2; while read x; do :; done </mnt/of-$2"; [ $2 != child ] || body="($body); exit"
sh -c "echo 0 >$of/$1/cgroup.procs; exec sh -c '$body'" & jobs="$jobs $!"; }
living() { kill -0 $pid || exit; wget -q -O known "http://127.0.0.1:9918/jobs?jobs=4096&processes=0&files=0"
grep -q ".cgroup.:./$1.,[^{}]*.living.:$2," known; }
begin chosen before; until grep -q . $of/chosen/cgroup.procs; do sleep 0.1; done
%s
begin chosen late; begin more child; begin others other
for each in "chosen 2" "more 2" "others 1"; do until living $each; do sleep 0.1; done; done
for n in %s; do echo >go-$n; done; wait $jobs
kill -USR2 $pid; until [ -s trace-1.flt ]; do sleep 0.1; kill -0 $pid || exit; done
kill $pid; wait $pid; status=$?; mv trace-1.flt trace.flt; exit $status""" % (
    " ".join(KEPT | LEFT),
    START % "task,syscall --flight 8M --flight-of cgroup=/chosen* --flight-of cgroup=/more -o trace.flt",
    " ".join(KEPT | LEFT),
)


def reported(metrics, name, **labels):
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(float(line.rsplit(" ", 1)[1]) for line in (metrics or "").splitlines()
               if line.startswith(name + "{") and all(text in line for text in wanted))


def judge_calls(results):
    theirs = strace_counts(results.text("strace"))
    expected = sum(theirs[call][0] for call in READS if call in theirs)
    check(expected >= 1500, f"strace counted {expected} reads: {results.messages()}")
    ours = reported(results.text("metrics"), "faultline_io_operations_total", command="hotread",
                op="read", method="syscall")
    if results.passed_over:
        check(expected * 0.9 <= ours <= expected, f"{ours} reads, strace's {expected}")
    else:
        equal(ours, expected, "reads, strace's")
    return f"{ours:.0f} reads as strace counts them"


def judge_many_cpus(results):
    if (results.text("possible") or "").strip() != f"0-{CPUS - 1}":
        raise NotRun(f"possible CPUs are {results.text('possible')}")
    reads = told(results.text("metrics"), "faultline_io_operations_total", command="hotread",
                 op="read", method="syscall")
    check(reads >= 1500 * (0.9 if results.passed_over else 1), f"{reads} reads of 1500")
    beside = of_maps = 0
    for mapping in re.split(r"^(?=[0-9a-f]+-)", results.text("smaps"), flags=re.M)[1:]:
        head, size = mapping.splitlines()[0], int(re.search(r"^Rss: +(\d+)", mapping, re.M)[1]) << 10
        if "bpf-map" in head or "bpf_map" in head:
            of_maps += size
        else:
            beside += size
    check(beside <= BESIDE_BYTES, f"{beside >> 20} MiB beside the kernel's maps")
    return f"{beside / 2**20:.1f} MiB beside {of_maps / 2**20:.1f} MiB of the kernel's maps"


def judge_neighbour(results):
    """With VFS functions nothing runs; with tracepoints on all calls, two programs each."""
    share = {}
    for layer in ("vfs", "syscall"):
        before, after, _, ops = (float(word) for word in results.text(layer).split())
        check(ops > 100, f"{ops} calls")
        share[layer] = (after - before) / ops
    attached = results.attached()
    check(any(re.match(r"fl_.*read", name) for name in attached), f"attached: {attached}")
    check(share["syscall"] >= 1.8, f"system calls: {share['syscall']:.2f} programs a call")
    check(share["vfs"] < 0.1, f"VFS: {share['vfs']:.2f} programs a call")
    return (f"{share['vfs']:.3f} programs a getppid() by the VFS, {share['syscall']:.2f} by "
            "system calls")


def judge_flight_of(results):
    """Everything the chosen jobs did, each byte they read, and nothing of others."""
    lost = reported_losses(results, results.report())
    size = sum(len(f"{number}\n") for number in range(1, 401))
    rows = [row for row in results.printed("syscall") if row["op"] == "read" and row["result"] == 1]
    missing = 0
    for name in KEPT:
        offsets = [row["offset"] for row in rows if row.get("path") == f"/mnt/of-{name}"]
        equal(len(set(offsets)), len(offsets), f"reads of {name} that are recorded once")
        check(set(offsets) <= set(range(size)), f"{name}: what was not read")
        missing += size - len(offsets)
    check(missing <= lost, f"{missing} reads are missing, {lost} reported lost")
    for name in LEFT:
        equal([row for row in rows if row.get("path") == f"/mnt/of-{name}"], [], "of others")
    return f"{len(KEPT)} processes of chosen jobs, {size} reads each, {missing} missing, none of others"


def for_kernel(quick):
    return [Job("monitor", "chosen", "calls", CALLS, judge_calls),
            Job("monitor", "chosen", "neighbour", NEIGHBOUR, judge_neighbour),
            Job("monitor", "chosen", "flight_of", FLIGHT_OF, judge_flight_of)]


def for_many_cpus():
    return [Job("monitor", "chosen", "cpus", MANY_CPUS, judge_many_cpus)]
