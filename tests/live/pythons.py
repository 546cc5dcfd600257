#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fetches CPython 3.14 and later from Debian's unstable suite, whichever versions it has, for tests
of stacks. They run in place, with libraries of their own.

usage: pythons.py DIRECTORY [SECONDS]     in DIRECTORY/sid/bin; does nothing if they are there
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "vm"))

from kernels import Packages, Unavailable  # noqa: E402

SUITE = "sid"
FIRST = 14
LIMIT = 40  # seconds
# Modules that the tests import: importing them here compiles them once.
MODULES = "asyncio, ctypes, functools, json, mmap, multiprocessing, subprocess, threading"


def programs(directory):
    return [path for path in glob.glob(f"{directory}/bin/python3.*") if path[-1].isdigit()]


def run(directory):
    """Whether there are interpreters that run."""
    found = programs(directory)
    return bool(found) and not any(
        subprocess.run([path, "-c", f"import {MODULES}"], stderr=subprocess.DEVNULL).returncode
        for path in found)


def wanted(names):
    """The names of packages, of all that are fetched."""
    for name in names:
        match = re.fullmatch(r"python(3\.(\d+))-minimal", name)
        if match and int(match[2]) >= FIRST:
            yield from (name, f"libpython{match[1]}-stdlib")


def unpack(packages, directory):
    names = sorted(wanted(packages.all_names()))
    if not names:
        raise Unavailable(f"no list of {SUITE}'s packages names Python 3.{FIRST} or later")
    tree = packages.unpack(packages.download_all(names), "tree")
    loader, = glob.glob(f"{tree}/usr/lib/*/ld-linux-*")
    loader = f"{directory}/{os.path.relpath(loader, f'{tree}/usr')}"
    for path in programs(f"{tree}/usr"):
        subprocess.run(["patchelf", "--set-interpreter", loader, "--force-rpath", "--set-rpath",
                        os.path.dirname(loader), path], check=True)
    os.rename(f"{tree}/usr", directory)


def main(top, seconds=LIMIT):
    top = os.path.abspath(top)
    directory, kept = f"{top}/{SUITE}", f"{top}/packages"
    if run(directory):
        return
    shutil.rmtree(top, ignore_errors=True)
    architecture = subprocess.run(["dpkg", "--print-architecture"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout.strip()
    try:
        unpack(Packages(kept, architecture, time.monotonic() + float(seconds), [SUITE]), directory)
        if not run(directory):
            raise Unavailable(f"those of {SUITE} do not run here")
    except (Unavailable, OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(top, ignore_errors=True)
        is_late = isinstance(error, subprocess.TimeoutExpired)
        sys.exit(f"pythons.py: {f'not done within {seconds} s' if is_late else error}")
    shutil.rmtree(kept, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
