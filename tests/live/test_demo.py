# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The first command of the README, by root and by a user's sudo: it says itself whether the report
shows what the page cache holds."""
import os
import subprocess
import unittest

import harness
from harness import machine


class Demo(unittest.TestCase):
    def demo(self, **environment):
        # As make names it: what it has built is up to date by that name.
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
        self.assertNotIn(": try sudo ", self.demo())

    def test_by_sudo(self):
        """Of a user who may not read what root builds."""
        self.assertIn(": try sudo ", self.demo(SUDO_UID="65534", SUDO_GID="65534",
                                               SUDO_USER="nobody", SUDO_COMMAND="demo.sh"))
