# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Spans from Python in a loop, with or without a tracer; prints "ns-per-span spans", less the cost
of the loop itself.

usage: spans_loop.py faultline|dftracer SECONDS
"""
import sys
import time


def spans_of_faultline(count):
    from faultline import span

    start = time.perf_counter_ns()
    for i in range(count):
        with span("forward", category="compute", step=i):
            pass
    return time.perf_counter_ns() - start


def spans_of_dftracer(count):
    from dftracer.python import dft_fn

    start = time.perf_counter_ns()
    for i in range(count):
        with dft_fn("compute", name="forward", step=i):
            pass
    return time.perf_counter_ns() - start


def empty(count):
    start = time.perf_counter_ns()
    for _ in range(count):
        pass
    return time.perf_counter_ns() - start


def main():
    spans = {"faultline": spans_of_faultline, "dftracer": spans_of_dftracer}[sys.argv[1]]
    seconds, taken, count = float(sys.argv[2]), 0, 0
    spans(100)
    while taken < seconds * 1e9:
        taken += spans(10_000) - empty(10_000)
        count += 10_000
    print(f"{taken / count:.2f} {count}")


if __name__ == "__main__":
    main()
