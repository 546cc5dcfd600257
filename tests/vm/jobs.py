# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is run in a guest, and how it is judged: each job is a workload under `faultline run` and an
account of the same work by somebody else. The comparisons are made here, from the traces that the
guest leaves. Knows nothing of virtual machines.

No number is compared that readahead or scheduling may change, but with an account of the same run.
"""
import collections
import glob
import json
import os
import subprocess

VARIANTS = {
    "task": ["tp_btf", "tp_btf*3"],
    "syscall": ["tp_btf", "tp"],
    "fault": ["fentry", "raw_tp+perf", "tp+perf", "kprobe+perf"],
    "pagecache": ["tp_btf", "tp_btf*3"],
    "block": ["tp_btf", "tp_btf*3"],
    "async": ["tp_btf", "tp"],
    "vfs": ["fentry", "kprobe"],
}
LAYERS = (*VARIANTS, "span")
# Ways of the workload `mapper`: all but one that wants more memory than a guest has.
MODES = """sequential random advised_random private_write shared_write populate mlock mlock2
    populate_read populate_write willneed fork threads write_from direct_write_from read_into pread
    read readahead fadvise sendfile""".split()
# In these the kernel itself takes the faults for a call that does not map: only fentry shows them.
PINNED = ["direct_write_from"]
QUICK_MODES = ["random", "shared_write", "populate", "threads", "read_into", "pread"]
DATA_MIB = 4
ATTACHED = " is attached to "  # what faultline -v says of each program
LIMIT = 900  # seconds for one job; only to end what hangs
WORKLOAD_ABSENT = "77"  # exit status of tests/live/uring.c where it cannot run
TOOL_ABSENT = "76"  # exit status of `need` in a guest, whose last words name what is not there
WORKLOAD_BROKEN = "99"  # exit status of tests/live/live.h
# Of a job's events: what may be told as lost where the kernel passes no program over.
LOST_AT_MOST = 0.1


class Wrong(Exception):
    """What Faultline says is not what happened."""


def check(condition, text):
    if not condition:
        raise Wrong(text)


def equal(got, expected, what):
    check(got == expected, f"{what}: {got}, expected {expected}")


class Absent(Exception):
    """The kernel has not what the variant hooks to; the text says what."""


class NotRun(Exception):
    """The guest was too slow for it, or what the job takes for granted was not so."""


class Results:
    """A job's files, and Faultline's words on its trace."""

    def __init__(self, outcome, job, faultline, passed_over=False):
        """`passed_over`: the kernel goes without a program while that is preempted."""
        self.outcome, self.job, self.faultline = outcome, job, faultline
        self.passed_over = passed_over

    def text(self, name):
        return self.outcome.read(self.job, name)

    def names(self, pattern):
        """Of the job's files, those of such names."""
        return [os.path.basename(path) for path in glob.glob(self.outcome.path(self.job, pattern))]

    def said(self):
        """What the job said on stderr, without the names of the programs that were attached."""
        lines = (self.text("stderr") or "").splitlines()
        return "\n".join(line for line in lines if ATTACHED not in line).strip()

    def attached(self):
        """The names of the programs that were attached."""
        lines = (self.text("stderr") or "").splitlines()
        return {line.split()[1] for line in lines if ATTACHED in line}

    def ended_well(self):
        """The job's exit status, or why its variant cannot be had on this kernel."""
        status, said = (self.text("status") or "").strip(), self.said()
        if status == "125" and "does not exist in this kernel" in said:
            raise Absent(said.split(" is off: ")[-1].splitlines()[0])
        if not status:
            raise NotRun("no time was left for it")
        if status == WORKLOAD_ABSENT:
            raise Absent("what the workload uses")
        if status == TOOL_ABSENT:
            raise NotRun(f"for want of a tool: {said.splitlines()[-1]}")
        if status == WORKLOAD_BROKEN:
            raise NotRun(f"the workload could not do its work: {said}")
        equal(status, "0", f"exit status ({said})")

    def chosen(self, job):
        """Which variant it was, where the choice was Faultline's."""
        if job.variant != "chosen" or job.layer not in VARIANTS:
            return ""
        return f" ({self.report()['trace']['layers'][job.layer]['attach']})"

    def account(self, name="account"):
        text = self.text(name)
        check(text, f"no {name}: {self.said()}")
        return json.loads(text)

    def call(self, *arguments, trace="trace.flt"):
        path = self.outcome.path(self.job, trace)
        check(os.path.exists(path), f"no trace: {self.said()}")
        done = subprocess.run(
            [self.faultline, *arguments, path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        check(done.returncode == 0, f"{arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def report(self, trace="trace.flt"):
        return json.loads(self.call("report", "--format", "json", trace=trace))

    def printed(self, layer):
        text = self.call("print", "--format", "json", "--layer", layer)
        return [json.loads(line) for line in text.splitlines()]


def attach_of(report, layer):
    return report["trace"]["layers"][layer]["attach"]


def call_counts(report):
    return {
        row["op"]: (row["count"], row["errors"])
        for row in report["operations"]
        if row["layer"] == "syscall" and row["count"]
    }


def strace_counts(text):
    counts = {}
    for line in (text or "").splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdigit() and words[0] != "total":
            counts[words[0]] = (int(words[1]), int(words[2]) if len(words) > 2 else 0)
    return counts


def file_row(report, path):
    found = [row for row in report["files"] or [] if row["path"] == path]
    equal(len(found), 1, f"rows of {path}")
    return found[0]


def fetched(row):
    """Bytes brought into the page cache for a file, by whatever operation or none."""
    return row["fetched_bytes"] + row["created_bytes"]


def told_losses(results, report):
    """Events told to be lost. What is passed over depends on when the kernel preempts: then there
    are bounds, but no equality."""
    lost, events = report["trace"]["lost"], report["trace"]["events"]
    check(results.passed_over or lost["total"] <= LOST_AT_MOST * events,
          f"{lost['total']} of {events} events lost ({lost['by_layer']})")
    return lost["total"]


# --- judgements: each returns what to say when all is well ---


def judge_calls(results):
    report, theirs = results.report(), strace_counts(results.text("strace"))
    check(theirs, f"strace counted nothing: {results.said()}")
    # strace has one name for all that fcntl and ioctl do, and counts the first execve, too.
    ours = {op: counts for op, counts in call_counts(report).items()
            if not op.startswith(("fcntl_", "ioctl_"))}
    count, errors = theirs.get("execve", (1, 0))
    theirs["execve"] = (count - 1, errors)
    if told_losses(results, report):
        lost = report["trace"]["lost"]["by_layer"]
        missing = [theirs.get(op, (0, 0))[0] - counts[0] for op, counts in ours.items()]
        check(all(count >= 0 for count in missing), f"more calls than strace counts: {missing}")
        # One lost fork is a process of which nothing is known.
        check(lost["task"] or sum(missing) <= lost["syscall"],
              f"{sum(missing)} are missing, {lost['syscall']} lost")
        return f"{sum(missing)} of strace's calls missing, {lost['syscall']} told as lost"
    check(len(ours) > 30, f"only {len(ours)} kinds of calls")
    wrong = {op: (ours[op], theirs.get(op)) for op in ours if ours[op] != theirs.get(op)}
    check(not wrong, f"(count, errors), strace's: {wrong}")
    return f"{len(ours)} kinds of calls as strace counts them"


def judge_mapper(results):
    """One recording of several processes, each of which brings in a file of its own."""
    report = results.report()
    lost, missing = told_losses(results, report), 0
    modes = results.text("modes").split()
    for mode in modes:
        truth = results.account(f"account-{mode}")
        if truth["resident_before"]:
            raise NotRun(f"{mode}: {truth['resident_before']} pages were in memory before")
        row = file_row(report, f"/mnt/data-{mode}")
        resident = truth["resident"] * truth["page_bytes"]
        major = row["mmap"]["major"] if row["mmap"] else 0
        if lost:
            check(fetched(row) <= resident and major <= truth["major"],
                  f"{mode}: {fetched(row)} bytes of {resident}, {major} faults of {truth['major']}")
            missing += resident - fetched(row)
            continue
        equal(fetched(row), resident, f"{mode}: fetched bytes, mincore's")
        check(major == truth["major"] or (mode in PINNED and major < truth["major"]),
              f"{mode}: major faults: {major}, rusage's: {truth['major']}")
    told = f", {missing} bytes missing, {lost} events told as lost" if lost else ""
    return f"{len(modes)} ways as mincore and rusage{told}"


def judge_processes(results):
    report, readers = results.report(), results.account()
    lost = told_losses(results, report)
    listed = {row["pid"] for row in report["processes"]}
    for number, (way, pid) in enumerate(sorted(readers.items())):
        if not lost:
            row = file_row(report, f"/mnt/readers/{way}")
            equal(row["read"]["bytes"], 10000 + 1000 * number, f"bytes read by {way}")
        check(lost or pid in listed, f"process {pid} ({way}) is not listed")
    short = [row for row in report["processes"] if row["comm"] == "true"]
    check(len(short) + lost >= 20 >= len(short), f"{len(short)} short processes, {lost} lost")
    codes = {row["exit_code"] for row in short} - ({None} if lost else set())
    equal(codes, {0}, "exit codes of short processes")
    return f"{len(listed)} processes, each once{f', {lost} events told as lost' * bool(lost)}"


def judge_spans(results):
    report = results.report()
    lost = report["trace"]["lost"]["by_layer"]["span"] or 0
    calls = [json.loads(line) for line in (results.text("account") or "").splitlines()]
    begun = {}
    for call in calls:
        if call["what"] == "begin":
            begun[call["name"]] = begun.get(call["name"], 0) + 1
    check(begun, "no span was begun")
    told = {}
    for row in report["spans"] or []:
        told[row["name"]] = told.get(row["name"], 0) + row["count"]
    if lost:
        # As in judge_calls: counted by the kernel side, or late by the tracer's own word.
        said = [row["text"] for row in report["caveats"] if row["id"] in ("lost", "spans")]
        missing = [count - told.get(name, 0) for name, count in begun.items()]
        check(set(told) <= set(begun) and min(missing) >= 0, f"more spans than begun: {told}")
        check(said, f"{lost} lost, and nothing is said of it")
        check(sum(missing) <= lost or "listened to" in str(said),
              f"{sum(missing)} of {sum(begun.values())} are missing, {lost} lost")
        return f"{sum(missing)} of {sum(begun.values())} spans missing, told: {'; '.join(said)}"
    equal(told, begun, "spans by name")
    return f"{sum(begun.values())} spans"


def judge_span_crowd(results):
    """Each span is its own thread's, whoever was preempted while it was told."""
    lost = told_losses(results, results.report())
    calls = [json.loads(line) for line in (results.text("account") or "").splitlines()]
    begun = {(call["tid"], call["id"]) for call in calls if call["what"] == "begin"}
    told = [row for row in results.printed("span") if row["kind"] == "span_begin"]
    wrong = [row for row in told
             if (row["tid"], row["id"]) not in begun or row["name"] != str(row["tid"])]
    check(begun and not wrong, f"{len(wrong)} of {len(told)} are another's: {wrong[:3]}")
    equal(len({row["id"] for row in told}), len(told), "spans that are told once")
    check(len(told) == len(begun) or len(begun) - len(told) <= lost,
          f"{len(told)} of {len(begun)} told, {lost} lost")
    return f"{len(told)} of {len(begun)} spans, each its own thread's, {lost} lost"


def judge_tiny(results):
    report, reads = results.report(), results.account()["reads"]
    lost = report["trace"]["lost"]
    check(lost["total"] > 0, "nothing was lost: this tests nothing")
    # The dynamic loader reads its libraries by the same call.
    count, errors = call_counts(report)["pread64"]
    check(reads <= count < reads + 20 and not errors, f"{count} reads counted of {reads}")
    counted = sum(count for count, _ in call_counts(report).values())
    equal(len(results.printed("syscall")) + lost["by_layer"]["syscall"], counted,
          "rows and lost calls, the kernel's count")
    return f"{lost['total']} lost, all counted"


def judge_crowd(results):
    """Many threads on few CPUs: what the kernel passed over is told, and nothing else is missing."""
    report = results.report()
    reads = sum(results.account(name)["reads"] for name in results.names("account*"))
    lost = report["trace"]["lost"]["by_layer"].get("syscall") or 0
    count = file_row(report, "/mnt/hot")["read"]["count"]
    # What is lost may be other calls.
    check(count <= reads <= count + lost, f"{count} counted and {lost} lost of {reads} reads")
    return f"{count} counted, {lost} lost of {reads}"


def judge_sums(results):
    """Mode profile, many threads on few CPUs: the file's sums are the program's own count, and the
    processes' sums the kernel's."""
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
    """What a flight recorder kept of several processes that read byte after byte: their ends, in
    which nothing is missing that is not told."""
    report = results.report()
    trace = report["trace"]
    equal(trace["flight"]["reason"], "SIGUSR2", "why it was written")
    equal(trace["unaccounted"], 0, "unaccounted")
    check(trace["flight"]["overwritten"] > 0, "nothing was overwritten")
    lost, missing, ends = trace["lost"]["total"], 0, set()
    by_process = collections.defaultdict(list)
    for row in results.printed("syscall"):
        if row.get("path") == COUNTED and row["op"] == "read" and row["result"] == 1:
            by_process[row["pid"]].append(row["offset"])
    for offsets in by_process.values():
        missing += max(offsets) - min(offsets) + 1 - len(set(offsets))
        equal(len(set(offsets)), len(offsets), "reads that are told twice")
        ends.add(max(offsets))
    check(missing <= lost, f"{missing} reads are missing, {lost} told as lost")
    check(lost or ends == {COUNTED_BYTES - 1}, f"ends {ends}")
    count = sum(map(len, by_process.values()))
    check(count > 1000, f"{count} reads")
    return f"the last {count} reads, {missing} of them missing, lost {lost}"


def judge_fault_crowd(results):
    """Several processes that fault at once: each file's pages are its own."""
    report = results.report()
    lost = report["trace"]["lost"]["by_layer"]
    told = missing = major = 0
    for number in range(4):
        truth = results.account(f"account{number}")
        row = file_row(report, f"/mnt/data{number}")
        resident = truth["resident"] * truth["page_bytes"]
        missing += resident - fetched(row)
        major += truth["major"] - (row["mmap"]["major"] if row["mmap"] else 0)
        told += resident
    if not any(lost.values()):
        equal(missing, 0, "fetched bytes that were not told, with nothing lost")
    check(missing >= 0, f"{-missing} bytes more than came")
    check(0 <= major <= (lost.get("fault") or 0),
          f"{major} major faults fewer than rusage's, {lost.get('fault')} told as lost")
    return f"{told} bytes, {missing} not told, {major} major faults, lost {sum(filter(None, lost.values()))}"


# Fields of /sys/block/*/stat, and what a row of a device calls them.
STAT = {0: "read_requests", 1: "read_merges", 2: "read_bytes", 4: "write_requests",
        5: "write_merges", 6: "write_bytes", 15: "flush_requests"}


def judge_devices(results):
    """What devices did that nobody else uses, by the kernel's own counts of them."""
    report, missing = results.report(), 0
    lost = told_losses(results, report)
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
    check(missing <= lost, f"{missing} requests are missing, {lost} told as lost")
    told = f", {missing} requests missing, {lost} told as lost" if lost else ""
    return f"{' and '.join(DEVICES)} as by their own counts, {len(times)} requests timed{told}"


def async_reads(results, report):
    """Reads by io_uring, with and without a thread that polls, and by libaio: each by its door.
    Returns how many there were, and what was lost."""
    truth = results.account()
    lost = told_losses(results, report)
    wanted = {"io_uring": truth["io_uring"] + truth["polled"], "libaio": truth["libaio"]}
    told = {row["door"]: row for row in report["doors"] if row["op"] == "read"}
    for door, count in wanted.items():
        ours = (told[door]["count"], told[door]["bytes"]) if door in told else (0, 0)
        theirs = count, count * truth["block_bytes"]
        check(ours == theirs or (lost and ours < theirs), f"{door}: {ours}, expected {theirs}")
    return wanted, lost


def judge_async(results):
    report = results.report()
    wanted, lost = async_reads(results, report)
    row = file_row(report, "/mnt/async")["read"]
    check(lost or row["count"] == sum(wanted.values()), f"{row['count']} reads of the file")
    return f"{wanted} reads{f', {lost} events told as lost' if lost else ''}"


def judge_throttled(results):
    """A writer that waits for writeback: the pauses that it was told lie within its calls."""
    report = results.report()
    lost = told_losses(results, report)
    pauses, totals = results.printed("throttle"), report["totals"]["throttled"]
    told = sum(row["pause_ns"] for row in pauses)
    calls = [row for row in results.printed("syscall") if row["op"] == "write"]
    paused = int(results.text("paused") or 0)
    check(totals["pauses"] == paused > 0 or (lost and totals["pauses"] < paused),
          f"{totals['pauses']} pauses, by the kernel's own trace {paused}")
    check(lost or (totals["pauses"], totals["pause_ns"]) == (len(pauses), told),
          f"{len(pauses)} pauses of {told} ns, in the totals {totals}")
    equal({row["path"] for row in pauses}, {THROTTLED}, "files of the pauses")
    took = sum(row["dur_ns"] for row in calls if row.get("path") == THROTTLED)
    check(lost or told <= took + len(pauses) * TICK_NS,
          f"told to sleep {told} ns in calls that took {took} ns")
    return f"{len(pauses)} pauses of {told // 1000000} ms in writes of {took // 1000000} ms"


# Of a request of io_uring, as the workload says it and as it is printed.
FORM = ("pid", "op", "path", "path2", "flags", "offset", "asked", "result")


def judge_forms(results):
    """Requests of io_uring and libaio in all forms, each as the workload says that it was."""
    lines = (results.text("account") or "").splitlines()
    truth = collections.Counter(
        tuple(row[name] for name in FORM) for row in map(json.loads, lines)
        if row["op"] not in ("io_uring_nop", "io_uring_provide_buffers"))
    check(truth, f"nothing was done: {results.said()}")
    told = collections.Counter()
    for row in results.printed("async"):
        for name in ("path", "path2"):
            path = row.get(name) or ""
            row[name] = path if path.startswith("/") else ""  # a pipe's name is the kernel's
        told[tuple(row[name] for name in FORM)] += 1
    lost = results.report()["trace"]["lost"]["by_layer"].get("async") or 0
    missing, more = truth - told, told - truth
    check(not more, f"told, but not done: {dict(more)}")
    check(sum(missing.values()) <= lost, f"not told: {dict(missing)}, lost {lost}")
    return f"{sum(truth.values())} operations, {sum(missing.values())} not told, lost {lost}"


def judge_refusal(results):
    equal((results.text("status") or "").strip(), "0", "the command under --best-effort")
    text = results.text("refusal") or ""
    check("faultline: " in text and "too old" in text, f"said {text!r}")
    equal((results.text("run_status") or "").strip(), "125", "exit status of run")
    equal(len(text.splitlines()), 1, "lines of the refusal")
    return text.strip().removeprefix("faultline: ")


class Job:
    def __init__(self, layer, variant, name, script, judge):
        self.layer, self.variant, self.name = layer, variant, name
        self.script, self.judge = script, judge

    @property
    def id(self):
        return "-".join((self.layer, self.variant, self.name)).replace("*", "x").replace("+", "_")

    def plan(self):
        """A line for the guest."""
        force = f"--force-variant {self.layer}={self.variant}" if self.variant != "chosen" else ""
        head = f"RUN='/bin/faultline run -v -o trace.flt {force}'; "
        script = (head + self.script).replace("'", "'\\''")
        return f"job {self.id} {LIMIT} '{script}'\n"


# Addresses that are no matter of luck: where they do not suit arm64's libraries the loader trims them.
CALLS = """echo 0 >/proc/sys/kernel/randomize_va_space
rm -rf /mnt/c; mkdir /mnt/c
strace -f -qq -c -U name,calls,errors -o strace /bin/calls /mnt/c || exit
rm -rf /mnt/c; mkdir /mnt/c; sync; $RUN -- /bin/calls /mnt/c"""
MAPPER = """echo %(modes)s >modes; fresh /mnt/other %(mib)d
for mode in %(modes)s; do fresh /mnt/data-$mode %(mib)d; done; cat modes >/dev/null
$RUN -- sh -c 'for mode in %(modes)s; do
mapper $mode /mnt/data-$mode account-$mode /mnt/other || exit; done'"""
READERS = """mkdir -p /mnt/readers; n=10000
for way in clone exec_chain fork leader_gone spawn thread_exec thread_fork vfork; do
head -c $n /dev/urandom >/mnt/readers/$way; n=$((n + 1000)); done
$RUN -- sh -c 'spawner /mnt/readers account && for i in $(seq 20); do /usr/bin/true; done'"""
SPANS = "$RUN -- span_marks account threads"
SPAN_CROWD = "$RUN -- span_marks account crowd"
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
COUNTED, COUNTED_BYTES = "/mnt/counted", 6000
FLIGHT = """head -c %d /dev/urandom >%s
$RUN --flight 1M -- sh -c 'for i in 1 2 3 4 5 6; do dd if=%s of=/dev/null bs=1 & done; wait
kill -USR2 $PPID; until [ -s trace-1.flt ]; do sleep 0.1; done; sleep 1'
status=$?; mv trace-1.flt trace.flt; exit $status""" % (COUNTED_BYTES, COUNTED, COUNTED)
FAULT_CROWD = """for i in 0 1 2 3; do fresh /mnt/data$i %(mib)d; done
$RUN -- sh -c 'for i in 0 1 2 3; do mapper threads /mnt/data$i account$i & done; wait'""" % {
    "mib": DATA_MIB
}
# A virtual disk, which has a cache to be flushed, and a device in which nothing takes less than
# NULL_NS. It is waited for reads ahead that are still on their way.
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
ASYNC = """head -c 65536 /dev/urandom >/mnt/async
$RUN -- uring /mnt/async account"""
# Of which little may be dirty on the whole machine; as it was afterwards. On a disk that is slower
# than any writer; how often one was made to wait the kernel's own trace tells.
THROTTLED, TICK_NS = "/mnt/slow/throttled", 10000000
THROTTLE = """rmmod null_blk 2>/dev/null
load null_blk gb=1 nr_devices=1 memory_backed=1 irqmode=2 completion_nsec=20000000 hw_queue_depth=1 || exit 77
mke2fs -F -b 4096 /dev/nullb0 65536; mkdir -p /mnt/slow; mount -t ext4 /dev/nullb0 /mnt/slow || exit
sync; cd /proc/sys/vm; before=$(cat dirty_ratio); background=$(cat dirty_background_ratio)
echo 524288 >dirty_background_bytes; echo 1048576 >dirty_bytes; cd $OUT; trace=/sys/kernel/tracing; mount -t tracefs none $trace
event=$trace/events/writeback/balance_dirty_pages/enable; echo >$trace/trace; echo 1 >$event
$RUN -- dd if=/dev/zero of=%s bs=64k count=256; status=$?
echo 0 >$event; grep -c "dd-.* balance_dirty_pages: .* pause=[1-9]" $trace/trace >paused
echo $before >/proc/sys/vm/dirty_ratio; echo $background >/proc/sys/vm/dirty_background_ratio
umount $trace /mnt/slow; rmmod null_blk; exit $status""" % THROTTLED
FORMS = """mkdir -p /mnt/forms
$RUN --file-types all -- uring_forms /mnt/forms account"""
REFUSAL = """faultline run -o a.flt -- true 2>refusal; echo $? >run_status
faultline run --best-effort -o b.flt -- true"""


def block(programs):
    return BLOCK % {"ns": NULL_NS, "names": " ".join(DEVICES), "programs": programs}


def mapper(modes):
    return MAPPER % {"modes": " ".join(modes), "mib": DATA_MIB}


def for_kernel(quick):
    """The jobs of a kernel that is supported, the most telling first."""
    mapped = mapper(QUICK_MODES)
    jobs = [Job("fault", "chosen", "mapped", mapped if quick else mapper(MODES), judge_mapper)]
    jobs += [Job("syscall", v, "calls", CALLS, judge_calls) for v in VARIANTS["syscall"]]
    jobs.append(Job("syscall", "chosen", "crowd", CROWD, judge_crowd))
    jobs += [Job("task", v, "processes", READERS, judge_processes) for v in VARIANTS["task"]]
    jobs.append(Job("span", "usdt", "spans", SPANS, judge_spans))
    jobs.append(Job("span", "usdt", "crowd", SPAN_CROWD, judge_span_crowd))
    jobs.append(Job("syscall", "chosen", "tiny", TINY, judge_tiny))
    jobs.append(Job("syscall", "chosen", "sums", SUMS, judge_sums))
    jobs.append(Job("syscall", "chosen", "flight", FLIGHT, judge_flight))
    jobs += [Job("block", v, "devices", block(1), judge_devices) for v in VARIANTS["block"]]
    jobs += [Job("async", v, "reads", ASYNC, judge_async) for v in VARIANTS["async"]]
    jobs.append(Job("pagecache", "chosen", "throttled", THROTTLE, judge_throttled))
    jobs += [Job("async", v, "forms", FORMS, judge_forms) for v in VARIANTS["async"]]
    jobs += [Job("fault", v, "mapped", mapped, judge_mapper) for v in VARIANTS["fault"]]
    jobs += [Job("pagecache", v, "mapped", mapped, judge_mapper) for v in VARIANTS["pagecache"]]
    return jobs


def for_crowd():
    """The jobs of a kernel that preempts whatever it can."""
    jobs = [Job("syscall", v, "crowd", CROWD, judge_crowd)
            for v in ("chosen", *VARIANTS["syscall"])]
    jobs += [Job("syscall", v, "ends", ENDS, judge_crowd) for v in VARIANTS["syscall"]]
    jobs += [Job("syscall", v, "flight", FLIGHT, judge_flight) for v in VARIANTS["syscall"]]
    jobs += [Job("fault", v, "crowd", FAULT_CROWD, judge_fault_crowd)
             for v in ("chosen", *VARIANTS["fault"])]
    jobs += [Job("block", v, "crowd", block(8), judge_devices)
             for v in ("chosen", *VARIANTS["block"])]
    jobs.append(Job("syscall", "chosen", "calls", CALLS, judge_calls))
    jobs.append(Job("task", "chosen", "processes", READERS, judge_processes))
    jobs.append(Job("span", "usdt", "spans", SPANS, judge_spans))
    jobs.append(Job("span", "usdt", "crowd", SPAN_CROWD, judge_span_crowd))
    return jobs


def for_old_kernel():
    return [Job("all", "chosen", "refused", REFUSAL, judge_refusal)]
