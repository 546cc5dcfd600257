# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Names of pods, containers, images and Slurm jobs as labels, from files of a made-up node, and from
the environments of processes."""
import json
import os
import subprocess

import harness
from flights import COUNTING, Job, Recorder, counted_bytes, python
from harness import below_root, in_cgroup, machine
from watched import OverSocket
from watching import Watching

ID, UID = "0123456789abcdef" * 4, "6f1e1d2c-0a1b-4c2d-8e3f-0123456789ab"
KUBEPODS = f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/cri-containerd-{ID}.scope"
IDS = {"pod_uid": UID, "container_id": ID}
NAMES = {"namespace": "ml", "pod": "train-0", "container": "main"}


class Names(Watching):
    def setUp(self):
        self.root = machine().new_dir()

    def put(self, path, text=""):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def put_logs(self):
        self.put(f"var/log/pods/ml_train-0_{UID}/main/0.log")
        self.put(f"var/log/containers/train-0_ml_main-{ID}.log")

    def start(self, group, reads, **environment):
        """Reads so often there, and stays."""
        job = machine().start(in_cgroup(group, "sh", "-c", '"$0" "$@"; echo; read line',
                                        *self.hotread(reads)),
                              env={**os.environ, **environment}, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.assertEqual(job.stdout.readline(), b"\n")

    def labels(self, watched, group):
        """Returns the labels of a cgroup's jobs, from the JSON and the metrics, without common ones."""
        def known(labels):
            return {name: value for name, value in labels.items() if value is not None and name in
                    {*IDS, *NAMES, "image", "slurm_job", "slurm_step", "slurm_name", "slurm_user"}}
        jobs = json.loads(watched.get("/jobs?jobs=4096")[2])["jobs"]
        samples = watched.scrape().find("faultline_io_operations_total", cgroup=below_root(group))
        reported = [known(dict(labels)) for labels in samples]
        reported += [known(job) for job in jobs if job["cgroup"] == below_root(group)]
        self.assertTrue(all(labels == reported[0] for labels in reported), reported)
        return reported[0]

    def wait_for(self, watched, group, wanted):
        def has_them():
            try:
                return self.labels(watched, group) == wanted
            except (AssertionError, IndexError):  # between the two
                return False
        self.assertTrue(harness.wait_until(has_them, 60), wanted)

    def test_pods(self):
        """Names that appear after the container has started, one after the other."""
        watched = self.watch("--host-root", self.root)
        group = harness.new_cgroup(self, "", KUBEPODS)
        self.start(group, 100)
        self.wait_for(watched, group, IDS)
        self.put_logs()
        self.wait_for(watched, group, {**IDS, **NAMES})
        self.put(f"run/containerd/io.containerd.runtime.v2.task/k8s.io/{ID}/config.json",
                 json.dumps({"annotations": {"io.kubernetes.cri.image-name": "torch:2",
                                             "io.kubernetes.cri.container-name": "another"}}))
        self.wait_for(watched, group, {**IDS, **NAMES, "image": "torch:2"})
        self.assertEqual(self.reads_of(watched.scrape(), group, image="torch:2", **NAMES), 100)
        self.assertEqual(watched.end(), 0)

    def test_docker(self):
        self.put(f"var/lib/docker/containers/{ID}/config.v2.json",
                 json.dumps({"Name": "/web\"\n\u202e", "Config": {"Image": "nginx"}}))
        watched, group = self.watch("--host-root", self.root), harness.new_cgroup(self, "", f"/docker-{ID}.scope")
        self.start(group, 100)
        self.wait_for(watched, group, {"container_id": ID, "container": "web\"\n\u202e", "image": "nginx"})
        self.assertEqual(watched.end(), 0)

    def test_slurm(self):
        """From the environment of one of the job's processes; other jobs' environments do not count."""
        watched = self.watch("--host-root", self.root)
        group = harness.new_cgroup(self, "", "/slurmstepd.scope/job_42/step_0")
        ids = {"slurm_job": "42", "slurm_step": "0"}
        self.start(group, 100, SLURM_JOB_ID="41", SLURM_JOB_NAME="other", SLURM_JOB_USER="bob")
        self.wait_for(watched, group, ids)
        self.start(group, 100, SLURM_JOB_ID="42", SLURM_JOB_NAME="tune", SLURM_JOB_USER="alice")
        self.wait_for(watched, group, {**ids, "slurm_name": "tune", "slurm_user": "alice"})
        self.assertEqual(self.reads_of(watched.scrape(), group, slurm_name="tune"), 200)
        self.assertEqual(watched.end(), 0)

    def test_flight_of_a_name(self):
        """A flight recorder keeps what a job does as soon as the name is known by which it was chosen."""
        self.put_logs()
        group, directory, count = harness.new_cgroup(self, "", KUBEPODS), machine().new_dir(), 1000
        path = counted_bytes(directory)
        recorder = Recorder("--listen", f"unix:{directory}/socket", "--host-root", self.root, "--flight",
                            "32M", "--flight-of", "pod=train-*", output="f.flt", command="monitor",
                            directory=directory, ready="watching ")

        def request(*what):
            connection = OverSocket(f"{directory}/socket")
            connection.request(*what)
            messages = connection.getresponse().read()
            connection.close()
            return messages

        job = Job(*in_cgroup(group, *python(COUNTING, path, count)))
        self.assertTrue(harness.wait_until(lambda: any(
            job["pod"] == "train-0" for job in json.loads(request("GET", "/jobs?jobs=4096"))["jobs"])))
        job.work()
        request("POST", "/flight")
        self.assertTrue(harness.wait_until(recorder.whole))
        job.end()
        self.assertEqual(recorder.end()[0], 0)
        (trace,) = recorder.whole()
        self.assertEqual(sorted(row["offset"] for row in trace.calls(path, op="pread64")), list(range(count)))

    def test_bad_root(self):
        done = harness.faultline("monitor", "--listen", "none", "--host-root", f"{self.root}/none")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"No such file", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
