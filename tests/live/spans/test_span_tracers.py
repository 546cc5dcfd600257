# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""No span is missed, however many listeners there are and however busy the machine; and programs
can only affect the tracer's marker search within limits."""
import os
import re
import shutil
import signal
import subprocess
import unittest

import harness
from harness import NOBODY, PYTHON, Recording, as_user, machine
from test_span_marks import library, lines, marks, program

TRACERS = 4
FILES, FILES_MAX = 100, 64


def busy():
    """Processes that leave no CPU idle."""
    return [machine().start(["nice", "sh", "-c", "while :; do :; done"]) for _ in os.sched_getaffinity(0)]


def stop(jobs):
    for job in jobs:
        job.kill()
        job.wait()


class Tracers(unittest.TestCase):
    def check(self, path, calls):
        """Each call that the program made is in the trace, and the trace reports no loss."""
        report = harness.report_of(path)
        self.assertEqual(report["trace"]["lost"]["total"], 0)
        self.assertEqual(sorted((row["what"], row["id"]) for row in marks(harness.Trace(path))),
                         sorted((call["what"], call["id"]) for call in calls))
        self.assertEqual({row["unfinished"] for row in report["spans"] if row["count"]}, {0})

    def start(self, directory, number, command, way):
        out, path = f"{directory}/{number}.json", f"{directory}/{number}.flt"
        before, what = command
        job = machine().start(
            [machine().faultline, "run", "-o", path, "--", *before, program(way), out, what],
            env={**os.environ, "SPAN_LIBRARY": library()},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        return job, path, out

    def test_several_at_once(self):
        """Four tracers of one program and one library on a busy machine: each sees its own."""
        shell = ["sh", "-c", '"$@"; exit $?', "sh"]
        program("opened"), program("built in"), library()
        self.addCleanup(stop, busy())
        for way, before in (("built in", []), ("built in", shell), ("opened", [])):
            directory = machine().new_dir()
            with self.subTest(f"{way} {before}"):
                jobs = [self.start(directory, i, (before, "threads"), way) for i in range(TRACERS)]
                for job, path, out in jobs:
                    output = job.communicate(timeout=harness.LIMIT)[1]
                    self.assertEqual(job.returncode, 0, output)
                    calls = lines(out)
                    self.assertNotIn(0, {call["id"] for call in calls if call["what"] == "begin"})
                    self.check(path, calls)

    def test_one_inside_another(self):
        """Both are contacted, and both have everything."""
        directory = machine().new_dir()
        out, inner = f"{directory}/calls", f"{directory}/inner.flt"
        for way in ("built in", "opened"):
            with self.subTest(way):
                recording = Recording(
                    [machine().faultline, "run", "--force", "-o", inner, "--", "sh", "-c"]
                    + ['"$@"; exit $?', "sh", program(way), out, "threads"],
                    env={**os.environ, "SPAN_LIBRARY": library()},
                )
                self.check(recording.path, lines(out))
                self.check(inner, lines(out))

    def test_end_without_a_begin(self):
        """A missed begin is noticed by its end; a duplicate end is not a loss."""
        script = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
begin, end = library.faultline_span_begin, library.faultline_span_end
begin.restype, begin.argtypes = ctypes.c_uint64, [ctypes.c_char_p] * 3 + [ctypes.c_size_t]
end.argtypes = [ctypes.c_uint64]
span = begin(b"s", b"", None, 0)
if not os.fork():
    end(span)
    os._exit(0)
os.wait()
end(span)
end(span)
end(span + 7)"""
        recording = Recording([PYTHON, "-c", script, library()])
        lost = recording.report["trace"]["lost"]
        self.assertEqual((lost["total"], lost["by_layer"]["span"]), (1, 1))
        screen = harness.faultline("report", recording.path).stdout
        self.assertIn(b"1 events were lost (span_begin 1)", screen)

    def test_descriptors(self):
        """A program that closes and counts its descriptors finds the same ones as without a
        tracer."""
        script = """
import os
os.closerange(3, 1000)
import faultline
print(os.listdir("/proc/self/fd"), faultline.enabled())"""
        recording = Recording(["sh", "-c", '"$@"; exit $?', "sh", PYTHON, "-c", script],
                              env=harness.python_path())
        self.assertEqual(recording.done.stdout, b"['0', '1', '2', '3'] True\n")

    def test_tracer_dies(self):
        """A program that contacts a killed tracer continues without waiting."""
        directory = machine().new_dir()
        script = 'echo $$ >"$0/pid"; read go <"$0/fifo"; "$@"; echo $? >"$0/status"'
        os.mkfifo(f"{directory}/fifo")
        copy = shutil.copy(program("built in"), directory)
        job = machine().start(
            [machine().faultline, "run", "-o", f"{directory}/trace.flt", "--", "sh", "-c", script]
            + [directory, "strace", "-f", "-o", f"{directory}/strace", copy]
            + [f"{directory}/calls", "nested"],
            stderr=subprocess.DEVNULL,
        )
        self.assertTrue(harness.wait_until(lambda: os.path.exists(f"{directory}/pid")))
        job.send_signal(signal.SIGKILL)
        job.wait()
        with open(f"{directory}/fifo", "w") as fifo:
            fifo.write("go\n")
        self.assertTrue(harness.wait_until(lambda: os.path.exists(f"{directory}/status")))
        self.assertEqual(len(lines(f"{directory}/calls")), 17)
        with open(f"{directory}/strace") as file:
            self.assertNotIn("nanosleep", file.read())


def listener_of(tracer):
    """The tracer's helper process that inspects mapped files; None if there is none yet."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if name == "faultline-spans" and int(rest.split()[1]) == tracer:
            return int(pid)
    return None


class Harm(unittest.TestCase):
    def test_buffers_are_not_inherited(self):
        """Helpers that inspect other users' files run in forked processes without the buffers
        shared with the kernel; the BPF programs' variables are smaller."""
        trace = f"{machine().new_dir()}/trace.flt"
        for mode in ("trace", "profile"):
            job = machine().start(
                [machine().faultline, "run", "-q", "--force", "--mode", mode, "-o", trace]
                + ["--", "sh", "-c", "echo; read line"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            job.stdout.readline()
            mapped = []
            for pid in (job.pid, listener_of(job.pid)):
                with open(f"/proc/{pid}/maps") as file:
                    found = re.findall(r"^(\w+)-(\w+) .*bpf-map$", file.read(), re.M)
                mapped.append(max(int(end, 16) - int(start, 16) for start, end in found))
            job.communicate(b"\n")
            self.assertEqual(job.returncode, 0)
            self.assertGreater(mapped[0], 1 << 20)
            self.assertLess(mapped[1], 1 << 20)

    def test_ended_unseen(self):
        """Programs that ended before they were checked for markers are counted, and the report
        does not claim there were no spans."""
        directory = machine().new_dir()
        fifos = [f"{directory}/go", f"{directory}/on"]
        for fifo in fifos:
            os.mkfifo(fifo)
        script = 'read go <"$0"; /bin/true; /bin/true; /bin/true; : >"$1.done"; read on <"$1"'
        job = machine().start(
            [machine().faultline, "run", "-o", f"{directory}/trace.flt", "--", "sh", "-c", script]
            + fifos,
            stderr=subprocess.DEVNULL,
        )
        self.assertTrue(harness.wait_until(lambda: listener_of(job.pid)))
        listener = listener_of(job.pid)
        with open(fifos[0], "w") as fifo:  # once the command runs
            os.kill(listener, signal.SIGSTOP)
            fifo.write("go\n")
        self.assertTrue(harness.wait_until(lambda: os.path.exists(f"{fifos[1]}.done")))
        os.kill(listener, signal.SIGCONT)
        with open(fifos[1], "w") as fifo:
            fifo.write("on\n")
        self.assertEqual(job.wait(), 0)
        report = harness.report_of(f"{directory}/trace.flt")
        # Checks of one of them may wait until the end, and then count each.
        self.assertGreaterEqual(report["trace"]["notes"]["programs_ended_unseen"], 3)
        self.assertEqual(report["trace"]["lost"]["total"], 0)
        output = harness.faultline("report", "--table", "levels", f"{directory}/trace.flt").stdout
        self.assertIn(b"programs ended before Faultline knew whether they", output)

    def test_many_files(self):
        """Copies of the library beyond the limit: reported, counted, and survived."""
        directory = machine().new_dir()
        for i in range(FILES):
            shutil.copy(library(), f"{directory}/{i}.so")
        script = """
import ctypes, sys
spans = []
for i in range(int(sys.argv[2])):
    library = ctypes.CDLL(f"{sys.argv[1]}/{i}.so")
    begin, end = library.faultline_span_begin, library.faultline_span_end
    begin.restype, begin.argtypes = ctypes.c_uint64, [ctypes.c_char_p] * 3 + [ctypes.c_size_t]
    end.argtypes = [ctypes.c_uint64]
    spans.append(begin(b"s", b"", None, 0))
    end(spans[-1])
print(sum(map(bool, spans)))"""
        recording = Recording([PYTHON, "-c", script, directory, str(FILES)])
        heard = int(recording.done.stdout)
        self.assertLessEqual(heard, FILES_MAX)
        self.assertGreaterEqual(heard, FILES_MAX - 8)  # others of ours are attached to first
        (row,) = [row for row in recording.report["spans"] if row["name"] == "s"]
        self.assertEqual((row["count"], row["unfinished"]), (heard, 0))
        lost = recording.report["trace"]["lost"]
        self.assertEqual((lost["total"], lost["by_layer"]["span"]), (FILES - heard,) * 2)
        self.assertIn("too many files", recording.stderr)
        screen = harness.faultline("report", recording.path).stdout.decode()
        output = f"{FILES - heard} times a program may have marked spans before Faultline attached to it"
        self.assertIn(output, screen)

    def test_names_that_lead_elsewhere(self):
        """A mapped file that was removed, with another file at the name that /proc/PID/maps
        shows: that one is not opened, and the mapped file itself is inspected."""
        directory = machine().new_dir()
        os.chmod(directory, 0o777)
        shutil.copy(library(), f"{directory}/lib.so")
        script = """
import ctypes, errno, mmap, os, sys, time
path = sys.argv[1]
os.mkfifo(path + " (deleted)")
held = os.open(path, os.O_RDONLY)
os.unlink(path)
spans = ctypes.CDLL(f"/proc/self/fd/{held}")  # asks, and is found though it has no name
begin, end = spans.faultline_span_begin, spans.faultline_span_end
begin.restype, begin.argtypes = ctypes.c_uint64, [ctypes.c_char_p] * 3 + [ctypes.c_size_t]
end.argtypes = [ctypes.c_uint64]
opened = 0
for i in range(50):
    end(begin(b"without a name", b"", None, 0))
    another = mmap.mmap(held, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
    for j in range(20):
        try:
            os.close(os.open(path + " (deleted)", os.O_WRONLY | os.O_NONBLOCK))
            opened += 1
        except OSError as error:
            assert error.errno == errno.ENXIO
        time.sleep(0.001)
    another.close()
print(opened)"""
        recording = Recording(as_user(NOBODY, PYTHON, "-c", script, f"{directory}/lib.so"))
        self.assertEqual(recording.done.stdout, b"0\n")
        (row,) = [row for row in recording.report["spans"] if row["name"] == "without a name"]
        self.assertEqual(row["count"], 50)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)

    def test_files_that_claim_much(self):
        """A library of a few KiB that claims notes of 3 GB, and one with invalid notes: all
        spans of a valid one next to them are recorded."""
        directory = machine().new_dir()
        with open(library(), "rb") as file:
            text = bytearray(file.read())
        headers = int.from_bytes(text[40:48], "little")
        for i in range(int.from_bytes(text[60:62], "little")):
            at = headers + 64 * i
            if text[at + 4] == 7:  # SHT_NOTE
                text[at + 32 : at + 40] = (3 << 30).to_bytes(8, "little")
        with open(f"{directory}/huge.so", "wb") as file:
            file.write(text)
            file.truncate(4 << 30)
        script = """
import mmap, os, sys
maps = []
for path in sys.argv[2:]:
    fd = os.open(path, os.O_RDONLY)
    maps.append(mmap.mmap(fd, 1 << 12, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
os.execv(sys.argv[1], [sys.argv[1], sys.argv[3] + ".calls", "threads"])"""
        path = f"{directory}/huge.so"
        recording = Recording([PYTHON, "-c", script, program("built in"), "/bin/true", path])
        calls = lines(path + ".calls")
        self.assertEqual(sorted((row["what"], row["id"]) for row in marks(recording.trace)),
                         sorted((call["what"], call["id"]) for call in calls))


if __name__ == "__main__":
    unittest.main()
