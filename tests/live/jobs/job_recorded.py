# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Records spans after they have ended: real ones, and some with impossible times.

usage: job_recorded.py DIR OUT    DIR/0 is read inside of the span "true", DIR/1 after it
OUT: the times recorded, and this program's times around them; ns of CLOCK_MONOTONIC.
"""
import json
import os
import sys
import time

import faultline

FAR_NS = 10**18


def read(path):
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, 5000):
        pass
    os.close(fd)


def main():
    directory, out = sys.argv[1:]
    begun = time.monotonic_ns()
    read(f"{directory}/0")
    ended = time.monotonic_ns()
    read(f"{directory}/1")
    faultline.record("true", "io", begun, ended, n=1)
    faultline.record("reversed", "", ended, begun)
    before = time.monotonic_ns()
    faultline.record("forged", "", -FAR_NS, before + FAR_NS)
    with open(out, "w") as file:
        json.dump({"begun": begun, "ended": ended, "before": before,
                   "after": time.monotonic_ns()}, file)


if __name__ == "__main__":
    main()
