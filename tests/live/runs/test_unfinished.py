# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Faults that never end, because the thread exits during them or gets SIGBUS: reported with
their bytes and the time until then, compared with mincore and the job's own clock."""
import os
import unittest

import harness
from harness import Recording, fetched, machine
from test_device_findings import throttle

MIB = 1 << 20
UNFINISHED, UNTIMED = 1 << 7, 1 << 8  # flags of faults


class CutOff(unittest.TestCase):
    def rows_of(self, recording, path):
        ids = recording.trace.file_ids(path)
        return [row for row in recording.trace.dicts("fault") if row["file"] in ids]

    def reads_in_flight(self, path):
        number = os.stat(path).st_dev
        with open(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/inflight") as file:
            return int(file.read().split()[0])

    def test_threads_at_the_end(self):
        """32 threads fault a cold mapping while the process ends: all fetched bytes are
        reported."""
        data = harness.random_file(f"{machine().new_dir('ext4')}/data", 192 * MIB)
        cut = 0

        def record(milliseconds):
            harness.cool(data)
            command = [machine().program("cutshort"), "exit", data, "32", str(milliseconds)]
            recording = Recording(command)
            # Reads in flight when the process ended may continue.
            harness.wait_until(lambda: not self.reads_in_flight(data), 10)
            return recording, harness.resident_bytes(data)

        for milliseconds in (5, 15, 40, 80):
            recording, resident = harness.undisturbed(
                lambda ms=milliseconds: record(ms),
                lambda seen: fetched(seen[0].file(data)) == seen[1],
            )
            self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
            self.assertEqual(fetched(recording.file(data)), resident)
            self.assertEqual(recording.file(data)["unattributed"]["fetched_bytes"], 0)
            cut += sum(1 for row in self.rows_of(recording, data) if row["flags"] & UNFINISHED)
        self.assertGreater(cut, 0, "none was cut off: the test does not test")

    def test_sigbus(self):
        """A touch beyond the file's end is a fault, exactly as long as the touch."""
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", MIB), f"{directory}/out.json"
        recording = Recording([machine().program("cutshort"), "sigbus", data, out, "100"])
        truth = harness.account(out)
        rows = [row for row in self.rows_of(recording, data) if row["flags"] & UNFINISHED]
        self.assertEqual(
            [row["offset"] for row in rows], [truth["size"] + n * 4096 for n in range(100)]
        )
        self.assertTrue(all(row["flags"] & UNTIMED == 0 for row in rows))
        self.assertTrue(all(0 < row["dur"] <= truth["longest_ns"] for row in rows))
        self.assertGreaterEqual(recording.file(data)["mmap"]["faults"], 100)

    def test_killed_while_it_waits(self):
        """The time of a fault that waits for a slow disk until the job is killed."""
        data = harness.random_file(f"{machine().new_dir('ext4')}/data", 16 * MIB)
        began = f"{machine().new_dir()}/began"
        group = throttle(self, data, 65536, "bps")
        harness.cool(data)
        script = (
            f"echo $$ >{group}/cgroup.procs\n"
            '"$0" touch "$1" "$2" & child=$!\n'
            'while [ ! -s "$2" ]; do sleep 0.05; done; sleep 1.5\n'
            "kill -9 $child; wait $child; true\n"
        )
        recording = Recording(["sh", "-c", script, machine().program("cutshort"), data, began])
        with open(began) as file:
            began_ns = int(file.read())
        rows = self.rows_of(recording, data)
        self.assertTrue(rows[-1]["flags"] & UNFINISHED, rows[-1])
        kill, = [row for row in recording.trace.dicts("exit") if row["code"] == 9]
        wall_ns = kill["time"] - began_ns
        self.assertGreater(wall_ns, 1_400_000_000)
        time_ns = recording.file(data)["mmap"]["time_ns"]
        self.assertLessEqual(time_ns, wall_ns)
        self.assertGreater(time_ns, wall_ns / 2, "all it did was to wait")


class Mappings(unittest.TestCase):
    def test_while_others_change(self):
        """Other threads change the mappings concurrently: no fault on the file becomes an
        anonymous one. Faults whose mapping was not found are counted as such."""
        data = harness.random_file(f"{machine().new_dir()}/data", 8 * MIB)
        recording = Recording([machine().program("churn"), data, "150"])
        counted, report = int(recording.done.stdout), recording.report
        self.assertEqual(report["trace"]["lost"]["total"], 0)
        faults = recording.file(data)["mmap"]["faults"]
        self.assertGreater(counted, 0)
        self.assertLessEqual(faults, counted)
        self.assertGreaterEqual(faults + report["totals"]["unknown_faults"]["count"], counted)


if __name__ == "__main__":
    unittest.main()
