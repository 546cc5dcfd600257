# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`faultline mcp` and the protocol: versions, malformed messages, cancelled calls, its end."""

import io
import json
import os
import signal
import sys
import threading
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join("user", "python")]
from _session import LIMIT, SAMPLE, SPANS, Session  # noqa: E402
from faultline.mcp.protocol import Cancelled, Server, Tools  # noqa: E402

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
PING = b'{"jsonrpc":"2.0","id":"p","method":"ping"}'
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, BUSY = -32700, -32600, -32601, -32602, -32000


class Protocol(unittest.TestCase):
    def expect(self, session, line, code, answer_id=None):
        """The error of a message; the server answers the next one."""
        session.send(line + b"\n" + PING + b"\n")
        answer = session.receive()
        self.assertEqual((answer.get("id"), answer.get("error", {}).get("code")), (answer_id, code),
                         (line[:200], answer))
        self.assertEqual(session.receive(), {"jsonrpc": "2.0", "id": "p", "result": {}})
        return answer["error"]["message"]

    def test_versions(self):
        for requested, agreed in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"),
                              ("2025-03-26", "2025-03-26"), ("2024-11-05", "2024-11-05"),
                              ("1999-01-01", "2025-11-25")):
            with Session(SAMPLE, version=requested) as session:
                self.assertEqual(session.initialized["protocolVersion"], agreed)
                self.assertEqual(session.initialized["capabilities"], {"tools": {}})
                self.assertEqual(session.initialized["serverInfo"]["name"], "faultline")
                result = session.result("list_traces", {})
                self.assertEqual("structuredContent" in result, agreed >= "2025-06-18", agreed)
                self.assertEqual(json.loads(result["content"][0]["text"])["traces"][0]["events"], 44)
        self.assertEqual(session.status, 0)

    def test_malformed(self):
        with Session(SAMPLE) as session:
            for line in (b"hello", b"{", b'{"jsonrpc": "2.0", "id": 1', b"\xff\xfe", b"\0",
                         b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', b"[" * 200000,
                         b'{"jsonrpc":"2.0","id":1e,"method":"ping"}', b"{} {}"):
                self.expect(session, line, PARSE_ERROR)
            for line in (b"1", b"null", b'"ping"', b"{}", b"[]", b'{"jsonrpc":"1.0","method":"ping"}',
                         b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
                         b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
                         b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
                         b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
                         b'{"jsonrpc":"2.0","id":[],"method":"tools/call"}',
                         b'[' + PING + b']', b'{"jsonrpc":"2.0","x":"' + b"x" * (1 << 20) + b'"}'):
                self.expect(session, line, INVALID_REQUEST)
            for line in (b'{"jsonrpc":"2.0","id":7}', b'{"jsonrpc":"2.0","id":7,"method":1}',
                         b'{"id":7,"method":"ping"}',
                         b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}'):
                self.expect(session, line, INVALID_REQUEST, 7)
            for method in (b"", b"tools", b"resources/list", b"initialized", b"__init__", b"\\ud800"):
                line = b'{"jsonrpc":"2.0","id":"\\ud83d","method":"' + method + b'"}'
                self.expect(session, line, NO_METHOD, "\ud83d")
            for params, code in (
                    ("x", INVALID_REQUEST), ({}, INVALID_PARAMS), ({"name": 1}, INVALID_PARAMS),
                    ({"name": "nothing"}, INVALID_PARAMS),
                    ({"name": "list_traces", "arguments": []}, INVALID_PARAMS),
                    ({"name": "list_traces", "arguments": "x"}, INVALID_PARAMS)):
                line = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": params})
                session.send(line.encode() + b"\n")
                answer = session.receive()
                self.assertEqual((answer["id"], answer["error"]["code"]), (0, code), answer)
            for line in (b'{"jsonrpc":"2.0","method":"notifications/nothing"}',
                         b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list_traces"}}',
                         b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
                         b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
                         b'"params":{"requestId":[1]}}',
                         b"", b" \t\r", b'{"jsonrpc":"2.0","id":5,"result":{}}',
                         b'{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}'):
                session.send(line + b"\n" + PING + b"\n")  # these have no answer
                self.assertEqual(session.receive()["id"], "p", line)
        self.assertEqual(session.status, 0)
        self.assertNotIn(b"Traceback", session.messages)

    def test_arguments(self):
        """Errors of arguments are the tool's, so that an assistant corrects them."""
        with Session(SAMPLE) as session:
            for arguments, why in (({"nothing": 1}, "unknown argument nothing"),
                                   ({"traces": "x"}, "must be of type array"),
                                   ({"traces": [1]}, "must be of type string"),
                                   ({"traces": ["x"] * 300}, "0 to 256 items"),
                                   ({"traces": ["\ud800"]}, "not text"), ({"file": "a\0b"}, "not text"),
                                   ({"file": "x" * 5000}, "at most 4096"),
                                   ({"rows": 0}, "from 1 to 1000"), ({"rows": 10**30}, "to 1000"),
                                   ({"rows": True}, "type integer"), ({"pid": "1"}, "type integer"),
                                   ({"by": "colour"}, "must be one of")):
                self.assertIn(why, session.refused("report", **arguments))
            self.assertIn("query is missing", session.refused("sql"))
            self.assertIn("1 to 256 items", session.refused("compare", before=[], now=[SAMPLE]))

    def test_before_initialize(self):
        with Session(SAMPLE, version=None) as session:
            for method in (b"tools/list", b"tools/call"):
                line = b'{"jsonrpc":"2.0","id":1,"method":"' + method + b'"}'
                session.send(line + b"\n")
                self.assertIn("before initialize", session.receive()["error"]["message"])
            for params in (b"{}", b'{"protocolVersion":7}'):
                line = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":' + params + b"}"
                self.assertIn("2025-06-18", self.expect(session, line, INVALID_PARAMS, 1))

    def test_batches(self):
        """Only one version has batches."""
        call = (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
                b'{"name":"explain_finding","arguments":{"finding":"list"}}}')
        batch = b"[" + PING + b',{"jsonrpc":"2.0","method":"notifications/x"},' + call + b",3]"
        with Session(SAMPLE, version="2025-03-26") as session:
            session.send(batch + b"\n")
            answers = session.receive()
            self.assertEqual([answer["id"] for answer in answers], ["p", 1, None])
            self.assertFalse(answers[1]["result"]["isError"])
            self.assertEqual(answers[2]["error"]["code"], INVALID_REQUEST)
            self.expect(session, b"[]", INVALID_REQUEST)
            response = b'{"jsonrpc":"2.0","id":5,"result":{}}'
            session.send(b"[" + response + b"]\n[" + response + b"," + PING + b"]\n")
            self.assertEqual([answer["id"] for answer in session.receive()], ["p"])
        for version in ("2024-11-05", "2025-06-18", "2025-11-25"):
            with Session(SAMPLE, version=version) as session:
                self.assertIn("no batches", self.expect(session, batch, INVALID_REQUEST))

    def test_calls_of_batches(self):
        """They can be cancelled, have ids of their own, and do not delay the answers of others."""
        def call(number, query):
            return {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                    "params": {"name": "sql", "arguments": {"query": query}}}

        with Session(SAMPLE, version="2025-03-26") as session:
            session.send(json.dumps([call(1, ENDLESS), call(2, ENDLESS), call(3, "SELECT 3"),
                                     call(3, "SELECT 4")]).encode() + b"\n")
            self.assertIn("in use", self.expect(session, json.dumps(call(3, "SELECT 5")).encode(),
                                                INVALID_REQUEST))
            session.send(b"[" + PING + b"]\n")
            self.assertEqual([answer["id"] for answer in session.receive()], ["p"])
            session.send(json.dumps([{"jsonrpc": "2.0", "method": "notifications/cancelled",
                                      "params": {"requestId": 2}}]).encode() + b"\n")
            session.send(PING + b"\n")
            self.assertEqual(session.receive()["id"], "p")
            session.notify("notifications/cancelled", {"requestId": 1})
            answers = {answer["id"]: answer for answer in session.receive()}
            self.assertEqual(set(answers), {3, None})
            self.assertEqual(answers[3]["result"]["content"][0]["text"],
                             '{"columns":["3"],"rows":[[3]]}')
            self.assertIn("in use", answers[None]["error"]["message"])
            session.send(json.dumps([call(3, "SELECT 6"), call(4, "SELECT 7")]).encode() + b"\n")
            self.assertEqual([answer["id"] for answer in session.receive()], [3, 4])

    def test_cancelled(self):
        """A call that is cancelled ends, has no answer, and the next one does. So do calls that
        still wait."""
        with Session(SAMPLE) as session:
            session.call("sql", query="SELECT 1")
            calls = [session.ask("tools/call", {"name": "sql", "arguments": {"query": ENDLESS}})
                     for _ in range(2)]
            last = session.ask("tools/call", {"name": "sql", "arguments": {"query": "SELECT 3"}})
            session.send(PING + b"\n")
            self.assertEqual(session.receive()["id"], "p")  # is answered while the call runs
            for call in reversed(calls):
                session.notify("notifications/cancelled", {"requestId": call, "reason": "test"})
            answer = session.receive()
            self.assertEqual(answer["id"], last)
            self.assertEqual(answer["result"]["structuredContent"]["rows"], [[3]])

    def test_too_many(self):
        with Session(SAMPLE) as session:
            first = session.ask("tools/call", {"name": "sql", "arguments": {"query": ENDLESS}})
            self.assertIn("in use", self.expect(session, json.dumps(
                {"jsonrpc": "2.0", "id": first, "method": "tools/call", "params": {}}).encode(),
                INVALID_REQUEST))
            calls = [session.ask("tools/call", {"name": "list_tables", "arguments": {}})
                     for _ in range(70)]
            refused = session.receive()
            self.assertEqual(refused["error"]["code"], BUSY)
            self.assertIn(refused["id"], calls)
            session.process.send_signal(signal.SIGTERM)
        with Session(SAMPLE, version="2025-03-26") as session:
            session.ask("tools/call", {"name": "sql", "arguments": {"query": ENDLESS}})
            for number in range(0, 200, 2):
                session.send(json.dumps([
                    {"jsonrpc": "2.0", "id": number + i, "method": "tools/call",
                     "params": {"name": "list_tables"}} for i in (1000, 1001)]).encode() + b"\n")
            refused = session.receive()
            self.assertEqual([answer["error"]["code"] for answer in refused], [BUSY, BUSY])
            self.assertEqual(refused[0]["id"] + 1, refused[1]["id"])
            session.process.send_signal(signal.SIGTERM)

    def test_ends(self):
        """At the end of its input, after the answers; at once after a signal, or without a reader."""
        with Session(SAMPLE) as session:
            session.ask("tools/call", {"name": "report", "arguments": {}})
            session.send(b'{"jsonrpc":"2.0","id":9,"meth')
            session.process.stdin.close()
            self.assertEqual([session.receive(), session.receive()][1]["id"], session.number)
            session.process.stdin = None
        self.assertEqual(session.status, 0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with Session(SAMPLE) as session:
                session.ask("tools/call", {"name": "sql", "arguments": {"query": ENDLESS}})
                session.send(PING + b"\n")
                session.receive()
                session.process.send_signal(number)
                self.assertEqual(session.process.wait(30), 0)
        with Session(SAMPLE) as session:
            session.process.stdout.close()
            session.send(PING + b"\n" + PING + b"\n")
            session.process.stdin.close()
            self.assertEqual(session.process.wait(30), 0)
            self.assertNotIn(b"Traceback", session.process.stderr.read())
            session.process.stdin = session.process.stdout = None

    def test_messages(self):
        """Messages are on stderr; -q prints errors only, -v each call."""
        for option, output in (((), [b"serving 2 traces"]), (("-q",), []),
                             (("-v",), [b"serving 2 traces", b'list_traces {"rows":1}'])):
            with Session(*option, SAMPLE, SPANS) as session:
                session.call("list_traces", rows=1)
            lines = session.messages.splitlines()
            self.assertEqual(len(lines), len(output), lines)
            for line, text in zip(lines, output):
                self.assertIn(text, line)


class SlowCancel(Tools):
    """The first call ends by itself while it is being cancelled. cancel() then gives the server time
    to begin the next call, and cancels whichever runs."""
    information, instructions, descriptions = {}, "", []

    def __init__(self):
        self.begun, self.cancelled = 0, set()
        self.first_runs, self.cancelling, self.second_begun, self.cancel_over = (
            threading.Event() for _ in range(4))

    def begin(self):
        self.begun += 1
        if self.begun == 2:
            self.second_begun.set()

    def call(self, name, arguments):
        if self.begun == 1:
            self.first_runs.set()
            self.cancelling.wait(LIMIT)
        else:
            self.cancel_over.wait(LIMIT)
        if self.begun in self.cancelled:
            raise Cancelled
        return {"content": [], "isError": False}

    def cancel(self):
        self.cancelling.set()
        self.second_begun.wait(0.3)
        self.cancelled.add(self.begun)
        self.cancel_over.set()


class Waiting(Tools):
    """A call that blocks until may_end is set."""
    information, instructions, descriptions = {}, "", []

    def __init__(self):
        self.runs, self.may_end, self.cancelled = threading.Event(), threading.Event(), False

    def begin(self):
        pass

    def call(self, name, arguments):
        self.runs.set()
        self.may_end.wait(LIMIT)
        return {"content": [], "isError": False}

    def cancel(self):
        self.cancelled = True


class Input:
    """Lines; a function in place of one is called when the server has read the lines before it."""

    def __init__(self, *lines):
        self.lines = iter(lines)

    def readline(self, _):
        for line in self.lines:
            if not callable(line):
                return json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n"
            line()
        return b""


class Threads(unittest.TestCase):
    def serve(self, tools, *lines):
        """The ids of answers to initialize and these lines."""
        outgoing, output = io.BytesIO(), []
        Server(tools, Input({"id": 0, "method": "initialize",
                             "params": {"protocolVersion": "2025-06-18"}}, *lines),
               outgoing, output.append).serve()
        self.assertEqual(output, [])
        return [json.loads(line)["id"] for line in outgoing.getvalue().splitlines()]

    def test_cancelled_at_its_end(self):
        """Cancelling a call that ends at that moment does not cancel the next one."""
        tools = SlowCancel()
        call = {"method": "tools/call", "params": {"name": "any"}}
        self.assertEqual(self.serve(
            tools, {"id": 1, **call}, {"id": 2, **call}, lambda: tools.first_runs.wait(LIMIT),
            {"method": "notifications/cancelled", "params": {"requestId": 1}}), [0, 2])

    def test_no_id(self):
        """true equals 1 in Python, but is no id."""
        for value, answered in ((True, [0, 1]), (1.0, [0, 1]), (1, [0])):
            tools = Waiting()
            self.assertEqual(self.serve(
                tools, {"id": 1, "method": "tools/call", "params": {"name": "any"}},
                lambda: tools.runs.wait(LIMIT),
                {"method": "notifications/cancelled", "params": {"requestId": value}},
                lambda: tools.may_end.set()), answered, value)
            self.assertEqual(tools.cancelled, answered == [0])


if __name__ == "__main__":
    unittest.main()
