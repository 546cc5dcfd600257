# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The program without shared libraries (make dist), in a root with nothing else, and beside musl."""
import glob
import json
import os
import shutil
import subprocess
import unittest

import harness
from harness import captured, machine

# Computes for a second of CPU time, in a function that is known.
JOB = """
#include <time.h>
static double seconds(void) {
    struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline, noclone)) double compute(double until) {
    volatile double sum = 0; while (seconds() < until) for (int i = 0; i < 100000; i++) sum += i; return sum; }
int main(void) { double sum = compute(seconds() + 1); asm volatile("" ::: "memory"); return sum < 0; }
"""
MOUNTED = """mount -t proc proc "$1/proc"; mount --rbind /sys "$1/sys"; exec $TRACER chroot "$@" """


class Static(unittest.TestCase):
    def setUp(self):
        self.root = machine().new_dir()
        shutil.copy(f"{harness.BUILD}/faultline-static", f"{self.root}/faultline")
        for name in ("proc", "sys", "tmp"):
            os.mkdir(f"{self.root}/{name}")

    def inside(self, *command, status=0, **options):
        done = captured("unshare", "--mount", "sh", "-ec", MOUNTED, "sh", self.root, *command,
                        text=True, **options)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def report(self):
        return json.loads(self.inside("/faultline", "report", "--format", "json", "/tmp/t.flt").stdout)

    def test_empty_root(self):
        """It checks the kernel, records itself, and reads the trace."""
        needed = harness.run("readelf", "-dl", f"{self.root}/faultline").decode()
        self.assertNotIn("(NEEDED)", needed)
        self.assertNotIn("INTERP", needed)
        state = json.loads(self.inside("/faultline", "check", "--format", "json").stdout)["layers"]
        self.assertEqual(state["syscall"]["state"], "on")
        done = self.inside("/faultline", "run", "-o", "/tmp/t.flt", "--", "/faultline", "--version")
        self.assertIn("faultline ", done.stdout)
        report = self.report()
        self.assertEqual([row["exit_code"] for row in harness.followed(report)], [0])
        self.assertGreater(report["totals"]["anonymous_faults"]["count"], 0)
        self.assertEqual(os.listdir(f"{self.root}/tmp"), ["t.flt"])

    def test_without_mounts(self):
        done = captured("chroot", self.root, "/faultline", "run", "--", "/faultline", text=True)
        self.assertEqual(done.returncode, 125)
        self.assertIn("/proc is not mounted", done.stderr)

    def test_loads_no_libraries(self):
        """Not for HTTP, debug files or users: it does not even try."""
        os.mkdir(f"{self.root}/etc")
        with open(f"{self.root}/etc/passwd", "w") as file:
            file.write("job:x:1234:1234::/:/none\n")
        with open(f"{self.root}/etc/nsswitch.conf", "w") as file:
            file.write("passwd: sss systemd files\ngroup: sss files\n")
        os.chmod(f"{self.root}/tmp", 0o1777)
        opened = f"{machine().new_dir()}/opened"
        environment = {**os.environ, "DEBUGINFOD_URLS": "http://127.0.0.1:1",
                       "TRACER": f"strace -f -A -e trace=openat,execve -o {opened}"}
        done = self.inside("/faultline", "monitor", "--listen", "127.0.0.1:9918", status=None,
                           env=environment)
        self.assertIn("this program loads no libraries", done.stderr)
        self.inside("/faultline", "run", "--user", "job", "-o", "/tmp/t.flt", "--", "/faultline",
                    "--version", env=environment)
        done = self.inside("/faultline", "run", "--user", "nobody", "--", "/faultline", status=125,
                           env=environment)
        self.assertIn("no such user", done.stderr)
        with open(opened) as file:
            runs = file.read().split('execve("/faultline"')[1:]
        self.assertGreater(len(runs), 3)
        # Each run's begins after chroot's, and ends with those of the next.
        for run in runs:
            own = run.split('execve("/')[0].split("exited with")[0]
            self.assertNotIn(".so", own)

    @unittest.skipUnless(shutil.which("musl-gcc"),
                         "musl-tools is not installed (scripts/setup.sh test)")
    def test_with_musl(self):
        """In a root with no other library than musl, a program of musl's, with its functions."""
        subprocess.run(["musl-gcc", "-x", "c", "-O1", "-g", "-o", f"{self.root}/job", "-"], check=True,
                       input=JOB, text=True)
        os.mkdir(f"{self.root}/lib")
        loader, = glob.glob("/lib/ld-musl-*")
        shutil.copy(loader, f"{self.root}/lib/")
        self.inside("/faultline", "run", "--stacks", "native", "-o", "/tmp/t.flt", "--", "/job")
        report = self.report()
        self.assertEqual([row["exit_code"] for row in harness.followed(report)], [0])
        computing = [row for row in report["functions"]
                     if row["state"] == "cpu" and row["function"] == "compute"]
        self.assertEqual([os.path.basename(row["file"]) for row in computing], ["job"],
                         report["functions"])
        self.assertGreater(computing[0]["time_ns"], 200_000_000)


if __name__ == "__main__":
    unittest.main()
