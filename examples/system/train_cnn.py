#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small convolutional network on Fashion-MNIST, in PyTorch on the processor.

A step is one mini-batch; hone.step() gives PyTorch the threads that Hone now says. The same seed and
the same number of threads give the same losses. With another number PyTorch adds in another order, so
the last digits differ, and after some steps more than these.
"""

import argparse
import gzip
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sdk", "python"))
import hone

try:
    import torch
    from torch import nn
except ImportError as e:
    sys.exit(f"train_cnn.py: PyTorch is not there (Debian: apt install python3-torch): {e}")

FOLDER = "/usr/share/datasets/fashion-mnist"
TRAIN, VALID, PIXELS = 20000, 2000, 28 * 28


def read_idx(name, header, n):
    """The first n bytes behind the header of an idx file."""
    path = os.path.join(os.environ.get("FASHION_DATA", FOLDER), name)
    try:
        with gzip.open(path) as file:
            data = file.read(header + n)
    except (OSError, EOFError) as e:
        sys.exit(f"train_cnn.py: cannot read {path} (Debian: apt install dataset-fashion-mnist): {e}")
    if len(data) < header + n:
        sys.exit(f"train_cnn.py: {path} is too short")
    return torch.frombuffer(bytearray(data[header:]), dtype=torch.uint8)


def load_data():
    n = TRAIN + VALID
    x = read_idx("train-images-idx3-ubyte.gz", 16, n * PIXELS).reshape(n, 1, 28, 28).float() / 255
    return x, read_idx("train-labels-idx1-ubyte.gz", 8, n).long()


def network(channels):
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(2 * channels * 49, 10),
    )


def batches(size):
    """Indices of mini-batches without end: a new order in every pass."""
    while True:
        order = torch.randperm(TRAIN)
        for at in range(0, TRAIN - size + 1, size):
            yield order[at : at + size]


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def settings():
    parser = argparse.ArgumentParser(description="a small CNN on Fashion-MNIST")
    p = hone.params(steps=300, seed=1, lr=0.05, momentum=0.9, batch=64, channels=16)
    for name, kind in dict(steps=int, seed=int, lr=float, momentum=float, batch=int, channels=int).items():
        parser.add_argument(f"--{name}", type=kind, default=p[name])
    args = parser.parse_args()
    if not 1 <= args.batch <= TRAIN or args.channels < 1 or args.steps < 1:
        parser.error(f"batch must be from 1 to {TRAIN}, channels and steps at least 1")
    return args


def main():
    args = settings()
    torch.manual_seed(args.seed)
    x, y = load_data()
    model = network(args.channels)
    sgd = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum)
    loss_of = nn.CrossEntropyLoss()
    step = 0
    for chosen in batches(args.batch):
        if step >= args.steps or not hone.step(step):
            break
        sgd.zero_grad()
        loss = loss_of(model(x[chosen]), y[chosen])
        loss.backward()
        sgd.step()
        hone.log(loss=loss.item(), threads=torch.get_num_threads())
        step += 1
    hone.log(val_acc=accuracy(model, x[TRAIN:], y[TRAIN:]), step=step)


if __name__ == "__main__":
    main()
