# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The size of stacks in a trace: blocks that only they need, for a busy Python job (job_busy.py)."""
import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(TESTS, "fuzz"))
from damage_columns import frames_of, places_of  # noqa: E402

PYTHON = "/usr/bin/python3"
SECONDS, MINUTE_BYTES = 20, 2_000_000
KINDS = ("frame", "stack", "sample")


def bytes_by_kind(path):
    """Compressed bytes of a trace's blocks, by their kind."""
    with open(path, "rb") as file:
        data = file.read()
    places, sizes = places_of(data), {}
    for frame, start, end in zip(frames_of(data), places, [*places[1:], len(data)]):
        kind = frame.get("block")
        sizes[kind] = sizes.get(kind, 0) + end - start
    return sizes


def measure(bench, say):
    """Yields (name, value, unit, target or None)."""
    say(f"stacks: a busy Python job, {SECONDS} s")
    argv = [PYTHON, f"{TESTS}/live/jobs/job_busy.py", f"{bench.scratch}/busy", str(SECONDS)]
    subprocess.run(bench.faultline.wrap(None, argv, bench.trace), stdin=subprocess.DEVNULL,
                   check=True)
    sizes = bytes_by_kind(bench.trace)
    own = sum(sizes.get(kind, 0) for kind in KINDS) * 60 / SECONDS
    yield "stacks: bytes of a trace, a minute of a busy Python job", own, "bytes", MINUTE_BYTES
    yield ("stacks: their share of the trace", own * SECONDS / 60 / os.path.getsize(bench.trace),
           "share", None)
