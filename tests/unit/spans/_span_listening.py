# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs a Python program under span_listener and returns its probe hits. Needs no root."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

import msgpack

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
LISTENER = os.path.join(BUILD, "tests", "unit", "span_listener")
# Own copies: someone may be tracing programs that use the build's.
PLACE = tempfile.mkdtemp(prefix="faultline-spans-")
atexit.register(shutil.rmtree, PLACE)
os.chmod(PLACE, 0o755)  # also for programs of other users
PACKAGE = shutil.copytree(os.path.join(BUILD, "python"), os.path.join(PLACE, "python"))
HOOK = os.path.join(PACKAGE, "hook")


class Event:
    """A probe hit: `probe`, `pid`, `tid`, `id`, `name`, `category`, `args` (unpacked, or None if
    absent), `args_len` and `times` as the probe passed them. Names are bytes."""

    def __init__(self, line):
        reported = json.loads(line)
        self.probe, self.pid, self.tid = reported["probe"], reported["pid"], reported["tid"]
        self.id = reported.get("id")
        self.name = bytes.fromhex(reported.get("name", ""))
        self.category = bytes.fromhex(reported.get("category", ""))
        packed = bytes.fromhex(reported.get("args", ""))
        self.args = msgpack.unpackb(packed, strict_map_key=False) if packed else None
        self.args_len = reported.get("args_len", 0)
        self.times = (reported["start_ns"], reported["end_ns"]) if "start_ns" in reported else None

    def __repr__(self):
        return f"{self.probe} {self.id} {self.name} {self.category} {self.args}"


def environment(**more):
    """The tests' environment; the package is importable, only `more` of our variables are set."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("FAULTLINE_")}
    return {**kept, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(code, listener=(), arguments=(), status=0, **more):
    """Runs `code` from a file; checks the status and returns the finished process."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(code))
        done = subprocess.run([*listener, sys.executable, path, *arguments], cwd=directory,
                              env=environment(**more), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def listen(code, arguments=(), status=0, **more):
    """Runs `code` under the listener; returns the finished process and the events."""
    with tempfile.NamedTemporaryFile(mode="r") as output:
        done = run(code, [LISTENER, output.name], arguments, status, **more)
        return done, [Event(line) for line in output]


def events(code, **more):
    return listen("from faultline import *\nimport faultline\n" + textwrap.dedent(code), **more)[1]


def as_text(listed):
    """Events as short text: '+name' for a begin, '-name' for its end, '=name' for a recorded span,
    '!name' for an instant."""
    names, lines = {}, []
    for event in listed:
        if event.probe == "span_begin":
            names[event.pid, event.id] = event.name.decode()
        sign = {"span_begin": "+", "span_end": "-", "span_record": "=", "instant": "!"}[event.probe]
        name = event.name.decode() if sign != "-" else names.get((event.pid, event.id), "?")
        lines.append(sign + name)
    return " ".join(lines)
