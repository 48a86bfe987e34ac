#!/usr/bin/env python3
"""Hone's search inside a Python program: no experiment, no files. See README.md."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "sdk", "python"))
import hone


def train(p, trial):
    """A training in small: the loss falls with the epochs, towards what the setting allows."""
    floor = (p["x"] - 0.5) ** 2 + (p["y"] + 0.2) ** 2 + (0.1 if p["kind"] == "b" else 0)
    for epoch in range(1, 21):
        loss = floor + 1 / epoch**2
        if trial.report(loss, epoch):
            break
    return loss


params = {"x": {"min": -1, "max": 1}, "y": {"min": -1, "max": 1}, "kind": ["a", "b"]}
result = hone.optimize(train, params, trials=40, seed=1)
stopped = sum(t.state == "stopped" for t in result.trials)
print(f"{len(result.trials)} trials, {stopped} stopped early")
print(f"best {result.best.value:.4f} at", {k: v if k == "kind" else round(v, 2) for k, v in result.best.params.items()})
