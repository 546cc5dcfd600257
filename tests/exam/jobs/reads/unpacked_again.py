# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: takes each sample from a member of an archive, which unpacks the whole member, as an
NpzFile does. Change: unpack it once."""
import zipfile
from exam_job import start

SAMPLE = 4096


def make(d):
    data = b"".join(bytes((i * j) >> 3 & 255 for i in range(SAMPLE)) for j in range(64)) * 40
    with zipfile.ZipFile(f"{d}/train.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("images.npy", data)


def run(d, fixed):
    total = 0
    with zipfile.ZipFile(f"{d}/train.npz") as archive:
        images = archive.read("images.npy") if fixed else None
        for i in range(80):
            sample = (images or archive.read("images.npy"))[i * SAMPLE:(i + 1) * SAMPLE]
            total += sum(sample)


start(make, run)
