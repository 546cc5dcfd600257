#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Boots kernels of Debian and Ubuntu in QEMU and compares Faultline's recordings there with strace,
mincore, getrusage and the workloads' own accounts: each layer in each variant that the kernel has. Prints
kernel, layer, variant and result. Needs no root and no KVM (scripts/setup.sh vm).

usage: tests/vm/run.py [OPTION...] [VERSION...]
    --kernel IMAGE       boot this kernel as well, and without VERSIONs only this one
    --modules DIR        its modules, at any depth
    --arch amd64|arm64   guest architecture; cross-builds if it is not this machine's
    --quick              fewer jobs, and each kernel only once
    --parallel N         guests at a time (one per processor: each is emulated by one thread)
    --seconds N          begin no job later in a guest's life; the rest is skipped
    --within N           finish in N seconds: jobs not run by then are skipped, and so are guests
                         that do not start; if one is cut off, its finished jobs are compared
    --cache DIR          package cache (build/vm)
    --only TEXT          jobs whose names (syscall-tp-calls) contain it; repeatable
    --keep               keep the guests' output

VERSION is for example 6.12, 6.12-rt (PREEMPT_RT), 5.15-ubuntu (Ubuntu's generic kernel),
5.15-ubuntu-lowlatency, 6.12-full (only jobs for modules that Debian's cloud kernels lack), or on
arm64 6.12-16k (16 KiB pages); by default all of the matrix. Kernels that cannot be fetched are
skipped, with a message. The exit status is 1 if a check failed or no guest ran.
"""
import argparse
import concurrent.futures
import glob
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import alone
import attach
import cross
import fuse
import guest
import jobs
import kernels
import monitor
import netfs
import nfs
import p9
import programs
import relocations
import storage
import vfs
from job import LIMIT, Absent, NotRun, Results, Wrong

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The versions, and the parameters that their guests need.
MATRIX = {"amd64": ["5.10", "5.15-ubuntu", "6.1", "6.8-ubuntu", "6.12", "6.18", "7.2", "6.1-full",
                    "7.2-full"],
          "arm64": ["6.1", "6.12", "7.2", "6.12-16k"]}
TOO_OLD = ("5.10",)
# Kernels that may preempt tracepoint programs, and skip them in the meantime.
PASSING_OVER = ("7.2",)
HERE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
# Jobs that a kernel does not survive: nfsd of Ubuntu's 5.15 stops at an assertion of its own if there
# is no rpcbind.
FATAL = {"5.15-ubuntu": ("-nfsd", "nfs-chosen-v4", "nfs-raw_tp-v4", "nfs-raw_tpx3-v4")}
# A CPU without cmpxchg16b for kernels whose allocator misuses it under emulation.
CPUS = {("amd64", "6.12"): "max,-cx16"}
# arm64's standard pointer authentication takes most of the emulation's time.
CPU = {"amd64": "max", "arm64": "max,pauth-impdef=on"}
WORKLOADS = ("live/calls", "live/mapper", "live/spawner", "live/span_marks", "live/hotread",
             "live/uring", "live/uring_forms", "live/span_opened", "live/present", "live/moves",
             "live/waits", "live/fuse_serve", "live/nfs_serve", "live/p9_serve",
             "bench/neighbour")
WANTED = ("faultline", "libfaultline.so.0", *(f"tests/{name}" for name in WORKLOADS))
SECONDS = 3000  # for all jobs of a guest
BOOTS = 3
BEGINS = 0.85  # of a guest's time: jobs begun later may be cut off
WITHIN_REST = 15  # seconds of --within for judging and ending


class Table:
    """Prints result lines, and their sum."""

    def __init__(self):
        self.passed = self.failed = self.absent = self.late = self.booted = 0
        self.skipped, self.attached = [], set()

    def line(self, kernel, layer, variant, name, result):
        print(f"{kernel:<18} {layer:<10} {variant:<12} {name:<18} {result}", flush=True)

    def skip(self, kernel, reason):
        self.skipped.append(kernel)
        self.line(kernel, "-", "-", "-", f"skipped: {reason}")

    def status(self):
        """A run without any guest has not passed."""
        return 1 if self.failed or not self.booted else 0

    def tell_never_attached(self, options):
        """The programs that no guest has run: untested ones."""
        code = programs.Object(os.path.join(options.build, "bpf/faultline.bpf.o"))
        every = {code.functions[function][0] for function in code.programs()}
        left = ", ".join(sorted(every - self.attached)) or "none"
        print(f"{len(every)} programs, never attached: {left}")

    def judge_types(self, kernel, label, options):
        """Checks that the kernel's types have everything that the BPF object reads, without a
        boot."""
        left, there = [], 0
        types = relocations.Btf(kernel.types())
        for name in ("faultline.bpf.o", "probe_read.bpf.o"):
            path = os.path.join(options.build, "bpf", name)
            missing, resolved = relocations.unresolved(path, types)
            left, there = left + missing, there + resolved
        self.passed, self.failed = self.passed + (not left), self.failed + bool(left)
        result = f"FAIL: do not resolve: {', '.join(left)}" if left else f"ok: {there} resolve"
        self.line(label, "-", "-", "relocations", result)

    def judge(self, kernel, job, results):
        """Only wrong or unreadable output of Faultline is a failure."""
        self.attached |= results.attached()
        try:
            results.ended_well()
            result, self.passed = f"ok: {job.judge(results)}{results.chosen(job)}", self.passed + 1
        except Absent as reason:
            result, self.absent = f"not here: {reason}", self.absent + 1
        except NotRun as reason:
            result, self.late = f"skipped: {reason}", self.late + 1
        except (Wrong, KeyError, TypeError, ValueError) as error:
            kind = "" if isinstance(error, Wrong) else f"{type(error).__name__} "
            result, self.failed = f"FAIL: {kind}{error}", self.failed + 1
        self.line(kernel, job.layer, job.variant, job.name, result)


def add_python(root):
    """Debian's interpreter, with the modules that it imports at its start and has not built in."""
    python = root.find("python3.11")
    if not python:
        return
    root.add_program(python, "python3")
    for path in glob.glob(f"{os.path.dirname(python)}/../lib/python3.11/encodings/*.py"):
        root.put(path, f"/usr/lib/python3.11/encodings/{os.path.basename(path)}")


def make_root(architecture, build, places, workloads):
    root = guest.Root(guest.ARCHITECTURES[architecture], places)
    root.add_program(os.path.join(build, "faultline"))
    for name in workloads:
        root.add_program(os.path.join(build, "tests", name))
    # The library that marks spans, for a program that opens it.
    root.put(os.path.join(build, "libfaultline.so.0"), "/lib/libfaultline.so.0")
    # The C library opens it when a thread exits.
    root.add_library("libgcc_s.so.1")
    # The library that the monitoring service needs.
    root.add_library("libmicrohttpd.so.12")
    busybox, strace = root.find("busybox"), root.find("strace")
    root.put(busybox, "/bin/busybox")
    root.add_program(strace)
    for name in ("/sbin/dmsetup", "/sbin/mke2fs", "/sbin/mkfs.btrfs", "/sbin/blkzone",
                 "/usr/sbin/ksmbd.mountd", "/usr/bin/ganesha.nfsd", "/sbin/rpcbind"):
        if root.find(name):
            root.add_program(root.find(name))
    # A part of that server, which it loads later.
    if vfs_part := root.find("ganesha/libfsalvfs.so"):
        root.put(vfs_part, "/usr/lib/ganesha/libfsalvfs.so")
        root.add_libraries(vfs_part)
    add_python(root)
    # By path, since the shell has a builtin of this name.
    root.put(busybox, "/usr/bin/true")
    return root


def smb_server(packages):
    """The root of an SMB server's programs, new enough for the newest kernel's module ksmbd."""
    try:
        return [packages.unpack([packages.download("ksmbd-tools", "bookworm-backports")], "smb")]
    except (kernels.Unavailable, OSError, subprocess.SubprocessError):
        return []  # its jobs then say what is missing


def nfs_server(packages):
    """The same of an NFS server."""
    names = ("nfs-ganesha", "nfs-ganesha-vfs", "libntirpc4.3", "liburcu8", "libnfsidmap1",
             "libwbclient0", "libbsd0", "libmd0", "rpcbind", "libtirpc3", "libwrap0")
    try:
        return [packages.unpack([packages.download(name, "bookworm") for name in names], "nfs")]
    except (kernels.Unavailable, OSError, subprocess.SubprocessError):
        return []


def guest_seconds(options):
    """When a guest begins no more jobs, and when it is ended, in seconds from now."""
    if not options.within:
        return options.seconds, options.seconds + LIMIT + 60
    left = options.within - (time.monotonic() - options.started) - WITHIN_REST
    return min(options.seconds, int(left * BEGINS)), left


def run_guest(kernel, label, todo, options, table, parameters=""):
    started = time.monotonic()
    begin, end = guest_seconds(options)
    todo = [job for job in todo if not options.only or any(t in job.id for t in options.only)]
    fatal = FATAL.get(f"{kernel.version}-{kernel.flavour}", ())
    todo = [job for job in todo if not job.id.endswith(fatal)]
    if not todo:
        return
    if begin <= 0:
        table.skip(label, "no time is left for it")
        return
    root = make_root(options.arch, options.build, options.places, WORKLOADS)
    try:
        plan = f"SECONDS_LEFT={begin}\n" + "".join(job.plan() for job in todo)
        cpu = CPUS.get((options.arch, kernel.version), CPU[options.arch])
        # Emulation on a busy machine may fail before any of our code runs: that is no verdict.
        for left in reversed(range(BOOTS)):
            outcome = guest.boot(kernel, root, plan, end, parameters, cpu)
            if "vm: " in outcome.console or options.within or not left:
                break
            outcome.remove()
    finally:
        root.remove()
    try:
        ended, missing = outcome.jobs(), outcome.missing()
        if missing:
            table.failed += 1
            table.line(label, "-", "-", "-", f"FAIL: ended, but left nothing: {', '.join(missing)}")
        if outcome.reason and options.within and not ended:
            table.skip(label, outcome.reason)
            return
        table.booted += 1
        passed_over = kernel.version in PASSING_OVER or kernel.flavour == "rt" or bool(parameters)
        for job in todo:
            results = Results(outcome, job.id, options.faultline, passed_over)
            table.judge(label, job, results)
        if outcome.reason and options.within:
            table.line(label, "-", "-", "-", f"cut off after {len(ended)} jobs: {outcome.reason}")
        elif outcome.reason:
            table.failed += 1
            table.line(label, "-", "-", "-", f"FAIL: {outcome.reason}")
            print("\n".join(f"      {line}" for line in outcome.console.splitlines()[-25:]))
    finally:
        if options.keep:
            print(f"      {outcome.top} is kept")
        else:
            outcome.remove()
    print(f"{label}: {time.monotonic() - started:.0f} s", flush=True)


def guests_of(version, packages, options, table):
    """The guests to boot for a kernel: (kernel, label, jobs, parameters) of each."""
    kernel = kernels.Kernel(packages, version)
    print(f"=== {kernel.name}", flush=True)
    if version in TOO_OLD:
        return [(kernel, version, jobs.for_old_kernel(), "")]
    return guests_for(kernel, version, options, table)


def guests_for(kernel, version, options, table):
    table.judge_types(kernel, version, options)
    made = (jobs, alone, storage, attach, vfs, fuse, nfs, p9, monitor)
    if kernel.flavour == "full":
        made = (netfs, p9)
    guests = [(kernel, version, [job for some in made for job in some.for_kernel(options.quick)], "")]
    if not options.quick and kernel.flavour != "full":
        guests.append((kernel, f"{version} preempted", jobs.for_crowd(), "preempt=full"))
    if not options.quick and kernel.flavour != "full" and options.arch == "amd64":
        guests.append((kernel, f"{version} {monitor.CPUS} CPUs", monitor.for_many_cpus(),
                       f"possible_cpus={monitor.CPUS}"))
    return guests


def run_matrix(versions, packages, options, table):
    """Runs guests in parallel, those with the most jobs first, to keep the CPUs busy."""
    guests = []
    for version in versions:
        try:
            guests += guests_of(version, packages, options, table)
        except (kernels.Unavailable, OSError, subprocess.SubprocessError) as error:
            table.skip(version, error)
    if options.kernel:
        kernel = kernels.Image(options.kernel, options.modules)
        print(f"=== {kernel.name}", flush=True)
        guests += guests_for(kernel, kernel.version, options, table)
    guests.sort(key=lambda guest: -len(guest[2]))
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        runs = {
            pool.submit(run_guest, kernel, label, todo, options, table, parameters): label
            for kernel, label, todo, parameters in guests
        }
        for run in concurrent.futures.as_completed(runs):
            try:
                run.result()
            except (kernels.Unavailable, OSError, subprocess.SubprocessError) as error:
                table.skip(runs[run], error)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--arch", choices=sorted(MATRIX), default="amd64")
    parser.add_argument("--cache")
    parser.add_argument("--kernel")
    parser.add_argument("--modules")
    parser.add_argument("--only", action="append")
    parser.add_argument("--parallel", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--within", type=int)
    parser.add_argument("versions", nargs="*")
    options = parser.parse_args()
    options.started = time.monotonic()
    here = os.environ.get("BUILD", os.path.join(TOP, "build"))
    options.build = os.path.abspath(here)
    options.faultline = os.path.join(os.path.abspath(here), "faultline")
    options.places = [""]
    until = options.started + options.within - WITHIN_REST if options.within else None
    packages = kernels.Packages(options.cache or os.path.join(here, "vm"), options.arch, until)
    table = Table()
    if options.arch != HERE:
        options.build = os.path.join(packages.top, "build")
        options.places = [cross.build(packages, TOP, options.build, WANTED)]
    absent = [name for name in WANTED if not os.path.exists(os.path.join(options.build, name))]
    if absent:
        sys.exit(f"run.py: FAIL: not built: {', '.join(absent)}")
    try:
        packages.all_names()
    except (kernels.Unavailable, OSError, subprocess.SubprocessError):
        pass  # each kernel then reports why it is skipped
    options.places += smb_server(packages) + ([] if options.quick else nfs_server(packages))
    versions = options.versions or ([] if options.kernel else MATRIX[options.arch])
    run_matrix(versions, packages, options, table)
    table.tell_never_attached(options)
    print(
        f"{table.passed} passed, {table.failed} failed, {table.absent} not in that kernel, "
        f"{table.late} jobs skipped for lack of time or of a tool, "
        f"{len(table.skipped)} kernels skipped{': ' * bool(table.skipped)}"
        f"{', '.join(table.skipped)}{'; no guest ran' * (not table.booted)}"
    )
    return table.status()


if __name__ == "__main__":
    sys.exit(main())
