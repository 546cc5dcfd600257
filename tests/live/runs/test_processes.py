# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""No process of a job is lost, however it was created: each reads a file that no other reads."""
import os
import subprocess
import unittest

import harness
from harness import Recording, account, machine

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_children.py")


class Processes(unittest.TestCase):
    def files(self, names):
        """A directory with a file of unique length for each name."""
        directory = machine().new_dir()
        for i, name in enumerate(names):
            harness.random_file(f"{directory}/{name}", 10_000 + 1000 * i)
        return directory

    def check_readers(self, recording, directory, pids):
        """Checks {file name: PID of its reader}; PIDs may be None if unknown."""
        listed = {row["pid"]: row for row in recording.report["processes"]}
        for name, pid in pids.items():
            with self.subTest(name):
                path = f"{directory}/{name}"
                self.assertEqual(recording.file(path)["read"]["bytes"], os.path.getsize(path))
                readers = {
                    row["pid"]
                    for row in recording.trace.calls(path)
                    if row["op"] == "read" and row["result"] > 0
                }
                self.assertEqual(len(readers), 1)
                if pid is not None:
                    self.assertEqual(readers, {pid})
                self.assertEqual(set(readers) - set(listed), set(), "not among the processes")
                row = listed[readers.pop()]
                self.assertGreaterEqual(row["read"]["bytes"], os.path.getsize(path))
                self.assertLess(row["start_ns"], row["end_ns"])

    def check_multiprocessing(self, method):
        directory = self.files("0123")
        out = f"{directory}/out.json"
        recording = Recording([harness.PYTHON, JOB, method, directory, out])
        self.check_readers(recording, directory, account(out))

    def test_multiprocessing_fork(self):
        self.check_multiprocessing("fork")

    def test_multiprocessing_spawn(self):
        self.check_multiprocessing("spawn")

    def test_multiprocessing_forkserver(self):
        self.check_multiprocessing("forkserver")

    def test_peak_memory(self):
        """The peak of a process that frees its memory before it ends is what getrusage counts,
        also if its last thread is not its first."""
        out = f"{machine().new_dir()}/out.json"
        code = ("import json, os, resource, sys, threading\n"
                "child = os.fork()\n"
                "if not child:\n"
                "    data = bytearray(60 << 20)\n"
                "    del data\n"
                "    thread = threading.Thread(target=os._exit, args=(0,))\n"
                "    thread.start()\n"
                "    thread.join()\n"
                "os.waitpid(child, 0)\n"
                "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
                "json.dump([child, peak], open(sys.argv[1], 'w'))\n")
        recording = Recording([harness.PYTHON, "-c", code, out])
        child, peak = account(out)
        self.assertGreater(peak, 60 << 10)
        peaks = {row["pid"]: row["peak_rss_bytes"] for row in recording.report["processes"]}
        self.assertEqual(peaks[child], peak << 10)

    def test_a_thread_executes_a_program(self):
        """It continues under the process's ID; its own ID ends, once, and the process no sooner."""
        out = f"{machine().new_dir()}/out.json"
        recording = Recording([machine().program("reborn"), out])
        born = account(out)
        rows = list(recording.trace.dicts("exit"))
        ended = [row for row in rows if row["tid"] == born["tid"]]
        self.assertEqual([(row["pid"], row["process"]) for row in ended], [(born["pid"], 0)])
        last = [row for row in rows if row["pid"] == born["pid"] and row["process"]]
        self.assertEqual([row["tid"] for row in last], [born["pid"]])
        forked = {row["child_tid"] for row in recording.trace.dicts("fork")}
        self.assertEqual(forked - {row["tid"] for row in rows}, set())

    def test_more_threads_than_slots(self):
        """A task whose slot is taken is still followed, and so are its execs."""
        threads = 5000
        directory = machine().new_dir()
        path, out = f"{directory}/pages", f"{directory}/out.json"
        harness.random_file(path, threads * 4096)
        recording = Recording([machine().program("crowd"), path, str(threads), out])
        born = account(out)
        calls = [row for row in recording.trace.calls(path) if row["result"] > 0]
        readers = {row["tid"] for row in calls if row["op"] == "pread64"}
        self.assertEqual(sum(row["op"] == "pread64" for row in calls), threads)
        self.assertEqual(len(readers), threads)
        self.assertIn(born["tid"], readers)
        last = [(row["pid"], row["tid"]) for row in calls if row["op"] == "read"]
        self.assertEqual(last, [(born["pid"], born["pid"])])
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)

    def test_unrelated_processes(self):
        """The kernel gives an ended process's stack to the next new process, whoever owns it."""
        directory = self.files(["own", "strange"])
        readers = 300
        loop = 'while [ $n -gt 0 ]; do n=$((n - 1)); cat "$0/own" >/dev/null; done'
        stranger = subprocess.Popen(
            ["sh", "-c", 'while cat strange >/dev/null; do echo; done >count'], cwd=directory)
        count = lambda: os.path.exists(f"{directory}/count") and os.path.getsize(f"{directory}/count")
        try:
            self.assertTrue(harness.wait_until(count))
            before = count()
            recording = Recording(["sh", "-c", f"n={readers}; {loop}", directory])
            self.assertGreater(count(), before, "the stranger did not run")
            self.assertIsNone(stranger.poll())
        finally:
            stranger.kill()
            stranger.wait()
        self.assertEqual(list(recording.trace.calls(f"{directory}/strange")), [])
        own = [
            row["pid"]
            for row in recording.trace.calls(f"{directory}/own")
            if row["op"] == "read" and row["result"] > 0
        ]
        self.assertEqual(len(own), readers)
        self.assertEqual(len(set(own)), readers)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)

    def test_every_way_to_start_one(self):
        directory = self.files(
            ["fork", "vfork", "spawn", "exec_chain", "clone", "thread_fork", "thread_exec",
             "leader_gone"]
        )
        out = f"{directory}/out.json"
        recording = Recording([machine().program("spawner"), directory, out])
        pids = account(out)
        self.assertEqual(len(pids), 8)
        self.check_readers(recording, directory, pids)

    def test_shell_jobs(self):
        """timeout, background, a pipe, a daemon that forks twice and leaves the session."""
        directory = self.files(["timeout", "background", "pipe", "daemon", "subshell"])
        script = """
            cd "$0"
            timeout 60 cat timeout >/dev/null
            cat background >/dev/null &
            cat pipe | wc -c >/dev/null
            (setsid sh -c 'cat daemon; : >daemon.done' >/dev/null &)
            (cat subshell >/dev/null)
            wait
            while [ ! -e daemon.done ]; do sleep 0.05; done"""
        recording = Recording(["sh", "-c", script, directory])
        self.check_readers(recording, directory,
                           dict.fromkeys(["timeout", "background", "pipe", "daemon", "subshell"]))

    def test_renamed_by_exec(self):
        """A process that execs is the same process under a new name."""
        directory = self.files(["data"])
        recording = Recording(["sh", "-c", 'echo $$ >"$0/pid"; exec cat "$0/data"', directory])
        with open(f"{directory}/pid") as file:
            pid = int(file.read())
        rows = [row for row in recording.report["processes"] if row["pid"] == pid]
        self.assertIn("cat", {row["comm"] for row in rows})
        self.assertTrue(any(f"{directory}/data" in str(row["command"]) for row in rows))
        names = [row["comm"] for row in recording.trace.dicts("exec") if row["pid"] == pid]
        self.assertEqual(names, [b"sh", b"cat"])
        self.assertEqual(recording.done.stdout, open(f"{directory}/data", "rb").read())

    def test_many_short_ones(self):
        recording = Recording(["sh", "-c", "for i in $(seq 200); do /bin/true; done"])
        rows = [row for row in recording.report["processes"] if row["comm"] == "true"]
        self.assertEqual(len(rows), 200)
        self.assertEqual({row["exit_code"] for row in rows}, {0})
        self.assertEqual(len({row["ppid"] for row in rows}), 1)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        ends = [
            row
            for row in recording.trace.dicts("exit")
            if row["process"] and row["comm"] == b"true"
        ]
        self.assertEqual(len(ends), 200)

    def test_ends(self):
        """Exit codes and signals of children, and their parents."""
        script = """
            sh -c 'echo $$ >"$0/code"; exit 7' "$0"
            sh -c 'echo $$ >"$0/signal"; kill -9 $$' "$0"
            echo $$ >"$0/parent"
            exit 0"""
        directory = machine().new_dir()
        recording = Recording(["sh", "-c", script, directory])
        pids = {}
        for name in ("code", "signal", "parent"):
            with open(f"{directory}/{name}") as file:
                pids[name] = int(file.read())
        ends = {row["pid"]: row["code"] for row in recording.trace.dicts("exit") if row["process"]}
        self.assertEqual(os.waitstatus_to_exitcode(ends[pids["code"]]), 7)
        self.assertEqual(os.waitstatus_to_exitcode(ends[pids["signal"]]), -9)
        rows = {row["pid"]: row for row in recording.report["processes"]}
        self.assertEqual(rows[pids["code"]]["exit_code"], 7)
        self.assertEqual(rows[pids["parent"]]["exit_code"], 0)
        for name in ("code", "signal"):
            self.assertEqual(rows[pids[name]]["ppid"], pids["parent"])

    def test_rank(self):
        """From the environment at exec; children belong to the nearest ancestor with one."""
        directory = self.files(["three", "four", "none"])
        script = """
            env -u RANK cat "$0/none" >/dev/null
            RANK=3 sh -c 'env -u RANK cat "$0/three" >/dev/null; true' "$0"
            SLURM_PROCID=4 cat "$0/four" >/dev/null"""
        environment = {k: v for k, v in os.environ.items() if "RANK" not in k and "PROCID" not in k}
        recording = Recording(["sh", "-c", script, directory], env=environment)
        ranks = {row["pid"]: row["rank"] for row in recording.report["processes"]}
        for name, rank in (("three", 3), ("four", 4), ("none", None)):
            with self.subTest(name):
                reader = {
                    row["pid"]
                    for row in recording.trace.calls(f"{directory}/{name}")
                    if row["op"] == "read"
                }.pop()
                self.assertEqual(ranks[reader], rank)

    def test_rank_by_precedence(self):
        """The first variable that is a number counts, and of each name the first; overlong or
        cut values do not count. The tracer reads no other value of the environment."""
        for given, rank in (({"RANK": "no", "SLURM_PROCID": "7"}, 7), ({"RANK": "", "PMI_RANK": "8"}, 8),
                            ({"RANK": "1234567890123", "PMIX_RANK": "9"}, 9), ({"XRANK": "1", "RANKS": "2"}, None),
                            ({"LONG": "x" * 4094 + "RANK=5"}, None), ({"LONG": "x" * 9000, "RANK": "5"}, 5),
                            ({"OMPI_COMM_WORLD_RANK": "0", "PMI_RANK": "3"}, 0)):
            with self.subTest(given.keys()):
                recording = Recording(["true"], env={"PATH": os.environ["PATH"], **given})
                (row,) = harness.followed(recording.report)
                self.assertEqual(row["rank"], rank)

    def test_long_command_line(self):
        """Longer than the limit: cut, not lost; the environment behind it is still read."""
        environment = {**{k: v for k, v in os.environ.items() if "RANK" not in k},
                       **{f"FILLER_{i}": "x" * 1000 for i in range(80)}, "RANK": "6"}
        recording = Recording(["true", *["y" * 1000] * 60], env=environment)
        (row,) = harness.followed(recording.report)
        self.assertEqual((row["comm"], row["rank"]), ("true", 6))
        self.assertEqual(row["command"][:3], ["true", "y" * 1000, "y" * 1000])

    def test_two_runs_at_once(self):
        """Each sees its own job, completely, and nothing of the other's."""
        runs = {}
        for name in "ab":
            directory = machine().new_dir()
            data, out, trace = (f"{directory}/{file}" for file in ("data", "out.json", "trace.flt"))
            harness.random_file(data, 1 << 20)
            runs[name] = (
                data,
                out,
                trace,
                machine().start(
                    [machine().faultline, "run", "-q", "-o", trace, "--",
                     machine().program("hotread"), data, out, "1", "reads", "200000"],
                    stdin=subprocess.DEVNULL,
                ),
            )
        for data, out, trace, process in runs.values():
            self.assertEqual(process.wait(harness.LIMIT), 0)
            files = {row["path"]: row for row in harness.report_of(trace)["files"]}
            self.assertEqual(files[data]["read"]["count"], account(out)["reads"])
            self.assertEqual([other for other, *_ in runs.values() if other in files], [data])

    def test_run_in_a_run(self):
        """A traced tracer: both see the job."""
        directory = self.files(["data"])
        inner = f"{directory}/inner.flt"
        recording = Recording(
            [machine().faultline, "run", "-q", "-o", inner, "--", "cat", f"{directory}/data"]
        )
        for report in (recording.report, harness.report_of(inner)):
            (row,) = [row for row in report["files"] if row["path"] == f"{directory}/data"]
            self.assertEqual(row["read"]["bytes"], os.path.getsize(f"{directory}/data"))

    def test_own_namespaces(self):
        """A container's process has two PIDs: the machine's is reported."""
        directory = self.files(["data"])
        command = ["unshare", "--pid", "--fork", "--mount-proc", "cat", f"{directory}/data"]
        if subprocess.run([*command[:-2], "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("this machine does not allow new namespaces")
        recording = Recording(command)
        self.check_readers(recording, directory, {"data": None})


if __name__ == "__main__":
    unittest.main()
