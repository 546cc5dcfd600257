# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""How a program contacts its tracers (user/span/tracer.h): this test plays the tracer, the program
is Python with the package's extension, and strace shows whether it waits unasked."""

import os
import socket
import struct
import subprocess
import sys
import unittest

from _span_listening import environment

MAGIC = 0x316B7361
NETNS = os.stat("/proc/self/ns/net").st_ino


class Tracer:
    """A socket as `faultline run` opens it."""

    def __init__(self, name, user=0):
        self.name = f"faultline-test-{os.getpid()}-{name}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(b"\0" + self.name.encode())
        if user:
            os.seteuid(user)
        self.socket.listen(5)
        if user:
            os.seteuid(0)
        self.socket.settimeout(60)
        self.entry = f"{self.name}@{NETNS}"

    def requested(self):
        """The connection of the next program, its PID and its request."""
        connection, _ = self.socket.accept()
        connection.settimeout(60)
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return connection, struct.unpack("3i", peer)[0], connection.recv(100)

    def close(self):
        self.socket.close()


def start(value, code="import faultline", before=()):
    return subprocess.Popen([*before, sys.executable, "-c", code],
                            env=environment(FAULTLINE_RUN=value), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


AS_ANOTHER = "import os; os.setuid(4321); import faultline"


def mapped_at(pid, address):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            begin, end = (int(word, 16) for word in line.split()[0].split("-"))
            if begin <= address < end:
                return line
    return None


class Asks(unittest.TestCase):
    def setUp(self):
        self.tracer = Tracer("one")
        self.addCleanup(self.tracer.close)

    def ended(self, program):
        out, err = program.communicate(timeout=60)
        self.assertEqual((program.returncode, err), (0, ""))
        return out

    def check_question(self, program, tracer):
        connection, pid, question = tracer.requested()
        self.assertEqual(pid, program.pid)
        magic, size, address = struct.unpack("=IIQ", question)
        self.assertEqual((magic, size), (MAGIC, len(question)))
        line = mapped_at(pid, address)
        self.assertIn("_core.abi3.so", line)
        self.assertIn("x", line.split()[1])
        self.assertIsNone(program.poll())
        return connection

    @unittest.skipIf(os.geteuid(), "needs root, to be two other users")
    def test_another_user(self):
        """A process that is neither root nor this user is not accepted as a tracer, and not waited
        for."""
        foreign = Tracer("foreign", user=1234)
        self.addCleanup(foreign.close)
        self.ended(start(foreign.entry, code=AS_ANOTHER, before=()))
        connection, _, question = foreign.requested()
        self.assertEqual(question, b"")
        connection.close()
        own = Tracer("own", user=4321)
        self.addCleanup(own.close)
        program = start(own.entry, code=AS_ANOTHER)
        connection, _, question = own.requested()
        self.assertEqual(len(question), 16)
        connection.close()
        self.ended(program)

    def test_answer(self):
        """It sends the file that holds its markers, and continues once answered."""
        for status in (0, -28):
            program = start(self.tracer.entry)
            connection = self.check_question(program, self.tracer)
            connection.send(struct.pack("=Ii", MAGIC, status))
            self.ended(program)
            connection.close()

    def test_nonsense_is_an_answer(self):
        program = start(self.tracer.entry)
        connection = self.check_question(program, self.tracer)
        connection.send(b"?" * 4000)
        self.ended(program)
        connection.close()

    def test_tracer_that_hangs_up(self):
        program = start(self.tracer.entry)
        self.check_question(program, self.tracer).close()
        self.ended(program)

    def test_nested_tracers(self):
        """Each of them, outermost first; malformed entries are skipped."""
        another = Tracer("two")
        self.addCleanup(another.close)
        program = start(f"{self.tracer.entry};{another.entry}")
        for tracer in (self.tracer, another):
            connection = self.check_question(program, tracer)
            connection.send(struct.pack("=Ii", MAGIC, 0))
            connection.close()
        self.ended(program)

    def test_leaves_nothing(self):
        """No descriptor remains: the lowest numbers are free again."""
        code = "import faultline, os; print(os.listdir('/proc/self/fd'))"
        program = start(self.tracer.entry, code)
        self.check_question(program, self.tracer).close()
        self.assertEqual(self.ended(program), "['0', '1', '2', '3']\n")

    def waits(self, value):
        """Whether the program waits for its semaphores, by its system calls."""
        strace = ["strace", "-qq", "-e", "trace=nanosleep,clock_nanosleep,connect"]
        program = start(value, before=strace)
        output = program.communicate(timeout=60)[1]
        self.assertEqual(program.returncode, 0)
        return "nanosleep(" in output

    def test_tracer_that_has_gone(self):
        self.assertFalse(self.waits(f"faultline-nobody-{os.getpid()}@{NETNS}"))

    def test_tracer_that_cannot_be_reached(self):
        for value in (f"faultline-nobody-{os.getpid()}@{NETNS + 1}", "1", "@", "@1",
                      "x" * 10000 + "@1", f"faultline-nobody-{os.getpid()}@{NETNS};1"):
            with self.subTest(value[:40]):
                self.assertTrue(self.waits(value))

    def test_nothing_to_request(self):
        for value in ("", ";", ";;;"):
            self.assertFalse(self.waits(value))


if __name__ == "__main__":
    unittest.main()
