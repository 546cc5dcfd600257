# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for application spans, compared with the workload's own account."""
import json

from job import check, equal, reported_losses

SPANS = "$RUN -- span_marks account threads"
SPAN_CROWD = "$RUN -- span_marks account crowd"


def judge_spans(results):
    report = results.report()
    lost = report["trace"]["lost"]["by_layer"]["span"] or 0
    calls = [json.loads(line) for line in (results.text("account") or "").splitlines()]
    begun = {}
    for call in calls:
        if call["what"] == "begin":
            begun[call["name"]] = begun.get(call["name"], 0) + 1
    check(begun, "no span was begun")
    reported = {}
    for row in report["spans"] or []:
        reported[row["name"]] = reported.get(row["name"], 0) + row["count"]
    if lost:
        # As in judge_calls: counted by the kernel side, or late according to the tracer.
        output = [row["text"] for row in report["caveats"] if row["id"] in ("lost", "spans")]
        missing = [count - reported.get(name, 0) for name, count in begun.items()]
        check(set(reported) <= set(begun) and min(missing) >= 0, f"more spans than begun: {reported}")
        check(output, f"{lost} lost, and no caveat says so")
        check(sum(missing) <= lost or "may have marked spans" in str(output),
              f"{sum(missing)} of {sum(begun.values())} are missing, {lost} lost")
        return f"{sum(missing)} of {sum(begun.values())} spans missing, reported: {'; '.join(output)}"
    equal(reported, begun, "spans by name")
    return f"{sum(begun.values())} spans"


def judge_span_crowd(results):
    """Each span belongs to its own thread, whatever was preempted while it was recorded."""
    lost = reported_losses(results, results.report())
    calls = [json.loads(line) for line in (results.text("account") or "").splitlines()]
    begun = {(call["tid"], call["id"]) for call in calls if call["what"] == "begin"}
    reported = [row for row in results.printed("span") if row["kind"] == "span_begin"]
    wrong = [row for row in reported
             if (row["tid"], row["id"]) not in begun or row["name"] != str(row["tid"])]
    check(begun and not wrong, f"{len(wrong)} of {len(reported)} are another's: {wrong[:3]}")
    equal(len({row["id"] for row in reported}), len(reported), "spans that are recorded once")
    check(len(reported) == len(begun) or len(begun) - len(reported) <= lost,
          f"{len(reported)} of {len(begun)} reported, {lost} lost")
    return f"{len(reported)} of {len(begun)} spans, each its own thread's, {lost} lost"
