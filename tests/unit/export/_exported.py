# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The traces of export_traces.c, and faultline's output on them, for any export format."""

import atexit
import json
import os
import shutil
import subprocess
import tempfile

FAULTLINE = os.environ.get("FAULTLINE", "build/faultline")
TRACES = tempfile.mkdtemp(prefix="faultline-export-")
atexit.register(shutil.rmtree, TRACES)
subprocess.run([os.path.join(os.environ.get("BUILD", "build"), "tests/unit/export_traces"), TRACES], check=True)
ALL = "nest.flt", "other.flt", "hostile.flt", "random.flt", "cut.flt", "whole.flt"
MS = 10**6


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


# Hooks that make Python's JSON parser strict.


def unique(pairs):
    members = dict(pairs)
    assert len(members) == len(pairs), pairs
    return members


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")
