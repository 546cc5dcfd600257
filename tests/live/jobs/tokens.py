# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Trains a tiny transformer on tokens that lie in a mapped file, as Megatron-LM does.

usage: tokens.py DIR OUT [--steps N] [--workers N] [--checkpoint-every N]

DIR/tokens.bin (made by --make MIB) holds 16-bit tokens; samples are cut out of it in a shuffled
order. Checkpoints go to DIR. OUT: losses and the phases as this program saw them, JSON. Under
torch.distributed's environment variables (WORLD_SIZE, RANK, ...) each rank takes its share of the
samples and gradients are averaged. Does not use Faultline.
"""
import argparse
import json
import os
import time

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

VOCABULARY, LENGTH, WIDTH, BATCH = 512, 64, 48, 8


class Tokens(Dataset):
    """Samples of LENGTH + 1 tokens; the file is mapped, nothing of it is read."""

    def __init__(self, path):
        self.tokens = numpy.memmap(path, dtype=numpy.uint16, mode="r")

    def __len__(self):
        return (len(self.tokens) - 1) // LENGTH

    def __getitem__(self, number):
        at = number * LENGTH
        sample = self.tokens[at : at + LENGTH + 1].astype(numpy.int64)
        return torch.from_numpy(sample[:-1]), torch.from_numpy(sample[1:])


class Shuffled(Sampler):
    """A share of all samples, in an order that all ranks know."""

    def __init__(self, count, rank, ranks):
        self.numbers = numpy.random.default_rng(7).permutation(count)[rank::ranks]

    def __len__(self):
        return len(self.numbers)

    def __iter__(self):
        return iter(self.numbers.tolist())


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(WIDTH, VOCABULARY)
        mask = torch.full((LENGTH, LENGTH), float("-inf")).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, tokens):
        return self.out(self.layers(self.embed(tokens) + self.position, self.mask))


class Log:
    """What this program did and when: [phase, step, start, end] by the monotonic clock."""

    def __init__(self):
        self.phases = []

    def add(self, name, step, start):
        self.phases.append([name, step, start, time.monotonic_ns()])


def train(options, rank, ranks, log):
    dataset = Tokens(f"{options.dir}/tokens.bin")
    loader = DataLoader(dataset, batch_size=BATCH, sampler=Shuffled(len(dataset), rank, ranks),
                        num_workers=options.workers, drop_last=True)
    model = Transformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches, losses = iter(loader), []
    for step in range(options.steps):
        start = time.monotonic_ns()
        tokens, targets = next(batches)
        log.add("fetch", step, start)

        start = time.monotonic_ns()
        optimizer.zero_grad()
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        if ranks > 1:
            for parameter in model.parameters():
                torch.distributed.all_reduce(parameter.grad)
                parameter.grad /= ranks
        optimizer.step()
        losses.append(loss.item())
        log.add("compute", step, start)

        if (step + 1) % options.checkpoint_every == 0 and rank == 0:
            start = time.monotonic_ns()
            with open(f"{options.dir}/checkpoint-{step + 1}.pt", "wb") as file:
                saving = time.monotonic_ns()
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
                log.add("save", step, saving)
                file.flush()
                os.fsync(file.fileno())
            log.add("checkpoint", step, start)
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--checkpoint-every", type=int, default=6)
    parser.add_argument("--make", type=int, metavar="MIB", help="make tokens.bin and do no more")
    options = parser.parse_args()
    if options.make:
        tokens = numpy.random.default_rng(1).integers(0, VOCABULARY, options.make << 19)
        tokens.astype(numpy.uint16).tofile(f"{options.dir}/tokens.bin")
        return
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
    log = Log()
    losses = train(options, rank, ranks, log)
    with open(options.out.replace("%r", str(rank)), "w") as file:
        json.dump({"pid": os.getpid(), "losses": losses, "phases": log.phases}, file)
    if ranks > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
