# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tests with a temporary directory."""

import os
import shutil
import tempfile
import unittest


class InPlace(unittest.TestCase):
    """self.place exists during a test and is removed afterwards."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="faultline-test-")
        self.addCleanup(shutil.rmtree, self.place)

    def path(self, name):
        return os.path.join(self.place, name)
