#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The files shipped for clusters: alert rules and dashboards use existing metrics and labels and
work as described; unit, manifest and Slurm scripts agree with the program. Needs no root,
running systemd or cluster."""
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import unittest

import yaml

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _jobs_served import Served  # noqa: E402
from _directory import InDirectory

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FILES = os.path.join(TOP, "scripts/monitor")
CHART = os.path.join(TOP, "scripts/helm/faultline-monitor")
FAULTLINE = os.environ.get("FAULTLINE", "build/faultline")
# Labels set by the service, and those that Prometheus adds when scraping.
LABELS = {"cgroup", "namespace", "pod", "pod_uid", "container", "container_id", "image", "slurm_job", "slurm_step",
          "slurm_name", "slurm_user", "user", "command", "op", "method", "kind",
          "layer", "device", "filesystem", "version", "le", "name", "category", "cause", "state", "instance", "job"}
CAPABILITIES = {"BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH"}


def read(name):
    with open(os.path.join(FILES, name)) as file:
        return file.read()


def run(*command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120, **options)
    return done.returncode, done.stdout


def metrics():
    """{series name: type of its metric}, as the program lists them."""
    names = {}
    for line in subprocess.check_output([FAULTLINE, "monitor", "--list-metrics"], text=True).splitlines():
        name, kind, _ = line.split("\t")
        for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            names[name + suffix] = kind
    return names


def options():
    reported = subprocess.check_output([FAULTLINE, "monitor", "--help"], text=True)
    return set(re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+)", reported, re.M))


def alert_rules():
    return [rule for group in yaml.safe_load(read("alerts.yml"))["groups"] for rule in group["rules"]]


def rendered():
    """The chart's objects. Its templates only insert values, so that this needs no Helm."""
    with open(os.path.join(CHART, "values.yaml")) as file:
        known = {"Values": yaml.safe_load(file), "Release": {"Namespace": "faultline"}}

    def insert(match):
        value = known
        for name in match.group(2).split(".")[1:]:
            value = value[name]
        return json.dumps(value) if match.group(1) else str(value)

    objects = []
    for name in sorted(os.listdir(os.path.join(CHART, "templates"))):
        with open(os.path.join(CHART, "templates", name)) as file:
            objects += yaml.safe_load_all(re.sub(r"\{\{ (toJson )?([.\w]+) \}\}", insert, file.read()))
    return objects


def panels():
    return [panel for panel in json.loads(read("grafana.json"))["panels"] if panel["type"] != "row"]


class Queries(unittest.TestCase):
    def check(self, expression, known):
        names = set(re.findall(r"\b(faultline_\w+|up)\b(?!\s*=)", expression))
        self.assertTrue(names, expression)
        self.assertEqual(names - set(known) - {"up"}, set(), expression)
        labels = set(re.findall(r"(\w+) *(?:=~|!=|!~|=(?!=))", expression))
        for group in re.findall(r"(?:by|on|without) *\(([^)]*)\)", expression):
            labels |= set(re.findall(r"\w+", group))
        self.assertEqual(labels - LABELS, set(), expression)
        # counters are only used with rate() or increase(), gauges never
        for name in names - {"up"}:
            for match in re.finditer(rf"(\w+\()?\b{name}\b", expression):
                grows = match.group(1) in ("rate(", "increase(")
                self.assertEqual(grows, known[name] != "gauge", f"{name} in {expression}")

    def test_alerts_name_existing_metrics(self):
        known = metrics()
        for rule in alert_rules():
            self.check(rule["expr"], known)
            for label in re.findall(r"\$labels\.(\w+)", str(rule["annotations"])):
                self.assertIn(label, LABELS)

    def test_dashboard_names_existing_metrics(self):
        known, shown = metrics(), set()
        self.assertGreater(len(panels()), 10)
        for panel in panels():
            for target in panel["targets"]:
                self.check(target["expr"], known)
                shown |= set(re.findall(r"faultline_\w+", target["expr"]))
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    self.assertIn(label, LABELS)
        # every metric is used; for a histogram, any of its series
        def families(names):
            return {re.sub("_(bucket|sum|count)$", "", name) if known[name] == "histogram" else name
                    for name in names}
        self.assertEqual(families(known) - families(shown), set())

    def test_dashboard_is_whole(self):
        board = json.loads(read("grafana.json"))
        ids = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        taken = set()
        for panel in board["panels"]:
            box = panel["gridPos"]
            self.assertLessEqual(box["x"] + box["w"], 24)
            cells = {(x, y) for x in range(box["x"], box["x"] + box["w"])
                     for y in range(box["y"], box["y"] + box["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells
        variables = {item["name"] for item in board["templating"]["list"]}
        used = set(re.findall(r"\$\{?(\w+)", json.dumps(board["panels"])))
        self.assertEqual(used - variables, {"__rate_interval"})


@unittest.skipUnless(shutil.which("promtool"), "promtool (of the package prometheus) is not installed")
class Promtool(InDirectory):
    def test_configuration_and_rules(self):
        status, output = run("promtool", "check", "config", os.path.join(FILES, "prometheus.yml"))
        self.assertEqual(status, 0, output)
        self.assertIn(f"{len(alert_rules())} rules found", output)
        [scrape] = yaml.safe_load(read("prometheus.yml"))["scrape_configs"]
        self.assertEqual(scrape["job_name"], "faultline")  # the name used in alerts
        reported = subprocess.check_output([FAULTLINE, "monitor", "--help"], text=True)
        self.assertIn(scrape["static_configs"][0]["targets"][0], reported)

    def test_alerts_fire_when_they_should(self):
        with open(os.path.join(TOP, "tests/unit/monitor/monitor_alerts.yml")) as file:
            tests = file.read()
        tested = {case["alertname"] for test in yaml.safe_load(tests)["tests"]
                  for case in test["alert_rule_test"] if case["exp_alerts"]}
        self.assertEqual(tested, {rule["alert"] for rule in alert_rules()})
        tests = tests.replace("RULES", os.path.join(FILES, "alerts.yml"))
        status, output = run("promtool", "test", "rules", self.file("tests.yml", tests))
        self.assertEqual(status, 0, output)

    def test_queries_of_the_dashboard_are_right(self):
        rules = [{"record": f"panel:{panel['id']}:{target['refId']}",
                  "expr": target["expr"].replace("$__rate_interval", "1m")}
                 for panel in panels() for target in panel["targets"]]
        path = self.file("rules.yml", yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
        status, output = run("promtool", "check", "rules", path)
        self.assertEqual(status, 0, output)


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
class Unit(InDirectory):
    def setUp(self):
        super().setUp()
        text = read("faultline-monitor.service")
        self.assertEqual(text.count("@PREFIX@/bin/faultline monitor"), 1)
        self.unit = self.file("faultline-monitor.service",
                              text.replace("@PREFIX@/bin/faultline", os.path.abspath(FAULTLINE)))

    def test_is_right(self):
        status, output = run("systemd-analyze", "verify", "--man=no", self.unit)
        self.assertEqual((status, output), (0, ""))

    def test_is_confined(self):
        # out of 100; a unit without any hardening gets 96
        status, output = run("systemd-analyze", "security", "--no-pager", "--offline=yes", "--threshold=30",
                           self.unit)
        self.assertEqual(status, 0, output[-500:])


class Kubernetes(unittest.TestCase):
    def test_manifest(self):
        objects = {item["kind"]: item for item in yaml.safe_load_all(read("kubernetes.yaml"))}
        self.assertEqual(set(objects), {"Namespace", "DaemonSet", "NetworkPolicy"})
        spec = objects["DaemonSet"]["spec"]
        pod = spec["template"]["spec"]
        [container] = pod["containers"]
        labels = spec["template"]["metadata"]["labels"]
        for selector in spec["selector"], objects["NetworkPolicy"]["spec"]["podSelector"]:
            self.assertEqual(selector["matchLabels"], labels)
        for name in "DaemonSet", "NetworkPolicy":
            self.assertEqual(objects[name]["metadata"]["namespace"], objects["Namespace"]["metadata"]["name"])
        self.assertTrue(pod["hostPID"])
        rights = container["securityContext"]["capabilities"]
        self.assertEqual((rights["drop"], set(rights["add"])), (["ALL"], CAPABILITIES))
        # its arguments, and its probes
        self.assertEqual(container["args"][0], "monitor")
        for mount in container["volumeMounts"]:
            self.assertTrue(mount["readOnly"])
        self.assertEqual({word for word in container["args"] if word.startswith("--")} - options(), set())
        [port] = container["ports"]
        self.assertTrue(container["args"][-1].endswith(f":{port['containerPort']}"))
        notes = spec["template"]["metadata"]["annotations"]
        self.assertEqual(notes["prometheus.io/port"], str(port["containerPort"]))
        with Served() as served:
            served.read()
            for probe in "livenessProbe", "readinessProbe":
                requested = container[probe]["httpGet"]
                self.assertEqual(requested["port"], port["name"])
                self.assertEqual(served.ask(requested["path"])[0], 200)
            self.assertEqual(served.ask(notes["prometheus.io/path"])[0], 200)
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        self.assertEqual(mounts, {volume["name"] for volume in pod["volumes"]})
        version = subprocess.check_output([FAULTLINE, "--version"], text=True).split()[1]
        self.assertEqual(container["image"], f"faultline:{version}")


    def test_chart(self):
        """With default values it equals the manifest, except for what only a chart has."""
        def plain(item):
            if item["kind"] == "DaemonSet":
                pod = item["spec"]["template"]["spec"]
                pod.pop("nodeSelector", None)
                [container] = pod["containers"]
                container.pop("imagePullPolicy", None)
                container["args"] = sorted(container.pop("command")[1:] + container["args"])
            return item
        wanted = [plain(item) for item in yaml.safe_load_all(read("kubernetes.yaml"))][1:]
        self.assertEqual([plain(item) for item in rendered()], wanted)
        with open(os.path.join(CHART, "Chart.yaml")) as file:
            chart = yaml.safe_load(file)
        version = subprocess.check_output([FAULTLINE, "--version"], text=True).split()[1]
        self.assertEqual((chart["appVersion"], chart["version"]), (version, version))

    @unittest.skipUnless(shutil.which("helm"), "helm is not installed")
    def test_chart_with_helm(self):
        status, output = run("helm", "template", "--namespace", "faultline", "x", CHART)
        self.assertEqual(status, 0, output)
        self.assertEqual([item for item in yaml.safe_load_all(output) if item], rendered())

    def test_image(self):
        """Every file that the image is built from exists; what is built here is not sent to the
        builder."""
        with open(os.path.join(TOP, "scripts/container/Dockerfile")) as file:
            copied = re.findall(r"^COPY (?!--from)(.*) \S+$", file.read(), re.M)
        self.assertGreater(len(copied), 3)
        for name in " ".join(copied).split():
            self.assertTrue(os.path.exists(os.path.join(TOP, name)), name)
        with open(os.path.join(TOP, ".dockerignore")) as file:
            ignored = file.read().split()
        self.assertIn("build", ignored)
        self.assertEqual(set(ignored) & set(" ".join(copied).split()), set())


@unittest.skipUnless(shutil.which("curl"), "curl is not installed")
class Slurm(InDirectory):
    def script(self, name, url, **more):
        # the test must not touch the machine's log or services
        for tool in "logger", "systemctl":
            self.file(tool, f'#!/bin/sh\necho "{tool} $*" >>{self.directory}/called\n', 0o755)
        return run("bash", os.path.join(FILES, name),
                   env={"PATH": f"{self.directory}:{os.environ['PATH']}", "FAULTLINE_URL": url,
                        "FAULTLINE_KEEP": f"{self.directory}/kept", **more})

    def called(self):
        try:
            with open(self.path("called")) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def unused(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return f"http://127.0.0.1:{probe.getsockname()[1]}"

    def test_epilog_keeps_what_the_job_did(self):
        with Served() as served:
            served.exec(7, "/slurm/uid_0/job_42/step_0")
            served.exec(8, "/slurm/uid_0/job_42/step_batch")
            served.exec(9, "/slurm/uid_0/job_43/step_0")
            served.file(1, "/data/a")
            served.add(7, 1, bytes=500)
            served.add(9, 1, bytes=700)
            served.read()
            url = served.address.rstrip("/")
            self.assertEqual(self.script("slurm-epilog.sh", url, SLURM_JOB_ID="42",
                                         SLURM_JOB_UID=str(os.getuid())), (0, ""))
        [name] = os.listdir(f"{self.directory}/kept")
        self.assertRegex(name, r"\A42\..+\.json\Z")
        path = f"{self.directory}/kept/{name}"
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o400)
        with open(path) as file:
            jobs = json.load(file)["jobs"]
        self.assertEqual(sorted(job["slurm_step"] for job in jobs), ["0", "batch"])
        self.assertEqual(sum(method["bytes"] for job in jobs for method in job["methods"]), 500)

    def test_epilog_leaves_a_directory_as_it_is(self):
        """One that others may write to is not used: they could plant links, or read too much."""
        os.mkdir(self.path("kept"), 0o755)
        for mode, count in (0o755, 1), (0o777, 0), (0o1777, 0), (0o775, 0):
            with self.subTest(oct(mode)), Served() as served:
                os.chmod(self.path("kept"), mode)
                for name in os.listdir(self.path("kept")):
                    os.remove(self.path(f"kept/{name}"))
                self.assertEqual(self.script("slurm-epilog.sh", served.address.rstrip("/"), SLURM_JOB_ID="42",
                                             SLURM_JOB_UID=str(os.getuid())), (0, ""))
                self.assertEqual(stat.S_IMODE(os.stat(self.path("kept")).st_mode), mode)
                self.assertEqual(len(os.listdir(self.path("kept"))), count)
                self.assertEqual("may write" in self.called(), mode != 0o755)
        os.rmdir(self.path("kept"))
        os.symlink("/nowhere", self.path("kept"))
        self.assertEqual(self.script("slurm-epilog.sh", self.unused(), SLURM_JOB_ID="42")[0], 0)

    def test_epilog_never_drains_the_node(self):
        url = self.unused()
        self.assertEqual(self.script("slurm-epilog.sh", url, SLURM_JOB_ID="42")[0], 0)
        self.assertEqual(os.listdir(f"{self.directory}/kept"), [])
        self.assertIn("cannot save its numbers", self.called())
        for job in "", "x", "../../etc/x", "1;2":
            self.assertEqual(self.script("slurm-epilog.sh", url, SLURM_JOB_ID=job)[0], 0)
        self.assertEqual(os.listdir(f"{self.directory}/kept"), [])

    def test_prolog_starts_the_service(self):
        with Served() as served:
            served.read()
            self.assertEqual(self.script("slurm-prolog.sh", served.address.rstrip("/")), (0, ""))
            self.assertEqual(self.called(), "")
        self.assertEqual(self.script("slurm-prolog.sh", self.unused())[0], 0)
        self.assertIn("systemctl --no-block start faultline-monitor", self.called())


if __name__ == "__main__":
    unittest.main()
