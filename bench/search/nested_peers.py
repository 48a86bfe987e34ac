#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run the peers on the closed form with conditional parameters and keep what they reached.

    bench/search/nested_peers.py [--searcher NAME]... [--instances 1-30]

Histories grow in build/bench/search/peers/nested-SEARCHER.csv:

    instance,trial,regret

with TRIALS trials of each instance, whose number is the seed; `trial` counts from 0. A run is
written when it is complete: the script may be ended at any time and goes on when it is started
again. `optuna-tpe-group` is the TPE that Optuna advises for conditional parameters.
"""
import argparse
import collections
import fcntl
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bbob_peers  # noqa: E402
import forms  # noqa: E402
import peers  # noqa: E402
import searchers  # noqa: E402

HEAD = "instance,trial,regret"
TRIALS = 100
SAMPLERS = {
    "optuna-tpe": lambda s, seed: s.TPESampler(seed=seed),
    "optuna-tpe-group": lambda s, seed: s.TPESampler(seed=seed, multivariate=True, group=True),
    "random": lambda s, seed: s.RandomSampler(seed=seed),
}


def recorded(path):
    """How many trials there are of each instance."""
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    return collections.Counter(int(line.split(",")[0]) for line in lines)


def suggest(trial, param):
    name = param.name.decode()
    if param.kind == forms.NESTED_CHOICE:
        return trial.suggest_categorical(name, list(range(int(param.high) + 1)))
    if param.kind == forms.NESTED_INT:
        return trial.suggest_int(name, int(param.low), int(param.high), log=bool(param.log))
    return trial.suggest_float(name, param.low, param.high, log=bool(param.log))


def run_one(lib, searcher, instance):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    problem = forms.Nested(lib, instance)
    study = optuna.create_study(sampler=SAMPLERS[searcher](optuna.samplers, instance))
    lines = []
    for number in range(TRIALS):
        trial = study.ask()
        value = problem(problem.fill(lambda param: suggest(trial, param)))
        study.tell(trial, value)
        lines.append(f"{instance},{number},{value!r}\n")
    return lines


def work(searcher, instances):
    searchers.quiet()
    path = peers.FOLDER / f"nested-{searcher}.csv"
    lib = forms.library(peers.HOME)
    done = recorded(path)
    for instance in instances:
        if done[instance] < TRIALS:
            bbob_peers.append(path, run_one(lib, searcher, instance), HEAD)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searcher", action="append", choices=list(SAMPLERS))
    parser.add_argument("--instances", default="1-30")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        return work(asked.searcher[0], peers.seed_list(asked.instances))
    peers.FOLDER.mkdir(parents=True, exist_ok=True)
    with open(peers.FOLDER / "lock-nested", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python = peers.install("venv")
        return max(subprocess.run(
            [python, __file__, "--work", "--searcher", name, "--instances", asked.instances],
            env=searchers.environment(), check=False).returncode
            for name in asked.searcher or SAMPLERS)


if __name__ == "__main__":
    sys.exit(main())
