# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The Python package installs with pip without a network, from the tree and from its own source
archive, and without its extension if that cannot be built."""

import importlib.util
import os
import platform
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _directory import InDirectory  # noqa: E402
from _span_listening import LISTENER, environment  # noqa: E402

SOURCE = os.path.abspath(os.path.join("user", "python"))
BACKEND = os.path.join(SOURCE, "backend.py")
CHECK = "import faultline; print(faultline.status()['extension'], faultline.__file__)"


def backend_version():
    code = "import backend; print(backend.VERSION)"
    return call(sys.executable, "-c", code, PYTHONPATH=SOURCE).stdout.strip()


def call(*command, **more):
    done = subprocess.run(command, env=environment(**more), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


class Install(InDirectory):
    def setUp(self):
        super().setUp()
        self.target = self.path("target")

    def pip(self, what):
        # --no-index: a build that needed a download would fail
        call(sys.executable, "-m", "pip", "install", "--no-index", "--no-cache-dir",
             "--disable-pip-version-check", "--target", self.target, what)

    def check(self, extension):
        done = call(sys.executable, "-c", CHECK, PYTHONPATH=self.target)
        self.assertEqual(done.stdout, f"{extension} {self.target}/faultline/__init__.py\n")
        for name in ("py.typed", "_core.pyi", "_decorate.py", "mcp/__main__.py"):
            self.assertTrue(os.path.exists(os.path.join(self.target, "faultline", name)), name)

    @unittest.skipUnless(importlib.util.find_spec("pip"), "no pip here")
    def test_from_the_tree(self):
        before = sorted(os.listdir(SOURCE))
        self.pip(SOURCE)
        self.check(True)
        self.assertEqual(sorted(os.listdir(SOURCE)), before)

    @unittest.skipUnless(importlib.util.find_spec("pip"), "no pip here")
    def test_from_a_source_archive(self):
        code = f"import backend; print(backend.build_sdist({self.directory!r}))"
        name = call(sys.executable, "-c", code, PYTHONPATH=SOURCE).stdout.strip()
        self.pip(self.path(name))
        self.check(True)

    @unittest.skipUnless(importlib.util.find_spec("pip"), "no pip here")
    @unittest.skipUnless(platform.machine() == "x86_64", "probes are only heard on x86")
    def test_a_venv_without_network(self):
        """As on an isolated node: the archive, a venv, no interface but the loopback."""
        alone = ["unshare", "--map-root-user", "--net"]
        if subprocess.run([*alone, "true"], stderr=subprocess.DEVNULL).returncode:
            alone = []  # not permitted for unprivileged users; pip still has no index
        archive = self.source_archive()
        venv = self.path("venv")
        call(sys.executable, "-m", "venv", "--without-pip", venv)
        python = os.path.join(venv, "bin", "python")
        call(*alone, sys.executable, "-m", "pip", "--python", python, "install", "--no-index",
             "--no-cache-dir", "--disable-pip-version-check", archive)
        code = ("import faultline, importlib.metadata as m; print(m.version('faultline'), "
                "m.metadata('faultline')['Description-Content-Type'], faultline.__file__)")
        done = call(python, "-c", code, PYTHONPATH="")
        version, kind, file = done.stdout.split()
        self.assertEqual((version, kind), (backend_version(), "text/markdown"))
        self.assertTrue(file.startswith(venv), file)
        # the archive's own extension, visible to a tracer
        code = ("import faultline\nassert faultline.status()['extension']\n"
                "with faultline.span('in a venv'): pass")
        output = self.path("told")
        call(LISTENER, output, python, "-c", code, PYTHONPATH="")
        with open(output) as file:
            self.assertIn(b"in a venv".hex(), file.read())

    def source_archive(self):
        """With python3-build if installed, otherwise with the hook that it calls."""
        if importlib.util.find_spec("build"):
            call(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir",
                 self.directory, SOURCE)
        else:
            code = f"import backend; backend.build_sdist({self.directory!r})"
            call(sys.executable, "-c", code, PYTHONPATH=SOURCE)
        archives = [name for name in os.listdir(self.directory) if name.endswith(".tar.gz")]
        self.assertEqual(archives, [f"faultline-{backend_version()}.tar.gz"])
        return os.path.join(self.directory, archives[0])

    def test_source_archive_contents(self):
        with tarfile.open(self.source_archive()) as archive:
            members = archive.getmembers()
        names = {member.name.partition("/")[2] for member in members}
        self.assertLessEqual({"LICENSE", "README.md", "PKG-INFO", "pyproject.toml", "backend.py",
                              "span/span.c", "faultline/__init__.py", "faultline/mcp/__main__.py",
                              "src/core.c"}, names)
        for member in members:
            self.assertEqual((member.uid, member.gid, member.uname), (0, 0, ""), member.name)

    def test_without_a_compiler(self):
        for compiler, reason in (("/nonexistent/cc", "no C compiler"), ("false", "failed")):
            done = call(sys.executable, BACKEND, self.target, CC=compiler)
            self.assertIn(reason, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.check(False)

    def test_without_headers(self):
        compiler = self.file("cc", "#!/bin/sh\necho 'fatal error: Python.h: No such file'\nexit 1\n", 0o755)
        done = call(sys.executable, BACKEND, self.target, CC=compiler)
        self.assertIn("python3-dev", done.stderr)
        self.check(False)


if __name__ == "__main__":
    unittest.main()
