# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every variant of a layer that works on this kernel, in addition to the chosen one: on other
kernels it is the one chosen."""
import unittest

import harness
from harness import RECORDED, Recording, account, faultline, fetched, machine

ALL = ["syscall=tp", "fault=fentry", "fault=tp+perf", "fault=kprobe+perf"]
COPIES = "task=tp_btf*3,pagecache=tp_btf*3"


def works(variants):
    return faultline("check", "--force-variant", variants).returncode == 0


class Variants(unittest.TestCase):
    maxDiff = None

    def recorded(self, variants, command):
        recording = Recording(command, "--force-variant", variants)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        for wanted in variants.split(","):
            layer, name = wanted.split("=")
            self.assertEqual(recording.report["trace"]["layers"][layer]["attach"], name)
        return recording

    def test_calls(self):
        command = [machine().program("calls"), machine().new_dir()]
        if not works("syscall=tp"):
            self.skipTest("classic tracepoints are unavailable")
        ours = self.recorded("syscall=tp", command).operations()
        theirs = harness.expected_counts(command[0])
        for call in sorted({*RECORDED, *ours}):
            with self.subTest(call):
                self.assertEqual(ours.get(call), theirs.get(call), "(count, errors)")

    def test_faults(self):
        directory = machine().new_dir("ext4")
        data = harness.random_file(f"{directory}/data", 8 << 20)
        for variants in (*filter(works, ALL[1:]), COPIES):
            for mode in ("random", "threads", "populate", "pread"):
                with self.subTest(f"{variants} {mode}"):
                    self.check_faults(directory, data, variants, mode)

    def check_faults(self, directory, data, variants, mode):
        out = f"{directory}/out.json"

        def record():
            harness.cool(data)
            command = [machine().program("mapper"), mode, data, out]
            return self.recorded(variants, command), account(out)

        def is_right(seen):
            return fetched(seen[0].file(data)) == seen[1]["resident"] * seen[1]["page_bytes"]

        recording, truth = harness.undisturbed(record, is_right)
        row = recording.file(data)
        self.assertEqual(fetched(row), truth["resident"] * truth["page_bytes"])
        if mode != "pread":
            self.assertEqual(row["mmap"]["major"], truth["major"])

    def test_processes(self):
        """Copies of a program report each process once."""
        script = "for i in $(seq 50); do /bin/true; done; (exec sh -c 'exec /bin/true')"
        seen = {
            variants: self.recorded(variants, ["sh", "-c", script]).trace
            for variants in ("task=tp_btf", COPIES)
        }
        for kind in ("fork", "exec", "exit"):
            counts = {trace.row_count(kind) for trace in seen.values()}
            self.assertEqual(len(counts), 1, f"{kind}: {counts}")
            self.assertGreater(counts.pop(), 50)

    def test_unknown(self):
        for text in ("fault", "fault=", "disk=tp", "fault=tp", "fault=fentry,syscall=x"):
            with self.subTest(text):
                done = faultline("check", "--force-variant", text)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(b"is not a known LAYER=VARIANT", done.stderr)


if __name__ == "__main__":
    unittest.main()
