# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The Model Context Protocol on standard input and output: one JSON-RPC 2.0 message per line.

Calls of tools run in a second thread, one after the other; all else is answered at once, so that a
client can cancel a call, or ping the server.
"""

from __future__ import annotations

import json
import queue
import threading
import traceback
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, Optional, Union

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
WITH_BATCHES = "2025-03-26"
STRUCTURED_SINCE = "2025-06-18"
LINE_MAX = 1 << 20  # bytes of a message
WAITING_MAX = 64    # messages that wait for the thread
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL_ERROR, BUSY = (
    -32700, -32600, -32601, -32602, -32603, -32000)

Message = Dict[str, Any]
Id = Union[str, int, None]


class RpcError(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Cancelled(Exception):
    """The client no longer wants the answer."""


class Tools:
    """What the server serves. begin() and call() run in the second thread; cancel() in the first, at
    any time after begin()."""
    information: Message  # serverInfo
    instructions: str
    descriptions: List[Message]

    def begin(self) -> None:
        raise NotImplementedError

    def call(self, name: str, arguments: Message) -> Message:
        """Returns "content", "structuredContent" and "isError". Raises RpcError for an unknown
        name, Cancelled after cancel()."""
        raise NotImplementedError

    def cancel(self) -> None:
        raise NotImplementedError


def failure(request_id: Id, error: RpcError) -> Message:
    return {"jsonrpc": "2.0", "id": request_id,
            "error": {"code": error.code, "message": str(error)}}


def lines(stream: BinaryIO) -> Iterator[Optional[bytes]]:
    """The lines of a stream; None for one that is too long."""
    while True:
        line = stream.readline(LINE_MAX)
        if not line:
            return
        if line.endswith(b"\n") or len(line) < LINE_MAX:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LINE_MAX)
        yield None


def no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parse(line: Optional[bytes]) -> Any:
    if line is None:
        raise RpcError(INVALID_REQUEST, f"a message may have at most {LINE_MAX} bytes")
    try:
        return json.loads(line.decode(), parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"not JSON: {error}") from None


def id_in(message: Any, member: str = "id") -> Id:
    """Returns the id in a message; None if it has none that is valid."""
    request_id = message.get(member) if isinstance(message, dict) else None
    return request_id if isinstance(request_id, (str, int)) and \
        not isinstance(request_id, bool) else None


def is_response(message: Any) -> bool:
    return isinstance(message, dict) and "method" not in message and \
        ("result" in message or "error" in message)


def check(message: Any) -> None:
    """Raises RpcError unless the message is a request or a notification."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "not a JSON-RPC 2.0 message")
    if not isinstance(message.get("method"), str):
        raise RpcError(INVALID_REQUEST, "the message has no method")
    if not isinstance(message.get("params", {}), dict):
        raise RpcError(INVALID_REQUEST, "params must be an object")
    if "id" in message and id_in(message) is None:
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer")


class Task:
    """A message and, once `done`, its answer, if it has one."""

    def __init__(self, message: Any) -> None:
        self.message = message
        self.answer: Optional[Message] = None
        self.done = self.cancelled = False

    def finish(self, answer: Optional[Message]) -> None:
        self.answer, self.done = answer, True


class Server:
    def __init__(self, tools: Tools, incoming: BinaryIO, outgoing: BinaryIO,
                 log: Callable[[str], None]) -> None:
        self.tools, self.incoming, self.outgoing, self.log = tools, incoming, outgoing, log
        self.version = ""  # agreed with the client; empty before
        self.lock = threading.Lock()  # of what follows, and of `outgoing`
        self.waiting: "queue.Queue[Union[Task, List[Task], None]]" = queue.Queue(WAITING_MAX)
        self.calls: Dict[Id, Task] = {}  # without an answer as yet
        self.running: Optional[Task] = None
        self.methods: Dict[str, Callable[[Message], Message]] = {
            "initialize": self.initialize, "ping": lambda _: {},
            "tools/list": lambda _: {"tools": self.tools.descriptions}, "tools/call": self.call}

    def serve(self) -> None:
        """Returns after the end of the input, when all messages are answered."""
        thread = threading.Thread(target=self.work, daemon=True)
        thread.start()
        for line in lines(self.incoming):
            if line is not None and not line.strip():
                continue
            try:
                self.take(parse(line))
            except RpcError as error:
                self.send(failure(None, error))
        self.waiting.put(None)
        thread.join()

    def take(self, message: Any) -> None:
        """Answers a message, or leaves it to the second thread."""
        if isinstance(message, list):
            if self.version != WITH_BATCHES or not message:
                raise RpcError(INVALID_REQUEST, "this protocol version has no batches"
                               if message else "an empty batch")
            self.put([self.begin(item) for item in message if not self.ignores(item)])
        elif not self.ignores(message):
            self.put(self.begin(message))

    def ignores(self, message: Any) -> bool:
        """Whether it is a response, which has no answer."""
        if not is_response(message):
            return False
        self.log("ignored a response: the server sends no requests")
        return True

    def begin(self, message: Any) -> Task:
        """Answers a message, unless it is a call, which the client can cancel from now on."""
        task = Task(message)
        if isinstance(message, dict) and message.get("method") == "tools/call" and \
                id_in(message) is not None:
            with self.lock:
                if self.calls.setdefault(message["id"], task) is not task:
                    task.finish(failure(None, RpcError(
                        INVALID_REQUEST, f"the id {message['id']!r} is in use")))
        else:
            task.finish(self.answer(message))
        return task

    def put(self, work: Union[Task, List[Task]]) -> None:
        tasks = work if isinstance(work, list) else [work]
        calls = [task for task in tasks if not task.done]
        if calls:
            try:
                self.waiting.put_nowait(work)
                return
            except queue.Full:
                for task in calls:
                    task.finish(failure(task.message["id"], RpcError(
                        BUSY, "too many requests at once")))
        self.finish(work, calls)

    def work(self) -> None:
        while True:
            work = self.waiting.get()
            if work is None:
                return
            calls = [task for task in (work if isinstance(work, list) else [work])
                     if not task.done]
            for task in calls:
                self.run(task)
            self.finish(work, calls)

    def run(self, task: Task) -> None:
        with self.lock:
            wanted = not task.cancelled
            self.running = task
            self.tools.begin()
        task.finish(self.answer(task.message) if wanted else None)
        with self.lock:
            self.running = None

    def finish(self, work: Union[Task, List[Task]], calls: List[Task]) -> None:
        """Sends the answers of a batch or a message; frees the ids of its calls."""
        with self.lock:
            for task in calls:
                del self.calls[task.message["id"]]
                if task.cancelled:
                    task.answer = None
        if isinstance(work, list):
            self.send([task.answer for task in work if task.answer] or None)
        else:
            self.send(work.answer)

    def answer(self, message: Any) -> Optional[Message]:
        """The response to a request; None for a notification."""
        request_id = id_in(message)
        try:
            check(message)
            if "id" not in message:
                self.notice(message)
                return None
            method, params = message["method"], message.get("params", {})
            if method not in self.methods:
                raise RpcError(NO_METHOD, f"unknown method {method[:80]!r}")
            if not self.version and method not in ("initialize", "ping"):
                raise RpcError(INVALID_REQUEST, f"{method} before initialize")
            return {"jsonrpc": "2.0", "id": request_id, "result": self.methods[method](params)}
        except RpcError as error:
            return failure(request_id, error)
        except Cancelled:
            return None
        except Exception:  # a mistake of ours must not end the server
            self.log(traceback.format_exc())
            return failure(request_id, RpcError(INTERNAL_ERROR, "internal error; the server's "
                                                "standard error has details"))

    def send(self, message: Any) -> None:
        if message is None:
            return
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self.lock:
            try:
                self.outgoing.write(line)
                self.outgoing.flush()
            except OSError as error:  # the end of the input follows
                self.log(f"cannot answer: {error.strerror}")

    # --- methods ---

    def initialize(self, params: Message) -> Message:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise RpcError(INVALID_PARAMS, "protocolVersion must be a string; versions are " +
                           ", ".join(VERSIONS))
        self.version = asked if asked in VERSIONS else VERSIONS[0]
        return {"protocolVersion": self.version, "capabilities": {"tools": {}},
                "serverInfo": self.tools.information, "instructions": self.tools.instructions}

    def call(self, params: Message) -> Message:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, "name must be a string")
        if not isinstance(arguments, (dict, type(None))):
            raise RpcError(INVALID_PARAMS, "arguments must be an object")
        result = self.tools.call(name, arguments or {})
        if self.version < STRUCTURED_SINCE:
            result.pop("structuredContent", None)
        return result

    def notice(self, message: Message) -> None:
        """Takes a notification; unknown ones are ignored."""
        if message["method"] != "notifications/cancelled":
            return
        with self.lock:
            task = self.calls.get(id_in(message.get("params"), "requestId"))
            if task:
                task.cancelled = True
                # With the lock: otherwise, the next call could begin first, and be cancelled.
                if self.running is task:
                    self.tools.cancel()
