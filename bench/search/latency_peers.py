#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How long a suggestion of the peers takes when there are 10 parameters and n results; latency.c is
the same for ours, on the same valley.

    bench/search/latency_peers.py [SAMPLER:RESULTS]...

Writes build/bench/search/peers/latency.csv: algorithm,results,asks,what,p50_ms,p99_ms,first_ms.
"""
import math
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peers  # noqa: E402
import searchers  # noqa: E402

HEAD = "algorithm,results,asks,what,p50_ms,p99_ms,first_ms"
DIM = 10
ASKS = 20
SAMPLERS = {"optuna-tpe": "TPESampler", "optuna-gp": "GPSampler"}
USUAL = ["optuna-tpe:1000", "optuna-gp:100", "optuna-gp:300"]


def valley(x, draw):
    rise = sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))
    return rise + 0.1 * draw.gauss(0, 1)


def tell_many(optuna, study, count, draw):
    range_of = {f"x{i}": optuna.distributions.FloatDistribution(-2, 2) for i in range(DIM)}
    trials = []
    for _ in range(count):
        x = [draw.uniform(-2, 2) for _ in range(DIM)]
        trials.append(optuna.trial.create_trial(
            params={f"x{i}": value for i, value in enumerate(x)}, distributions=range_of,
            value=valley(x, draw)))
    study.add_trials(trials)


def ask(study, draw):
    """(cpu, wall) in ms of one suggestion and the telling of its result."""
    cpu, wall = time.thread_time(), time.monotonic()
    trial = study.ask()
    x = [trial.suggest_float(f"x{i}", -2, 2) for i in range(DIM)]
    study.tell(trial, valley(x, draw))
    return (time.thread_time() - cpu) * 1e3, (time.monotonic() - wall) * 1e3


def quantile(values, part):
    return sorted(values)[max(math.ceil(part * len(values)) - 1, 0)]


def measure(searcher, results):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    draw = random.Random(results)
    study = optuna.create_study(sampler=getattr(optuna.samplers, SAMPLERS[searcher])(seed=1))
    tell_many(optuna, study, results, draw)
    first = ask(study, draw)
    took = [ask(study, draw) for _ in range(ASKS)]
    for i, what in enumerate(["cpu", "wall"]):
        values = [pair[i] for pair in took]
        yield (f"{searcher},{results},{ASKS},{what},{quantile(values, 0.5):.4f},"
               f"{quantile(values, 0.99):.4f},{first[i]:.4f}\n")


def work(cases):
    searchers.quiet()
    text = HEAD + "\n"
    for case in cases:
        searcher, _, results = case.partition(":")
        text += "".join(measure(searcher, int(results)))
    fresh = peers.FOLDER / "latency.new"
    fresh.write_text(text)
    fresh.rename(peers.FOLDER / "latency.csv")
    print(text, end="")


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(sys.argv[2:])
    peers.FOLDER.mkdir(parents=True, exist_ok=True)
    words = [peers.install("venv"), __file__, "--work", *(sys.argv[1:] or USUAL)]
    return subprocess.run(words, env=searchers.environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
