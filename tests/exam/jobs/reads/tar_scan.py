# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: opens a tar archive and looks up a member by name, which scans its headers, for each
sample. Change: keep it open, with its index."""
import io
import tarfile
from exam_job import blob, start


def make(d):
    with tarfile.open(f"{d}/samples.tar", "w") as archive:
        for number in range(2000):
            info = tarfile.TarInfo(f"sample-{number:05}.bin")
            info.size = 20000
            archive.addfile(info, io.BytesIO(blob(info.size, number)))


def run(d, fixed):
    archive = tarfile.open(f"{d}/samples.tar") if fixed else None
    for number in range(40):
        name = f"sample-{number * 49:05}.bin"
        if fixed:
            archive.extractfile(name).read()
            continue
        with tarfile.open(f"{d}/samples.tar") as again:
            again.extractfile(name).read()


start(make, run)
