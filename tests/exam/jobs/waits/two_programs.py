# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: a shell script starts two programs for each of 300 files. Change: one program for all."""
import os
from exam_job import start, write


def make(d):
    os.makedirs(f"{d}/labels")
    for i in range(300):
        write(f"{d}/labels", f"{i:03d}.txt", b"label 5\n" * 20)


def run(d, fixed):
    if fixed:
        script = "awk '{sum += $2} END {print sum}' \"$1\"/labels/*.txt"
    else:
        script = ("for file in \"$1\"/labels/*.txt; do "
                  "name=$(basename \"$file\"); "
                  "sum=$(awk '{sum += $2} END {print sum}' \"$file\"); "
                  "echo \"$name $sum\"; done")
    os.execvp("sh", ["sh", "-c", script, "sh", d])


start(make, run)
