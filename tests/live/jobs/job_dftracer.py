# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A job annotated for DFTracer, in the ways that its manual shows.

usage: job_dftracer.py DIR OUT    DIR/data is read; OUT: how often each function was called. Runs
with or without a module that provides DFTracer's names.
"""
import json
import sys
import time

from dftracer.logger import dftracer, dft_fn

log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
compute, data = dft_fn("compute"), dft_fn("data")
calls = {}


def count(name):
    calls[name] = calls.get(name, 0) + 1


@compute.log
def train_step(step):
    count("train_step")
    time.sleep(0.01)
    return step


class Reader:
    @data.log_init
    def __init__(self, path):
        self.path = path

    @data.log
    def read_index(self, index):
        count("read_index")
        with open(self.path, "rb", buffering=0) as file:
            file.seek(1000 * index)
            return file.read(1000)


def main():
    directory, out = sys.argv[1:]
    reader = Reader(f"{directory}/data")
    for step, number in data.iter(enumerate(range(4))):
        with dft_fn("io", name="block") as block:
            count("block")
            assert len(reader.read_index(number)) == 1000
            block.update(step=step)
        assert train_step(step) == step
    log.finalize()
    with open(out, "w") as file:
        json.dump(calls, file)


if __name__ == "__main__":
    main()
