# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The README's first command, run by root and by a user's sudo: it verifies that the report
matches the page cache."""
import os
import subprocess
import unittest

import harness
from harness import machine


class Demo(unittest.TestCase):
    def demo(self, **environment):
        # make's own name for it, so that it counts as up to date.
        build = os.path.relpath(harness.BUILD, harness.TOP)
        done = subprocess.run(
            [f"{harness.TOP}/scripts/demo.sh"],
            env={**os.environ, "BUILD": build, "DEMO_MIB": "32", "TMPDIR": machine().new_dir(),
                 **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        text = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, text[-2000:])
        self.assertIn("==> In short", text)
        self.assertIn("Events lost: 0.", text)
        return text

    def test_root(self):
        self.assertNotIn("; try sudo ", self.demo())

    def test_by_sudo(self):
        """For a user who may not read root's builds."""
        self.assertIn("; try sudo ", self.demo(SUDO_UID="65534", SUDO_GID="65534",
                                               SUDO_USER="nobody", SUDO_COMMAND="demo.sh"))
