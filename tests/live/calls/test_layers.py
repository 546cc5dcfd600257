# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Layers that are off give null, never 0, and the others work without them."""
import json
import os
import re
import subprocess
import unittest

import harness
from harness import Recording, account, captured, faultline, machine

LAYERS = ("task", "syscall", "fault", "pagecache", "thread", "stack", "vfs")
BY_DEFAULT = LAYERS[:-1]


def available_tracepoints():
    """{name: system/name}. Few machines mount tracefs at boot; it is mounted only for this."""
    tracing = "/sys/kernel/tracing"
    done = subprocess.run(["unshare", "-m", "sh", "-c", f"mountpoint -q {tracing} || "
                           f"mount -t tracefs tracefs {tracing}; cat {tracing}/available_events"],
                          check=True, capture_output=True, text=True)
    return {name: f"{system}/{name}"
            for system, _, name in (line.partition(":") for line in done.stdout.splitlines())}


class Layers(unittest.TestCase):
    def record(self, layers):
        directory = machine().new_dir()
        data = harness.random_file(f"{directory}/data", 4 << 20)
        harness.cool(data)
        script = (
            "import mmap, os, sys\n"
            "f = os.open(sys.argv[1], os.O_RDONLY)\n"
            "os.pread(f, 1 << 20, 0)\n"
            "m = mmap.mmap(f, 0, prot=mmap.PROT_READ)\n"
            "sum(m[at] for at in range(2 << 20, 4 << 20, 4096))\n"
        )
        arguments = ["--layers", layers] if layers else []
        recording = Recording([harness.PYTHON, "-c", script, data], *arguments)
        states = {
            name: layer["state"] for name, layer in recording.report["trace"]["layers"].items()
        }
        for name in LAYERS:
            on = name in (layers.split(",") if layers else BY_DEFAULT) or name == "task"
            self.assertEqual(states[name], "on" if on else "off", name)
        return recording, recording.report, data

    def check_syscalls(self, recording, report, data, on):
        if on:
            self.assertEqual(recording.file(data)["read"]["bytes"], 1 << 20)
            self.assertGreater(report["totals"]["read"]["count"], 0)
        else:
            for name in ("read", "write", "metadata", "sync"):
                self.assertIsNone(report["totals"][name], name)
            self.assertEqual([row for row in report["operations"] if row["layer"] == "syscall"], [])

    def check_faults(self, recording, report, data, on):
        if on:
            self.assertGreater(recording.file(data)["mmap"]["faults"], 0)
            self.assertGreater(recording.file(data)["mmap"]["time_ns"], 0)
            self.assertGreater(report["totals"]["anonymous_faults"]["count"], 0)
        else:
            for name in ("mmap_read", "mmap_write", "anonymous_faults"):
                self.assertIsNone(report["totals"][name], name)
            if report["files"] is not None:
                self.assertIsNone(recording.file(data)["mmap"])

    def check_cache(self, recording, report, data, on):
        row = recording.file(data)
        parts = [row[method] for method in ("read", "mmap") if row[method]]
        if on:
            self.assertGreater(sum(part["fetched_bytes"] for part in parts), 0)
        else:
            self.assertEqual({part["fetched_bytes"] for part in parts}, {None})
            self.assertIsNone(row["unattributed"]["fetched_bytes"])

    def test_code_is_recorded_for_markers(self):
        """Otherwise each library mapping would wake the reader for nothing."""
        for layers, rows_reported in ("task,syscall,span", True), ("task,syscall,fault", False):
            recording = Recording([harness.PYTHON, "-c", "pass"], "--layers", layers)
            code, = [kind for kind in recording.trace.totals["kinds"] if kind["kind"] == "code"]
            self.assertEqual(code["events"] > 0, rows_reported, layers)

    def test_all(self):
        seen = self.record(None)
        self.check_syscalls(*seen, True)
        self.check_faults(*seen, True)
        self.check_cache(*seen, True)
        for name in ("storage_read", "storage_write"):
            self.assertIsNotNone(seen[1]["totals"][name])

    def test_syscall(self):
        seen = self.record("syscall")
        self.check_syscalls(*seen, True)
        self.check_faults(*seen, False)
        self.check_cache(*seen, False)

    def test_fault(self):
        seen = self.record("fault")
        self.check_syscalls(*seen, False)
        self.check_faults(*seen, True)
        self.check_cache(*seen, False)

    def test_syscall_and_pagecache(self):
        seen = self.record("syscall,pagecache")
        self.check_syscalls(*seen, True)
        self.check_faults(*seen, False)
        self.check_cache(*seen, True)

    def test_fault_and_pagecache(self):
        seen = self.record("fault,pagecache")
        self.check_syscalls(*seen, False)
        self.check_faults(*seen, True)
        self.check_cache(*seen, True)

    def test_task(self):
        """Process lifetimes only."""
        recording, report, _ = self.record("task")
        self.check_syscalls(recording, report, None, False)
        for name in ("mmap_read", "mmap_write", "anonymous_faults"):
            self.assertIsNone(report["totals"][name], name)
        self.assertIsNone(report["totals"]["io"])
        self.assertEqual({row["io_ns"] for row in report["timeline"]}, {None})
        (process,) = harness.followed(report)
        self.assertEqual((process["exit_code"], process["time_ns"]), (0, None))


class Vfs(unittest.TestCase):
    """The VFS layer is unavailable if the kernel lacks kprobes and refuses fentry: it is then
    off, for a reason that names both, and the rest continues."""

    @staticmethod
    def checked():
        return json.loads(faultline("check", "--format", "json").stdout)["layers"]["vfs"]

    def record(self, *arguments):
        directory = machine().new_dir("ext4")
        moves = machine().program("moves")
        subprocess.run([moves, "make", directory], check=True)
        recording = Recording([moves, directory, f"{directory}/out"], *arguments)
        return recording, account(f"{directory}/out"), directory

    def check_bytes(self, recording, truth, directory):
        for name, kind in (("pread", "read"), ("preadv", "read"), ("append", "write")):
            self.assertEqual(recording.file(f"{directory}/{name}")[kind]["bytes"],
                             truth[name]["bytes"], name)

    def test_with_calls(self):
        """On or off, each byte counts once."""
        recording, truth, directory = self.record("--layers", "syscall,vfs")
        layer, checked = recording.report["trace"]["layers"]["vfs"], self.checked()
        self.assertEqual(layer["state"], checked["state"])
        self.check_bytes(recording, truth, directory)
        methods = [row["method"] for row in recording.report["methods"]]
        if layer["state"] == "on":
            self.assertIn("kernel", methods)
            return
        self.assertNotIn("kernel", methods)
        for word in ("fentry: ", "kprobe: "):
            self.assertIn(word, layer["reason"])
        self.assertEqual([row for row in recording.report["operations"] if row["layer"] == "vfs"],
                         [])

    def test_only_vfs(self):
        """The only requested layer: if unavailable, the run is refused, as for any layer."""
        if self.checked()["state"] != "on":
            done = faultline("run", "-o", f"{machine().new_dir()}/out.flt", "--layers", "vfs", "--", "true")
            self.assertEqual(done.returncode, 125)
            self.assertIn(b"unavailable layers: vfs", done.stderr)
        recording, truth, directory = self.record("--layers", "vfs", "--best-effort")
        totals = recording.report["totals"]
        self.assertIsNone(totals["metadata"])
        if recording.report["trace"]["layers"]["vfs"]["state"] == "on":
            self.check_bytes(recording, truth, directory)
        else:
            self.assertEqual((totals["read"], totals["write"], totals["sync"]), (None,) * 3)

    def test_a_changed_function(self):
        """A tracepoint with a changed signature is reported as such."""
        done = faultline("check", "--format", "json", "--force-changed", "sys_enter,vfs_read")
        syscall = json.loads(done.stdout)["layers"]["syscall"]
        self.assertEqual((syscall["state"], syscall["attach"]), ("on", "tp"))
        done = faultline("check", "--format", "json", "--force-changed",
                         "sys_enter,raw_syscalls/sys_enter")
        syscall = json.loads(done.stdout)["layers"]["syscall"]
        self.assertEqual((done.returncode, syscall["state"]), (1, "off"))
        self.assertIn("sys_enter has a different signature in this kernel", syscall["reason"])


class Missing(unittest.TestCase):
    """A tracepoint that is missing or has a changed signature is not attached to; its layer
    works without it or is off, and gives the reason; everything else continues."""

    # By groups of alternatives: the layers that are off without them, those that stay on and report
    # a limitation, and the report's numbers that then become null.
    NEEDED = {
        "task_newtask": ("", "task: io_uring worker threads", ""),
        "mark_victim": ("", "task: the memory limits", ""),
        "sys_enter": ("syscall async", "", ""),
        "sys_exit": ("syscall async", "span: libraries loaded; stack: interpreters in", ""),
        "page_fault_user,handle_mm_fault": ("fault", "", ""),
        "page_fault_kernel,handle_mm_fault": ("fault", "", ""),
        "mm_filemap_fault,filemap_fault": ("", "fault: whether they reached filemap_fault", ""),
        "writeback_dirty_folio,writeback_dirty_page": (
            "", "fault: pages dirtied through mmap", "mmap_write dirtied_bytes"),
        "signal_generate": ("", "fault: cut short by SIGBUS", ""),
        "signal_deliver": ("", "stack: lines at which processes are", ""),
        "mm_filemap_add_to_page_cache": ("pagecache", "", "read fetched_bytes"),
        "balance_dirty_pages": ("", "pagecache: throttling of writers", "throttled"),
        "block_bio_queue": ("block", "", ""),
        "block_split": ("block", "", ""),
        "block_bio_complete": ("block", "", ""),
        "block_rq_issue": ("block", "", ""),
        "block_rq_complete": ("block", "", ""),
        "block_bio_backmerge": ("", "block: merges and requeues", "merges"),
        "block_bio_frontmerge": ("", "block: merges and requeues", "merges"),
        "block_rq_merge": ("", "block: merges and requeues", "merges"),
        "block_rq_requeue": ("", "block: merges and requeues", "merges"),
        "io_uring_submit_req,io_uring_submit_sqe": ("async", "", ""),
        "io_uring_complete": ("async", "", ""),
        "fuse_request_send,queue_request_and_unlock": ("fuse", "", ""),
        "fuse_request_end": ("fuse", "", ""),
        "fuse_request_sent,fuse_copy_args": ("", "fuse: time in the queue and in the daemon", ""),
        "rpc_task_begin": ("nfs", "", ""),
        "rpc_stats_latency": ("nfs", "", ""),
        "9p_client_req": ("9p", "", ""),
        "9p_client_res": ("9p", "", ""),
        "p9_req_put": ("", "9p: requests without a reply", ""),
        "netfs_sreq": ("netfs", "", ""),
        "sched_switch": ("thread", "", ""),
        "sched_waking": ("", "thread: who ended long waits", ""),
    }
    # Without these nothing can be recorded, or attached to.
    FOLLOWED = ("sched_process_fork", "sched_process_exec", "sched_process_exit")
    ATTACHED = {
        "cgroup_attach_task": "processes that move into a cgroup are not detected",
        "cgroup_mkdir": "short-lived cgroups have no names",
    }
    # Where the report has a layer's values for any job.
    MEASURED = {"syscall": "read", "fault": "anonymous_faults", "pagecache": "unattributed",
                "block": "storage_read"}

    @classmethod
    def setUpClass(cls):
        cls.data = harness.random_file(f"{machine().new_dir('ext4')}/data", 1 << 20)
        cls.whole = cls.record()

    @classmethod
    def record(cls, *arguments):
        """A job that reads a file with O_DIRECT."""
        command = ["dd", f"if={cls.data}", "of=/dev/null", "bs=4k", "iflag=direct"]
        return Recording(command, "--best-effort", *arguments)

    def check_layers(self, recording, off, lacking, why):
        """Checks states, reasons and unknown values; returns the report."""
        report = recording.report
        whole, layers = (one.report["trace"]["layers"] for one in (self.whole, recording))
        lacks = dict(lack.split(": ") for lack in lacking.split("; ") if lack)
        for name, layer in layers.items():
            with self.subTest(name):
                state = "off" if name in off.split() else whole[name]["state"]
                self.assertEqual(layer["state"], state)
                if name in off.split() or name in lacks:
                    self.assertIn(why, layer["reason"])
                    self.assertIn(lacks.get(name, ""), layer["reason"])
                else:
                    self.assertEqual(layer, whole[name])
                if name in self.MEASURED:
                    known = report["totals"][self.MEASURED[name]] is not None
                    self.assertEqual(known, state == "on")
        if layers["syscall"]["state"] == "on":
            self.assertEqual(recording.file(self.data)["read"]["bytes"], 1 << 20)
        if layers["fault"]["state"] == "on":
            self.assertGreater(report["totals"]["anonymous_faults"]["count"], 0)
        if layers["block"]["state"] == "on":
            self.assertGreater(report["totals"]["storage_read"]["requests"], 0)
        else:
            self.assertIsNone(report["devices"])
        return report

    def test_every_tracepoint_is_here(self):
        """All tracepoints with a program attached, by section."""
        sections = harness.run("readelf", "-SW", f"{harness.BUILD}/bpf/faultline.bpf.o").decode()
        found = set(re.findall(r"\?(?:tp_btf|tp|raw_tp)/(?:\w+/)?(\w+)", sections))
        known = {name for names in self.NEEDED for name in names.split(",")}
        self.assertGreater(len(found), 20)
        missing = found.difference(known, self.FOLLOWED, self.ATTACHED)
        self.assertFalse(missing, f"add them to NEEDED in {__file__}, with what is lost without them")

    def test_absent(self):
        for names, (off, lacking, unknown) in self.NEEDED.items():
            with self.subTest(names):
                recording = self.record("--force-absent", names)
                report = self.check_layers(recording, off, lacking, "not exist in this kernel")
                if unknown == "merges":
                    for device in report["devices"]:
                        for kind in ("read", "write"):
                            self.assertIsNone(device["all"][kind]["merges"])
                            self.assertIsNone(device["all"][kind]["requeues"])
                elif unknown:
                    of, _, part = unknown.partition(" ")
                    rows_reported = report["totals"][of]
                    self.assertIsNone(rows_reported[part] if part else rows_reported)

    def test_a_layer_waits_for_its_module(self):
        """Nothing is missing as long as no such file system can be mounted; the guests' jobs load
        the module during a recording."""
        for name in ("nfs", "9p", "netfs"):
            with self.subTest(name):
                if os.path.isdir(f"/sys/module/{name}"):
                    self.skipTest(f"the module {name} is loaded")
                layer = self.whole.report["trace"]["layers"][name]
                self.assertEqual((layer["state"], layer["attach"]), ("on", "later"))
                self.assertIn(f"waits for the module {name}", layer["reason"])
                self.assertNotIn(f"{name}_unseen_ns", self.whole.report["trace"]["notes"])

    def test_nobody_can_be_followed(self):
        for name in self.FOLLOWED:
            with self.subTest(name):
                mark = f"{machine().new_dir()}/was-run"
                done = faultline("run", "-o", f"{mark}.flt", "--force-absent", name, "--",
                                 "touch", mark)
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertIn(f"tracepoint {name} does not exist in this kernel".encode(),
                              done.stderr)
                self.assertEqual(os.listdir(os.path.dirname(mark)), [])

    def test_attaching(self):
        """Attaching works, but moved processes are not noticed; or it fails."""
        job, trace = machine().start(["sleep", "60"]), f"{machine().new_dir()}/trace.flt"
        attach = ["attach", "-o", trace, "-d", "0.1s", "-p", str(job.pid), "--force-absent"]
        done = faultline(*attach, "task")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"no task iterator", done.stderr)
        self.assertFalse(os.path.exists(trace))
        for name, lacking in self.ATTACHED.items():
            done = faultline(*attach, name, "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            task = harness.report_of(trace)["trace"]["layers"]["task"]
            self.assertEqual(task["state"], "on")
            self.assertIn(lacking, task["reason"])

    def test_changed(self):
        for name, off, lacking in (
            ("block_rq_issue", "block", ""),
            ("block_rq_merge", "", "block: merges and requeues"),
        ):
            with self.subTest(name):
                self.check_layers(self.record("--force-changed", name), off, lacking,
                                  f"tracepoint {name} has a different signature in this kernel")

    def test_every_signature(self):
        """Where the tracepoint exists, and under each of its names: as if it were absent, but for
        another reason."""
        def layers(*arguments):
            done = faultline("check", "--format", "json", *arguments)
            return json.loads(done.stdout)["layers"]

        classic = available_tracepoints()
        plain = layers()
        for names, (off, lacking, _) in self.NEEDED.items():
            here = [name for name in names.split(",") if name in classic]
            if not here:
                continue
            changed = layers("--force-changed", ",".join([names, *map(classic.get, here)]))
            lacks = dict(lack.split(": ") for lack in lacking.split("; ") if lack)
            for name, layer in changed.items():
                with self.subTest(names, layer=name):
                    state = "off" if name in off.split() else plain[name]["state"]
                    self.assertEqual(layer["state"], state)
                    if name not in lacks and name not in off.split():
                        self.assertEqual(layer, plain[name])
                        continue
                    self.assertIn(f"{here[0]} has a different signature in this kernel",
                                  layer["reason"])
                    self.assertIn(lacks.get(name, ""), layer["reason"])

    def test_io_uring(self):
        """Falls back to the record's fields; without these, the layer is off."""
        for changed, state in (
            ("io_uring_complete", {"state": "on", "attach": "tp"}),
            ("io_uring_submit_req,io_uring_submit_sqe", {"state": "on"}),
            ("io_uring_complete,io_uring/io_uring_complete", {"state": "off"}),
        ):
            with self.subTest(changed):
                done = faultline("check", "--format", "json", "--force-changed", changed)
                rows_reported = json.loads(done.stdout)["layers"]["async"]
                self.assertEqual({name: rows_reported[name] for name in state}, state)
        self.assertIn("io_uring_complete has a different signature in this kernel", rows_reported["reason"])


class Refused(unittest.TestCase):
    """The kernel rejects all programs of a layer: simulated by a supervisor that refuses them."""

    SYSCALL = "fl_sys_enter,fl_sys_exit,fl_enter_tp,fl_exit_tp"
    FAULT = "fl_fault_start,fl_fault_tp,fl_fault_major,fl_fault_enter"

    def run_without(self, programs, *arguments):
        directory = machine().new_dir()
        self.mark, self.trace = f"{directory}/was-run", f"{directory}/trace.flt"
        command = [machine().faultline, "run", "-o", self.trace, *arguments]
        return captured(machine().program("oldkernel"), "-p", programs, *command, "--", "touch",
                        self.mark, text=True)

    def states(self):
        layers = harness.report_of(self.trace)["trace"]["layers"]
        return {name: layer["state"] for name, layer in layers.items()}

    def test_not_run_without_the_requested(self):
        for programs, layers in (
            (self.SYSCALL, ["syscall"]),
            (self.FAULT, ["fault"]),
            (f"{self.SYSCALL},{self.FAULT}", ["syscall", "fault"]),
        ):
            with self.subTest(layers):
                done = self.run_without(programs)
                self.assertEqual(done.returncode, 125, done.stderr)
                for layer in layers:
                    self.assertIn(f"layer {layer} is off: ", done.stderr)
                self.assertIn("invalid func unknown#", done.stderr)
                self.assertIn("--best-effort", done.stderr)
                self.assertFalse(os.path.exists(self.mark), "the command was run")
                self.assertFalse(os.path.exists(self.trace), "a trace was left")

    def test_best_effort(self):
        """Several programs are refused, and the rest is recorded."""
        done = self.run_without(f"{self.SYSCALL},{self.FAULT}", "--best-effort")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.mark))
        states = self.states()
        self.assertEqual((states["syscall"], states["fault"]), ("off", "off"))
        self.assertEqual((states["task"], states["pagecache"]), ("on", "on"))

    def test_another_variant(self):
        """A refused program is replaced by an alternative, silently."""
        done = self.run_without("fl_sys_enter,fl_fault_start,fl_block_names")
        self.assertEqual(done.returncode, 0, done.stderr)
        layers = harness.report_of(self.trace)["trace"]["layers"]
        self.assertEqual(layers["syscall"]["attach"], "tp")
        self.assertEqual((layers["block"]["state"], layers["block"]["reason"]), ("on", None))
        self.assertNotIn("refuses", done.stderr)

    def test_not_asked_for(self):
        """A layer that was not requested is not missed."""
        done = self.run_without(self.FAULT, "--layers", "syscall")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.states()["syscall"], "on")

    def test_an_optional_part(self):
        """Without it the layer works, and reports a limitation."""
        done = self.run_without("fl_filemap,fl_filemap_fn,fl_filemap_kp")
        self.assertEqual(done.returncode, 0, done.stderr)
        fault = harness.report_of(self.trace)["trace"]["layers"]["fault"]
        self.assertEqual(fault["state"], "on")
        self.assertIn("fl_filemap", fault["reason"])

    def test_check(self):
        done = captured(machine().program("oldkernel"), "-p", self.SYSCALL, machine().faultline,
                        "check", text=True)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("cannot work", done.stdout)
        output = " ".join(done.stdout.split())  # remarks are wrapped
        self.assertIn("fl_sys_enter: invalid func unknown#", output)


class NoLoop(unittest.TestCase):
    """Without bpf_loop, as before 5.17, every layer works."""

    HELPER = "181"

    def hiding(self, *command):
        done = captured(machine().program("oldkernel"), "-f", self.HELPER, machine().faultline,
                        *command, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_unsafe_loops(self):
        """Some such kernels take the wrong functions for a loop, and are not used."""
        done = subprocess.run(
            [machine().program("oldkernel"), "-f", self.HELPER, "-p", "fl_loop_check",
             machine().faultline, "run", "--", "true"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("cannot loop in BPF programs safely", done.stderr)

    def test_same_layers(self):
        plain = faultline("check", "--format", "json").stdout
        hidden = self.hiding("check", "--format", "json")
        self.assertEqual(json.loads(hidden)["layers"], json.loads(plain)["layers"])

    def test_paths_vectors_and_requests(self):
        directory = machine().new_dir()
        deep = os.path.join(directory, *["directory"] * 20)
        os.makedirs(deep)
        data = harness.random_file(f"{deep}/data", 4 << 20)
        harness.cool(data)
        script = (
            "import mmap, os, sys\n"
            "f = os.open(sys.argv[1], os.O_RDONLY)\n"
            "os.preadv(f, [bytearray(4096) for _ in range(64)], 0)\n"
            "m = mmap.mmap(f, 0, prot=mmap.PROT_READ)\n"
            "sum(m[at] for at in range(2 << 20, 4 << 20, 4096))\n"
        )
        trace = f"{directory}/trace.flt"
        self.hiding("run", "-o", trace, "--", harness.PYTHON, "-c", script, data)
        report = harness.report_of(trace)
        row = next(row for row in report["files"] if row["path"] == data)
        self.assertEqual(row["read"]["bytes"], 64 * 4096)
        self.assertGreater(row["mmap"]["faults"], 0)
        self.assertGreaterEqual(harness.fetched(row), 64 * 4096)
        self.assertGreater(sum(device["requests"] for device in report["device_users"]), 0)


if __name__ == "__main__":
    unittest.main()
