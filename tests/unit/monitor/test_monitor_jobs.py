#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service's HTTP answers for a ledger that this test writes: jobs as JSON, their
rates, order and limits; readiness; who may request a flight recording."""
import json
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _jobs_served import STATES, Served  # noqa: E402
from _directory import InDirectory

COUNTS = "count", "errors", "bytes", "fetched_bytes", "created_bytes", "major_faults", "time_ns"


def method_of(methods, op, method):
    return next(item for item in methods if (item["op"], item["method"]) == (op, method))


class Jobs(unittest.TestCase):
    def test_nothing(self):
        with Served() as served:
            jobs = served.jobs()
            self.assertEqual((jobs["schema"], jobs["jobs"], jobs["jobs_left_out"]), (2, [], 0))
            self.assertEqual((jobs["readings"], jobs["read_ns"], jobs["read_ns_ago"], jobs["interval_ns"]),
                             (0, None, None, None))
            self.assertEqual(jobs["host"], os.uname().nodename)
            self.assertLess(abs(jobs["time_unix_ns"] / 1e9 - time.time()), 60)

    def test_names(self):
        """They are added once they are known, and none is replaced."""
        with Served() as served:
            served.exec(7, "/kubepods/pod" + "0" * 32 + "/" + "ab" * 32)
            served.read()

            def names():
                [job] = served.jobs()["jobs"]
                return [job[name] for name in ("pod_uid", "container_id", "namespace", "pod", "container", "image")]

            ids = ["0" * 32, "ab" * 32]
            self.assertEqual(names(), [*ids, None, None, None, None])
            served.name(1, namespace="ml", pod="train-0")
            served.name(2, pod="nobody's")
            served.name(1, pod="other", container="main", image="torch")
            self.assertEqual(names(), [*ids, "ml", "train-0", "main", "torch"])

    def test_numbers(self):
        with Served() as served:
            served.exec(7, "/system.slice/slurmstepd.scope/job_42/step_0", rank=3)
            served.file(1, "/data/a")
            served.file(2, "/data/b")
            served.add(7, 1, count=5, errors=1, bytes=500, fetched=4096, time_ns=9000, latency=3)
            served.add(7, 2, "read", "mmap", count=2, bytes=8192, fetched=8192, time_ns=70000, major=1,
                       latency=9)
            served.add(7, 2, "write", "direct", count=1, bytes=512, time_ns=100, created=0)
            served.read()
            reported = served.jobs()
            [job] = reported["jobs"]
            self.assertEqual((job["slurm_job"], job["slurm_step"], job["container"], job["pod"]),
                             ("42", "0", None, None))
            self.assertEqual((job["user"], job["uid"], job["living"], job["ended"]), ("root", 0, 1, 0))
            self.assertEqual([method_of(job["methods"], "read", "syscall")[name] for name in COUNTS],
                             [5, 1, 500, 4096, 0, 0, 9000])
            self.assertEqual([method_of(job["methods"], "read", "mmap")[name] for name in COUNTS],
                             [2, 0, 8192, 8192, 0, 1, 70000])
            # bucket 3 ends at 64 << 3 ns
            self.assertEqual(method_of(job["methods"], "read", "syscall")["p99_ns"], 512)
            self.assertEqual(method_of(job["methods"], "read", "mmap")["p50_ns"], 32768)
            self.assertEqual([file["path"] for file in job["files"]], ["/data/b", "/data/a"])
            self.assertEqual((job["files"][0]["dev"], job["files"][0]["ino"]), (2049, 102))
            self.assertEqual(job["other_files"], {"folded": 0, "methods": []})
            [process] = job["processes"]
            self.assertEqual((process["pid"], process["rank"], process["program"]), (7, 3, "python3"))
            self.assertEqual(process["command"], "python3 train.py")
            # every way to add it up gives the same result
            for methods in (reported["node"]["methods"], process["methods"], job["programs"][0]["methods"],
                          job["files"][0]["methods"] + job["files"][1]["methods"]):
                for name in COUNTS:
                    self.assertEqual(sum(item[name] for item in methods),
                                     sum(item[name] for item in job["methods"]), name)

    def test_threads(self):
        """Times of threads by state; null where there are none."""
        with Served() as served:
            served.exec(7, "/a")
            served.exec(8, "/a")
            served.exec(9, "/b")
            served.thread(7, "cpu", 5000000000)
            served.thread(7, "lock", 300)
            served.thread(8, "lock", 40)
            served.read()
            reported = served.jobs()
            jobs = {job["cgroup"]: job for job in reported["jobs"]}
            processes = {process["pid"]: process["threads"] for process in jobs["/a"]["processes"]}
            self.assertEqual(processes, {7: {**dict.fromkeys(STATES, 0), "cpu": 5000000000, "lock": 300},
                                         8: {**dict.fromkeys(STATES, 0), "lock": 40}})
            both = {**dict.fromkeys(STATES, 0), "cpu": 5000000000, "lock": 340}
            self.assertEqual((jobs["/a"]["threads"], reported["node"]["threads"]), (both, both))
            self.assertEqual((jobs["/b"]["threads"], jobs["/b"]["processes"][0]["threads"]), (None, None))

    def test_lines(self):
        """For each state, the line of Python with the most time; not in the monitoring service."""
        with Served() as served:
            served.exec(7, "/a")
            served.read()
            self.assertNotIn("lines", served.jobs()["jobs"][0]["processes"][0])
        with Served("--lines", "on") as served:
            for pid in 7, 8:
                served.exec(pid, "/a")
            served.line(7, "lock", 5, "/job/a.py", 3, "f")
            served.line(7, "lock", 2, "/job/a.py", 4, "f")
            served.line(7, "lock", 4, "/job/a.py", 4, "f")
            served.line(7, "io", 1, "", 0, "")
            served.read()
            [job] = served.jobs()["jobs"]
            lines = {process["pid"]: process["lines"] for process in job["processes"]}
            self.assertEqual(lines, {8: [], 7: [
                {"state": "lock", "file": "/job/a.py", "line": 4, "function": "f", "time_ns": 6},
                {"state": "io", "file": None, "line": None, "function": None, "time_ns": 1}]})

    def test_rates(self):
        with Served() as served:
            served.exec(7, "/a")
            served.add(7, 0, count=1000, bytes=1000000, time_ns=5, latency=1)
            served.read()
            reported = served.jobs()
            self.assertIsNone(reported["interval_ns"])
            self.assertIsNone(reported["jobs"][0]["methods"][0]["rate"])
            begun = time.monotonic()
            time.sleep(1.1)
            served.file(1, "/data/a")
            served.add(7, 1, count=10, bytes=4000, fetched=3000, time_ns=2000, latency=12)
            served.exec(8, "/b")
            served.add(8, 0, "write", count=3, bytes=300)
            served.read()
            reported = served.jobs()
            seconds = reported["interval_ns"] / 1e9
            self.assertTrue(1 <= seconds <= time.monotonic() - begun + 0.1, seconds)
            jobs = {job["cgroup"]: job["methods"][0] for job in reported["jobs"]}
            for rate, name, added in ((jobs["/a"], "count", 10), (jobs["/a"], "bytes", 4000),
                                      (jobs["/a"], "fetched_bytes", 3000), (jobs["/a"], "time_ns", 2000),
                                      (jobs["/b"], "bytes", 300), (reported["node"]["methods"][0], "count", 10)):
                self.assertEqual(rate["rate"][name], int(added / seconds), name)
            [file] = [file for job in reported["jobs"] for file in job["files"]]
            self.assertEqual(file["rate"]["fetched_bytes"], int(3000 / seconds))
            # the last interval, and all time
            self.assertEqual((jobs["/a"]["rate"]["p99_ns"], jobs["/a"]["p50_ns"]), (64 << 12, 64 << 1))
            # an immediate second reading makes no interval
            served.add(7, 0, count=1)
            served.read()
            self.assertEqual(served.jobs()["interval_ns"], reported["interval_ns"])
            # no activity: a known 0
            time.sleep(1.1)
            served.read()
            time.sleep(1.1)
            served.read()
            reported = served.jobs()
            self.assertEqual([job["methods"][0]["rate"]["count"] for job in reported["jobs"]], [0, 0])
            self.assertIsNone(reported["jobs"][0]["methods"][0]["rate"]["p99_ns"])

    def test_busiest_jobs_first_and_the_rest_counted(self):
        with Served() as served:
            for number in range(60):
                served.exec(100 + number, f"/job{number:02}")
                served.add(100 + number, 0, time_ns=(number * 7) % 60)
            served.read()
            reported = served.jobs()
            self.assertEqual(len(reported["jobs"]), 50)
            self.assertEqual(reported["jobs_left_out"], 10)
            times = [job["methods"][0]["time_ns"] for job in reported["jobs"]]
            self.assertEqual(times, list(range(59, 9, -1)))
            reported = served.jobs("?jobs=3&processes=0&files=0")
            self.assertEqual((len(reported["jobs"]), reported["jobs_left_out"]), (3, 57))
            self.assertEqual(reported["jobs"][0]["processes"], [])
            one = reported["jobs"][2]["id"]
            self.assertEqual([job["id"] for job in served.jobs(f"?job={one}")["jobs"]], [one])
            self.assertEqual(served.jobs("?job=99999")["jobs"], [])
            self.assertEqual(len(served.jobs("?jobs=9999999999999999999")["jobs"]), 60)
            self.assertEqual(served.jobs("?slurm_job=42")["jobs"], [])
            served.exec(500, "/slurm/uid_0/job_42/step_batch")
            served.exec(501, "/slurm/uid_0/job_42/step_0")
            served.exec(502, "/slurm/uid_0/job_421/step_0")
            self.assertEqual(sorted(job["slurm_step"] for job in served.jobs("?slurm_job=42")["jobs"]),
                             ["0", "batch"])
            for wrong in "x", "-1", "", "1x", "99999999999999999999", "0x10", "%00":
                self.assertEqual(served.ask("/jobs?jobs=" + wrong)[0], 400, wrong)

    def test_the_worst_of_many_files_and_processes(self):
        with Served() as served:
            for number in range(200):
                served.exec(1000 + number, "/a")
                served.file(1 + number, f"/data/{number}")
                served.add(1000 + number, 1 + number, count=1, time_ns=1000 + number)
            served.read()
            [job] = served.jobs("?processes=5&files=4")["jobs"]
            self.assertEqual([process["pid"] for process in job["processes"]],
                             [1199, 1198, 1197, 1196, 1195])
            self.assertEqual([file["path"] for file in job["files"]],
                             [f"/data/{number}" for number in (199, 198, 197, 196)])
            [job] = served.jobs("?processes=1000&files=48")["jobs"]
            self.assertEqual(len(job["processes"]), 200)
            self.assertEqual(len(job["files"]), 48)
            self.assertEqual(job["other_files"]["methods"][0]["count"], 152)
            served.say("exit", 1199)
            served.read()
            [job] = served.jobs("?processes=1")["jobs"]
            self.assertEqual((job["processes"][0]["pid"], job["living"], job["ended"]), (1198, 199, 1))

    def test_hostile_names(self):
        names = [b'"quote\\and\n\t\x1b[31m\x7f', b"\xff\xfe\x80", "пут/ö/\u202e".encode(), b"</script><b>"]
        with Served() as served:
            for number, name in enumerate(names):
                served.exec(10 + number, b"/" + name, name[:20], b"run " + name)
                served.file(1 + number, b"/" + name)
                served.add(10 + number, 1 + number, time_ns=10 - number)
            served.read()
            jobs = served.jobs()["jobs"]
            self.assertEqual(len(jobs), len(names))
            for job, name in zip(jobs, names):
                for reported, key, whole in ((job["files"][0], "path", b"/" + name),
                                         (job["processes"][0], "command", b"run " + name)):
                    if key + "_hex" in reported:
                        self.assertEqual(bytes.fromhex(reported[key + "_hex"]), whole)
                    else:
                        self.assertEqual(reported[key].encode(), whole)

    def test_bounded(self):
        """All pages requested at once, for a very busy node."""
        with Served() as served:
            for number in range(100):
                for other in range(48):
                    file = 1 + number * 48 + other
                    if other == 0:
                        served.exec(1000 + number, "/" + "c" * 400 + str(number), command="x" * 250)
                    served.file(file, "/" + "\x01" * 500 + str(file))
                    served.add(1000 + number, file, time_ns=1)
            served.read()
            status, body, _ = served.ask("/jobs?jobs=4096&processes=1000&files=48")
            reported = json.loads(body)
            self.assertEqual(status, 200)
            self.assertLess(len(body), 9 << 20)
            self.assertEqual(len(reported["jobs"]) + reported["jobs_left_out"], 100)
            self.assertGreater(reported["jobs_left_out"], 0)


class Manual(unittest.TestCase):
    def test_every_member_is_described(self):
        top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
        with open(os.path.join(top, "user/command/faultline.1")) as file:
            section = file.read().split(".SH JOBS AS JSON\n")[1].split("\n.SH ")[0]
        bold = set(re.findall(r"\w+", "\n".join(re.findall(r"^\.(?:B|BR|RB) .*", section, re.M))))
        with Served() as served:
            served.exec(7, "/a", command=b"\xff")
            served.file(1, "/a")
            served.add(7, 1)
            served.read()
            reported = served.jobs()
        keys = set()

        def walk(value):
            for key, inner in value.items() if isinstance(value, dict) else ():
                keys.add(key)
                walk(inner)
            for inner in value if isinstance(value, list) else ():
                walk(inner)

        walk(reported)
        self.assertEqual({key for key in keys if not key.endswith("_hex")} - bold, set())
        self.assertIn("command_hex", keys)


class Other(InDirectory):
    def token(self):
        return self.file("token", "a-token-of-sixteen-or-more\n", 0o600)

    def test_alive_and_ready(self):
        with Served() as served:
            self.assertEqual(served.ask("/healthz")[:2], (200, b"alive\n"))
            self.assertEqual(served.ask("/readyz")[:2], (503, b"not ready: no reading yet\n"))
            served.read()
            self.assertEqual(served.ask("/readyz")[:2], (200, b"ready\n"))

    def test_metrics_by_accept_and_as_of_now(self):
        with Served() as served:
            self.assertEqual(served.ask("/metrics")[1], b"readings_asked_total 1\n")
            _, body, headers = served.ask("/metrics", Accept="application/openmetrics-text;version=1.0.0")
            self.assertEqual(headers["Content-Type"], "application/openmetrics-text")
            self.assertEqual(body, b"readings_asked_total 2\n")
            _, body, headers = served.ask("/metrics", Accept="*/*")
            self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4")
            self.assertEqual(body, b"readings_asked_total 3\n")
            served.jobs()
            self.assertEqual(served.ask("/metrics")[1], b"readings_asked_total 5\n")

    def test_the_page(self):
        with Served() as served:
            status, body, headers = served.ask("/")
            self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            self.assertTrue(headers["Content-Security-Policy"].startswith("default-src 'none'; "))
            self.assertNotIn("unsafe", headers["Content-Security-Policy"])
            self.assertNotIn(b"@", body.replace(b"@media", b""))

    def test_flight(self):
        with Served() as served:
            self.assertEqual(served.ask("/flight", "POST")[0], 403)
        with Served("--token-file", self.token()) as served:
            self.assertEqual(served.ask("/flight", "POST")[0], 401)
            self.assertEqual(served.ask("/flight", "POST", Authorization="Bearer a-token-of-sixteen-or-more")[
                :2], (404, b"no flight recorder (requires --flight SIZE)\n"))
            self.assertEqual(served.ask("/flight", Authorization="Bearer a-token-of-sixteen-or-more")[0], 405)
        for status, answer in ((0, (202, b"trace is being written\n")), (-11, (429, b"not now\n")),
                               (-28, (500, b"not now\n"))):
            with Served("--flight", str(status), listen=f"unix:{self.directory}/s") as served:
                self.assertEqual(served.ask("/flight", "POST")[:2], answer)


if __name__ == "__main__":
    unittest.main()
