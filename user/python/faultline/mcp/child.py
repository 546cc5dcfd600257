# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs programs, one at a time, with limits on time, memory and output."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from typing import Optional, Sequence, Tuple

from .answers import ToolError
from .protocol import Cancelled

OUTPUT_MAX = 64 << 20
WHY = "narrow with from, until or another filter, or start the server with a larger"


class Children:
    """begin() starts the time of an answer; cancel(), in another thread, ends it and what it runs."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.lock = threading.Lock()
        self.child: Optional["subprocess.Popen[bytes]"] = None
        self.cancelled = self.closed = False
        self.end = 0.0

    def begin(self) -> None:
        with self.lock:  # otherwise, it could undo a concurrent close()
            self.cancelled = self.closed
        self.end = time.monotonic() + self.seconds

    def cancel(self) -> None:
        with self.lock:
            self.cancelled = True
            if self.child:
                self.child.kill()

    def close(self) -> None:
        """Ends what runs, and starts nothing more."""
        self.closed = True
        self.cancel()

    def left(self) -> float:
        """Seconds until the answer is due."""
        return self.end - time.monotonic()

    def run(self, command: Sequence[str], memory: int, seconds: float = float("inf"),
            output_max: int = OUTPUT_MAX, text: str = "") -> Tuple[bytes, str]:
        """Runs a command with `text` on its standard input, within the time that is left. Returns
        its output, and what it wrote to stderr. Raises ToolError if it fails without output."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, \
                tempfile.TemporaryFile() as errors:
            given.write(text.encode())
            given.seek(0)
            self._start(command, given.fileno(), output.fileno(), errors.fileno(), memory, output_max)
            status = self._wait(min(seconds, self.left()))
            output.seek(0)
            errors.seek(0)
            messages = errors.read(1 << 16).decode(errors="backslashreplace").strip()
            if status == -signal.SIGXFSZ or os.fstat(output.fileno()).st_size >= output_max:
                raise ToolError(f"stopped: wrote more than {output_max >> 20} MiB; narrow with "
                                "columns, from, until or another filter")
            answer = output.read()
        if status < 0:
            raise ToolError(f"ended by {signal.Signals(-status).name}, perhaps for lack of memory; "
                            f"{WHY} --memory")
        if status and not answer:
            raise ToolError(messages or f"{os.path.basename(command[0])} failed with status {status}")
        return answer, messages

    def _start(self, command: Sequence[str], given: int, output: int, errors: int, memory: int,
               output_max: int) -> None:
        with self.lock:
            if self.cancelled:
                raise Cancelled
            try:
                self.child = subprocess.Popen(command, stdin=given, stdout=output, stderr=errors)
            except OSError as error:
                raise ToolError(f"cannot run {command[0]}: {error.strerror}") from error
            try:
                for limit, value in ((resource.RLIMIT_DATA, memory),
                                     (resource.RLIMIT_FSIZE, output_max),
                                     (resource.RLIMIT_CORE, 0)):
                    hard = resource.prlimit(self.child.pid, limit)[1]
                    if hard == resource.RLIM_INFINITY or value < hard:
                        resource.prlimit(self.child.pid, limit, (value, value))
            except ProcessLookupError:
                pass  # it has ended

    def _wait(self, seconds: float) -> int:
        assert self.child
        try:
            status = self.child.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            raise ToolError(f"stopped after {seconds:.0f} s; {WHY} --time") from None
        finally:
            with self.lock:
                self.child.kill()  # also if the server is interrupted
                self.child.wait()
                self.child = None
        if self.cancelled:
            raise Cancelled
        return status
