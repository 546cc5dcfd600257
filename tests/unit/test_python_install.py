# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""That the Python package installs by pip without a network, from the tree and from its own source
archive, and is made without its extension where that cannot be built."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from _span_listening import environment

SOURCE = os.path.abspath(os.path.join("user", "python"))
BACKEND = os.path.join(SOURCE, "backend.py")
CHECK = "import faultline; print(faultline.status()['extension'], faultline.__file__)"


def call(*command, **more):
    done = subprocess.run(command, env=environment(**more), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


class Install(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="faultline-install-")
        self.addCleanup(shutil.rmtree, self.place)
        self.target = os.path.join(self.place, "target")

    def pip(self, what):
        # --no-index: a build that asked for anything would fail
        call(sys.executable, "-m", "pip", "install", "--no-index", "--no-cache-dir",
             "--disable-pip-version-check", "--target", self.target, what)

    def check(self, extension):
        done = call(sys.executable, "-c", CHECK, PYTHONPATH=self.target)
        self.assertEqual(done.stdout, f"{extension} {self.target}/faultline/__init__.py\n")
        for name in ("py.typed", "_core.pyi", "_decorate.py"):
            self.assertTrue(os.path.exists(os.path.join(self.target, "faultline", name)), name)

    @unittest.skipUnless(importlib.util.find_spec("pip"), "no pip here")
    def test_from_the_tree(self):
        before = sorted(os.listdir(SOURCE))
        self.pip(SOURCE)
        self.check(True)
        self.assertEqual(sorted(os.listdir(SOURCE)), before)

    @unittest.skipUnless(importlib.util.find_spec("pip"), "no pip here")
    def test_from_a_source_archive(self):
        code = f"import backend; print(backend.build_sdist({self.place!r}))"
        name = call(sys.executable, "-c", code, PYTHONPATH=SOURCE).stdout.strip()
        self.pip(os.path.join(self.place, name))
        self.check(True)

    def test_without_a_compiler(self):
        for compiler, reason in (("/nonexistent/cc", "no C compiler"), ("false", "failed")):
            done = call(sys.executable, BACKEND, self.target, CC=compiler)
            self.assertIn(reason, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.check(False)

    def test_without_headers(self):
        compiler = os.path.join(self.place, "cc")
        with open(compiler, "w") as file:
            file.write("#!/bin/sh\necho 'fatal error: Python.h: No such file'\nexit 1\n")
        os.chmod(compiler, 0o755)
        done = call(sys.executable, BACKEND, self.target, CC=compiler)
        self.assertIn("python3-dev", done.stderr)
        self.check(False)


if __name__ == "__main__":
    unittest.main()
