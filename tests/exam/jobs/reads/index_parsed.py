# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: opens an index and parses it again for each sample. Change: parse it once."""
import json
import os
from exam_job import blob, start, write


def make(d):
    with open(f"{d}/index.json", "w", encoding="ascii") as file:
        json.dump([{"name": f"sample-{i}", "offset": i * 4096} for i in range(8000)], file)
    write(d, "data.bin", blob(8000 * 4096))


def read_index(d):
    with open(f"{d}/index.json", encoding="ascii") as file:
        return json.load(file)


def run(d, fixed):
    data = os.open(f"{d}/data.bin", os.O_RDONLY)
    if fixed:
        index = read_index(d)
    for i in range(300):
        if not fixed:
            index = read_index(d)
        os.pread(data, 4096, index[i * 26]["offset"])


start(make, run)
