# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The monitoring service as its systemd unit starts it, without systemd: as nobody, with exactly
the unit's capabilities; its notifications to the service manager; and no system call that the
unit forbids. The running service also serves the pages."""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest

import harness
from harness import NOBODY, TOP, machine, wait_until

UNIT = os.path.join(TOP, "scripts/monitor/faultline-monitor.service")
# A process of another user: reads on demand, a given size at a time.
READER = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for line in sys.stdin:
    for i in range(int(line)):
        os.pread(fd, 4096, 4096 * (i % 16))
    print("done", flush=True)
"""


def setting(name):
    """The words of a setting of the unit."""
    with open(UNIT) as file:
        return re.search(rf"^{name}=(.*)$", file.read(), re.M).group(1).split()


def with_proc(option):
    """A command prefix that gives a command its own /proc with this hidepid."""
    return ("unshare", "--mount", "sh", "-c",
            f'mount -t proc -o hidepid={option} proc /proc && exec "$@"', "sh")


def seeing_all():
    """The same if this machine's /proc hides other users' processes."""
    with open("/proc/self/mounts") as file:
        hidden = any(line.split()[1] == "/proc" and "hidepid" in line for line in file)
    return with_proc("off") if hidden else ()


class Service:
    def __init__(self, *options, before=(), watchdog_usec=None, watchdog_pid="$$"):
        self.directory = machine().new_dir()
        self.words = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.words.bind(f"{self.directory}/notify")
        os.chmod(f"{self.directory}/notify", 0o777)
        self.words.settimeout(harness.LIMIT)
        chosen = ",".join("+" + name[len("CAP_"):].lower() for name in setting("CapabilityBoundingSet"))
        command = [*before, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                   "--no-new-privs", f"--bounding-set=-all,{chosen}", f"--inh-caps=-all,{chosen}",
                   f"--ambient-caps=-all,{chosen}", machine().faultline, "monitor", *options]
        environment = {**os.environ, "NOTIFY_SOCKET": f"{self.directory}/notify"}
        if watchdog_usec:
            environment["WATCHDOG_USEC"] = str(watchdog_usec)
            command = ["sh", "-c", f'WATCHDOG_PID={watchdog_pid} exec "$@"', "sh", *command]
        self.process = machine().start(command, env=environment, stdin=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        self.words.close()

    def heard(self):
        """Its next notification: {name: value}."""
        return dict(line.split("=", 1) for line in self.words.recv(4096).decode().split("\n") if line)

    def ready(self):
        heard = self.heard()
        assert heard["READY"] == "1", heard
        status = re.fullmatch(r"watching; (?:not listening|listening at (\S+))", heard["STATUS"])
        assert status, heard
        return status.group(1)

    def stop(self):
        """Exit status, and its stderr."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(harness.LIMIT), self.process.stderr.read()


def ask(address, path):
    caller = http.client.HTTPConnection(address.split("/")[2], timeout=harness.LIMIT)
    with contextlib.closing(caller):
        caller.request("GET", path)
        answer = caller.getresponse()
        return answer.status, answer.read().decode()


def sample(metrics, name, **labels):
    """Sum over samples of a metric with these labels."""
    return sum(float(line.rsplit(" ", 1)[1]) for line in metrics.splitlines()
               if line.startswith(name + "{") and
               all(f'{key}="{value}"' in line for key, value in labels.items()))


class MonitorUnit(unittest.TestCase):
    def setUp(self):
        if not shutil.which("setpriv"):
            self.skipTest("setpriv is not installed")

    def test_capabilities_match_the_request(self):
        self.assertEqual(setting("AmbientCapabilities"),
                         ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH"])
        self.assertEqual(setting("CapabilityBoundingSet"), setting("AmbientCapabilities"))

    def test_counts_what_another_users_process_does(self):
        path = harness.random_file(f"{machine().new_dir()}/data", 1 << 16)
        with Service("--listen", "127.0.0.1:0", before=seeing_all()) as service:
            address = service.ready()
            reader = machine().start([harness.PYTHON, "-c", READER, path], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)

            def reads(count):
                reader.stdin.write(f"{count}\n")
                reader.stdin.flush()
                self.assertEqual(reader.stdout.readline(), "done\n")

            def reported():
                _, body = ask(address, "/jobs?jobs=4096&processes=1000&files=48")
                for job in json.loads(body)["jobs"]:
                    for process in job["processes"]:
                        if process["pid"] == reader.pid:
                            method = [method for method in process["methods"]
                                    if (method["op"], method["method"]) == ("read", "syscall")]
                            return job, process, method[0] if method else {"count": 0, "bytes": 0}
                return None, None, None

            reads(1)
            self.assertTrue(wait_until(lambda: reported()[0] is not None))
            reported()
            before = reported()[2]  # a reading that began after the first had ended: everything so far
            reads(3000)
            # its own input lines are not file reads: they are not counted
            self.assertTrue(wait_until(lambda: reported()[2]["count"] - before["count"] >= 3000))
            job, process, after = reported()
            self.assertEqual((after["count"] - before["count"], after["bytes"] - before["bytes"]),
                             (3000, 3000 * 4096))
            self.assertIn(READER.strip().split("\n")[0], process["command"])
            with open(f"/proc/{reader.pid}/cgroup") as file:
                self.assertIn(job["cgroup"], file.read())
            self.assertIn(path, [file["path"] for file in job["files"]])
            reader.stdin.close()
            reader.wait()
            self.assertEqual(ask(address, "/healthz")[0], 200)
            self.assertEqual(ask(address, "/readyz"), (200, "ready\n"))
            _, metrics = ask(address, "/metrics")
            for layer in "task", "syscall", "fault", "pagecache":
                self.assertEqual(sample(metrics, "faultline_layer_enabled", layer=layer), 1, layer)
            self.assertEqual(sample(metrics, "faultline_layer_enabled", layer="span"), 0)
            self.assertGreaterEqual(sample(metrics, "faultline_io_operations_total", op="read"), 3001)
            status, remarks = service.stop()
            self.assertEqual(status, 0, remarks)
            self.assertEqual(service.heard(), {"STOPPING": "1"})

    def test_signs_of_life(self):
        with Service("--listen", "none", watchdog_usec=600000) as service:
            service.ready()
            for _ in range(3):
                self.assertEqual(service.heard(), {"WATCHDOG": "1"})
            service.process.send_signal(signal.SIGSTOP)
            service.words.settimeout(2)
            with self.assertRaises(TimeoutError):
                while True:
                    service.heard()
            service.words.settimeout(harness.LIMIT)
            service.process.send_signal(signal.SIGCONT)
            self.assertEqual(service.heard(), {"WATCHDOG": "1"})
            self.assertEqual(service.stop()[0], 0)
        with Service("--listen", "none", "--interval", "5s", watchdog_usec=600000) as service:
            service.ready()
            service.words.settimeout(1)
            for _ in range(6):  # readings need not be as frequent
                self.assertEqual(service.heard(), {"WATCHDOG": "1"})
            self.assertEqual(service.stop()[0], 0)
        with Service("--listen", "none", watchdog_usec=600000, watchdog_pid="1") as service:
            service.ready()  # the notifications must come from another process
            service.words.settimeout(2)
            with self.assertRaises(TimeoutError):
                service.heard()
            self.assertEqual(service.stop()[0], 0)

    def test_hidden_processes(self):
        """If /proc hides them from the service's user, it reports that; otherwise it does not."""
        for option, hides in ("invisible", True), ("off", False):
            own = with_proc(option)
            if subprocess.run([*own, "true"], stderr=subprocess.DEVNULL).returncode:
                self.skipTest("this machine lets nobody mount a /proc of its own")
            with Service("--listen", "none", before=own) as service:
                service.ready()
                status, remarks = service.stop()
                self.assertEqual((status, "(hidepid)" in remarks), (0, hides), remarks)

    def test_spans_take_more(self):
        """They are off, with the reason, and everything else is watched."""
        with Service("--listen", "127.0.0.1:0", "--layers", "task,syscall,fault,span") as service:
            address = service.ready()
            metrics = ask(address, "/metrics")[1]
            self.assertIn('faultline_layer_enabled{layer="span"} 0', metrics)
            self.assertIn('faultline_layer_enabled{layer="syscall"} 1', metrics)
            self.assertNotIn("faultline_span_seconds_total{", metrics)
            self.assertIn("layer span is off: ", service.stop()[1])

    def test_no_system_call_that_the_unit_forbids(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd is not installed")
        calls = f"{machine().new_dir()}/calls"
        with Service("--listen", "127.0.0.1:0", before=("strace", "-f", "-qq", "-o", calls, "-e",
                                                        "trace=!futex,read,write")) as service:
            address = service.ready()
            for path in "/", "/jobs", "/metrics", "/readyz":
                self.assertEqual(ask(address, path)[0], 200)
            # strace is what was started
            [pid] = subprocess.check_output(
                ["pgrep", "-P", str(service.process.pid)], text=True).split()
            os.kill(int(pid), signal.SIGTERM)
            self.assertEqual(service.process.wait(harness.LIMIT), 0)
        with open(calls) as file:
            lines = file.readlines()
        begun = next(i for i, line in enumerate(lines) if f'execve("{machine().faultline}"' in line)
        made = {match.group(1) for line in lines[begun:] if (match := re.match(r"\d+ +(\w+)\(", line))}
        self.assertIn("bpf", made)
        self.assertEqual(made - self.allowed(setting("SystemCallFilter")), set())
        # socket address families
        sockets = {match.group(1) for line in lines[begun:]
                   if (match := re.search(r"\bsocket\((\w+)", line))}
        self.assertEqual(sockets - set(setting("RestrictAddressFamilies")), set())

    @staticmethod
    def allowed(words):
        """System calls permitted by a SystemCallFilter, expanded as by systemd itself."""
        calls, groups = set(), list(words)
        while groups:
            word = groups.pop()
            if not word.startswith("@"):
                calls.add(word)
                continue
            reported = subprocess.check_output(["systemd-analyze", "--no-pager", "syscall-filter", word],
                                           text=True, stderr=subprocess.DEVNULL)
            groups += [line.strip() for line in reported.splitlines()[1:]
                       if line.strip() and not line.strip().startswith("#")]
        return calls
