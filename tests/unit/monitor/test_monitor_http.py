#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service's HTTP server, tested with Python's client, raw sockets and noise on the
pages of http_pages.c. Checks only what HTTP demands."""
import gzip
import http.client
import os
import random
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _jobs_served import Program  # noqa: E402
import _together  # noqa: E402
from _directory import InDirectory  # noqa: E402

BUILD = os.environ["BUILD"]
TOKEN = "0123456789abcdef-secret"


class Server(Program):
    def __init__(self, listen="127.0.0.1:0", *options):
        super().__init__("http_pages", listen, *options)
        self.port = int(self.address.rsplit(":", 1)[1].rstrip("/")) \
            if self.address.startswith("http") else None

    def connect(self):
        if self.port is None:
            caller = socket.socket(socket.AF_UNIX)
            caller.connect(self.address[len("unix:"):])
            return caller
        return socket.create_connection(("127.0.0.1", self.port), 20)

    def raw(self, data, end=False):
        """The whole response, until the server hangs up."""
        with self.connect() as caller:
            send(caller, data, end)
            return read_all(caller)

    def ask(self, method, path, body=None, **headers):
        caller = http.client.HTTPConnection("127.0.0.1", self.port or 1, timeout=20)
        if self.port is None:
            caller.sock = self.connect()
        try:
            caller.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
            answer = caller.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            caller.close()


def send(caller, data, end):
    """The server may hang up during the transfer."""
    caller.settimeout(20)
    try:
        caller.sendall(data)
        if end:
            caller.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def read_all(caller):
    parts = []
    try:
        while True:
            part = caller.recv(1 << 16)
            if not part:
                break
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def refusal(*arguments):
    """Exit status and stderr of a server that must not start."""
    done = subprocess.run([f"{BUILD}/tests/unit/http_pages", *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=20)
    return done.returncode, done.stderr


class Base(InDirectory):
    def token_file(self, text=TOKEN + "\n", mode=0o600):
        return self.file("token", text, mode)

    def check_refused(self, words, *arguments):
        status, remarks = refusal(*arguments)
        self.assertEqual((status, remarks.count("\n")), (2, 1), remarks)
        self.assertIn(words, remarks)


class Routes(Base):
    def test_answers(self):
        with Server() as server:
            status, body, headers = server.ask("GET", "/bytes?count=300000")
            self.assertEqual((status, body), (200, b"x" * 300000))
            self.assertEqual(headers["Content-Type"], "text/plain")
            self.assertEqual(server.ask("GET", "/bytes")[:2], (200, b""))
            self.assertEqual(server.ask("POST", "/take", b"\0\xffabc")[:2], (200, b"taken"))
            status, body, headers = server.ask("HEAD", "/bytes?count=7")
            self.assertEqual((status, body, headers["Content-Length"]), (200, b"", "7"))
            self.assertEqual(server.ask("GET", "/header?name=X-Some", X_Some="a b")[1], b"a b")

    def test_compressed_if_accepted(self):
        with Server() as server:
            for accepts, yes in (("gzip", True), ("deflate, gzip;q=1.0, *;q=0.5", True),
                                 ("GZIP", True), ("*", True), ("gzip;q=0.001", True),
                                 ("gzip;q=0", False), ("gzip; q=0, *", False), ("*;q=0", False),
                                 ("identity", False), ("br", False), ("", False),
                                 (",, ;,gzipped", False)):
                status, body, headers = server.ask("GET", "/bytes?count=300000",
                                                   Accept_Encoding=accepts)
                self.assertEqual((status, headers["Content-Encoding"]),
                                 (200, "gzip" if yes else None), accepts)
                if yes:
                    self.assertLess(len(body), 3000)
                    body = gzip.decompress(body)
                self.assertEqual(body, b"x" * 300000)
                self.assertEqual(headers["Content-Type"], "text/plain")
            # short bodies are not compressed
            self.assertEqual(server.ask("GET", "/bytes?count=10", Accept_Encoding="gzip")[1],
                             b"x" * 10)

    def test_unknown_paths_and_methods(self):
        with Server() as server:
            for path in "/", "/byte", "/bytes/", "//bytes", "/../bytes", "/%00":
                self.assertEqual(server.ask("GET", path)[0], 404, path)
            status, _, headers = server.ask("POST", "/bytes", b"")
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))
            status, _, headers = server.ask("GET", "/take")
            self.assertEqual((status, headers["Allow"]), (405, "POST"))
            for method in "OPTIONS", "TRACE", "DELETE", "CONNECT", "FROBNICATE":
                self.assertEqual(server.ask(method, "/bytes")[0], 405, method)
            self.assertNotIn(b"byte", server.ask("GET", "/<script>byte")[1])

    def test_one_caller_with_many_requests(self):
        with Server() as server:
            caller = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            for count in range(200):
                caller.request("GET", f"/bytes?count={count}")
                self.assertEqual(len(caller.getresponse().read()), count)
            caller.close()
            both = b"GET /bytes?count=3 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2
            answers = server.raw(both, end=True)
            self.assertEqual(answers.count(b"200 OK"), 2)

    def test_headers_keep_a_browser_from_harm(self):
        with Server() as server:
            for path, policy in (("/bytes", "default-src 'none'; frame-ancestors 'none'"),
                                 ("/nothing", "default-src 'none'; frame-ancestors 'none'"),
                                 ("/header?name=Host", "default-src 'self'")):
                headers = server.ask("GET", path, Origin="http://evil.example")[2]
                self.assertEqual(headers["Content-Security-Policy"], policy)
                self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
                self.assertEqual(headers["Cache-Control"], "no-store")
                self.assertFalse([name for name in headers if name.lower().startswith("access-")])

    def test_host_must_be_this_machine(self):
        with Server() as server:
            for host in ("localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:9918", "127.9.9.9",
                         "[::1]", "[::1]:9918"):
                self.assertEqual(server.ask("GET", "/bytes", Host=host)[0], 200, host)
            for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                         "[::1]evil", "[::1", "10.0.0.1", "localhost:80:90", "localhost:x", "x127.1",
                         "localhost@evil.example", ":80"):
                self.assertEqual(server.ask("GET", "/bytes", Host=host)[0], 421, host)
        with Server("0.0.0.0:0") as server:
            self.assertEqual(server.ask("GET", "/bytes", Host="node01:9918")[0], 200)
        with Server("unix:" + self.path("s")) as server:
            self.assertEqual(server.ask("GET", "/bytes", Host="anything")[0], 200)


class Limits(Base):
    def test_bodies_and_headers(self):
        with Server() as server:
            self.assertEqual(server.ask("POST", "/take", b"a" * 16384)[:2], (200, b"taken"))
            self.assertEqual(server.ask("POST", "/take", b"a" * 16385)[0], 413)
            chunks = b"".join(b"2000\r\n" + b"b" * 0x2000 + b"\r\n" for _ in range(3)) + b"0\r\n\r\n"
            head = b"POST /take HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" \
                b"Connection: close\r\n\r\n"
            self.assertIn(b" 413 ", server.raw(head + chunks).split(b"\r\n")[0])
            for line in b"GET /" + b"a" * 100000, b"GET / HTTP/1.1\r\nX: " + b"a" * 100000:
                self.assertRegex(server.raw(line + b"\r\n\r\n", end=True)[:40],
                                 rb"\AHTTP/1.1 4(13|14|31) |\A\Z")
            self.assertEqual(server.ask("GET", "/bytes")[0], 200)

    def test_slow_sender_is_disconnected(self):
        with Server("127.0.0.1:0", "--ms", "600") as server:
            begun = time.monotonic()
            with server.connect() as slow, server.connect() as silent:
                slow.settimeout(20)
                slow.sendall(b"GET /bytes HTTP/1.1\r\n")
                try:
                    for _ in range(400):  # slow but steady sending is cut off as well
                        slow.sendall(b"X")
                        time.sleep(0.05)
                    self.fail("may send for ever")
                except (BrokenPipeError, ConnectionResetError):
                    pass
                self.assertEqual(read_all(silent), b"")
            self.assertGreater(time.monotonic() - begun, 0.6)

    @staticmethod
    def slow_readers(server, count):
        """Clients that are owed ten million bytes each, and do not read yet."""
        slow = []
        for _ in range(count):
            caller = socket.socket()
            caller.settimeout(20)
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            caller.connect(("127.0.0.1", server.port))
            caller.sendall(b"GET /bytes?count=10000000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            caller.recv(1, socket.MSG_PEEK)  # the response has been generated
            slow.append(caller)
        return slow

    def test_slow_reader_is_disconnected(self):
        with Server("127.0.0.1:0", "--ms", "1500") as server:
            slow = self.slow_readers(server, 1)
            time.sleep(2.5)
            for caller in slow:
                self.assertLess(len(read_all(caller)), 10000000)
                caller.close()
            self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))

    def test_slow_reader_blocks_no_one(self):
        """The client connected longest gives way to a new one; those within their time stay."""
        with Server("127.0.0.1:0", "--ms", "60000", "--bytes", "20000000") as server:
            slow = self.slow_readers(server, 3)
            time.sleep(2.5)  # over a thirtieth of a response's time limit
            for _ in range(3):
                self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))
            self.assertLess(len(read_all(slow[0])), 10000000)
            for caller in slow[1:]:
                with caller.makefile("rb") as answer:
                    while answer.readline() != b"\r\n":
                        pass
                    self.assertEqual(len(answer.read(10000000)), 10000000)
            for caller in slow:
                caller.close()

    def test_reader_within_its_time_keeps_its_slot(self):
        with Server("127.0.0.1:0", "--ms", "3000000", "--bytes", "20000000") as server:
            slow = self.slow_readers(server, 3)
            status, _, headers = server.ask("GET", "/bytes?count=3")
            self.assertEqual((status, headers["Retry-After"]), (503, "2"))
            for caller in slow:
                caller.close()
            deadline = time.monotonic() + 20
            while server.ask("GET", "/bytes?count=3")[0] != 200:
                self.assertLess(time.monotonic(), deadline)

    def test_incomplete_request_gives_way(self):
        """A client without a complete request does not keep a slot that another needs."""
        heads = (b"", b"GET /bytes HTTP/1.1\r\nHost: loc",
                 b"POST /take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nfew")
        with Server("unix:" + self.path("s"), "--callers", "8") as server:
            for head in heads:
                slow = [server.connect() for _ in range(24)]
                for caller in slow:
                    send(caller, head, False)
                for _ in range(20):
                    self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"), head)
                reported = 0
                for caller in slow:
                    caller.settimeout(0.2)
                    try:
                        reported += b" 503 " in caller.recv(4096)
                    except TimeoutError:
                        pass
                self.assertGreaterEqual(reported, 17)
                for caller in slow:
                    caller.close()

    def test_queued_client_is_served(self):
        ask = b"GET /bytes?count=3 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with Server("unix:" + self.path("s"), "--callers", "8") as server:
            first = [server.connect() for _ in range(8)]
            for caller in first:
                caller.sendall(ask)
            others = [server.connect() for _ in range(100)]
            for caller in first:
                caller.settimeout(20)
                self.assertIn(b" 200 ", caller.recv(4096))
            for caller in first + others:
                caller.close()

    def test_too_many_clients(self):
        with Server("127.0.0.1:0", "--callers", "8") as server:
            first = [server.connect() for _ in range(8)]
            for caller in first:
                caller.sendall(b"GET /bytes?count=2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b"200 OK", caller.recv(4096))
            for _ in range(20):
                status, body, headers = server.ask("GET", "/bytes")
                self.assertEqual((status, body), (503, b"too many clients; try again later\n"))
                self.assertEqual(headers["Retry-After"], "2")
            # idle clients give way
            time.sleep(2.2)
            deadline = time.monotonic() + 20
            while server.ask("GET", "/bytes")[0] != 200:
                self.assertLess(time.monotonic(), deadline)
            for caller in first:
                caller.close()

    def test_the_idle_give_way_when_descriptors_run_out(self):
        """Idle clients give way even if a slot is free but no descriptor is."""
        with Server("127.0.0.1:0", "--callers", "200") as server:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (60, 60))
            idle = [server.connect() for _ in range(150)]
            for _ in range(20):
                self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))
            for caller in idle:
                caller.close()
            self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))

    def test_thousands_at_once(self):
        limit = min(10000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 200)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, limit + 200), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with Server("unix:" + self.path("s")) as server:
            pid = server.process.pid
            callers = [server.connect() for _ in range(limit)]
            # all are connected, and each gets an answer
            reported = served = 0
            for caller in callers:
                caller.settimeout(20)
                try:
                    caller.sendall(b"GET /bytes HTTP/1.0\r\n\r\n")
                except BrokenPipeError:
                    pass
                line = read_all(caller).split(b"\r\n")[0]
                reported += b" 503 " in line
                served += b" 200 " in line
            self.assertEqual(reported + served, limit)
            self.assertGreater(reported, 0)
            self.assertLess(len(os.listdir(f"/proc/{pid}/fd")), 400)
            for caller in callers:
                caller.close()
            self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))


class Noise(Base):
    def test_noise_is_tolerated(self):
        pieces = [b"GET ", b"POST ", b"/bytes", b"/take", b"/guarded", b"?count=", b"99", b" HTTP/1.1",
                  b" HTTP/9.9", b"\r\n", b"\n", b"\r", b"Host: localhost", b"Content-Length: ",
                  b"18446744073709551616", b"-1", b"Transfer-Encoding: chunked", b"ffffffffffffffff",
                  b"0\r\n\r\n", b"Expect: 100-continue", b":", b"\0", b"%", b"%zz", b" ", b"\t",
                  b"Connection: Upgrade", b"Authorization: Bearer ", b"a" * 5000, b"\xff\xfe"]
        options = "--ms", "2000", "--callers", "200", "--token-file", self.token_file()
        with Server("127.0.0.1:0", *options) as server:
            for first in 0, 150, 300:
                callers = []
                for seed in range(first, first + 150):
                    chance = random.Random(seed)
                    data = b"".join(chance.choice(pieces) for _ in range(chance.randint(1, 30)))
                    if seed % 4 == 0:
                        data = chance.randbytes(chance.randint(1, 600))
                    elif seed % 4 == 1:
                        data = b"POST /take HTTP/1.1\r\nHost: localhost\r\n" + data
                    callers.append(server.connect())
                    send(callers[-1], data, end=seed % 3)
                for caller in callers:
                    self.assertRegex(read_all(caller)[:9], rb"\A(HTTP/1\.[01] )?\Z")
                    caller.close()
            self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))

    def test_early_disconnects(self):
        with Server() as server:
            for _ in range(50):
                with server.connect() as caller:
                    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    caller.sendall(b"GET /bytes?count=3000000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))


class Guarded(Base):
    def test_not_without_the_token(self):
        with Server("127.0.0.1:0", "--token-file", self.token_file()) as server:
            right = "Bearer " + TOKEN
            self.assertEqual(server.ask("POST", "/guarded", b"go", Authorization=right)[:2],
                             (200, b"taken"))
            for wrong in (None, "", "Bearer", "Bearer ", right + "x", right[:-1], right.upper(),
                          "Basic " + TOKEN, TOKEN, "Bearer  " + TOKEN, right + TOKEN):
                headers = {} if wrong is None else {"Authorization": wrong}
                status, body, headers = server.ask("POST", "/guarded", b"go", **headers)
                self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"), wrong)
                self.assertNotIn(b"taken", body.split(b": ")[0])
            self.assertEqual(server.ask("GET", "/guarded", Authorization=right)[0], 405)

    def test_without_a_token_file_only_by_a_socket(self):
        with Server() as server:
            self.assertEqual(server.ask("POST", "/guarded", b"go", Authorization="Bearer ")[0], 403)
        with Server("unix:" + self.path("s")) as server:
            self.assertEqual(server.ask("POST", "/guarded", b"go")[:2], (200, b"taken"))

    def test_not_from_another_machine(self):
        # a non-loopback address of this machine: connections to it come from it, too
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside:
            try:
                outside.connect(("192.0.2.1", 9))
            except OSError:
                self.skipTest("there is no network")
            address = outside.getsockname()[0]
        with Server("0.0.0.0:0", "--token-file", self.token_file()) as server:
            caller = http.client.HTTPConnection(address, server.port, timeout=20)
            caller.request("POST", "/guarded", b"go", {"Authorization": "Bearer " + TOKEN})
            self.assertEqual(caller.getresponse().status, 403)
            caller.close()
            self.assertEqual(server.ask("POST", "/guarded", b"go",
                                        Authorization="Bearer " + TOKEN)[0], 200)

    def test_token_files(self):
        listen = "127.0.0.1:0"
        for mode in 0o640, 0o604, 0o620, 0o602, 0o666:
            self.check_refused("others can read or change it", listen, "--token-file",
                               self.token_file(mode=mode))
        for text, words in (("", "has 0 characters"), ("short\n", "has 5 characters"),
                            ("two\nlines of characters\n", "printable"), ("blank " * 9, "printable"),
                            ("x" * 257, "more than 256"), ("x" * 5000, "more than 256")):
            self.check_refused(words, listen, "--token-file", self.token_file(text))
        if os.geteuid() == 0:
            path = self.token_file()
            os.chown(path, 65534, 65534)
            self.check_refused("belongs to another user", listen, "--token-file", path)
            os.unlink(path)
        self.check_refused("No such file", listen, "--token-file", self.path("none"))
        self.check_refused("not a regular file", listen, "--token-file", self.directory)
        os.mkfifo(self.path("fifo"))
        self.check_refused("not a regular file", listen, "--token-file", self.path("fifo"))


class Places(Base):
    def test_invalid_addresses(self):
        for listen in ("", "9918", ":9918", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1",
                       "127.0.0.1:65536", "127.0.0.1:99180", "::1:9918", "[::1]", "[::1]9918", "[]:1",
                       "300.1.1.1:80", "some.name:80", "[127.0.0.1:80", "127.0.0.1:80 "):
            self.check_refused("not ADDRESS:PORT", listen)
        self.check_refused("the path is empty", "unix:")
        self.check_refused("exceeds 107 bytes", "unix:/" + "x" * 107)
        self.check_refused("Cannot assign requested address", "192.0.2.1:0")

    def test_port_in_use(self):
        with Server() as server:
            self.check_refused("Address already in use; is another monitor running?",
                               f"127.0.0.1:{server.port}")
            self.assertEqual(server.ask("GET", "/bytes")[0], 200)

    def test_version_six(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            self.skipTest("there is no IPv6")
        with Server("[::1]:0") as server:
            self.assertRegex(server.address, r"\Ahttp://\[::1\]:\d+/\Z")
            caller = http.client.HTTPConnection("::1", server.port, timeout=20)
            caller.request("GET", "/bytes?count=3")
            self.assertEqual(caller.getresponse().read(), b"xxx")
            caller.close()

    def test_a_socket_of_the_file_system(self):
        path = self.path("s")
        before = os.umask(0)  # whatever the umask: not accessible to others
        try:
            server = Server("unix:" + path)
        finally:
            os.umask(before)
        with server:
            self.assertEqual(server.address, "unix:" + path)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o660)
            self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))
            self.check_refused("another program listens there", "unix:" + path)
            self.assertEqual(server.ask("GET", "/bytes")[0], 200)
        self.assertFalse(os.path.exists(path))

    def test_a_socket_that_was_left_behind(self):
        path = self.path("s")
        server = Server("unix:" + path)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        for pipe in server.process.stdin, server.process.stdout, server.process.stderr:
            pipe.close()
        self.assertTrue(os.path.exists(path))
        with Server("unix:" + path) as server:
            self.assertEqual(server.ask("GET", "/bytes?count=3")[:2], (200, b"xxx"))

    def test_places_that_are_taken(self):
        path = self.file("file", "kept")
        self.check_refused("is not a socket", "unix:" + path)
        with open(path) as file:
            self.assertEqual(file.read(), "kept")
        os.symlink(self.path("nowhere"), self.path("link"))
        self.check_refused("is not a socket", "unix:" + self.path("link"))
        self.check_refused("No such file", "unix:" + self.path("none/s"))

    def test_foreign_socket_is_kept(self):
        path = self.path("s")
        with Server("unix:" + path):
            os.unlink(path)
            other = socket.socket(socket.AF_UNIX)
            other.bind(path)
        self.assertTrue(os.path.exists(path))
        other.close()


class Library(unittest.TestCase):
    """Only the serving command loads the HTTP library."""

    def test_others_do_without(self):
        needed = subprocess.run(["ldd", f"{BUILD}/faultline"], capture_output=True, text=True,
                                check=True).stdout
        self.assertIn("libzstd", needed)
        self.assertNotIn("libmicrohttpd", needed)

    def test_invalid_one_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(f"{directory}/libmicrohttpd.so.12", "wb"):
                pass
            done = subprocess.run([f"{BUILD}/tests/unit/http_pages", "127.0.0.1:0"],
                                  env={**os.environ, "LD_LIBRARY_PATH": directory},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\A[^\n]*cannot serve HTTP: [^\n]*libmicrohttpd[^\n]*\n\Z")


if __name__ == "__main__":
    _together.main()
