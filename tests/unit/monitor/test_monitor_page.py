#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service's page in a headless Chromium: its content for a ledger that this test
writes, that it updates itself, and what it does when the service is gone. Needs no root."""
import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import _browser  # noqa: E402
from _jobs_served import Served  # noqa: E402


def fill(served):
    served.exec(7, "/system.slice/slurmstepd.scope/job_42/step_0", "python3", "python3 train.py")
    served.exec(8, "/kubepods.slice/kubepods-pod0f1e2d3c_0000_4444_8888_123456789abc.slice/cri-containerd-"
                + "ab" * 32 + ".scope", "loader", "loader --fast")
    served.exec(9, "/user.slice", "<img src=x onerror=alert(1)>", "\u202e<script>alert(1)</script>")
    served.file(1, "/data/tokens.bin")
    served.file(2, "/data/<b>bold</b>")
    for pid, file, more in ((7, 1, {"method": "mmap", "fetched": 50 << 20, "bytes": 50 << 20, "major": 40}),
                            (8, 1, {"bytes": 3 << 20}), (9, 2, {"op": "write", "bytes": 1 << 20})):
        served.add(pid, file, count=100, time_ns=10**9 // pid, latency=12, **more)
    served.read()


# User and program, the beginning of a job's row.
TRAINS, LOADS, STRANGE = "root \u00b7 python3", "root \u00b7 loader", "root \u00b7 <img src=x onerror=alert(1)>"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = _browser.Browser()
        cls.browser.__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    def setUp(self):
        self.served = Served()
        self.addCleanup(self.close)
        self.browser.serve(self.served.address)
        self.browser.resize(1280, 900)
        self.browser.scheme(False)

    def close(self):
        self.browser.open("about:blank", "true")
        if self.served:
            self.served.__exit__()

    def open(self):
        self.browser.open(self.served.address, "document.documentElement?.dataset.drawn !== undefined")

    def texts(self, selector):
        return self.browser.value("[...document.querySelectorAll(%s)].map((e) => e.textContent)"
                                  % json.dumps(selector))

    def told_again(self, change):
        """Changes the ledger, and waits until the page shows it."""
        drawn = self.browser.value("document.documentElement.dataset.drawn")
        time.sleep(1.1)  # rates need at least a second
        change()
        self.served.read()
        self.browser.wait(f"document.documentElement.dataset.drawn > {drawn}")

    def row(self, name):
        """A job's row: {column title: text}."""
        return self.browser.value("""(() => {
            const row = [...document.querySelectorAll('tbody.job > tr:first-child')].find(
                (row) => row.querySelector('.open-job bdi').textContent === %s);
            return row && Object.fromEntries([...row.cells].slice(1).map(
                (cell) => [cell.dataset.title, cell.textContent])); })()""" % json.dumps(name))

    def check_clean(self):
        self.assertEqual(self.browser.problems, [])
        self.assertEqual(self.browser.value("document.querySelectorAll('main img, main b, main script').length"),
                         0)

    def test_jobs_and_their_rates(self):
        fill(self.served)
        self.open()
        names = self.texts(".open-job bdi")
        self.assertEqual(names, [TRAINS, LOADS, STRANGE])
        self.assertEqual([text.split(" \u00b7 ")[-1] for text in self.texts(".open-job small")],
                         ["Slurm job 42.0", "pod 0f1e2d3c-0000-4444-8888-123456789abc, abababababab",
                          "user.slice"])
        self.served.name(1, slurm_name="tune <b>")
        self.served.name(2, namespace="ml", pod="train-0", container="main")
        self.open()
        self.assertEqual([text.split(" \u00b7 ")[-1] for text in self.texts(".open-job small")][:2],
                         ["Slurm job 42.0, tune <b>", "pod ml/train-0, main"])
        # current rates are unknown: no zeros
        self.assertEqual(self.row(TRAINS)["by mmap"], "\u2013")
        self.assertEqual(self.texts(".tile dd")[0], "\u2013")
        self.told_again(lambda: self.served.add(7, 1, "read", "mmap", count=8, fetched=80 << 20,
                                                bytes=80 << 20, time_ns=10**9, major=5, latency=20))
        row = self.row(TRAINS)
        seconds = self.served.jobs()["interval_ns"] / 1e9
        self.assertRegex(row["by mmap"], r"\A\d+(\.\d)?\u00a0MiB/s\Z")
        self.assertAlmostEqual(float(row["by mmap"].split("\u00a0")[0]), 80 / seconds, delta=0.6)
        self.assertEqual(row["by mmap"], row["from storage"])
        self.assertEqual(row["by read calls"], "0")
        self.assertEqual(row["processes"], "1")
        self.assertEqual(self.texts(".tile dd")[0], row["by mmap"])
        # idle jobs are folded
        self.assertEqual(self.texts(".open-job bdi"), [TRAINS])
        self.assertEqual(self.texts("#idle"), ["show 2 idle or ended jobs"])
        self.browser.value("document.getElementById('idle').click()")
        self.assertEqual(self.texts(".open-job bdi"), names)
        self.assertEqual(self.row(STRANGE)["written"], "0")
        # a method that comes into use gets its column
        self.assertNotIn("by io_uring", row)
        self.told_again(lambda: self.served.add(8, 1, "read", "io_uring", bytes=1 << 30, time_ns=5))
        self.assertIn("GiB/s", self.row(LOADS)["by io_uring"] + "MiB/s GiB/s")
        self.assertNotEqual(self.row(LOADS)["by io_uring"], "0")
        self.check_clean()

    def test_behind_a_job(self):
        fill(self.served)
        self.open()
        self.browser.value("document.querySelectorAll('.open-job')[0].focus()")
        self.browser.key("Enter", "\r")
        self.assertEqual(self.texts(".open-job[aria-expanded=true] bdi"), [TRAINS])
        self.assertEqual(self.texts(".inside table:first-child tbody td:first-child"),
                         ["read, mmap", "/data/tokens.bin", "python3 train.py"])
        files = self.texts(".detail > div:nth-child(2) tbody td")
        self.assertEqual((files[3], files[4]), ("50.0\u00a0MiB", "40"))
        # it stays open, selected and focused while numbers change
        self.browser.value("getSelection().selectAllChildren(document.querySelector('.detail bdi'))")
        self.told_again(lambda: self.served.add(7, 1, "read", "mmap", count=1, fetched=1 << 20, time_ns=7))
        self.assertEqual(self.browser.value("String(getSelection())"), "read, mmap")
        self.assertEqual(self.browser.value("document.activeElement.className"), "open-job")
        self.assertEqual(self.texts(".detail > div:nth-child(2) tbody td")[3], "51.0\u00a0MiB")
        self.assertRegex(self.texts(".detail > div:nth-child(2) tbody td")[1], r"[KM]iB/s\Z")
        self.browser.key("Enter", "\r")
        self.assertEqual(self.texts(".inside"), [])
        # a click anywhere on the row does the same
        self.browser.value("document.querySelector('tbody.job td.number').click()")
        self.assertEqual(len(self.texts(".inside")), 1)
        self.browser.value("document.querySelector('tbody.job td.number').click()")
        self.assertEqual(self.texts(".inside"), [])
        # names are shown as text, whatever they contain
        self.browser.value("document.getElementById('idle').click()")
        self.browser.value("[...document.querySelectorAll('.open-job')].at(-1).click()")
        self.assertIn("/data/<b>bold</b>", self.texts(".inside td bdi"))
        self.assertIn("\u202e<script>alert(1)</script>", self.texts(".inside td bdi"))
        self.check_clean()

    def test_filter_sort_and_pause(self):
        fill(self.served)
        self.open()
        self.browser.value("document.getElementById('filter').focus()")
        self.browser.type("LOADER --f")
        self.assertEqual(len(self.texts(".open-job")), 1)
        self.assertIn("2 more do not match the filter", self.texts("#left-out")[0])
        self.browser.value("(() => { const f = document.getElementById('filter'); f.value = ''; "
                           "f.dispatchEvent(new Event('input')); })()")
        self.assertEqual(self.texts(".open-job bdi"), [TRAINS, LOADS, STRANGE])
        by_name = "document.querySelector('thead button').click()"
        for order in "ascending", "descending":  # pod, Slurm job, user.slice
            self.browser.value(by_name)
            self.assertEqual(self.texts(".open-job bdi"),
                             [LOADS, TRAINS, STRANGE][::1 if order == "ascending" else -1])
            self.assertEqual(self.texts(f"th[aria-sort={order}]"), ["job"])
        self.told_again(lambda: self.served.add(9, 2, "write", bytes=9 << 20, time_ns=1))
        sort = "[...document.querySelectorAll('thead button')].find((b) => b.textContent === 'written').click()"
        self.browser.value(sort)
        self.assertEqual(self.texts(".open-job bdi"), [STRANGE])
        self.browser.value("document.getElementById('idle').click()")
        self.assertEqual(self.texts(".open-job bdi")[0], STRANGE)
        self.assertEqual(self.texts("th[aria-sort=descending]"), ["written"])
        self.browser.value(sort)
        self.assertEqual(self.texts(".open-job bdi")[-1], STRANGE)
        self.browser.value("document.getElementById('pause').click()")
        drawn = self.browser.value("document.documentElement.dataset.drawn")
        self.served.read()
        time.sleep(3)
        self.assertEqual(self.browser.value("document.documentElement.dataset.drawn"), drawn)
        self.assertEqual(self.texts("#state"), ["paused"])
        self.browser.value("document.getElementById('pause').click()")
        self.browser.wait(f"document.documentElement.dataset.drawn > {drawn}")
        self.check_clean()

    def test_jobs_that_go(self):
        fill(self.served)
        self.open()
        self.browser.value("document.querySelectorAll('.open-job')[1].click()")
        self.told_again(lambda: self.served.say("exit", 8))
        self.told_again(lambda: None)
        self.browser.wait("document.getElementById('idle').textContent === 'show 2 idle or ended jobs'")
        self.assertEqual(self.texts(".open-job"), [])
        self.assertEqual(self.texts(".inside"), [])
        self.check_clean()

    def test_when_the_service_is_gone(self):
        fill(self.served)
        self.open()
        before = self.texts(".open-job bdi")
        self.served.__exit__()
        self.served = None
        self.browser.wait("document.getElementById('state').className === 'trouble'")
        self.assertRegex(self.texts("#state")[0], r"\Athe service is not responding; data is \d+ s old")
        self.assertEqual(self.texts(".open-job bdi"), before)

    def test_nothing_was_read(self):
        self.open()
        self.browser.wait("document.getElementById('state').className === 'trouble'")
        self.assertIn("has no data yet", self.texts("#state")[0])
        self.assertIn("No job activity yet.", self.texts("#left-out")[0])
        self.check_clean()

    def test_widths_and_schemes(self):
        fill(self.served)
        for width in 360, 800, 1280, 2560:
            for dark in False, True:
                self.browser.resize(width, 900)
                self.browser.scheme(dark)
                self.open()
                self.browser.value("document.querySelectorAll('.open-job')[0].click()")
                self.browser.settle()
                self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width)
                # text contrasts with the page enough to be readable
                self.assertGreater(self.browser.value("""(() => {
                    const light = (colour) => { const [r, g, b] = colour.match(/\\d+/g).map((v) => {
                        v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
                        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
                    const style = getComputedStyle(document.body);
                    const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
                    return (a + 0.05) / (b + 0.05); })()"""), 7)
        self.check_clean()


if __name__ == "__main__":
    if not _browser.chromium():
        print("chromium is not installed")
        sys.exit(77)
    unittest.main()
