#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The data side of a language model's training job, as Megatron-LM and nanoGPT have it: one long
file of 16-bit tokens under np.memmap, worker processes that cut windows out of it at random.
It does nothing for a tracer.

usage: demo_loader.py TOKENS [BATCHES]
"""
import multiprocessing
import sys

import numpy as np

TOKEN = np.dtype(np.uint16)
WORKERS = 2
BATCH = 16
WINDOW = 2048 + 1  # tokens; the last one is what the model has to guess

tokens = None


def open_tokens(path):
    global tokens
    tokens = np.memmap(path, dtype=TOKEN, mode="r")


def load_batch(step):
    """One batch. This is all the I/O there is: the slice is a copy out of memory."""
    starts = np.random.default_rng(step).integers(0, len(tokens) - WINDOW, BATCH)
    return np.stack([tokens[start:start + WINDOW].astype(np.int64) for start in starts])


def main():
    path = sys.argv[1]
    batches = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    used = 0
    with multiprocessing.Pool(WORKERS, open_tokens, (path,)) as pool:
        for batch in pool.imap(load_batch, range(batches)):
            used += batch.size * TOKEN.itemsize  # the training step would be here
        pool.close()
        pool.join()
    print(f"loaded {batches} batches of {BATCH} x {WINDOW} tokens: {used / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
