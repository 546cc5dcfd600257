# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for programs that replace others: when system calls are not recorded, for libaio's
calls and for libraries opened after the start; when a tracepoint has changed, its classic
form."""
import collections
import json

from async_io import ASYNC, FORMS, async_reads, judge_forms
from devices import THROTTLE, judge_throttled
from job import VARIANTS, Job, check, equal

# Processes that open a library at a path of its own, under a tracer that they cannot contact: each
# waits a moment for a listener. If it had one, its IDs are not 0.
OPENED_TRIES = 10
OPENED = """cp /lib/libfaultline.so.0 /mnt/marks.so
$RUN --layers span --force-changed %%s -- sh -c 'for i in $(seq %d); do
FAULTLINE_RUN=nobody SPAN_LIBRARY=/mnt/marks.so span_opened account$i nested || exit
grep -q "begin.*\\"id\\": 0" account$i || break; done'""" % OPENED_TRIES
# The program that notices a library, and the tracepoint declared changed so that it is used.
NOTICED = {"fl_code": "raw_syscalls/sys_exit", "fl_code_tp": "sys_exit"}
CALLS = {"tp_btf": {"fl_aio_enter", "fl_aio_exit"}, "tp": {"fl_aio_enter_tp", "fl_aio_exit_tp"}}


def attached(results, programs):
    missing = programs - results.attached()
    check(not missing, f"not attached: {', '.join(sorted(missing))}")


def attached_alone(results, programs):
    """The programs were attached, and no layers but theirs and the process layer."""
    attached(results, programs)
    layers = results.report()["trace"]["layers"]
    others = [name for name in ("syscall", "fault", "pagecache", "block", "vfs")
              if layers[name]["attach"]]
    equal(others, [], "other layers that are on")


def judge_reads(results):
    """The file's reads by system calls are unknown; these are reported individually."""
    wanted, lost = async_reads(results, results.report())
    rows = [row for row in results.printed("async") if row.get("path") == "/mnt/async"]
    count = sum(wanted.values())
    check(len(rows) == count or (lost and len(rows) < count), f"{len(rows)} rows of {count} reads")
    return f"{wanted} reads{f', {lost} events reported lost' if lost else ''}"


def asynchronous(variant, judge):
    def judge_alone(results):
        attached_alone(results, CALLS[variant])
        return judge(results)

    return judge_alone


def noticed_by(program):
    def judge_opened(results):
        """Spans of a process with a listener are reported once each: all of them, or the report
        notes possible gaps, since a probe's semaphore is raised slightly before its program
        runs. From before that, at most as many as were begun."""
        attached_alone(results, {program})
        lost = results.report()["trace"]["lost"]["total"]
        begun = collections.defaultdict(collections.Counter)
        for name in results.names("account*"):
            for call in map(json.loads, results.text(name).splitlines()):
                if call["what"] == "begin":
                    begun[call["pid"]][call["name"], call["id"]] += 1
        known = collections.defaultdict(collections.Counter)
        for row in results.printed("span"):
            if row["kind"] == "span_begin":
                known[row["pid"]][row["name"], row["id"]] += 1
        heard = [pid for pid, spans in begun.items() if all(number for _, number in spans)]
        check(heard, f"{len(begun)} processes opened the library, and none was listened to")
        for pid in heard:
            missing = sum((begun[pid] - known[pid]).values())
            check(known[pid] and (lost or not missing),
                  f"{missing} of {begun[pid].total()} spans of process {pid} missing, {lost} lost")
        more = {pid: known[pid] - begun[pid] for pid in known if known[pid] - begun[pid]}
        check(not more, f"reported, but not begun: {more}")
        return (f"{known[heard[0]].total()} of {begun[heard[0]].total()} spans by the {len(begun)}. "
                f"process that opens it, {lost} lost")

    return judge_opened


def judge_throttled_tp(results):
    attached(results, {"fl_throttled_tp"})
    return judge_throttled(results)


def for_kernel(quick):
    """The jobs for a supported kernel."""
    if quick:
        return []
    jobs = []
    for v in VARIANTS["async"]:
        for name, script, judge in (("reads", ASYNC, judge_reads), ("forms", FORMS, judge_forms)):
            script = script.replace("$RUN", "$RUN --layers async")
            jobs.append(Job("async", v, f"{name}_alone", script, asynchronous(v, judge)))
    script = THROTTLE.replace("$RUN", "$RUN --force-changed balance_dirty_pages")
    jobs.append(Job("pagecache", "chosen", "throttled_tp", script, judge_throttled_tp))
    return jobs + [Job("span", "usdt", f"opened_{program}", OPENED % changed, noticed_by(program))
                   for program, changed in NOTICED.items()]
