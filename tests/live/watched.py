# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs faultline monitor, and reads its metrics with Prometheus' own parsers."""
import http.client
import os
import signal
import socket

import harness
from harness import machine

OPEN = "application/openmetrics-text; version=1.0.0"
ROOM = ("--max-series", "1000000", "--profile-slots", "131072")  # for all that runs here


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=harness.LIMIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Watched:
    """The service, from the moment it watches. `listen`: the address, by default a socket of its
    own; `by`: see start_ready."""

    def __init__(self, *arguments, listen=None, by=None):
        self.directory = machine().new_dir()
        os.chmod(self.directory, 0o777)
        self.log = f"{self.directory}/log"
        with open(self.log, "wb") as log:
            self.process, line = machine().start_ready(
                "monitor", "--listen", listen or f"unix:{self.directory}/socket", *arguments,
                by=by, stderr=log,
            )
        output = line.split()
        if output[:1] != ["watching"]:
            self.process.wait(harness.LIMIT)
            raise AssertionError(f"not ready: {self.messages()}")
        self.address = output[1]

    def messages(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def get(self, path, **headers):
        """Status, type and body."""
        if self.address.startswith("unix:"):
            connection = OverSocket(self.address[5:])
        else:
            connection = http.client.HTTPConnection(self.address.split("/")[2], timeout=harness.LIMIT)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type"), answer.read().decode()
        finally:
            connection.close()

    def scrape(self):
        return Samples(self.get("/metrics")[2])

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(harness.LIMIT)


class Samples:
    """The result of one scrape: {(name, labels): value}."""

    def __init__(self, text):
        from prometheus_client.parser import text_string_to_metric_families

        self.text, self.all, self.types = text, {}, {}
        for family in text_string_to_metric_families(text):
            self.types[family.name] = family.type
            for sample in family.samples:
                key = sample.name, frozenset(sample.labels.items())
                if key in self.all:
                    raise AssertionError(f"twice: {key}")
                self.all[key] = sample.value

    def find(self, name, /, **labels):
        """Values of samples that have these labels, by all of their labels."""
        wanted = set(labels.items())
        return {dict_of: value for (found, dict_of), value in self.all.items()
                if found == name and wanted <= dict_of}

    def sum(self, name, /, **labels):
        return sum(self.find(name, **labels).values())

    def counters(self):
        return {key: value for key, value in self.all.items()
                if key[0].endswith(("_total", "_bucket", "_count", "_sum"))}
