# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service: its output formats, and invalid requests."""
import importlib.util
import json
import os
import shutil
import subprocess
import unittest
import urllib.parse
import urllib.request

import harness
from harness import below_root, machine
from watched import OPEN, Samples
from watching import Watching


@unittest.skipUnless(importlib.util.find_spec("prometheus_client"), "no python3-prometheus-client")
class Formats(Watching):
    def test_formats(self):
        """Both pass Prometheus' parsers and linter; OpenMetrics has units and an end."""
        from prometheus_client.openmetrics.parser import text_string_to_metric_families

        watched = self.watch()
        hostile = harness.new_cgroup(self, "", '/a"b\\c {le="1"}\xff')
        self.run_in(hostile, *self.hotread(10))
        status, kind, text = watched.get("/metrics")
        self.assertEqual((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"))
        samples = Samples(text)
        self.assertEqual(self.reads_of(samples, hostile), 10)
        status, kind, text = watched.get("/metrics", Accept=OPEN)
        self.assertEqual((status, kind),
                         (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
        families = {family.name: family for family in text_string_to_metric_families(text)}
        self.assertEqual(families["faultline_io_bytes"].unit, "bytes")
        self.assertEqual(families["faultline_io_latency_seconds"].type, "histogram")
        names = {line.split("\t")[0] for line in
                 harness.faultline("monitor", "--list-metrics").stdout.decode().splitlines()}
        reported = {line.split()[2] for line in samples.text.splitlines() if line.startswith("# TYPE")}
        self.assertEqual(reported, names)

    @unittest.skipUnless(shutil.which("promtool"), "no promtool: package prometheus")
    def test_promtool(self):
        watched = self.watch()
        text = watched.get("/metrics")[2]
        done = subprocess.run(["promtool", "check", "metrics"], input=text.encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((done.returncode, done.stdout.decode()), (0, ""))

    @unittest.skipUnless(shutil.which("prometheus"), "no prometheus")
    def test_prometheus(self):
        """A real Prometheus scrapes it, and has the program's activity."""
        watched, group = self.watch(listen="127.0.0.1:0"), harness.new_cgroup(self)
        directory = machine().new_dir()
        with open(f"{directory}/prometheus.yml", "w") as file:
            file.write("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: faultline\n"
                       f"  static_configs: [{{targets: ['{watched.address.split('/')[2]}']}}]\n")
        port = self.free_port()
        with open(f"{directory}/log", "wb") as log:
            machine().start(["prometheus", f"--config.file={directory}/prometheus.yml",
                             f"--storage.tsdb.path={directory}/data",
                             f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)

        def ask(query):
            url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
            try:
                with urllib.request.urlopen(url, timeout=harness.LIMIT) as answer:
                    result = json.load(answer)["data"]["result"]
            except OSError:
                return None
            return float(result[0]["value"][1]) if result else None

        self.assertTrue(harness.wait_until(lambda: ask("up") == 1), watched.messages())
        self.run_in(group, *self.hotread(4321))
        reads = ('sum(faultline_io_operations_total{command="hotread-static",op="read",'
                 f'method="syscall",cgroup="{below_root(group)}"}})')
        self.assertTrue(harness.wait_until(lambda: ask(reads) == 4321), ask(reads))

    def free_port(self):
        import socket

        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    def test_textfile(self):
        """Complete at any moment, and removed at the end."""
        path = f"{machine().new_dir()}/faultline.prom"
        # Anyone who may write there can leave a file that blocks an open.
        os.mkfifo(f"{os.path.dirname(path)}/.faultline.prom.tmp")
        watched = self.watch("--textfile", path, listen="none")
        self.assertTrue(harness.wait_until(lambda: os.path.exists(path)))
        with open(path) as file:
            samples = Samples(file.read())
        self.assertIn("threads; not listening\n", watched.messages())
        self.assertEqual(samples.sum("faultline_build_info"), 1)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o644)
        self.assertEqual(os.listdir(os.path.dirname(path)), ["faultline.prom"])
        self.assertEqual(watched.end(), 0)
        self.assertEqual(os.listdir(os.path.dirname(path)), [])

    def test_textfile_in_a_full_directory(self):
        """Reported once, and the service continues; no partial file is left."""
        where = machine().mount("-t", "tmpfs", "-o", "size=4k", "none")
        watched = self.watch("--textfile", f"{where}/faultline.prom")
        self.assertTrue(harness.wait_until(lambda: "No space left" in watched.messages()))
        self.assertEqual(watched.get("/metrics")[0], 200)
        self.assertEqual(os.listdir(where), [])
        self.assertEqual(watched.messages().count("cannot be written"), 1)
        self.assertEqual(watched.end(), 0)

    def test_bad_options(self):
        directory = machine().new_dir()
        for options in (
            ("--interval", "1ms"),
            ("--interval", "2h"),
            ("--max-series", "10"),
            ("--max-series", "x"),
            ("--retire", "0"),
            ("--layers", "disk"),
            ("--textfile", f"{directory}/"),
            ("--textfile", "/dev/null"),
            ("--listen", "nowhere at all"),
            ("--ready-fd", "1000"),
            ("--ready-fd", "4294967297"),
            ("an operand",),
        ):
            done = harness.faultline("monitor", *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
