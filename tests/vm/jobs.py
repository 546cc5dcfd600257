# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Chooses a guest's jobs by its kernel."""
from async_io import ASYNC, FORMS, judge_async, judge_forms
from calls import (CALLS, CROWD, ENDS, FLIGHT, SUMS, TINY, judge_calls, judge_crowd, judge_flight,
                   judge_sums, judge_tiny)
from devices import THROTTLE, block, judge_devices, judge_throttled
from faults import FAULT_CROWD, MODES, QUICK_MODES, judge_fault_crowd, judge_mapper, mapper
from job import VARIANTS, Job, check, equal
from processes import OOM, READERS, judge_oom, judge_processes
from spans import SPAN_CROWD, SPANS, judge_span_crowd, judge_spans
from stacks import NATIVE, STACKS, judge_native, judge_stacks
from threads import MEMORY, QUOTA, WAITS, judge_memory, judge_quota, judge_waits

REFUSAL = """faultline run -o a.flt -- true 2>refusal; echo $? >run_status
faultline run --best-effort -o b.flt -- true"""


def judge_refusal(results):
    equal((results.text("status") or "").strip(), "0", "the command under --best-effort")
    text = results.text("refusal") or ""
    check("faultline: " in text and "too old" in text, f"said {text!r}")
    equal((results.text("run_status") or "").strip(), "125", "exit status of run")
    equal(len(text.splitlines()), 1, "lines of the refusal")
    return text.strip().removeprefix("faultline: ")


def for_kernel(quick):
    """The jobs for a supported kernel, the most informative first."""
    mapped = mapper(QUICK_MODES)
    jobs = [Job("fault", "chosen", "mapped", mapped if quick else mapper(MODES), judge_mapper)]
    jobs += [Job("syscall", v, "calls", CALLS, judge_calls) for v in VARIANTS["syscall"]]
    jobs.append(Job("syscall", "chosen", "crowd", CROWD, judge_crowd))
    jobs += [Job("task", v, "processes", READERS, judge_processes) for v in VARIANTS["task"]]
    jobs.append(Job("task", "chosen", "oom", OOM, judge_oom))
    jobs.append(Job("thread", "chosen", "waits", WAITS, judge_waits))
    jobs.append(Job("thread", "chosen", "memory", MEMORY, judge_memory))
    jobs.append(Job("thread", "chosen", "quota", QUOTA, judge_quota))
    jobs.append(Job("stack", "chosen", "lines", STACKS, judge_stacks))
    jobs.append(Job("stack", "chosen", "native", NATIVE, judge_native))
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
    """The jobs for a fully preemptible kernel."""
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
    jobs.append(Job("thread", "chosen", "waits", WAITS, judge_waits))
    jobs.append(Job("stack", "chosen", "lines", STACKS, judge_stacks))
    jobs.append(Job("stack", "chosen", "native", NATIVE, judge_native))
    jobs.append(Job("span", "usdt", "spans", SPANS, judge_spans))
    jobs.append(Job("span", "usdt", "crowd", SPAN_CROWD, judge_span_crowd))
    return jobs


def for_old_kernel():
    return [Job("all", "chosen", "refused", REFUSAL, judge_refusal)]
