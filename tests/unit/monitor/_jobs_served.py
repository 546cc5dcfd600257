# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs programs that serve HTTP; jobs_served serves a ledger that the test writes, as the
monitoring service does."""
import http.client
import json
import os
import socket
import subprocess

OPS = {"read": 0, "write": 1, "metadata": 2, "sync": 3}
METHODS = {"syscall": 0, "direct": 1, "mmap": 2, "splice": 3, "io_uring": 4, "libaio": 5, "kernel": 6}

STATES = ["cpu", "runnable", "storage", "memory", "lock", "pipe", "child", "sleep", "device", "stopped", "other"]


def hexed(text):
    return (text if isinstance(text, bytes) else text.encode()).hex() or "00"


class Program:
    """Serves until its standard input ends; its first line is its address."""

    def __init__(self, name, *arguments):
        self.process = subprocess.Popen(
            [os.path.join(os.environ.get("BUILD", "build"), "tests/unit", name), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        status = self.process.wait(20)
        remarks = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        if status or remarks:
            raise AssertionError(f"exit {status}: {remarks}")


class Served(Program):
    def __init__(self, *options, listen="127.0.0.1:0"):
        super().__init__("jobs_served", listen, *options)

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "ok\n":
            raise AssertionError("jobs_served has ended")

    def exec(self, pid, cgroup, program="python3", command="python3 train.py", uid=0, rank=-1):
        self.say("exec", pid, uid, rank, hexed(cgroup), hexed(program), hexed(command))

    def name(self, job, *, namespace="", pod="", container="", image="", slurm_name="", slurm_user=""):
        self.say("name", job, *map(hexed, (namespace, pod, container, image, slurm_name, slurm_user)))

    def line(self, pid, state, time_ns, file, line, function):
        self.say("line", pid, [*STATES, "io"].index(state), time_ns, hexed(file), line, hexed(function))

    def file(self, number, path, dev=2049, ino=None):
        self.say("file", number, dev, ino or 100 + number, hexed(path))

    def add(self, pid, file, op="read", method="syscall", count=1, errors=0, bytes=0, fetched=0, created=0,
            time_ns=0, major=0, latency=3):
        self.say("add", pid, file, OPS[op], METHODS[method], count, errors, bytes, fetched, created, time_ns,
                 major, latency)

    def thread(self, pid, state, ns):
        self.say("thread", pid, STATES.index(state), ns)

    def read(self):
        self.say("read")

    def ask(self, path, method="GET", **headers):
        """Status, body and headers."""
        if self.address.startswith("unix:"):
            caller = http.client.HTTPConnection("localhost", timeout=20)
            caller.sock = socket.socket(socket.AF_UNIX)
            caller.sock.connect(self.address[len("unix:"):])
        else:
            caller = http.client.HTTPConnection(self.address.split("/")[2], timeout=20)
        try:
            caller.request(method, path, headers=headers)
            answer = caller.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            caller.close()

    def jobs(self, arguments=""):
        status, body, headers = self.ask("/jobs" + arguments)
        assert (status, headers["Content-Type"]) == (200, "application/json"), (status, body)
        return json.loads(body)
