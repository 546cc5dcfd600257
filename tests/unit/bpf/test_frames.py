# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The stack frames of each BPF program fit the stack of older kernels."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
# This machine's, and those of `make check`.
OBJECTS = glob.glob(os.path.join(BUILD, "bpf/**/*.bpf.o"), recursive=True)
sys.path.insert(0, os.path.join(TOP, "tests/vm"))
sys.dont_write_bytecode = True

import frames

# `filled` keeps its argument in its frame; `step` is called by the kernel.
SOURCE = """
#define SECTION(name) __attribute__((section(name), used))
#define OUT_OF_LINE __attribute__((noinline))
static long (*const loop)(unsigned, void *, void *, unsigned long) = (void *)181;
static long (*const fill)(void *, unsigned) = (void *)4;

OUT_OF_LINE long filled(unsigned long bytes) { char text[200]; fill(text, bytes); return text[3]; }
static OUT_OF_LINE long inner(int i) { char text[40]; fill(text, i); return text[3] + filled(i); }
static long step(unsigned i, void *context) { char text[100]; fill(text, i); return inner(i); }
SECTION("tp_btf/one") int deep(unsigned long *context)
{
	char text[72];

	fill(text, context[0]);
	return loop(8, step, text, 0);
}
SECTION("tp_btf/one") int flat(unsigned long *context) { return context[1]; }
SECTION("tp_btf/two") int middle(unsigned long *context) { return inner(context[0]); }
"""


class Frames(unittest.TestCase):
    def test_all_fit(self):
        for path in OBJECTS:
            found = frames.programs(path)
            self.assertGreater(len(found), 100)
            self.assertGreater(max(len(chain) for _, chain, _ in found.values()), 4)
            for name, (size, chain, deep) in found.items():
                self.assertLessEqual(size, frames.STACK_BYTES, f"{path}: {name}: {chain}")
                self.assertLessEqual(deep, frames.FRAMES, f"{path}: {name}: {chain}")

    @unittest.skipUnless(shutil.which("clang"), "no clang")
    def test_counted_as_they_are(self):
        """Across calls to functions in and out of their section, and to a callback."""
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/some.bpf.o"
            subprocess.run(
                ["clang", "-O2", "-target", "bpf", "-mcpu=v3", "-xc", "-", "-c", "-o", path],
                input=SOURCE, text=True, check=True,
            )
            found = frames.programs(path)
        self.assertEqual(found["flat"], (32, ["flat 32"], 1))
        below = ["inner 64", "filled 224"]
        self.assertEqual(found["middle"], (320, ["middle 32", *below], 3))
        self.assertEqual(found["deep"], (96 + 128 + 288, ["deep 96", "step 128", *below], 4))


if __name__ == "__main__":
    if not OBJECTS:
        print("the kernel side is not built")
        sys.exit(77)
    unittest.main()
