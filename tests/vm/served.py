# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shared by the guest jobs of the layers fuse, nfs, 9p and netfs, which record requests to the servers of
file systems."""
import monitor
from job import Absent, Job, check, equal, reported_losses


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
    equal(monitor.reported(metrics, "faultline_storage_bytes_total", **of), expected, "bytes read")
    return f"{monitor.reported(metrics, 'faultline_storage_requests_total', **of):.0f} reads"


def record(layer, name, options=""):
    """A command that records no work, with this layer only."""
    return f"faultline run -q -o {name}.flt --layers {layer} --best-effort {options} -- true"


def unusable(results, names, layer, words):
    """Checks that the layer was on in the job's trace, and off for such a reason in those
    with the names."""
    plain = results.report()["trace"]["layers"][layer]
    if plain["state"] == "off" or plain["attach"] == "later":
        raise Absent(plain["reason"])
    for name in names:
        state = results.report(f"{name}.flt")["trace"]["layers"][layer]
        equal((state["state"], state["attach"]), ("off", None), f"the layer in {name}")
        check(words in state["reason"], f"the reason in {name} is {state['reason']}")
    return f"off in {len(names)} recordings"


def of_no_use(layer, module, typed, targets):
    """Jobs in which the layer's `targets` have another signature, each of them a list of those for
    one purpose, and in which the types of its modules (`typed`) are missing."""
    names = [f"changed{i}" for i in range(len(targets))]
    load = f"load {module}; {record(layer, 'trace')} || exit"
    changed = "\n".join([load, *(f"{record(layer, name, f'--force-changed {target}')} || exit"
                                 for name, target in zip(names, targets))])
    hidden = " ".join(f"/sys/kernel/btf/{name}" for name in typed.split())
    types = f"""{load}; : >none
for types in {hidden}; do [ -e $types ] || exit 77; mount -o bind none $types; done
{record(layer, "types")}; s=$?
umount {hidden}; exit $s"""

    def judge_changed(results):
        return unusable(results, names, layer, " has a different signature in this kernel")

    def judge_types(results):
        return unusable(results, ["types"], layer, "requires ")

    return [Job(layer, "chosen", "changed", changed, judge_changed),
            Job(layer, "chosen", "types", types, judge_types)]
