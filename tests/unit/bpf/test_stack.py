# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""No BPF program uses more stack than a kernel allows. Until 6.2 that is 512 bytes for a program
and its call chain, each frame rounded up to 32: computed here from the instructions, as the
verifier's check_max_stack_depth does, so that no such kernel need be booted."""
import os
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
OBJECTS = [os.path.join(BUILD, "bpf", name) for name in ("faultline.bpf.o", "probe_read.bpf.o")]
STACK_BYTES, FRAMES = 512, 8
# From 6.13 on, frames of this size, in steps of 16, may share one buffer for all tasks of a CPU.
SHARED_BYTES, SHARED_STEP = 64, 16
sys.path.insert(0, os.path.join(TOP, "tests/vm"))
sys.dont_write_bytecode = True

import programs


class Stack(unittest.TestCase):
    def test_no_chain_is_too_deep(self):
        codes = [programs.Object(path) for path in OBJECTS]
        chains = [code.deepest(function) for code in codes for function in code.programs()]
        self.assertGreater(len(chains), 20)
        self.assertTrue(any(len(chain) > 3 for _, chain in chains))
        for size, chain in chains:
            with self.subTest(chain[0]):
                self.assertLessEqual(size, STACK_BYTES, " > ".join(chain))
                self.assertLessEqual(len(chain), FRAMES, " > ".join(chain))

    def test_preemptible_programs_share_no_frame(self):
        """Uprobe programs can be preempted and reentered; all others are skipped in that case."""
        code = programs.Object(OBJECTS[0])
        preempted = [one for one in code.programs() if "uprobe" in code.section(one[0])]
        self.assertTrue(preempted)
        for function in {callee for one in preempted for callee in code.reached(one)}:
            with self.subTest(code.functions[function][0]):
                own = code.function(*function)[0]
                self.assertLessEqual(own, SHARED_BYTES - SHARED_STEP)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        every = programs.Object(OBJECTS[0])
        for bytes_deep, through in sorted(map(every.deepest, every.programs())):
            print(bytes_deep, " > ".join(through))
    else:
        unittest.main()
