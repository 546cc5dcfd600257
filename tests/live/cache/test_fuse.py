# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Requests to a FUSE daemon are those that the daemon answers, one by one."""
import collections
import errno
import os
import re
import signal
import subprocess
import time
import unittest

import flights
import harness
import served
from harness import Recording, machine
from served import DELAY_MS

with open("/usr/include/linux/fuse.h") as header:
    OPCODES = {int(number): "fuse_" + name.lower() for name, number in
               re.findall(r"\tFUSE_([A-Z0-9_]+)\s*= (\d+),",
                          re.search(r"enum fuse_opcode {(.*?)}", header.read(), re.S)[1])}
WITHOUT_REQUESTER = ("fuse_release", "fuse_releasedir")  # their header names no thread
FIRST_NODE = 100
NAMES = ("data", "other", "direct", "short", "long", "failing", "boaster", "die", "stop")

Request = collections.namedtuple("Request", "op tid node offset asked moved error")

# Closes all files: a request that is still in flight at the end has no row.
WORK = """
import mmap, os, sys
at = sys.argv[1] + "/"
assert len(os.listdir(at)) == 9
with open(at + "data", "rb") as file:
    assert len(file.read()) == 1 << 20
direct = os.open(at + "direct", os.O_RDONLY)
assert len(os.pread(direct, 100000, 5000)) == 100000
os.close(direct)
other = os.open(at + "other", os.O_RDWR)
assert os.pwrite(other, bytes(300000), 4096) == 300000
os.fsync(other)
with mmap.mmap(other, 0, prot=mmap.PROT_READ) as mapped:
    assert mapped[900000] == (900000 * 31 + 1) % 256
os.close(other)
for name in "boaster", "short", "long", "failing", "missing":
    try:
        file = os.open(at + name, os.O_RDWR)
    except OSError:
        continue
    try:
        os.pwrite(file, bytes(5000), 0) if name == "boaster" else os.read(file, 50000)
    except OSError: pass
    os.close(file)
"""


class Fuse(served.Served):
    def answered(self):
        """The requests as the daemon saw them, with the errors that the kernel makes of replies
        which are too long."""
        with open(self.log) as file:
            rows = [[int(word) for word in line.split()] for line in file]
        for opcode, tid, node, offset, requested, moved, error, *_ in rows:
            op = OPCODES[opcode]
            if op == "fuse_read" and node == FIRST_NODE + NAMES.index("long"):
                error = errno.EIO
            if op not in ("fuse_read", "fuse_write"):
                offset = -1
            yield Request(op, tid, node, offset, requested, moved, error)

    def recorded(self, recording):
        for row in recording.trace.dicts("remote"):
            yield Request(row["op"], 0 if row["op"] in WITHOUT_REQUESTER else row["tid"], row["node"],
                          row["offset"], row["asked"], row["bytes"], row["error"])

    def own(self, recording):
        """What the daemon saw of the job."""
        tids = {process["pid"] for process in harness.followed(recording.report)}
        return [request for request in self.answered()
                if request.tid in tids or request.op in WITHOUT_REQUESTER]

    def device(self, recording):
        row, = [row for row in recording.trace.dicts("device")
                if row["dev"] == os.major(self.dev) << 20 | os.minor(self.dev)][-1:]
        return row

    def test_every_request(self):
        self.serve()
        recording = Recording([harness.PYTHON, "-S", "-c", WORK, self.mount])
        self.unmount()
        own = self.own(recording)
        self.assertEqual(sorted(self.recorded(recording)), sorted(own))
        moved = collections.Counter()
        for request in own:
            moved[request.op] += request.moved
        operations = {row["op"]: row for row in recording.report["operations"]}
        for op in ("fuse_read", "fuse_write", "fuse_lookup"):
            of_op = [request for request in own if request.op == op]
            self.assertEqual((operations[op]["count"], operations[op]["errors"],
                              operations[op]["bytes"]),
                             (len(of_op), sum(request.error != 0 for request in of_op), moved[op]))
        queue_known = "in the queue" not in (
            recording.report["trace"]["layers"]["fuse"]["reason"] or "")
        for row in recording.trace.dicts("remote"):
            self.assertEqual(row["queue"] >= 0, queue_known)
            self.assertGreaterEqual(row["dur"] - max(row["queue"], 0), DELAY_MS * 1000000)
            self.assertEqual(row["server_pid"], self.daemon.pid)
            self.assertEqual(row["dev"], os.major(self.dev) << 20 | os.minor(self.dev))
            if row["op"] in ("fuse_read", "fuse_write"):
                self.assertEqual(recording.trace.files[row["file"]]["path"].decode(),
                                 f"{self.mount}/{NAMES[row['node'] - FIRST_NODE]}")
        # Text omits unknown values.
        lines = harness.faultline("print", "--layer", "fuse", recording.path).stdout.decode()
        self.assertEqual((lines.count(" fuse_"), " rtt " in lines, " queue " in lines),
                         (len(own), False, queue_known))
        device = self.device(recording)
        self.assertEqual(device["name"], b"a source (fuse.kind)")
        self.assertEqual((device["read_bytes"], device["write_bytes"], device["flush_requests"]),
                         (moved["fuse_read"], moved["fuse_write"], 1))
        self.check_row(recording, own, queue_known)

    def check_row(self, recording, own, queue_known):
        """The mount's row in the report."""
        name = f"{os.major(self.dev)}:{os.minor(self.dev)}"
        row, = [row for row in recording.report["devices"] if row["dev"] == name]
        self.assertEqual((row["name"], row["st_devs"]), ("a source (fuse.kind)", [name]))
        rows = list(recording.trace.dicts("remote"))
        named = {"read": ["fuse_read"], "write": ["fuse_write"], "flush": ["fuse_fsync"]}
        named["other"] = {request.op for request in own}.difference(*named.values())
        for use, ops in named.items():
            of_use = [request for request in own if request.op in ops]
            self.assertEqual((row[use]["requests"], row[use]["errors"]),
                             (len(of_use), sum(request.error != 0 for request in of_use)), use)
            if use == "other":
                continue
            self.assertEqual(row[use]["bytes"], sum(request.moved for request in of_use))
            self.assertIsNone(row[use]["merges"])
            self.assertEqual(row[use]["sequential"] is None, use == "flush")
            self.assertEqual(row[use]["queue_ns"] is not None, queue_known)
            self.assertEqual((row[use]["queue_ns"] or 0) + row[use]["service_ns"],
                             sum(one["dur"] for one in rows if one["op"] in ops))
        self.assertEqual(row["other"]["time_ns"],
                         sum(one["dur"] for one in rows if one["op"] in named["other"]))
        self.assertGreaterEqual(row["read"]["p50_ns"], DELAY_MS * 1000000)
        self.assertIsNone(row["discard"]["requests"])

    def test_of_others(self):
        """Requests of other processes have no rows; they count for the device."""
        self.serve()
        script = ("import os, sys\nf = os.open(sys.argv[1], os.O_RDONLY)\n"
                  "while True: os.pread(f, 1000, 0)")
        outsider = machine().start([harness.PYTHON, "-S", "-c", script, f"{self.mount}/direct"])
        self.assertTrue(harness.wait_until(
            lambda: any(request.op == "fuse_read" for request in self.answered())))
        recording = Recording([harness.PYTHON, "-S", "-c", WORK, self.mount])
        outsider.kill()
        outsider.wait()
        self.unmount()
        own = [request for request in self.own(recording) if request.op not in WITHOUT_REQUESTER]
        self.assertEqual(sorted(request for request in self.recorded(recording)
                                if request.op not in WITHOUT_REQUESTER), sorted(own))
        reads = [request for request in own if request.op == "fuse_read"]
        self.assertGreater(self.device(recording)["read_requests"], len(reads))

    def test_writeback(self):
        """The kernel writes back, for no process."""
        self.serve("writeback")
        script = ("import ctypes, os, sys\nf = os.open(sys.argv[1], os.O_RDWR)\n"
                  "os.pwrite(f, bytes(400000), 0)\n"
                  "assert not ctypes.CDLL(None).syncfs(f)\nos.close(f)")
        recording = Recording([harness.PYTHON, "-c", script, f"{self.mount}/data"])
        self.unmount()
        written = [row for row in recording.trace.dicts("remote") if row["op"] == "fuse_write"]
        self.assertEqual({(row["pid"], row["tid"]) for row in written}, {(0, 0)})
        self.assertEqual(sorted((row["offset"], row["bytes"]) for row in written),
                         sorted((request.offset, request.moved) for request in self.answered()
                                if request.op == "fuse_write"))
        self.assertGreaterEqual(sum(row["bytes"] for row in written), 400000)
        self.assertEqual({recording.trace.files[row["file"]]["path"].decode() for row in written},
                         {f"{self.mount}/data"})

    def test_exit(self):
        """The kernel closes a process's files when it has exited."""
        self.serve()
        script = "import os, sys\nos.open(sys.argv[1], os.O_RDONLY)\nos._exit(0)"
        recording = Recording([harness.PYTHON, "-S", "-c", script, f"{self.mount}/data"])
        flush, = [row for row in recording.trace.dicts("remote") if row["op"] == "fuse_flush"]
        ended, = [row for row in recording.trace.dicts("exit") if row["process"]]
        self.assertEqual((flush["pid"], flush["tid"]), (ended["pid"], ended["tid"]))
        self.assertGreater(flush["time"], ended["time"])
        self.assertGreaterEqual(flush["dur"], DELAY_MS * 1000000)

    def test_daemon_dies(self):
        """The daemon dies in the middle of a read, which fails."""
        self.serve()
        script = ("import errno, os, sys\nf = os.open(sys.argv[1], os.O_RDONLY)\ntry:\n"
                  " os.read(f, 1000)\nexcept OSError as e: sys.exit(e.errno)")
        recording = Recording([harness.PYTHON, "-S", "-c", script, f"{self.mount}/die"],
                              status=None)
        self.assertEqual(self.daemon.wait(), -signal.SIGKILL)
        self.assertNotEqual(recording.done.returncode, 0)
        failed = [row for row in recording.trace.dicts("remote") if row["op"] == "fuse_read"]
        self.assertGreater(len(failed), 0)
        for row in failed:
            self.assertIn(row["error"], (errno.ECONNABORTED, errno.ENOTCONN))
            self.assertEqual((row["server_pid"], row["bytes"]), (0, 0))
        read, = recording.trace.calls(f"{self.mount}/die", op="read")
        self.assertLess(read["result"], 0)

    def test_daemon_stops(self):
        """The daemon stops in the middle of a read, which lasts until the daemon continues."""
        self.serve()
        trace = f"{machine().new_dir()}/trace.flt"
        run = machine().start([machine().faultline, "run", "-q", "-o", trace, "--", "head", "-c",
                               "1000", f"{self.mount}/stop"], stdout=subprocess.DEVNULL)
        def state():
            with open(f"/proc/{self.daemon.pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0]
        self.assertTrue(harness.wait_until(lambda: state() == "T"))
        stopped_ns = time.monotonic_ns()
        time.sleep(0.2)
        stopped_ns = time.monotonic_ns() - stopped_ns
        while run.poll() is None:  # it stops in each read
            self.daemon.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        self.assertEqual(run.returncode, 0)
        reads = [row for row in harness.Trace(trace).dicts("remote") if row["op"] == "fuse_read"]
        self.assertGreaterEqual(max(row["dur"] for row in reads), stopped_ns)
        self.assertEqual({row["error"] for row in reads}, {0})

    def test_flight(self):
        """A flight recorder's totals count the requests that it kept."""
        self.serve()
        count = 40
        job = flights.Job(*flights.python(flights.COUNTING, f"{self.mount}/direct", count))
        recorder = flights.Recorder("--flight", "1M", "-p", str(job.pid))
        job.work()
        trace = recorder.ask_and_wait()
        job.end()
        self.assertEqual(recorder.end()[0], 0)
        rows = [row for row in trace.dicts("remote") if row["op"] == "fuse_read"]
        self.assertEqual(len(rows), count)
        total, = [row for row in harness.report_of(recorder.traces()[0])["operations"]
                  if row["op"] == "fuse_read"]
        self.assertEqual((total["count"], total["bytes"]),
                         (count, sum(row["bytes"] for row in rows)))

    def test_profile(self):
        """Sums, without rows."""
        self.serve()
        recording = Recording([harness.PYTHON, "-S", "-c", WORK, self.mount], "--mode", "profile")
        self.unmount()
        self.assertIsNone(recording.trace.rows("remote"))
        own = collections.Counter(request.op for request in self.own(recording))
        self.assertEqual({row["op"]: row["count"] for row in recording.report["operations"]
                          if row["layer"] == "fuse"}, own)


if __name__ == "__main__":
    unittest.main()
