# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tests with a temporary directory."""

import os
import shutil
import tempfile
import unittest


class InDirectory(unittest.TestCase):
    """self.directory exists during a test and is removed afterwards."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="faultline-test-")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def file(self, name, content="", mode=0o644):
        """Writes text or bytes; returns the path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.chmod(path, mode)
        return path
