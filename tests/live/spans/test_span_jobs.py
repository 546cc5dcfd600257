# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Example jobs as users run them, with and without spans: the same results, and a report that
matches the jobs' own logs."""
import os
import shutil
import subprocess
import unittest

import harness
from harness import PYTHON, Recording, account, machine, python_path
from intervals import measure, minus, union

JOBS = os.path.join(harness.TOP, "tests/live/jobs")
BATCH = 8
TORCH = ("--python-spans", "torch")


def job(name):
    return os.path.join(JOBS, f"{name}.py")


def can_import(module):
    return not subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode


def by_name(report):
    rows = {}
    for row in report["spans"]:
        rows.setdefault(row["name"], row)
    return rows


class Near(unittest.TestCase):
    def near(self, reported, right, what):
        """One of our spans lies inside the phase that the job logs, and covers most of it; but
        others may take the CPU between the two clock readings."""
        self.assertLessEqual(reported, right, what)
        self.assertGreater(reported, max(0.5 * right - 100_000_000, 0), what)


class Torch(Near):
    """Unmodified jobs under --python-spans torch."""

    @classmethod
    def setUpClass(cls):
        if not can_import("torch"):
            raise unittest.SkipTest("python3-torch is not installed")

    def run_job(self, name, directory, *arguments, spans=TORCH, **options):
        out = f"{machine().new_dir()}/out.json"
        command = [PYTHON, job(name), directory, out, *arguments]
        if spans is None:
            harness.run(*command, **options)
            return None, account(out)
        recording = Recording(command, *spans, **options)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        return recording, account(out)

    @staticmethod
    def times(log):
        sums = {}
        for name, _, start, end in log["phases"]:
            sums[name] = sums.get(name, 0) + end - start
        return sums

    def tokens(self, *arguments, same=True):
        directory = machine().new_dir("ext4")
        harness.run(PYTHON, job("tokens"), directory, "-", "--make", "8")
        data = f"{directory}/tokens.bin"

        def record():
            harness.cool(data)
            return self.run_job("tokens", directory, *arguments)

        found = harness.undisturbed(record, lambda found: True)
        if same:
            _, plain = self.run_job("tokens", directory, *arguments, spans=None)
            self.assertEqual(found[1]["losses"], plain["losses"])
        return (*found, data)

    def check_tokens(self, recording, log, data):
        rows, times, steps = by_name(recording.report), self.times(log), len(log["losses"])
        self.assertEqual(rows["fetch"]["count"], steps)
        self.assertEqual(rows["item"]["count"] % BATCH, 0)
        for name in ("forward", "backward", "optimizer.step"):
            self.assertEqual((rows[name]["count"], rows[name]["category"]), (steps, "compute"))
        self.assertEqual(rows["torch.save"]["count"], 2)
        compute = sum(rows[n]["time_ns"] for n in ("forward", "backward", "optimizer.step"))
        self.near(compute, times["compute"], "compute")
        self.near(rows["torch.save"]["time_ns"], times["save"], "checkpoint")
        self.assertGreater(rows["torch.save"]["write_bytes"], 1 << 20)
        # All tokens came by page faults, and none by read().
        row = recording.file(data)
        self.assertEqual(row["read"]["bytes"], 0)
        self.assertGreater(row["mmap"]["fetched_bytes"], 0)
        mapped = sum(r["mmap_fetched_bytes"] for r in (rows["fetch"], rows["item"]))
        self.assertGreaterEqual(mapped, row["mmap"]["fetched_bytes"])
        self.assertEqual(recording.report["overlap"]["compute_ns"], compute)
        return rows

    def test_tokens(self):
        recording, log, data = self.tokens()
        rows = self.check_tokens(recording, log, data)
        self.assertEqual(rows["item"]["count"], BATCH * len(log["losses"]))
        self.near(rows["fetch"]["time_ns"], self.times(log)["fetch"], "fetch")

    def test_tokens_by_workers(self):
        recording, log, data = self.tokens("--workers", "2", same=False)
        self.check_tokens(recording, log, data)

    def check_images(self, method):
        directory = machine().new_dir("ext4")
        harness.run(PYTHON, job("images"), directory, "-", "--make", "48")
        recording, log = self.run_job("images", directory, "--method", method)
        _, plain = self.run_job("images", directory, "--method", method, spans=None)
        self.assertEqual(log["losses"], plain["losses"])
        rows, workers = by_name(recording.report), set(log["readers"])
        self.assertEqual(len(workers), 2)
        self.assertNotIn(log["pid"], workers)
        self.assertEqual(rows["fetch"]["count"], 6)
        self.assertEqual((rows["item"]["count"], rows["collate"]["count"]), (48, 6))
        images = [r for r in recording.report["files"] if str(r["path"]).endswith(".ppm")]
        self.assertEqual(len(images), 48)
        sizes = sum(row["read"]["bytes"] for row in images)
        self.assertGreaterEqual(rows["item"]["read_bytes"], sizes)
        self.assertEqual(rows["item"]["inherited"], 0)
        # Workers' activity before their first item counts while the job waits for a batch.
        self.assertGreater(rows["fetch"]["inherited"], 0)
        (epoch,) = recording.report["epochs"]  # one pass over the loader
        self.assertEqual((epoch["epoch"], epoch["samples"]), (0, 48))
        self.assertGreaterEqual(epoch["read_bytes"], sizes)
        self.assertLessEqual(epoch["wait_ns"] + epoch["compute_ns"], epoch["time_ns"])
        items = [row for row in recording.trace.dicts("span_begin") if row["name"] == b"item"]
        self.assertEqual({row["pid"] for row in items}, workers)

    def test_images_fork(self):
        self.check_images("fork")

    def test_images_spawn(self):
        self.check_images("spawn")


class Checkpoint(Near):
    """Its I/O is hidden behind compute if a thread writes it, and not if the job waits."""

    def record(self, how):
        directory = machine().new_dir("ext4")
        out = f"{directory}/out.json"
        recording = Recording([PYTHON, job("checkpoint"), how, directory, out], env=python_path())
        log = account(out)
        report, rows = recording.report, by_name(recording.report)
        self.assertEqual((rows["step"]["count"], rows["checkpoint"]["count"]), (9, 3))
        self.assertEqual(rows["checkpoint"]["write_bytes"], 3 * 16 << 20)
        self.assertEqual(rows["step"]["write_bytes"], 0)
        self.assertEqual([row["index"] for row in report["steps"]], list(range(9)))
        for name in rows:
            time_ns = sum(end - start for n, _, start, end in log["phases"] if n == name)
            self.near(rows[name]["time_ns"], time_ns, name)
        overlap = report["overlap"]
        self.assertEqual(overlap["compute_ns"], rows["step"]["union_ns"])
        compute = union((start, end) for n, _, start, end in log["phases"] if n == "step")
        for name, op in (("write", "write"), ("sync", "fsync")):
            calls = recording.trace.calls(op=op)
            right = union((row["time"], row["time"] + row["dur"]) for row in calls)
            hidden = measure(right) - measure(minus(right, compute))
            reported = overlap[name]["time_ns"] - overlap[name]["unoverlapped_ns"]
            self.assertLessEqual(abs(reported - hidden), max(2_000_000, 0.01 * hidden), name)
        return overlap, {
            key: overlap["write"][key] + overlap["sync"][key]
            for key in ("time_ns", "unoverlapped_ns")
        }

    def test_synchronous(self):
        overlap, written = self.record("sync")
        self.assertEqual(written["unoverlapped_ns"], written["time_ns"])
        self.assertEqual(overlap["unoverlapped_app_io_ns"], overlap["app_io_ns"])

    def test_asynchronous(self):
        overlap, written = self.record("async")
        # Each is followed by two steps; a disk slower than that is acceptable. How much is hidden
        # depends on the scheduler; `test_synchronous` expects none.
        self.assertLess(written["unoverlapped_ns"], written["time_ns"])
        self.assertLess(overlap["unoverlapped_app_io_ns"], overlap["app_io_ns"])

    def test_without_listener(self):
        """The same job without a tracer or the package: it runs."""
        directory = machine().new_dir()
        harness.run(
            PYTHON, job("checkpoint"), "sync", directory, f"{directory}/out", env=python_path()
        )
        self.assertEqual(len(account(f"{directory}/out")["phases"]), 12)


class Ranks(Near):
    """Two ranks on one machine are distinguished, and each worker belongs to its own."""

    def check(self, report, pids, name, count):
        """{rank: PID of its first process}."""
        overlap = report["overlap"]
        self.assertEqual([row["rank"] for row in overlap["by_rank"]], [0, 1])
        for row in overlap["by_rank"]:
            self.assertGreater(row["compute_ns"], 0)
            self.assertLess(row["compute_ns"], sum(r["compute_ns"] for r in overlap["by_rank"]))
        processes = {row["pid"]: row for row in report["processes"]}
        for rank, pid in pids.items():
            self.assertEqual(processes[pid]["rank"], rank)
        for row in report["processes"]:
            above = row
            while above["pid"] not in pids.values() and above["ppid"] in processes:
                above = processes[above["ppid"]]
            rank = next((r for r, pid in pids.items() if pid == above["pid"]), None)
            self.assertEqual(row["rank"], rank, row["command"])
        self.assertEqual(by_name(report)[name]["count"], count)
        self.assertIn(overlap["slowest_rank"], (0, 1))

    def test_mpirun(self):
        if not shutil.which("mpirun") or not can_import("mpi4py"):
            self.skipTest("openmpi-bin or python3-mpi4py is not installed")
        directory = machine().new_dir()
        out = f"{directory}/out-%r.json"
        recording = Recording(
            ["mpirun", "-n", "2", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
            + [PYTHON, os.path.join(harness.TOP, "tests/live/jobs/job_ranks.py"), directory, out],
            env=python_path(OMPI_MCA_btl_vader_single_copy_mechanism="none"),
        )
        logs = [account(f"{directory}/out-{rank}.json") for rank in (0, 1)]
        pids = {rank: log["pid"] for rank, log in enumerate(logs)}
        self.check(recording.report, pids, "step", sum(log["steps"] for log in logs))
        processes = {row["pid"]: row for row in recording.report["processes"]}
        for rank, log in enumerate(logs):
            self.assertEqual(processes[log["worker"]]["rank"], rank)
            path = f"{directory}/data-{rank}"
            self.assertEqual(
                {row["pid"] for row in recording.trace.calls(path, op="read")}, {log["worker"]}
            )

    def test_distributed(self):
        """torch.distributed over gloo, ranks from the environment, workers of a DataLoader."""
        if not can_import("torch"):
            self.skipTest("python3-torch is not installed")
        directory = machine().new_dir()
        harness.run(PYTHON, job("tokens"), directory, "-", "--make", "2")
        out = f"{directory}/out-%r.json"
        script = """
            for rank in 0 1; do
                RANK=$rank "$@" & pids="$pids $!"
            done
            for pid in $pids; do wait $pid || exit; done"""
        environment = {k: v for k, v in os.environ.items() if "RANK" not in k}
        recording = Recording(
            ["sh", "-c", script, "sh", PYTHON, job("tokens"), directory, out]
            + ["--workers", "1", "--steps", "4", "--checkpoint-every", "4"],
            *TORCH,
            env={**environment, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
            | {"MASTER_PORT": str(free_port()), "USE_LIBUV": "0"},  # not every build has libuv
        )
        logs = [account(f"{directory}/out-{rank}.json") for rank in (0, 1)]
        pids = {rank: log["pid"] for rank, log in enumerate(logs)}
        self.assertNotEqual(logs[0]["losses"], logs[1]["losses"], "ranks had the same samples")
        self.check(recording.report, pids, "forward", 8)
        ranks = {row["pid"]: row["rank"] for row in recording.report["processes"]}
        items = [row for row in recording.trace.dicts("span_begin") if row["name"] == b"item"]
        workers = {row["pid"] for row in items}
        self.assertEqual(workers & set(pids.values()), set())
        self.assertEqual(sorted(ranks[pid] for pid in workers), [0, 1])


def free_port():
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


if __name__ == "__main__":
    unittest.main()
