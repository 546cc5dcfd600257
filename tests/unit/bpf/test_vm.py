# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""How the guests' jobs are judged: wrong results fail, jobs that could not run are reported as
skipped, and reported loss leaves bounds. Boots nothing."""
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FAULTLINE = os.path.join(os.environ.get("BUILD", os.path.join(TOP, "build")), "faultline")
sys.path.insert(0, os.path.join(TOP, "tests/vm"))
sys.dont_write_bytecode = True

import alone
import fuse
import guest
import jobs
import kernels
import nfs
import run
import vfs
from calls import judge_calls
from devices import DEVICES, STAT, THROTTLED, judge_devices, judge_throttled
from faults import judge_mapper
from job import ATTACHED, Job, Results, Wrong

# Layers with jobs of this kind.
FORCED = ("task", "syscall", "fault", "pagecache", "span", "block", "async", "vfs")
MAPPED = {"resident_before": 0, "resident": 10, "page_bytes": 4096, "major": 3}


class Played(Results):
    """A job's simulated results."""

    def __init__(self, files, report=None, passed_over=False):
        super().__init__(None, "a-job", None, passed_over)
        self.files, self.played = {"status": "0\n", **files}, report

    def text(self, name):
        return self.files.get(name)

    def report(self, trace="trace.flt"):
        return self.played


def mapped(fetched=40960, major=3, lost=0, events=1000, **truth):
    """The output of a job with one mapping, and Faultline's report on it."""
    files = {"modes": "random", "account-random": json.dumps({**MAPPED, **truth})}
    row = {"path": "/mnt/data-random", "fetched_bytes": fetched, "created_bytes": 0,
           "mmap": {"major": major}}
    return files, {"trace": {"events": events, "lost": {"total": lost, "by_layer": {}}},
                   "files": [row]}


class Judging(unittest.TestCase):
    def verdict(self, judge, results):
        """passed, failed, absent or late, and the line printed."""
        table, out = run.Table(), io.StringIO()
        with contextlib.redirect_stdout(out):
            table.judge("6.1", Job("fault", "tp", "mapped", "", judge), results)
        counted = [kind for kind in ("passed", "failed", "absent", "late") if getattr(table, kind)]
        self.assertEqual(len(counted), 1)
        return counted[0], out.getvalue()

    def expect(self, kind, text, judge, *results, **options):
        found, line = self.verdict(judge, Played(*results, **options))
        self.assertEqual(found, kind, line)
        self.assertIn(text, line)

    def test_mapped(self):
        self.expect("passed", "ok: 1 ways", judge_mapper, *mapped())
        self.expect("failed", "FAIL: random: fetched", judge_mapper, *mapped(fetched=36864))
        self.expect("failed", "FAIL: random: fetched", judge_mapper, *mapped(fetched=45056))
        self.expect("failed", "FAIL: random: major", judge_mapper, *mapped(major=2))
        self.expect("failed", "FAIL: random: major", judge_mapper, *mapped(major=4))
        self.expect("late", "skipped: ", judge_mapper, *mapped(resident_before=1))

    def test_reported_losses_may_be_missing(self):
        less, more = mapped(fetched=36864, lost=5), mapped(fetched=45056, lost=5)
        self.expect("passed", "4096 bytes missing, 5 events", judge_mapper, *less)
        self.expect("failed", "FAIL", judge_mapper, *more)
        most = mapped(fetched=0, major=0, lost=500)
        self.expect("failed", "FAIL: 500 of 1000", judge_mapper, *most)
        self.expect("passed", "ok", judge_mapper, *most, passed_over=True)

    def test_calls(self):
        """As many as strace counts, less at most the reported loss."""

        def calls(count, syscall, task):
            rows = [{"layer": "syscall", "op": f"op{i}", "count": count, "errors": 0}
                    for i in range(40)]
            lost = {"total": syscall + task, "by_layer": {"syscall": syscall, "task": task}}
            counted = "".join(f"op{i} 5\n" for i in range(40)) + "execve 1\n"
            return {"strace": counted}, {"trace": {"events": 200, "lost": lost}, "operations": rows}

        self.expect("passed", "ok: 40 kinds", judge_calls, *calls(5, 0, 0))
        self.expect("failed", "FAIL: (count, errors)", judge_calls, *calls(4, 0, 0))
        self.expect("failed", "lost", judge_calls, *calls(4, 40, 0))
        over = {"passed_over": True}
        self.expect("passed", "ok: 40 of", judge_calls, *calls(4, 40, 0), **over)
        self.expect("failed", "39 lost", judge_calls, *calls(4, 39, 0), **over)
        self.expect("passed", "ok: 40 of", judge_calls, *calls(4, 0, 1), **over)
        self.expect("failed", "more calls", judge_calls, *calls(6, 40, 1), **over)

    def test_devices(self):
        """The devices' activity between two readings of their own counters; in one, nothing is
        fast."""

        def devices(reads=3, lost=0, dur_ns=1000000):
            files = {}
            for name in DEVICES:
                files[f"before-{name}"] = "10 " * 17
                files[f"after-{name}"] = "13 " + "10 " * 16
            done = {column: 0 for column in STAT.values()} | {"read_requests": reads}
            rows = [{"kind": "device", "name": name, "dev": i, **done}
                    for i, name in enumerate(DEVICES)]
            rows.append({"kind": "request", "dev": 1, "dur_ns": dur_ns})
            losses = {"total": lost, "by_layer": {"block": lost}}
            return files, {"trace": {"events": 100, "lost": losses}}, rows

        def expect(kind, text, files, report, rows):
            results = Played(files, report)
            results.printed = lambda layer: rows
            self.assertEqual(self.verdict(judge_devices, results)[0], kind)
            self.assertIn(text, self.verdict(judge_devices, results)[1])

        expect("passed", "1 requests timed", *devices())
        expect("failed", "vdb: read_requests 2, by the kernel's count 3", *devices(reads=2))
        expect("passed", "2 requests missing, 2 reported", *devices(reads=2, lost=2))
        expect("failed", "2 requests are missing, 1 reported", *devices(reads=2, lost=1))
        expect("failed", "FAIL", *devices(reads=4, lost=1))
        expect("failed", "took 999999 ns", *devices(dur_ns=999999))

    def alone(self, judge, files, report, rows, attached):
        """The verdict and its line for a job that records a single layer."""
        layers = dict.fromkeys(("syscall", "fault", "pagecache", "block", "vfs"), {"attach": None})
        report["trace"] = {"layers": {**layers, **report.get("layers", {})}, "events": 1000,
                           "lost": {"total": report.get("lost", 0), "by_layer": {}}}
        results = Played({**files, "stderr": "".join(
            f"faultline: {name}{ATTACHED}x\n" for name in attached)}, report)
        results.printed = lambda layer: rows
        results.names = lambda pattern: sorted(name for name in files if "account" in name)
        return self.verdict(judge, results)

    def test_only_reads(self):
        """Each by its method and file, by the programs of libaio's calls."""
        judge = alone.asynchronous("tp", alone.judge_reads)
        truth = {"io_uring": 2, "polled": 1, "libaio": 2, "block_bytes": 10}
        files, attached = {"account": json.dumps(truth)}, alone.CALLS["tp"]

        def verdict(libaio=2, rows=5, lost=0, attached=attached, **layers):
            methods = [{"method": method, "op": "read", "count": count, "bytes": 10 * count}
                     for method, count in (("io_uring", 3), ("libaio", libaio))]
            recorded = [{"path": "/mnt/async"}] * rows
            report = {"methods": methods, "lost": lost, "layers": layers}
            return self.alone(judge, files, report, recorded, attached)

        self.assertEqual(verdict()[0], "passed")
        for wrong, text in ((verdict(libaio=1), "libaio: (1, 10)"),
                            (verdict(rows=4), "4 rows of 5"),
                            (verdict(rows=6, lost=5), "6 rows of 5"),
                            (verdict(attached=["fl_aio_enter_tp"]), "not attached: fl_aio_exit_tp"),
                            (verdict(syscall={"attach": "tp"}), "other layers")):
            self.assertEqual(wrong[0], "failed")
            self.assertIn(text, wrong[1])
        self.assertEqual(verdict(libaio=1, rows=4, lost=1)[0], "passed")

    def test_opened(self):
        """All spans of the process that was listened to, and none that was never begun."""

        def span(pid, number, **more):
            return {"pid": pid, "name": "outer", "id": number, **more}

        def verdict(recorded, *begun, attached=("fl_code",), lost=0):
            files = {f"account{i}": json.dumps(span(*call, what="begin")) + "\n"
                     for i, call in enumerate(begun)}
            rows = [span(*row, kind="span_begin") for row in recorded]
            return self.alone(alone.noticed_by("fl_code"), files, {"lost": lost}, rows, attached)

        late, heard = (7, 0), (8, 5)
        self.assertEqual(verdict([heard], late, heard)[0], "passed")
        self.assertIn("1 of 1 spans by the 2. process", verdict([heard], late, heard)[1])
        self.assertEqual(verdict([heard], heard, (8, 6), lost=1)[0], "passed")
        for wrong, text in ((verdict([], late), "none was listened to"),
                            (verdict([], late, heard), "1 of 1 spans of process 8"),
                            (verdict([], late, heard, lost=1), "1 of 1 spans of process 8"),
                            (verdict([heard], heard, (8, 6)), "1 of 2 spans of process 8"),
                            (verdict([heard, heard], heard), "not begun"),
                            (verdict([heard, (7, 4)], late, heard), "not begun"),
                            (verdict([heard], heard, attached=()), "not attached: fl_code")):
            self.assertEqual(wrong[0], "failed")
            self.assertIn(text, wrong[1])

    def test_throttled(self):
        """As often as the kernel's own tracepoint counts such waits."""

        def verdict(pauses, paused, lost=0):
            rows = [{"pause_ns": 4000000, "path": THROTTLED}] * pauses
            report = {"totals": {"throttled": {"pauses": pauses, "pause_ns": 4000000 * pauses}},
                      "trace": {"events": 100, "lost": {"total": lost, "by_layer": {}}}}
            results = Played({"paused": paused}, report)
            results.printed = lambda layer: rows if layer == "throttle" else [
                {"op": "write", "path": THROTTLED, "dur_ns": 10**9}]
            return self.verdict(judge_throttled, results)[0]

        self.assertEqual([verdict(2, "2\n"), verdict(1, "2\n", 1)], ["passed", "passed"])
        wrong = [verdict(0, "0\n"), verdict(0, None), verdict(1, "2\n"), verdict(3, "2\n", 1)]
        self.assertEqual(wrong, ["failed"] * 4)

    def test_job_not_run_gets_no_verdict(self):
        files, report = mapped()
        self.expect("late", "skipped: no time", judge_mapper, {**files, "status": None}, report)
        broken = {**files, "status": "99\n", "stderr": "mapper.c: not so"}
        self.expect("late", "not so", judge_mapper, broken, report)
        self.expect("failed", "exit status", judge_mapper, {**files, "status": "137"}, report)
        self.expect("failed", "exit status", judge_mapper, {**files, "status": "125"}, report)
        absent = {**files, "status": "125", "stderr": "x is off: y does not exist in this kernel"}
        self.expect("absent", "not here", judge_mapper, absent, report)

    def test_unreadable_results_fail(self):
        files, report = mapped()
        del report["files"][0]["fetched_bytes"]
        self.expect("failed", "FAIL: KeyError", judge_mapper, files, report)
        self.expect("failed", "FAIL: TypeError", judge_mapper, files, None)


class Variants(unittest.TestCase):
    def forced(self, layer):
        every = [*jobs.for_kernel(False), *alone.for_kernel(False), *vfs.for_kernel(False),
                 *jobs.for_crowd()]
        return {job.variant for job in every if job.layer == layer}

    def test_every_variant_is_forced_in_some_job(self):
        """All names that `run` lists for an unknown value."""

        def known(option, value, words):
            done = subprocess.run([FAULTLINE, "run", option, value, "--", "true"],
                                  stderr=subprocess.PIPE, text=True)
            return done.stderr.strip().split(words)[1].split(", ")

        for layer in known("--layers", "?", "choose from all, default, "):
            names = set(known("--force-variant", f"{layer}=?", "; variants: "))
            # With a single variant there is nothing to force.
            if len(names) > 1 and layer in FORCED:
                with self.subTest(layer):
                    self.assertEqual(names - self.forced(layer), set())


class Chosen(unittest.TestCase):
    def test_jobs_of_guests_script(self):
        """Each word for --only selects jobs, of requests to servers, too."""
        with open(os.path.join(TOP, "scripts/guests.sh")) as file:
            words = re.findall(r"--only (\S+?)['\s]", file.read())
        made = [job.id for some in (jobs, alone, vfs, fuse, nfs) for job in some.for_kernel(True)]
        made += [job.id for job in jobs.for_old_kernel()]
        for word in words:
            self.assertTrue([name for name in made if word in name], word)
        for layer in ("syscall", "fault", "stack", "nfs", "fuse"):
            self.assertTrue([name for name in made if name.startswith(f"{layer}-") and
                             any(word in name for word in words)], layer)


class Shelf(kernels.Packages):
    """Packages that have names, and one file each."""

    def __init__(self, top, names):
        super().__init__(top, "amd64")
        self.names, self.fetched, self.ubuntu = names, [], self

    def download(self, name, suite=None):
        self.fetched.append(name)
        return f"{self.top}/{name}_1_amd64.deb"

    def from_pool(self, pattern):
        return None

    def unpack(self, files, directory):
        top, of = os.path.join(self.top, directory), "".join(files)
        os.makedirs(top, exist_ok=True)
        inside = {"image": f"{top}/vmlinuz", "modules": f"{top}.btf", "extra": f"{top}/null_blk.ko"}
        for path in [path for kind, path in inside.items() if kind in of]:
            with open(path, "w"):
                pass
        return top


class Ubuntu(unittest.TestCase):
    NAMES = [f"linux-{kind}-{version}" for kind in ("image-unsigned", "modules", "modules-extra")
             for version in ("5.15.0-9-generic", "5.15.0-204-generic", "5.15.0-1121-aws",
                             "6.8.0-31-generic")]

    def setUp(self):
        self.top = tempfile.TemporaryDirectory()
        self.addCleanup(self.top.cleanup)
        self.shelf = Shelf(self.top.name, self.NAMES)

    def test_the_newest_of_a_flavour(self):
        for requested, name in (("5.15-ubuntu", "5.15.0-204-generic"),
                            ("5.15-ubuntu-aws", "5.15.0-1121-aws"),
                            ("6.8-ubuntu", "6.8.0-31-generic")):
            kernel = kernels.Kernel(self.shelf, requested)
            self.assertEqual((kernel.name, kernel.version), (name, requested.split("-")[0]))
        for requested in ("5.15", "5.15-ubuntu-kvm", "5.15-ubuntu-", "5.15-else"):
            with self.assertRaises(kernels.Unavailable):
                kernels.Kernel(self.shelf, requested)

    def test_extra_modules_are_fetched_if_needed(self):
        extra = "linux-modules-extra-5.15.0-204-generic"
        kernel = kernels.Kernel(self.shelf, "5.15-ubuntu")
        self.assertIsNone(kernel.module("xfs"))
        self.assertNotIn(extra, self.shelf.fetched)
        self.assertTrue(kernel.module("null_blk"))
        self.assertIn(extra, self.shelf.fetched)

    def test_keys_of_someone_else(self):
        packages = kernels.UbuntuPackages(kernels.Packages(self.top.name, "amd64"))
        packages.read = lambda _: b"a package"
        with self.assertRaisesRegex(kernels.Unavailable, "unknown content"):
            packages.all_names()


class Guests(unittest.TestCase):
    def run_version(self, error):
        table, out = run.Table(), io.StringIO()

        def fail(*_):
            raise error

        kept, run.guests_of = run.guests_of, fail
        try:
            with contextlib.redirect_stdout(out):
                run.run_matrix(["6.1"], None, types.SimpleNamespace(parallel=1, kernel=None), table)
        finally:
            run.guests_of = kept
        return table, out.getvalue()

    def test_unavailable_kernel_is_skipped(self):
        for error in (kernels.Unavailable("no kernel"), FileNotFoundError("qemu is missing")):
            table, text = self.run_version(error)
            self.assertEqual((table.failed, table.skipped, table.status()), (0, ["6.1"], 1))
            self.assertIn(f"skipped: {error}", text)

    def test_make_builds_what_guests_run(self):
        """By make's own database, since `make` does not build the tests' programs."""
        rules = subprocess.run(["make", "-C", TOP, "-rpnq", "BUILD=b", "vmtest"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        built = re.search(r"^vmtest: (.*)", rules, re.MULTILINE)[1].split()
        self.assertEqual({f"b/{name}" for name in run.WANTED} - set(built), set())

    def test_missing_program_fails(self):
        with tempfile.TemporaryDirectory() as top:
            done = subprocess.run([sys.executable, os.path.join(TOP, "tests/vm/run.py"), "--within",
                                   "1", "6.1"], env={**os.environ, "BUILD": top},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(" FAIL: not built: faultline, ", done.stdout)

    def test_custom_kernel(self):
        with tempfile.TemporaryDirectory() as top:
            path, module = f"{top}/bzImage", f"{top}/lib/fs/xfs.ko"
            os.makedirs(os.path.dirname(module))
            with open(module, "w"):
                pass
            with open(path, "wb") as file:
                file.write(b"\0HdrS\0" + b"5.14.2-some (me@here) #1 SMP Sun Nov 29\0")
            kernel = kernels.Image(path, f"{top}/lib")
            self.assertEqual((kernel.name, kernel.version), ("5.14.2-some", "5.14"))
            self.assertEqual((kernel.module("xfs"), kernel.module("ext4")), (module, None))
            self.assertIsNone(kernels.Image(path, None).module("xfs"))
            with self.assertRaisesRegex(kernels.Unavailable, "no kernel"):
                kernels.Image(module, None)

    def test_no_time_is_left(self):
        with tempfile.TemporaryDirectory() as top:
            packages = kernels.Packages(top, "amd64", until=0)
            with self.assertRaisesRegex(kernels.Unavailable, "no time"):
                packages.all_names()
            with self.assertRaisesRegex(kernels.Unavailable, "no time"):
                packages.from_pool("linux-image-.*")

    def test_a_guest_that_does_not_end(self):
        """With a time limit it is skipped; without one, it fails."""
        outcome = types.SimpleNamespace(reason="the guest died", console="", top="",
                                        remove=lambda: None, read=lambda *_: None,
                                        jobs=lambda: [], missing=lambda: [])
        kernel = types.SimpleNamespace(version="6.1", flavour="")
        kept = run.make_root, run.guest.boot
        run.make_root = lambda *_: types.SimpleNamespace(remove=lambda: None)
        run.guest.boot = lambda *_: outcome
        try:
            for within, expected in ((1000, (0, ["6.1"])), (None, (1, []))):
                options = types.SimpleNamespace(
                    only=None, within=within, seconds=100, arch="amd64", build="", places=[""],
                    keep=False, faultline="", started=run.time.monotonic())
                table = run.Table()
                with contextlib.redirect_stdout(io.StringIO()):
                    run.run_guest(kernel, "6.1", jobs.for_old_kernel(), options, table)
                self.assertEqual((table.failed, table.skipped), expected)
                self.assertEqual(table.status(), 1)
        finally:
            run.make_root, run.guest.boot = kept

    def cut_off(self, ended):
        """A guest that left two of three jobs, one of them wrong, and the given count of ended
        ones."""
        def wrong(_):
            raise Wrong("2, expected 3")

        todo = [Job("fault", "tp", name, "", judge)
                for name, judge in (("right", lambda _: "well"), ("wrong", wrong), ("late", wrong))]
        kernel = types.SimpleNamespace(version="6.1", flavour="")
        kept = run.make_root, run.guest.boot
        with tempfile.TemporaryDirectory() as top:
            for job in todo[:2]:
                os.makedirs(f"{top}/out/{job.id}")
                with open(f"{top}/out/{job.id}/status", "w") as file:
                    file.write("0\n")
            run.make_root = lambda *_: types.SimpleNamespace(remove=lambda: None)
            console = "".join(f"vm: 7.25 s: {job.id}: 0\n" for job in todo[:ended])
            run.guest.boot = lambda *_: guest.Outcome(top, console, "the guest was still running")
            options = types.SimpleNamespace(
                only=None, within=1000, seconds=100, arch="amd64", build="", places=[""],
                keep=True, faultline="", started=run.time.monotonic())
            table, out = run.Table(), io.StringIO()
            try:
                with contextlib.redirect_stdout(out):
                    run.run_guest(kernel, "6.1", todo, options, table)
            finally:
                run.make_root, run.guest.boot = kept
        self.assertIn("cut off after 2 jobs: the guest was still running", out.getvalue())
        return (table.passed, table.failed, table.late, table.skipped), out.getvalue()

    def test_a_guest_that_is_cut_off(self):
        """Jobs that ended are judged, wrong ones fail, and the rest were not run."""
        self.assertEqual(self.cut_off(2)[0], (1, 1, 1, []))

    def test_status(self):
        """0 only if a guest ran and no check failed."""
        table = run.Table()
        table.passed = 1
        self.assertEqual(table.status(), 1)
        table.booted = 1
        self.assertEqual(table.status(), 0)
        table.failed = 1
        self.assertEqual(table.status(), 1)

    def test_ended_job_without_results(self):
        """Its results are lost: "not run" would be wrong."""
        counts, text = self.cut_off(3)
        self.assertEqual(counts, (1, 2, 1, []))
        self.assertIn("FAIL: ended, but left nothing: fault-tp-late", text)

    def test_no_job_writes_to_what_the_guest_leaves(self):
        with open(os.path.join(TOP, "tests/vm/guest.sh")) as file:
            disks = set(re.findall(r"of=/dev/(\w+)", file.read()))
        self.assertEqual(disks, {f"vd{chr(ord('a') + list(guest.DISKS).index('kept'))}"})
        self.assertFalse(disks & set(DEVICES))

    @unittest.skipUnless(shutil.which("busybox"), "busybox is missing")
    def test_results_of_a_guest(self):
        """Reads what guest.sh writes: every job that was kept completely, and no other."""
        with open(os.path.join(TOP, "tests/vm/guest.sh")) as file:
            keep = re.search(r"^kept=0\nkeep\(\) \{\n.*?^\}\n", file.read(), re.M | re.S)[0]
        with tempfile.TemporaryDirectory() as top:
            disk, sizes = f"{top}/disk", {"empty": 0, "small": 5, "large": 200000, "last": 70000}
            for name, size in sizes.items():
                os.makedirs(f"{top}/out/{name}")
                with open(f"{top}/out/{name}/status", "w") as file:
                    file.write("x" * size)
            with open(disk, "wb") as file:
                file.truncate(4 << 20)
            script = keep.replace("/dev/vdc", disk).replace("/tmp/kept", f"{top}/records")
            script += "".join(f"keep {name}\n" for name in sizes) + "echo $kept"
            done = subprocess.run(["busybox", "sh", "-c", script], cwd=top, check=True,
                                  stdout=subprocess.PIPE, text=True)

            def left(name):
                os.mkdir(f"{top}/{name}")
                guest.unpack(disk, f"{top}/{name}")
                outcome = guest.Outcome(f"{top}/{name}", "", None)
                return {job: len(outcome.read(job, "status")) for job in outcome.jobs()}

            self.assertEqual(left("whole"), sizes)
            # The guest ended before the last job's first block was written.
            blocks = 1 + -(-(2 * 512 + 2 * 512 + 70144) // guest.KEPT_BLOCK)
            with open(disk, "r+b") as file:
                file.seek((int(done.stdout) - blocks) * guest.KEPT_BLOCK)
                self.assertEqual(file.read(5), b"last ")
                file.seek(-5, os.SEEK_CUR)
                file.write(bytes(guest.KEPT_BLOCK))
            del sizes["last"]
            self.assertEqual(left("cut"), sizes)


if __name__ == "__main__":
    unittest.main()
