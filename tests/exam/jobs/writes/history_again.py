# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: the history of all steps is formatted and written again at each step. Change: append the
new one."""
import json

from exam_job import start


def make(d):
    pass


def run(d, fixed):
    history, path = [], f"{d}/history.jsonl"
    for step in range(400):
        sum(range(100_000))  # the step
        history.append({"step": step, "losses": [step + i / 100 for i in range(40)]})
        with open(path, "a" if fixed else "w") as out:
            for record in history[-1:] if fixed else history:
                out.write(json.dumps(record) + "\n")


start(make, run)
