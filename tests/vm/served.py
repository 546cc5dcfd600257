# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shared by the guest jobs of the layers fuse, nfs, 9p and netfs, which record requests to the servers of
file systems."""
import monitor
from job import Absent, check, equal, reported_losses


def recorded(results, name):
    """The report, its layer and that layer's rows, after checks that hold for each job."""
    report = results.report()
    layer = report["trace"]["layers"][name]
    if layer["state"] == "off":
        raise Absent(layer["reason"])
    reported_losses(results, report)
    equal(report["trace"]["lost"]["by_layer"][name], 0, "requests lost")
    return report, layer, results.printed(name)


def of_run(report, rows):
    """Requests are the run's, or the kernel's own."""
    pids = {row["pid"] for row in report["processes"] if row["pid"]}
    check({row["pid"] for row in rows} <= pids | {0}, "requests of other processes")


def same_sums(device, rows):
    """Reads and writes of the only mount: the run's, and those of any process."""
    for kind in ("read", "write"):
        some = [row for row in rows if row["op"].split("_")[1] == kind]
        sums = len(some), sum(row["bytes"] for row in some)
        for where in (device, device["all"]):
            equal((where[kind]["requests"], where[kind]["bytes"]), sums, f"{kind}s of the mount")


def lines(results, which=""):
    """The numbers that a server left for each request between mounting and unmounting."""
    begin, end = (int(results.text(f"{name}{which}")) for name in ("mounting", "ended"))
    for line in results.text("served").splitlines()[begin:end]:
        yield map(int, line.split())


def late(report, name):
    """Checks what is said about a layer whose modules were loaded while it recorded. Returns for
    how long they were not seen, in s."""
    layer = report["trace"]["layers"][name]
    equal((layer["state"], layer["attach"]), ("on", "later"), "the layer")
    unseen = report["trace"]["notes"][f"{name}_unseen_ns"]
    check(0 < unseen < report["trace"]["duration_ns"], f"unseen for {unseen} ns")
    check([row for row in report["caveats"] if row["id"] == f"{name}-unseen"], "no caveat")
    return unseen / 1e9


def monitored(results, device, expected):
    """Checks the bytes that the monitor has seen read from a mount."""
    metrics, of = results.text("metrics"), {"device": device, "op": "read"}
    equal(monitor.told(metrics, "faultline_storage_bytes_total", **of), expected, "bytes read")
    return f"{monitor.told(metrics, 'faultline_storage_requests_total', **of):.0f} reads"
