# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tests that have a directory of their own. Knows nothing of what they do in it."""

import os
import shutil
import tempfile
import unittest


class InPlace(unittest.TestCase):
    """self.place is there for a test, and gone with it."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="faultline-test-")
        self.addCleanup(shutil.rmtree, self.place)

    def path(self, name):
        return os.path.join(self.place, name)
