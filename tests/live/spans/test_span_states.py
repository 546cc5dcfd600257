# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The states of threads in spans, compared with the program's own measurements."""
import json
import unittest

import harness
from harness import PYTHON, Recording, machine, python_path

MS = 1_000_000
NAP_NS = 150 * MS

# Prints the time in each phase, and the CPU time of the one that computes.
PHASES = """
import json, os, sys, threading, time
import faultline
lock, ready = threading.Lock(), threading.Event()
ends = os.pipe()
waited = {}
def hold():
    with lock:
        ready.set()
        time.sleep(0.1)
def send():
    time.sleep(0.1)
    os.write(ends[1], b".")
def phase(name, work, *arguments):
    begin = time.monotonic_ns()
    with faultline.span(name):
        work(*arguments)
    waited[name] = time.monotonic_ns() - begin
def spin():
    begin = time.thread_time_ns()
    while time.thread_time_ns() < begin + 100_000_000:
        pass
def read():
    for at in range(16):
        os.pread(file, 1 << 20, at << 20)
def nested():
    phase("nap", lambda: [time.sleep(0.05) for _ in range(3)])
    spin()
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
phase("outer", nested)
phase("read", read)
threading.Thread(target=hold).start()
ready.wait()
phase("locked", lock.acquire)
threading.Thread(target=send).start()
phase("piped", os.read, ends[0], 1)
print(json.dumps(waited))
"""


class States(unittest.TestCase):
    def test_phases(self):
        data = harness.random_file(f"{machine().new_dir()}/data", 16 << 20)
        recording = Recording([PYTHON, "-c", PHASES, data], env=python_path())
        waited = json.loads(recording.done.stdout)
        rows = {row["name"]: row for row in recording.report["span_states"]}
        self.assertEqual(set(rows), set(waited))
        for name, row in rows.items():
            states = [value for key, value in row.items()
                      if key.endswith("_ns") and key != "time_ns"]
            self.assertEqual(sum(states), row["time_ns"], name)
            self.assertLessEqual(row["time_ns"], waited[name])
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        waits = [row for row in recording.trace.dicts("wait") if row["dur"] >= 40 * MS]
        self.assertGreaterEqual(rows["nap"]["sleep_ns"], NAP_NS - 3 * MS, (rows["nap"], waits))
        self.assertLessEqual(rows["nap"]["sleep_ns"], waited["nap"])
        self.assertEqual(rows["outer"]["sleep_ns"], 0)
        self.assertGreaterEqual(rows["outer"]["running_ns"], 100 * MS)
        for name, column in (("locked", "lock_ns"), ("piped", "pipe_ns")):
            self.assertGreater(rows[name][column], 0)
            # Others may take the CPU before the thread waits.
            self.assertGreaterEqual(rows[name][column] + rows[name]["running_ns"],
                                    rows[name]["time_ns"] - MS, name)
        (read,) = [row for row in recording.report["spans"] if row["name"] == "read"]
        self.assertEqual(rows["read"]["io_ns"], read["io_time_ns"])
        self.assertGreater(read["io_time_ns"], 0)


if __name__ == "__main__":
    unittest.main()
