# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Trains a tiny network on a directory of images, read by the worker processes of a DataLoader.

usage: images.py DIR OUT [--workers N] [--method fork|spawn|forkserver]

DIR/images/CLASS/*.ppm (made by --make N) are images, one a file. OUT: losses, and what each worker
read, JSON. Does not use Faultline.
"""
import argparse
import json
import os
import time

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, BATCH, CLASSES = 96, 8, ("cat", "dog")


class Images(Dataset):
    def __init__(self, top):
        self.images = sorted(
            (os.path.join(top, name, image), number)
            for number, name in enumerate(CLASSES)
            for image in os.listdir(os.path.join(top, name))
        )

    def __len__(self):
        return len(self.images)

    def __getitem__(self, number):
        path, label = self.images[number]
        with open(path, "rb") as file:
            head, size, depth, pixels = file.read().split(b"\n", 3)
        image = numpy.frombuffer(pixels, numpy.uint8).reshape(SIDE, SIDE, 3)
        image = torch.from_numpy(image.astype(numpy.float32).transpose(2, 0, 1) / 255)
        return image, label, os.getpid()


def model():
    return nn.Sequential(nn.Conv2d(3, 8, 5, stride=4), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(16, len(CLASSES)))


def make(top, count):
    random = numpy.random.default_rng(3)
    for name in CLASSES:
        os.makedirs(os.path.join(top, name))
        for number in range(count // len(CLASSES)):
            with open(os.path.join(top, name, f"{number:04d}.ppm"), "wb") as file:
                file.write(b"P6\n%d %d\n255\n" % (SIDE, SIDE))
                file.write(random.integers(0, 255, SIDE * SIDE * 3, numpy.uint8).tobytes())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("out")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--method", default="fork")
    parser.add_argument("--make", type=int, metavar="N", help="make N images and do no more")
    options = parser.parse_args()
    top = os.path.join(options.dir, "images")
    if options.make:
        make(top, options.make)
        return
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Images(top), batch_size=BATCH, shuffle=True, num_workers=options.workers,
                        multiprocessing_context=options.method if options.workers else None)
    network = model()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    losses, readers, phases = [], [], []
    start = time.monotonic_ns()
    for images, labels, pids in loader:
        phases.append(["fetch", len(losses), start, time.monotonic_ns()])
        start = time.monotonic_ns()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        readers += pids.tolist()
        phases.append(["compute", len(losses) - 1, start, time.monotonic_ns()])
        start = time.monotonic_ns()
    with open(options.out, "w") as file:
        json.dump(
            {"pid": os.getpid(), "losses": losses, "readers": readers, "phases": phases}, file
        )


if __name__ == "__main__":
    main()
