# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Kernel-created threads that work for a process are followed like its own."""
import unittest

import harness
from harness import Recording, account, fetched, machine

MIB = 2**20


class Workers(unittest.TestCase):
    def record(self, file, memory, out):
        recording = Recording([machine().program("worker"), file, memory, out], status=None)
        if recording.done.returncode == 77:
            self.skipTest("this kernel has no io_uring, or does not let us")
        self.assertEqual(recording.done.returncode, 0, recording.stderr)
        return recording, account(out)

    def test_faults(self):
        """The worker's faults on the destination memory, compared with the kernel's own count."""
        directory = machine().new_dir()
        file = harness.random_file(f"{directory}/file", MIB)
        memory = harness.random_file(f"{directory}/memory", MIB)
        recording, truth = self.record(file, memory, f"{directory}/out")
        rows = recording.trace.rows("fault")
        ids = recording.trace.file_ids(memory)
        workers = [
            tid
            for pid, tid, file in zip(rows.pid.tolist(), rows.tid.tolist(), rows.file.tolist())
            if file in ids and pid == truth["pid"] and tid != pid
        ]
        self.assertGreater(truth["faults"], 0)
        self.assertEqual(len(workers), truth["faults"], "faults of other threads, by rusage")
        created = {row["child_tid"] for row in recording.trace.dicts("fork")}
        self.assertLessEqual(set(workers), created, "its threads are in fork rows")
        names = {row["comm"] for row in recording.trace.dicts("exit") if row["tid"] in workers}
        self.assertEqual(names, {b"worker"}, "the worker has the process's name")

    def test_file_of_a_layer(self):
        """A worker's reads through an overlay fill the cache of a lower file; they are
        attributed to the opened file."""
        layers = {name: machine().new_dir("ext4") for name in ("lower", "upper", "work")}
        below = harness.random_file(f"{layers['lower']}/data", 2 * MIB)
        memory = harness.random_file(f"{layers['upper']}/memory", 2 * MIB)
        options = ",".join(f"{name}dir={path}" for name, path in layers.items())
        merged = machine().mount("-t", "overlay", "-o", options, "overlay")
        directory = machine().new_dir()

        def read():
            harness.cool(below)
            recording = self.record(f"{merged}/data", memory, f"{directory}/out")[0]
            return recording, harness.resident_bytes(below)

        def came(recording):
            return fetched(recording.file(f"{merged}/data"))

        recording, resident = harness.undisturbed(read, lambda reported: came(reported[0]) == reported[1])
        self.assertGreaterEqual(resident, 2 * MIB)
        self.assertEqual(came(recording), resident)
        self.assertFalse([row for row in recording.report["files"] if row["path"] == below])


if __name__ == "__main__":
    unittest.main()
