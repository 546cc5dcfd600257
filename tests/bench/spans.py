# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The cost of marking a span for the program, without a listener and under Faultline.

The cost of hitting two probes on this kernel is measured alternately: Faultline's share is the
rest.
"""
import os
import statistics
import subprocess

PYTHON = "/usr/bin/python3"
LOOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spans_loop.py")

UNTRACED_C_NS, UNTRACED_PYTHON_NS = 10, 150
TRACED_ON_FLOOR_NS = 1500


def with_dftracer():
    """True if DFTracer itself is installed; our module of that name is not on this path."""
    found = subprocess.run([PYTHON, "-c", "import dftracer.python"], capture_output=True)
    return found.returncode == 0


def measure(bench, say):
    """Yields (name, ns or ratio, unit, target or None). `bench` times a command line, untraced
    or traced, and knows the build directory."""
    seconds = str(bench.options.seconds)
    c = f"{bench.build}/tests/bench/spans"
    python = ["env", f"PYTHONPATH={bench.build}/python", PYTHON, LOOP, "faultline", seconds]
    rows = {"C": [], "Python": [], "floor": [], "C, traced": [], "Python, traced": []}
    for _ in range(bench.options.pairs):
        rows["C"].append(bench.time([c, "pairs", seconds]))
        rows["Python"].append(bench.time(python))
    say("spans: traced, and the floor")
    traced_seconds = str(min(0.3, bench.options.seconds))
    for _ in range(bench.options.pairs):
        rows["floor"].append(bench.time([c, "floor", traced_seconds]))
        rows["C, traced"].append(bench.time_traced([c, "pairs", traced_seconds]))
        rows["Python, traced"].append(bench.time_traced([*python[:-1], traced_seconds]))
    middle = {name: statistics.median(times) for name, times in rows.items()}
    added = statistics.median(t - f for t, f in zip(rows["C, traced"], rows["floor"]))
    yield "span untraced, C, begin and end", middle["C"], "ns", UNTRACED_C_NS
    yield "span untraced, Python", middle["Python"], "ns", UNTRACED_PYTHON_NS
    yield "two USDT hits, an empty program behind them", middle["floor"], "ns", None
    yield "span traced, C, above that", added, "ns", TRACED_ON_FLOOR_NS
    yield "span traced, C, by that", middle["C, traced"] / middle["floor"], "ratio", None
    yield "span traced, Python", middle["Python, traced"], "ns", None
    if with_dftracer():
        say("spans: DFTracer")
        times = [bench.time([PYTHON, LOOP, "dftracer", seconds]) for _ in range(3)]
        yield "span of DFTracer's Python API", statistics.median(times), "ns", None
