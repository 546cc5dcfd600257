# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sets of moments as sorted lists of intervals that do not touch, and how long they are.

The oracle's own; knows nothing of what the intervals stand for.
"""


def union(intervals):
    """Of (start, end) in any order; empty ones count as nothing."""
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
    """Of two unions: what is in the left one alone."""
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
