# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A mount whose daemon is the test program fuse_serve, which serves one request at a time."""
import os
import signal
import subprocess
import unittest

from harness import machine

DELAY_MS = 2


class Served(unittest.TestCase):
    def serve(self, *options, delay_ms=DELAY_MS):
        """Mounts the daemon's file system; unmount() makes it end."""
        self.mount, self.log = machine().new_dir(), f"{machine().new_dir()}/log"
        self.daemon = machine().start(
            [machine().program("fuse_serve"), self.mount, "a source", "kind", str(delay_ms),
             self.log, *options], stdout=subprocess.PIPE)
        self.addCleanup(self.daemon.stdout.close)
        if self.daemon.stdout.readline() != b"ready\n":
            self.skipTest("no file system in user space can be mounted")
        self.addCleanup(self.unmount)
        self.dev = os.stat(self.mount).st_dev

    def unmount(self):
        if self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGCONT)
        if os.path.ismount(self.mount) or self.daemon.returncode:
            subprocess.run(["umount", self.mount], stderr=subprocess.DEVNULL)
        self.daemon.wait()
