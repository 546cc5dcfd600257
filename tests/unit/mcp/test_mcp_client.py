# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`faultline mcp` with the official client of the Model Context Protocol (npm)."""

import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _session import FAULTLINE, SAMPLE, SANITIZED  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
# `make check` builds below the directory that setup.sh installs into.
PACKAGES = next((path for path in (os.path.join(BUILD, "npm"), os.path.join(BUILD, "..", "npm"))
                 if os.path.isdir(os.path.join(path, "node_modules", "@modelcontextprotocol", "sdk"))),
                None)

if not shutil.which("node"):
    print("node is not installed")
    sys.exit(77)
if not PACKAGES:
    print("@modelcontextprotocol/sdk is not installed: scripts/setup.sh npm installs it")
    sys.exit(77)

CALLS = [("list_traces", {}), ("list_tables", {}), ("list_tables", {"tables": ["files", "calls"]}),
         ("report", {}), ("report", {"table": "files", "columns": ["path", "time_ns"]}),
         ("report", {"by": "process"}), ("findings", {"explain": True}),
         ("explain_finding", {"finding": "mmap-random"}), ("lines", {}), ("slowest_operations", {}),
         ("sql", {"query": "SELECT count(*) AS n FROM calls WHERE op = 'fsync'"}),
         ("compare", {"before": [SAMPLE], "now": [SAMPLE]}),
         ("sql", {"query": "DROP TABLE calls"}), ("report", {"traces": ["/etc/passwd"]})]


class OfficialClient(unittest.TestCase):
    def test_session(self):
        calls = json.dumps([*CALLS, ("nothing", {})])
        memory = ["--memory", "64T"] if SANITIZED else []
        done = subprocess.run(["node", os.path.join(HERE, "client.js"), PACKAGES, calls, FAULTLINE,
                               "mcp", *memory, SAMPLE], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        got = json.loads(done.stdout)
        self.assertEqual(got["server"]["name"], "faultline")
        self.assertEqual(got["capabilities"], {"tools": {}})
        self.assertIn("untrusted data", got["instructions"])
        self.assertEqual(set(got["tools"]), {name for name, _ in CALLS})
        results = got["results"]
        self.assertEqual([result["isError"] for result in results],
                         [False] * (len(CALLS) - 2) + [True] * 2)
        for (name, _), result in zip(CALLS[:-2], results):
            self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"],
                             name)
        self.assertEqual(results[0]["structuredContent"]["traces"][0]["name"], SAMPLE)
        self.assertEqual(results[10]["structuredContent"], {"columns": ["n"], "rows": [[1]]})
        self.assertIn("only SELECT", results[-2]["content"][0]["text"])
        self.assertIn("no such trace", results[-1]["content"][0]["text"])
        self.assertEqual(got["errors"], [["nothing", -32602]])
        self.assertTrue(got["aborted"])
        self.assertEqual(got["afterwards"]["structuredContent"]["rows"], [[7]])


if __name__ == "__main__":
    unittest.main()
