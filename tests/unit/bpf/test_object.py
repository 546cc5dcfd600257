# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The compiler must not assume values of BPF tables, which are filled after compilation."""
import glob
import os
import re
import subprocess
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
OBJECT = os.path.join(BUILD, "bpf/faultline.bpf.o")
PROBE_READ = os.path.join(BUILD, "bpf/probe_read.bpf.o")  # for kernels without bpf_rdonly_cast


def tables():
    """Names of arrays that are zero in the source and filled before loading."""
    for path in glob.glob(f"{TOP}/bpf/**/*.c", recursive=True):
        with open(path) as file:
            yield from re.findall(r"^const volatile .*?(\w+)\[\w+\]", file.read(), re.M)


def symbols(path):
    """Yields (value, size, type, binding, section, name) of each symbol of an object."""
    done = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, check=True)
    for row in (line.split() for line in done.stdout.splitlines()):
        if len(row) == 8:
            yield row[1], row[2], row[3], row[4], row[6], row[7]


def bindings(path):
    """{name: binding} of the symbols of an object."""
    return {name: binding for _, _, _, binding, _, name in symbols(path)}


def layout(path):
    """{name: (offset, size)} of the settings, variables and maps (which have no order), and the
    names of the programs."""
    found = [symbol for symbol in symbols(path) if symbol[3] in ("GLOBAL", "WEAK")]
    maps = next(section for *_, section, name in found if name == "files")
    return ({name: (section != maps and value, size)
             for value, size, kind, _, section, name in found if kind == "OBJECT"},
            {name for _, _, kind, *_, name in found if kind == "FUNC"})


class Tables(unittest.TestCase):
    def test_none_is_taken_for_zeros(self):
        """Tables are weak symbols: they are read without volatile, and the compiler must not assume
        that they stay zero. Otherwise Clang 19 drops a system call's whole recording."""
        found = sorted(tables())
        self.assertIn("calls", found)
        for path in OBJECT, PROBE_READ:
            bound = bindings(path)
            self.assertEqual({name: bound.get(name) for name in found}, dict.fromkeys(found, "WEAK"))


class Builds(unittest.TestCase):
    def test_one_layout(self):
        """One skeleton serves both builds: settings, variables, maps and programs are the same."""
        variables, programs = layout(OBJECT)
        self.assertIn("calls", variables)
        self.assertIn("fl_sys_exit", programs)
        self.assertEqual(layout(PROBE_READ), (variables, programs))


if __name__ == "__main__":
    if not os.path.exists(OBJECT):
        print("the kernel side is not built")
        sys.exit(77)
    unittest.main()
