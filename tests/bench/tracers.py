# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The tracers to benchmark under: how each is run, and when it cannot be."""
import os
import shutil

TRACEFS = "/sys/kernel/tracing"
# Event tools need tracefs. If it is not mounted, mount it only for the tool.
WITH_TRACEFS = ["unshare", "-m", "sh", "-c",
                f'mount -t tracefs tracefs {TRACEFS} && exec "$@"', "sh"]


class Tracer:
    """A tracer: `wrap(workload, argv, out)` is the command line that runs argv under it and
    records to the file `out`; `why_not(workload)` is None or the reason it cannot run."""

    name = None
    program = None
    sees_faults = True
    needs_tracefs = True

    def why_not(self, workload):
        if not shutil.which(self.program):
            return f"{self.program} is not installed"
        if self.needs_tracefs and not os.path.isdir(TRACEFS):
            return "this kernel has no tracefs"
        if workload.faults and not self.sees_faults:
            return "sees no page faults"
        return None

    def wrap(self, workload, argv, out):
        mounted = os.path.exists(f"{TRACEFS}/events")
        prefix = WITH_TRACEFS if self.needs_tracefs and not mounted else []
        return prefix + self.command(workload, argv, out)

    def command(self, workload, argv, out):
        raise NotImplementedError


class Faultline(Tracer):
    name = "faultline"
    needs_tracefs = False

    def __init__(self, program, *options):
        self.program, self.options = program, options

    def command(self, workload, argv, out):
        return [self.program, "run", "-q", "-o", out, "--force", *self.options, "--", *argv]


class Floor(Tracer):
    """No tracer: empty programs where a tracer attaches (floor.c)."""

    needs_tracefs = False

    def __init__(self, program, kind):
        self.program, self.kind = program, kind

    def command(self, workload, argv, out):
        return [self.program, self.kind, *argv]


class Strace(Tracer):
    name = "strace -f"
    program = "strace"
    sees_faults = False
    needs_tracefs = False

    def command(self, workload, argv, out):
        calls = ",".join(f"?{call}" for call in workload.calls)
        return ["strace", "-f", "-T", "-o", out, "-e", f"trace={calls}", *argv]


class PerfTrace(Tracer):
    name = "perf trace"
    program = "perf"

    def command(self, workload, argv, out):
        calls = ",".join(workload.calls)
        what = ["-F", "all", "--no-syscalls"] if workload.faults else ["-e", calls]
        return ["perf", "trace", "-o", out, *what, "--", *argv]


class PerfRecord(Tracer):
    name = "perf record"
    program = "perf"

    def command(self, workload, argv, out):
        if workload.faults:
            what = ["-e", "page-faults", "-c", "1", "-d"]
        else:
            what = ["-e", "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit"]
        return ["perf", "record", "-q", "-o", out, *what, "--", *argv]


class Bpftrace(Tracer):
    program = "bpftrace"

    def command(self, workload, argv, out):
        if workload.faults:
            probes = self.fault_probe
        else:
            probes = "".join(self.call_probes.replace("CALL", call) for call in workload.calls)
        return ["bpftrace", "-o", out, "-e", probes, "-c", " ".join(argv)]


class BpftraceCount(Bpftrace):
    name = "bpftrace, counts"
    fault_probe = "software:page-faults:1 /pid == cpid/ { @ = count(); }"
    call_probes = """
        tracepoint:syscalls:sys_enter_CALL /pid == cpid/ { @start[tid] = nsecs; }
        tracepoint:syscalls:sys_exit_CALL /@start[tid]/
        { @ns[probe] = hist(nsecs - @start[tid]); @bytes[probe] = sum(args->ret);
          delete(@start[tid]); }
    """


class BpftraceEvents(Bpftrace):
    name = "bpftrace, events"
    fault_probe = 'software:page-faults:1 /pid == cpid/ { printf("%d %lld\\n", tid, nsecs); }'
    call_probes = """
        tracepoint:syscalls:sys_enter_CALL /pid == cpid/ { @start[tid] = nsecs; }
        tracepoint:syscalls:sys_exit_CALL /@start[tid]/
        { printf("%d %s %lld %lld\\n", tid, probe, nsecs - @start[tid], args->ret);
          delete(@start[tid]); }
    """


RIVALS = [Strace(), PerfTrace(), PerfRecord(), BpftraceCount(), BpftraceEvents()]
