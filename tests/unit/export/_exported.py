# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The traces of export_traces.c, and faultline's output on them, for any export format."""

import atexit
import collections
import json
import os
import shutil
import subprocess
import tempfile

FAULTLINE = os.environ.get("FAULTLINE", "build/faultline")
TRACES = tempfile.mkdtemp(prefix="faultline-export-")
atexit.register(shutil.rmtree, TRACES)
subprocess.run([os.path.join(os.environ.get("BUILD", "build"), "tests/unit/export_traces"), TRACES], check=True)
ALL = ("nest.flt", "other.flt", "hostile.flt", "random.flt", "cut.flt", "whole.flt", "stacks.flt",
       "other_stacks.flt", "hostile_stacks.flt")
MS = 10**6
DEPTH_MAX = 128  # frames of a stack


def call(*arguments, **options):
    return subprocess.run([FAULTLINE, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def trace(name):
    return os.path.join(TRACES, name)


def report(*names, options=()):
    done = call("report", "-q", "--format", "json", *options, *map(trace, names))
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def printed(name):
    done = call("print", "-q", "--format", "json", trace(name))
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


def drawn_name(row):
    """What a timeline calls a row of an operation, a fault or a wait."""
    return row.get("op") or row.get("state") or row["kind"]


def exported(name, table):
    """The rows of a table."""
    done = call("export", "-q", "--to", "jsonl", "--table", table, "-o", "-", trace(name))
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


def stacks_of(name):
    """{sample's stack: its frames (function, source, line), outermost first, and whether it is
    cut}"""
    rows = collections.defaultdict(dict)
    for row in printed(name):
        rows[row["kind"]].setdefault(row.get("id"), row)
    frames = {id: (row.get("function", ""), row.get("source", ""), row["line"])
              for id, row in rows["frame"].items() if id}
    found = {}
    for row in printed(name):
        chain, stack = [], row.get("stack")
        while stack and stack in rows["stack"] and len(chain) < DEPTH_MAX:
            of = rows["stack"][stack]
            chain.insert(0, frames.get(of["frame"], ("", "", 0)))
            stack = of["caller"]
        if chain:
            found[row["stack"]] = tuple(chain), stack != 0
    return found


def line_of(frame):
    """A frame as timelines show it."""
    function, source, line = frame
    file, function = (source or "?").rsplit("/", 1)[-1], function or "?"
    return f"{file}:{line} in {function}" if line else f"{function} in {file}"


def sampled_lines(name):
    """{thread, start and end of an operation: the lines of its sample, the innermost first}"""
    stacks, found = stacks_of(name), {}
    for row in printed(name):
        if row["kind"] == "sample" and row["stack"] in stacks:
            frames, cut = stacks[row["stack"]]
            lines = [line_of(frame) for frame in reversed(frames)]
            found[row["tid"], row["time_ns"], row["time_ns"] + row["dur_ns"]] = \
                lines + ["..."] * (cut or row["flags"] & 1)
    return found


def at(lines):
    """The application's innermost line."""
    return next((line for line in lines if not line.startswith("queue.py")), None)


# Hooks that make Python's JSON parser strict.


def unique(pairs):
    members = dict(pairs)
    assert len(members) == len(pairs), pairs
    return members


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")
