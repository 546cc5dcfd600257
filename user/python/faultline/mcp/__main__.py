# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""faultline mcp: its command line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from typing import NoReturn, Optional, Sequence

from .. import __version__
from .._program import find_program
from .answers import escape
from .child import Children
from .protocol import Server
from .tools import TraceTools
from .traces import Traces

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
LEVELS = ("error", "info", "debug")


def fail(text: str) -> NoReturn:
    print(f"faultline: {escape(text)}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        fail(f"mcp: {message}")


def parse(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = Parser(prog="python3 -m faultline.mcp", description="Serves traces to an assistant "
                    "(Model Context Protocol on standard input and output).")
    parser.add_argument("--time", type=float, default=50.0, metavar="SECONDS",
                        help="time limit of an answer (default: 50)")
    parser.add_argument("--memory", type=int, default=1 << 30, metavar="BYTES",
                        help="memory budget of a report (default: 1 GiB)")
    parser.add_argument("--answer", type=int, default=32 << 10, metavar="BYTES",
                        help="maximum size of an answer (default: 32 KiB)")
    parser.add_argument("--log", choices=LEVELS, default="info", help="messages on standard error")
    parser.add_argument("traces", nargs="+", metavar="TRACE|DIRECTORY")
    options = parser.parse_args(arguments)
    if min(options.time, options.memory, options.answer) <= 0:
        parser.error("limits must be positive")
    return options


def main(arguments: Optional[Sequence[str]] = None) -> None:
    options = parse(arguments)

    def log(level: str, text: str) -> None:
        if LEVELS.index(level) <= LEVELS.index(options.log):
            for line in text.splitlines():
                print(f"faultline: mcp: {escape(line)}", file=sys.stderr, flush=True)

    if sys.stdin is None or sys.stdout is None:
        fail("mcp: standard input or output is closed; a client of the Model Context Protocol "
             "starts this command")
    try:
        traces = Traces(options.traces)
        children = Children(options.time)
        tools = TraceTools(find_program(), __version__, traces, children, options.memory,
                           options.answer, lambda text: log("debug", text))
    except FileNotFoundError as error:
        fail(f"{error.filename}: no such file or directory" if error.filename else str(error))
    except OSError as error:
        fail(f"{error.filename or 'mcp'}: {error.strerror}")
    # Only messages of the protocol may be on standard output.
    outgoing, sys.stdout = sys.stdout.buffer, sys.stderr

    def stop() -> None:
        children.close()
        tools.databases.remove()

    def stop_after_signal() -> NoReturn:
        signal.sigwait(ENDING)
        stop()
        os._exit(0)

    # A handler would only run when the main thread has read more input.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    threading.Thread(target=stop_after_signal, daemon=True).start()
    try:
        count = len(traces.list())
        log("info", f"serving {count} trace{'s' * (count != 1)} on standard input and output")
        Server(tools, sys.stdin.buffer, outgoing, lambda text: log("error", text)).serve()
    except OSError as error:
        fail(f"standard input cannot be read: {error.strerror or error}")
    finally:
        stop()
        try:
            outgoing.flush()
        except OSError:
            os._exit(0)  # the client is gone; nothing is left to do


if __name__ == "__main__":
    main()
