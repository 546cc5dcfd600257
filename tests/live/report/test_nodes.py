# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Jobs of several nodes under mpirun: each node is a namespace with a host name and a boot ID of its
own, where mpirun starts its daemon as it would with ssh."""
import json
import os
import shutil
import subprocess
import sys
import unittest

import harness
import test_device_findings
from harness import machine

sys.path.append(os.path.join(harness.TOP, "tests/fuzz"))
import damage_columns  # noqa: E402

HOUR_NS = 3600 * 10**9
BOOT_ID = "/proc/sys/kernel/random/boot_id"
# Takes the arguments of ssh. A node's name ends in its number, which its boot ID begins with.
AGENT = f"""#!/bin/sh -e
host=$1; shift
exec unshare --uts --mount sh -ec '
hostname "$1"
sed "s/^......../$(printf %08d "${{1#node}}")/" {BOOT_ID} > "$0-$1"
mount --bind "$0-$1" {BOOT_ID}
shift; eval "$*"' "$0" "$host" "$@"
"""
# Reads the file of its rank.
RANK = 'cat data-"$OMPI_COMM_WORLD_RANK" > /dev/null'
# A launcher on each node: starts two ranks and waits for them.
NODE = """for local in 0 1; do
    RANK=$((2 * OMPI_COMM_WORLD_RANK + local)) sh -c 'cat data-"$RANK" > /dev/null' &
done
wait"""
HOSTS, RANKS = ("node1", "node2"), 4


def bytes_of(rank):
    return (rank + 1) * 300_000


@unittest.skipUnless(shutil.which("mpirun"), "openmpi-bin is not installed")
class Nodes(unittest.TestCase):
    def setUp(self):
        self.directory = machine().new_dir()
        self.agent = f"{self.directory}/agent"
        with open(self.agent, "w") as file:
            file.write(AGENT)
        os.chmod(self.agent, 0o755)
        if subprocess.run([self.agent, "node0", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("this machine does not allow new namespaces")
        for rank in range(RANKS):
            harness.random_file(f"{self.directory}/data-{rank}", bytes_of(rank))

    def mpirun(self, per_node, trace, script, group=None):
        """Records the script on both nodes, per_node times on each, in a control group. Returns the
        traces by name."""
        slots = ",".join(f"{host}:{per_node}" for host in HOSTS)
        command = (
            "mpirun", "--host", slots, "--map-by", "slot", "--oversubscribe", "--bind-to", "none",
            "--mca", "plm_rsh_agent", self.agent, "--mca", "plm_rsh_no_tree_spawn", "1",
            machine().faultline, "run", "-q", "-o", trace, "--", "sh", "-c", script,
        )
        harness.run(
            *(harness.in_cgroup(group, *command) if group else command), cwd=self.directory,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        )
        return sorted(name for name in os.listdir(self.directory) if name.endswith(".flt"))

    def report(self, *arguments):
        done = harness.faultline("report", *arguments, cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def check(self, traces):
        report = json.loads(self.report("--format", "json", *traces))
        self.assertEqual(sorted(report["trace"]["hosts"]), sorted(HOSTS))
        self.assertEqual(report["trace"]["ranks"], RANKS)
        self.assertNotIn("clocks", [row["id"] for row in report["caveats"]])
        readers = {}
        for row in report["processes"]:
            if row["comm"] == "cat":
                readers[row["rank"]] = (row["host"], row["read"]["bytes"])
        for rank in range(RANKS):
            host, count = readers[rank]
            self.assertEqual(host, HOSTS[rank // 2])
            self.assertGreaterEqual(count, bytes_of(rank))
            self.assertLess(count, bytes_of(rank) + 100_000, "and the C library's headers")
        by_host = json.loads(self.report("--by", "host", "--format", "json", *traces))
        self.assertEqual({row["name"] for row in next(iter(
            value for value in by_host.values() if isinstance(value, list)))}, set(HOSTS))

    def test_per_rank(self):
        traces = self.mpirun(2, "trace-%h-%r.flt", RANK)
        self.assertEqual(traces, ["trace-node1-0.flt", "trace-node1-1.flt", "trace-node2-2.flt",
                                  "trace-node2-3.flt"])
        self.check(traces)

    def test_per_node(self):
        traces = self.mpirun(1, "trace-%h.flt", NODE)
        self.assertEqual(traces, ["trace-node1.flt", "trace-node2.flt"])
        self.check(traces)
        self.late(traces)

    def test_slow_node(self):
        """Two nodes read as much from disks of their own, one of which is held back."""
        disks = [machine().new_device(64 << 20) for _ in HOSTS]
        group = test_device_findings.throttle(self, disks[1], 40)
        # On top of a limited device, requests wait for the device.
        disks[1] = machine().new_loop(disks[1], "--direct-io=on")
        script = (f"case $OMPI_COMM_WORLD_RANK in 0) disk={disks[0]} ;; *) disk={disks[1]} ;; esac\n"
                  "exec dd if=$disk of=/dev/null bs=4k count=60 iflag=direct status=none")
        traces = self.mpirun(1, "slow-%h.flt", script, group)
        for given in (traces, [self.summary(trace) for trace in traces]):
            report = json.loads(self.report("--format", "json", *given))
            found = [row["evidence"] for row in report["findings"] if row["id"] == "node-slow"]
            self.assertEqual([row["host"] for row in found], [HOSTS[1]])
            self.assertGreaterEqual(found[0]["times"], 2)

    def late(self, traces):
        """A node whose clock is an hour ahead."""
        path = f"{self.directory}/{traces[1]}"
        with open(path, "rb") as file:
            data = file.read()
        frames = damage_columns.frames_of(data)
        for frame in frames:
            if "clock" in frame:
                frame["clock"]["realtime_ns"] += HOUR_NS
        with open(path, "wb") as file:
            file.write(damage_columns.written(frames, damage_columns.places_of(data)))
        for given in (traces, [self.summary(trace) for trace in traces]):
            report = json.loads(self.report("--format", "json", *given))
            output, = (row["text"] for row in report["caveats"] if row["id"] == "clocks")
            self.assertRegex(output, "^(1h 00m|59m .*|60m .*) passed between the end on node1 and the "
                                   "start on node2, by their wall clocks: if the hosts ran together, "
                                   "the clocks differ")

    def summary(self, trace):
        name = f"summary-{trace}"
        done = harness.faultline("summarize", "-q", "-o", name, trace, cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        return name


if __name__ == "__main__":
    unittest.main()
