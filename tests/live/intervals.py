# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sets of moments as sorted lists of disjoint intervals, and their lengths; independent of
Faultline's own code.
"""


def union(intervals):
    """The union of (start, end) pairs in any order; empty ones do not count."""
    joined = []
    for start, end in sorted(intervals):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return joined


def measure(joined):
    return sum(end - start for start, end in joined)


def minus(left, right):
    """The difference of two unions: the left one without the right one."""
    rest = []
    right = [*right, [float("inf"), float("inf")]]
    at = 0
    for start, end in left:
        while right[at][1] <= start:
            at += 1
        i = at
        while right[i][0] < end:
            if right[i][0] > start:
                rest.append([start, right[i][0]])
            start = max(start, right[i][1])
            i += 1
        if start < end:
            rest.append([start, end])
    return rest
