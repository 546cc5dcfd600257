# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: each epoch unpickles the same cache, which takes far longer than reading it. Change:
once."""
import pickle
from exam_job import compute, start


def make(d):
    boxes = [{"id": i, "boxes": [(i, i + 1.5)] * 2, "name": f"image-{i}"} for i in range(60000)]
    with open(f"{d}/boxes.pkl", "wb") as file:
        pickle.dump(boxes, file)


def run(d, fixed):
    boxes = None
    for _ in range(8):
        if boxes is None or not fixed:
            with open(f"{d}/boxes.pkl", "rb") as file:
                boxes = pickle.load(file)
        compute(0.05)


start(make, run)
