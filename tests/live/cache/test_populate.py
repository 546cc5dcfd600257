# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Calls that populate mappings, or that access files in unusual ways: each is recorded."""
import unittest

import harness
from harness import Recording, account, machine

MIB = 1 << 20


class Populate(unittest.TestCase):
    def check(self, way, op, own):
        """`own`: the call is about the file, so its pages are charged to it."""
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 64 * MIB), f"{directory}/out.json"

        def record():
            harness.cool(data)
            recording = Recording([machine().program("populate"), way, data, out], status=None)
            if recording.done.returncode == 77:
                self.skipTest(f"this kernel has no {way} for this, or does not let us")
            self.assertEqual(recording.done.returncode, 0, recording.stderr)
            return recording, harness.resident_bytes(data)

        recording, resident = harness.undisturbed(
            record, lambda result: result[0].file(data)["fetched_bytes"] == result[1]
        )
        row = recording.file(data)
        self.assertEqual(row["fetched_bytes"], resident)
        self.assertGreaterEqual(resident, 64 * MIB)
        self.assertEqual(row["mmap" if own else "indirect"]["fetched_bytes"], resident)
        self.assertEqual(row["unattributed"]["fetched_bytes"], 0)
        calls = [each for each in recording.report["operations"] if each["op"] == op]
        self.assertGreaterEqual(calls[0]["count"], 1)
        # The program mostly waits for the call, and the call counts as I/O.
        took_ns = account(out)["took_ns"]
        self.assertGreater(calls[0]["thread_time_ns"], 0.5 * took_ns)
        self.assertGreater(recording.report["totals"]["io"]["time_ns"], 0.5 * took_ns)
        reported = [each["id"] for each in recording.report["findings"]]
        self.assertNotIn("readahead-unused", reported)

    def test_mlockall(self):
        self.check("mlockall", "mlockall", False)

    def test_process_madvise(self):
        self.check("process_madvise", "process_madvise", False)

    def test_io_uring(self):
        self.check("io_uring", "io_uring_madvise", True)


class Rare(unittest.TestCase):
    JOB = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
handle = (ctypes.c_uint32 * 64)(128)
mount = ctypes.c_int()
def done(result):
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
path = sys.argv[1].encode()
done(libc.name_to_handle_at(-100, path, handle, ctypes.byref(mount), 0))
top = os.open(os.path.dirname(sys.argv[1]), os.O_RDONLY)
for _ in range(3):
    f = done(libc.open_by_handle_at(top, handle, os.O_RDONLY))
    os.read(f, 100)
    os.close(f)
one, two = os.pipe(), os.pipe()
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_char_p), ("bytes", ctypes.c_size_t)]
done(libc.vmsplice(one[1], ctypes.byref(Part(b"x" * 1000, 1000)), 1, 0))
done(libc.tee(one[0], two[1], 1000, 0))
done(libc.syscall(436, two[1], two[1], 0))
"""

    def test_each(self):
        path = harness.random_file(f"{machine().new_dir()}/data", 5000)
        recording = Recording([harness.PYTHON, "-S", "-c", self.JOB, path], "--file-types", "all")
        counts = recording.operations()
        for op, count in (("name_to_handle_at", 1), ("open_by_handle_at", 3), ("vmsplice", 1),
                          ("tee", 1), ("close_range", 1)):
            with self.subTest(op):
                self.assertEqual(counts[op][:2], (count, 0))
        row = recording.file(path)
        self.assertEqual((row["opens"], row["read"]["bytes"]), (3, 300))
        moved = {each["op"]: each["bytes"] for each in recording.report["operations"]}
        self.assertEqual((moved["vmsplice"], moved["tee"]), (1000, 1000))


if __name__ == "__main__":
    unittest.main()
