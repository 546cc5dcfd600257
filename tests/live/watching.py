# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shared by tests of the monitoring service: a service that ends with the test, and a job with a
known number of reads."""
import signal
import subprocess
import unittest

import harness
from harness import below_root, in_cgroup, machine, static_program
from watched import ROOM, Watched


class Watching(unittest.TestCase):
    maxDiff = None

    def watch(self, *arguments, **options):
        watched = Watched(*ROOM, *arguments, **options)
        self.addCleanup(self.stop, watched)
        return watched

    def stop(self, watched):
        if watched.process.poll() is None:
            watched.process.send_signal(signal.SIGCONT)
            watched.process.kill()
            watched.process.wait()

    def run_in(self, group, *command):
        subprocess.run(in_cgroup(group, *command), check=True, stdin=subprocess.DEVNULL,
                       timeout=harness.LIMIT)

    def hotread(self, reads, data=None):
        """The command line of a program that reads this often."""
        directory = machine().new_dir()
        data = data or harness.random_file(f"{directory}/data", 1 << 20)
        return [static_program("hotread"), data, f"{directory}/out.json", "1", "reads", str(reads)]

    def reads_of(self, samples, group, **labels):
        return samples.sum("faultline_io_operations_total", cgroup=below_root(group),
                           command="hotread-static", op="read", method="syscall", **labels)
