# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for io_uring and libaio, compared with the workloads' own accounts."""
import collections
import json

from job import Absent, check, file_row, reported_losses

ASYNC = """head -c 65536 /dev/urandom >/mnt/async
$RUN -- uring /mnt/async account"""
FORMS = """rm -rf /mnt/forms; mkdir /mnt/forms
$RUN --file-types all -- uring_forms /mnt/forms account"""
# An io_uring request, as in the workload's account and as printed.
FORM = ("pid", "op", "path", "path2", "flags", "offset", "asked", "result")


def async_reads(results, report):
    """Reads by io_uring, with and without a polling thread, and by libaio: each by its method.
    Returns the expected counts, and the losses."""
    truth = results.account()
    lost = reported_losses(results, report)
    wanted = {"io_uring": truth["io_uring"] + truth["polled"], "libaio": truth["libaio"]}
    recorded = {row["method"]: row for row in report["methods"] if row["op"] == "read"}
    for method, count in wanted.items():
        ours = (recorded[method]["count"], recorded[method]["bytes"]) if method in recorded else (0, 0)
        theirs = count, count * truth["block_bytes"]
        check(ours == theirs or (lost and ours < theirs), f"{method}: {ours}, expected {theirs}")
    return wanted, lost


def judge_async(results):
    report = results.report()
    layer = report["trace"]["layers"]["async"]
    if layer["state"] == "off":
        raise Absent(layer["reason"])
    wanted, lost = async_reads(results, report)
    row = file_row(report, "/mnt/async")["read"]
    check(lost or row["count"] == sum(wanted.values()), f"{row['count']} reads of the file")
    return f"{wanted} reads{f', {lost} events reported lost' if lost else ''}"


def judge_forms(results):
    """io_uring and libaio requests in all forms, each as in the workload's account."""
    layer = results.report()["trace"]["layers"]["async"]
    if layer["state"] == "off":
        raise Absent(layer["reason"])
    lines = (results.text("account") or "").splitlines()
    truth = collections.Counter(
        tuple(row[name] for name in FORM) for row in map(json.loads, lines)
        if row["op"] not in ("io_uring_nop", "io_uring_provide_buffers"))
    check(truth, f"nothing was done: {results.messages()}")
    recorded = collections.Counter()
    for row in results.printed("async"):
        for name in ("path", "path2"):
            path = row.get(name) or ""
            row[name] = path if path.startswith("/") else ""  # a pipe's name is the kernel's
        recorded[tuple(row[name] for name in FORM)] += 1
    lost = results.report()["trace"]["lost"]["by_layer"].get("async") or 0
    missing, more = truth - recorded, recorded - truth
    check(not more, f"reported, but not done: {dict(more)}")
    check(sum(missing.values()) <= lost, f"not reported: {dict(missing)}, lost {lost}")
    return f"{sum(truth.values())} operations, {sum(missing.values())} not reported, lost {lost}"
