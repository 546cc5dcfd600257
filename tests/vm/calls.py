# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for system calls: each is reported once or counted as lost, compared with strace
and the programs' own counts, in both modes and with a flight recorder."""
import collections

from job import call_counts, check, equal, file_row, strace_counts, reported_losses

# Addresses that do not vary: where they do not suit arm64's libraries, the loader trims them.
CALLS = """echo 0 >/proc/sys/kernel/randomize_va_space
rm -rf /mnt/c; mkdir /mnt/c
strace -f -qq -c -U name,calls,errors -o strace /bin/calls /mnt/c || exit
rm -rf /mnt/c; mkdir /mnt/c; sync; $RUN -- /bin/calls /mnt/c"""
TINY = """head -c 1048576 /dev/urandom >/mnt/hot
for reads in 10000 40000 160000; do $RUN --force --buffer 4K -- hotread /mnt/hot account 2 reads $reads
faultline report --format json trace.flt | grep -q '"total":[1-9]' && break; done; true"""
CROWD = """head -c 1048576 /dev/urandom >/mnt/hot
$RUN -- hotread /mnt/hot account 12 reads 2500"""
# Many threads that end at the same time.
ENDS = """head -c 1048576 /dev/urandom >/mnt/hot
$RUN -- sh -c 'for i in $(seq 40); do hotread /mnt/hot account$i 16 reads 20; done'"""
SUMS = """head -c 1048576 /dev/urandom >/mnt/hot; mkdir -p /mnt/sums
$RUN --mode profile --interval 100ms --layers syscall,fault,pagecache -- sh -c 'calls /mnt/sums; hotread /mnt/hot account 12 reads 2500'"""
COUNTED, COUNTED_BYTES, COUNTERS = "/mnt/counted", 6000, 6
FLIGHT = """head -c %d /dev/urandom >%s
$RUN --flight 1M -- sh -c 'for i in $(seq %d); do dd if=%s of=/dev/null bs=1 & done; wait
kill -USR2 $PPID; until [ -s trace-1.flt ]; do sleep 0.1; done; sleep 1'
status=$?; mv trace-1.flt trace.flt; exit $status""" % (COUNTED_BYTES, COUNTED, COUNTERS, COUNTED)


def judge_calls(results):
    report, theirs = results.report(), strace_counts(results.text("strace"))
    check(theirs, f"strace counted nothing: {results.messages()}")
    # strace has a single name for all fcntl and ioctl requests, and also counts the first execve.
    ours = {op: counts for op, counts in call_counts(report).items()
            if not op.startswith(("fcntl_", "ioctl_"))}
    count, errors = theirs.get("execve", (1, 0))
    theirs["execve"] = (count - 1, errors)
    if reported_losses(results, report):
        lost = report["trace"]["lost"]["by_layer"]
        missing = [theirs.get(op, (0, 0))[0] - counts[0] for op, counts in ours.items()]
        check(all(count >= 0 for count in missing), f"more calls than strace counts: {missing}")
        # One lost fork is a process of which nothing is known.
        check(lost["task"] or sum(missing) <= lost["syscall"],
              f"{sum(missing)} are missing, {lost['syscall']} lost")
        return f"{sum(missing)} of strace's calls missing, {lost['syscall']} reported lost"
    check(len(ours) > 30, f"only {len(ours)} kinds of calls")
    wrong = {op: (ours[op], theirs.get(op)) for op in ours if ours[op] != theirs.get(op)}
    check(not wrong, f"(count, errors), strace's: {wrong}")
    return f"{len(ours)} kinds of calls as strace counts them"


def judge_tiny(results):
    report, reads = results.report(), results.account()["reads"]
    lost = report["trace"]["lost"]
    check(lost["total"] > 0, "nothing was lost: this tests nothing")
    # The dynamic loader reads its libraries with the same call.
    count, errors = call_counts(report)["pread64"]
    check(reads <= count < reads + 20 and not errors, f"{count} reads counted of {reads}")
    counted = sum(count for count, _ in call_counts(report).values())
    equal(len(results.printed("syscall")) + lost["by_layer"]["syscall"], counted,
          "rows and lost calls, the kernel's count")
    return f"{lost['total']} lost, all counted"


def judge_crowd(results):
    """Many threads on few CPUs: events that the kernel skipped are reported as lost, and nothing
    else is missing."""
    report = results.report()
    reads = sum(results.account(name)["reads"] for name in results.names("account*"))
    lost = report["trace"]["lost"]["by_layer"].get("syscall") or 0
    count = file_row(report, "/mnt/hot")["read"]["count"]
    # The lost ones may be other calls.
    check(count <= reads <= count + lost, f"{count} counted and {lost} lost of {reads} reads")
    return f"{count} counted, {lost} lost of {reads}"


def judge_sums(results):
    """Mode profile, many threads on few CPUs: the file's totals equal the program's own count,
    and the processes' totals the kernel's."""
    report, reads = results.report(), results.account()["reads"]
    equal(report["trace"]["mode"], "profile", "mode")
    equal(report["trace"]["unaccounted"], 0, "unaccounted")
    lost = report["trace"]["lost"]["by_layer"].get("syscall") or 0
    count = file_row(report, "/mnt/hot")["read"]["count"]
    check(count <= reads <= count + lost, f"{count} summed up and {lost} lost of {reads} reads")
    for kind in ("read", "write", "metadata", "sync"):
        for part in ("count", "errors", "thread_time_ns"):
            equal(sum(row[kind][part] for row in report["processes"]),
                  report["totals"][kind][part], f"{kind}.{part} of all processes, of the totals")
    equal(results.printed("syscall"), [], "records of system calls")
    return f"{count} summed up, {lost} lost of {reads}"


def judge_flight(results):
    """A flight recorder's records of several processes that read byte after byte: their ends,
    with no unreported gaps. How much is overwritten depends on the guest's speed: maybe nothing."""
    report = results.report()
    trace = report["trace"]
    equal(trace["flight"]["reason"], "SIGUSR2", "why it was written")
    equal(trace["unaccounted"], 0, "unaccounted")
    lost, overwritten = trace["lost"]["total"], trace["flight"]["overwritten"]
    missing, ends = 0, set()
    by_process = collections.defaultdict(list)
    for row in results.printed("syscall"):
        if row.get("path") == COUNTED and row["op"] == "read" and row["result"] == 1:
            by_process[row["pid"]].append(row["offset"])
    for offsets in by_process.values():
        missing += max(offsets) - min(offsets) + 1 - len(set(offsets))
        equal(len(set(offsets)), len(offsets), "reads that are recorded twice")
        ends.add(max(offsets))
    check(missing <= lost, f"{missing} reads are missing, {lost} reported lost")
    check(lost or ends == {COUNTED_BYTES - 1}, f"ends {ends}")
    count = sum(map(len, by_process.values()))
    check(count > 1000, f"{count} reads")
    check(count + lost + overwritten >= COUNTERS * COUNTED_BYTES,
          f"{count} reads, {lost} events lost, {overwritten} overwritten")
    return f"the last {count} reads, {missing} of them missing, lost {lost}, overwritten {overwritten}"
