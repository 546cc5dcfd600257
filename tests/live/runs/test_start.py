# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The cost of starting, in countable terms: tests must not depend on a machine's speed."""
import json
import os
import re
import subprocess
import unittest

import harness
from harness import machine

INSTRUCTIONS_MAX = 190_000


def verified_instructions(pid):
    """Information on each BPF program that a process holds, by ID."""
    found = {}
    for descriptor in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{descriptor}") as info:
                fields = dict(re.findall(r"^(\w+):\s*(\S+)$", info.read(), re.M))
        except FileNotFoundError:
            continue
        if "verified_insns" in fields:
            found[fields["prog_id"]] = int(fields["verified_insns"])
    return found


class Start(unittest.TestCase):
    def test_little_to_verify(self):
        trace = f"{machine().new_dir()}/trace.flt"
        run = machine().start(
            [machine().faultline, "run", "-q", "-o", trace, "--", "sh", "-c", "echo; read line"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        run.stdout.readline()  # all programs are loaded when the command runs
        found = verified_instructions(run.pid)
        run.communicate(b"\n")
        self.assertEqual(run.returncode, 0)
        self.assertGreater(len(found), 10)
        self.assertLess(sum(found.values()), INSTRUCTIONS_MAX, found)

    def test_a_refused_place(self):
        """Whether a program can be attached only shows at the attempt: if not, the rest
        continues without it. On one CPU one thread makes all calls, in a fixed order."""
        directory = machine().new_dir()
        calls, trace = f"{directory}/calls", f"{directory}/trace.flt"
        command = [machine().faultline, "run", "-q", "-o", trace, "--force", "--", "true"]
        strace = ["taskset", "-c", str(min(os.sched_getaffinity(0))), "strace"]
        harness.run(*strace, "-v", "-e", "trace=bpf", "-o", calls, *command)
        with open(calls) as file:
            lines = file.read().splitlines()
        # First its stand-in, whose descriptor it gets.
        loaded, _ = [line for line in lines if 'prog_name="fl_page_add"' in line]
        program = f"prog_fd={loaded.rsplit(' = ', 1)[1].split()[0]},"
        attaching = ("bpf(BPF_LINK_CREATE", "bpf(BPF_RAW_TRACEPOINT_OPEN")
        attaches = [line.startswith(attaching) and program in line for line in lines]
        number = attaches.index(True) + 1
        inject = f"inject=bpf:error=EPERM:when={number}"
        harness.run(*strace, "-e", inject, "-o", "/dev/null", *command)
        layers = json.loads(
            harness.run(machine().faultline, "report", "-q", "--format", "json", trace)
        )["trace"]["layers"]
        self.assertEqual(layers["pagecache"]["state"], "off")
        self.assertIn("fl_page_add", layers["pagecache"]["reason"])
        for name in ("task", "syscall", "fault"):
            self.assertEqual(layers[name]["state"], "on", name)
