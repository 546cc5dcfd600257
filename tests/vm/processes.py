# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for processes: each is followed, however it was created, and reported once."""
from job import check, equal, file_row, reported_losses

READERS = """mkdir -p /mnt/readers; n=10000
for way in clone exec_chain fork leader_gone spawn thread_exec thread_fork vfork; do
head -c $n /dev/urandom >/mnt/readers/$way; n=$((n + 1000)); done
$RUN -- sh -c 'spawner /mnt/readers account && for i in $(seq 20); do /usr/bin/true; done'"""


def judge_processes(results):
    report, readers = results.report(), results.account()
    lost = reported_losses(results, report)
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
