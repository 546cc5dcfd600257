# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What no compiler may take for granted in the kernel side: the tables that are filled later."""
import glob
import os
import re
import subprocess
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
OBJECT = os.path.join(BUILD, "bpf/faultline.bpf.o")


def tables():
    """Names of the arrays that stand in the source as zeros, to be filled before it is loaded."""
    for path in glob.glob(f"{TOP}/bpf/*.c"):
        with open(path) as file:
            yield from re.findall(r"^const volatile .*?(\w+)\[\w+\]", file.read(), re.M)


def bindings(path):
    """{name: binding} of the symbols of an object."""
    told = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, check=True)
    rows = [line.split() for line in told.stdout.splitlines()]
    return {row[7]: row[4] for row in rows if len(row) == 8}


class Tables(unittest.TestCase):
    def test_none_is_taken_for_zeros(self):
        """Rows are read without their volatile; of what may be replaced later no zeros are known.
        Clang 19 drops a system call's whole recording where they are."""
        found = sorted(tables())
        self.assertIn("calls", found)
        bound = bindings(OBJECT)
        self.assertEqual({name: bound.get(name) for name in found}, dict.fromkeys(found, "WEAK"))


if __name__ == "__main__":
    if not os.path.exists(OBJECT):
        print("the kernel side is not built")
        sys.exit(77)
    unittest.main()
