# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads from several lines, each of its own file, and how long and how often each line read.

usage: job_line_times.py DIRECTORY TRUTH      DIRECTORY: of the files, one for each site
                                              TRUTH: JSON, {site: {line, time_ns, count}}
"""
import json
import os
import sys
import threading
import time

DIRECTORY, TRUTH = sys.argv[1:3]
os.makedirs(f"{DIRECTORY}/site-packages")
with open(f"{DIRECTORY}/site-packages/reads.py", "w") as module:
    module.write("import os\n\ndef read(descriptor, buffers):\n    return os.preadv(descriptor, buffers, 0)\n")
sys.path.insert(0, f"{DIRECTORY}/site-packages")
import reads  # noqa: E402

truth = {}


def opened(site):
    return os.open(f"{DIRECTORY}/{site}", os.O_RDONLY)


def note(site, began_ns):
    """Notes a read that the caller's line has just done."""
    row = truth.setdefault(site, {"line": sys._getframe(1).f_lineno, "time_ns": 0, "count": 0})
    row["time_ns"] += time.monotonic_ns() - began_ns
    row["count"] += 1


class Data:
    def long(self, descriptor, buffers):
        for _ in range(5):
            began = time.monotonic_ns()
            os.preadv(descriptor, buffers, 0); note("long", began)

    def short(self, descriptor, buffers):
        for _ in range(6000):
            began = time.monotonic_ns()
            os.preadv(descriptor, buffers, 0); note("short", began)


def library(descriptor, buffers):
    for _ in range(3000):
        began = time.monotonic_ns()
        reads.read(descriptor, buffers); note("library", began)


def helper(descriptor, buffers):
    for _ in range(3000):
        began = time.monotonic_ns()
        os.preadv(descriptor, buffers, 0); note("helper", began)


def sleep():
    for _ in range(3):
        began = time.monotonic_ns()
        time.sleep(0.05); note("sleep", began)


data = Data()
thread = threading.Thread(target=helper, args=(opened("helper"), [bytearray(128 << 10)]))
thread.start()
data.long(opened("long"), [bytearray(32 << 20)])
data.short(opened("short"), [bytearray(128 << 10)])
thread.join()
library(opened("library"), [bytearray(128 << 10)])
sleep()
with open(TRUTH, "w") as file:
    json.dump(truth, file)
