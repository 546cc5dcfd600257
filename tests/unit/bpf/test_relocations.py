# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every field that the BPF programs read exists in the kernels whose types are available: this
one's, and those that make vmtest has fetched. Only fields checked for existence may be missing."""
import glob
import os
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
OBJECT = os.path.join(BUILD, "bpf/faultline.bpf.o")
OBJECTS = (OBJECT, os.path.join(BUILD, "bpf/probe_read.bpf.o"))
HERE = "/sys/kernel/btf/vmlinux"
MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, "")
sys.path.insert(0, os.path.join(TOP, "tests/vm"))
sys.dont_write_bytecode = True

import relocations


def is_supported(path):
    """run rejects kernels without loops, whatever else they have."""
    with open(path, "rb") as file:
        return b"\0BPF_FUNC_for_each_map_elem\0" in file.read()


def at_hand():
    fetched = glob.glob(os.path.join(BUILD, "vm", f"{MACHINE}*", "*.btf"))
    readable = [path for path in (HERE, *sorted(fetched)) if os.access(path, os.R_OK)]
    return list(filter(is_supported, readable))


class Relocations(unittest.TestCase):
    def test_all_resolve(self):
        for path in at_hand():
            with self.subTest(path), open(path, "rb") as file:
                types = relocations.Btf(file.read())
                for built in OBJECTS:
                    left, there = relocations.unresolved(built, types)
                    self.assertEqual(left, [], built)
                    self.assertGreater(there, 50)

    def test_records_of_tracepoints(self):
        """Field offsets in a classic tracepoint's record differ between kernels."""
        btf, found = relocations.relocations(OBJECT)
        relocated, programs = {text for text, _ in found}, set()
        for function in (one for one in btf.types if one.kind == "func"):
            for _, target in btf.types[function.target].members[:1]:
                record = btf.types[btf.types[btf.plain(target)].target]
                if btf.types[btf.plain(target)].kind == "ptr" and record.name.startswith("trace_"):
                    fields = {f"{record.name}.{name}" for name, _ in record.members}
                    self.assertLessEqual(fields, relocated, function.name)
                    programs.add(function.name)
        self.assertIn("fl_enter_tp", programs)

    def test_missing_is_reported(self):
        """In a kernel where some struct members have other names."""
        with open(at_hand()[0], "rb") as file:
            data = file.read()
        for name in (b"\0f_mapping\0", b"\0mm_mt\0", b"\0sched_process_fork\0"):
            data = data.replace(name, b"\0" + b"x" * (len(name) - 2) + b"\0")
        left, _ = relocations.unresolved(OBJECT, relocations.Btf(data))
        self.assertEqual(left, ["file.f_mapping", "mm_struct.mm_mt.ma_root",
                                "vm_area_struct.vm_rb"])


if __name__ == "__main__":
    if not at_hand():
        print("no kernel's types at hand")
        sys.exit(77)
    unittest.main()
