# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sessions with `faultline mcp`."""

import json
import os
import select
import subprocess
import time

FAULTLINE = os.path.abspath(os.environ.get("FAULTLINE", "build/faultline"))
SAMPLE, SPANS = (os.path.join("tests", "golden", name) for name in ("sample.flt", "spans.flt"))
LIMIT = 60  # seconds; only to stop a test that hangs
with open(FAULTLINE, "rb") as program:
    # The address sanitizer reserves more than any limit.
    SANITIZED = b"__asan_init" in program.read()


class Session:
    """A server for `arguments`. Ends with the `with` block; then `status` and `messages` (stderr) are
    known."""

    def __init__(self, *arguments, version="2025-06-18", command=(FAULTLINE, "mcp"), **environment):
        self.number, self.buffer, self.version = 0, b"", version
        memory = ["--memory", str(1 << 46)] if SANITIZED else []
        self.process = subprocess.Popen([*command, *memory, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=dict(os.environ, **environment))

    def __enter__(self):
        if self.version:
            self.initialized = self.request("initialize", {
                "protocolVersion": self.version, "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}})["result"]
            self.notify("notifications/initialized")
        return self

    def __exit__(self, *_):
        try:
            _, self.messages = self.process.communicate(timeout=LIMIT)
        finally:
            self.process.kill()
            self.process.wait()
        self.status = self.process.returncode

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self):
        until = time.monotonic() + LIMIT
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], until - time.monotonic())
            piece = ready and os.read(self.process.stdout.fileno(), 1 << 20)
            assert piece, "no answer: " + ("the server ended" if ready else "it takes too long")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        self.send(json.dumps(message).encode() + b"\n")

    def ask(self, method, params=None):
        """Sends a request and returns its id."""
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}}
        self.send(json.dumps(message).encode() + b"\n")
        return self.number

    def request(self, method, params=None):
        number = self.ask(method, params)
        answer = self.receive()
        assert answer["id"] == number, answer
        return answer

    def result(self, tool, arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def call(self, tool, **arguments):
        """Returns the answer of a tool, which must not be an error."""
        result = self.result(tool, {key.rstrip("_"): value for key, value in arguments.items()})
        assert not result["isError"], result
        answer = json.loads(result["content"][0]["text"])
        assert answer == result["structuredContent"], result
        return answer

    def refused(self, tool, **arguments):
        """Returns the text of a tool's error."""
        result = self.result(tool, {key.rstrip("_"): value for key, value in arguments.items()})
        assert result["isError"] and "structuredContent" not in result, result
        return result["content"][0]["text"]
