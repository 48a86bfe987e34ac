#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run the peers on the closed forms with two objectives and keep what they tried.

    bench/search/multi_peers.py [--searcher NAME]... [--seeds 1-10]

Histories grow in build/bench/search/peers/multi-SEARCHER.csv:

    problem,seed,trial,f0,f1

with DIM parameters and TRIALS trials of each problem, `trial` counted from 0. A run is written when
it is complete: the script may be ended at any time and goes on when it is started again.
"""
import argparse
import collections
import fcntl
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bbob_peers  # noqa: E402
import forms  # noqa: E402
import peers  # noqa: E402
import searchers  # noqa: E402

HEAD = "problem,seed,trial,f0,f1"
PROBLEMS = ["zdt1", "zdt2", "zdt3", "zdt4", "zdt6", "dtlz1", "dtlz2", "dtlz7"]
DIM, OBJECTIVES, TRIALS = 6, 2, 100
SAMPLERS = {"optuna-nsga2": "NSGAIISampler", "optuna-tpe": "TPESampler", "random": "RandomSampler",
            "optuna-gp": "GPSampler"}


def recorded(path):
    """How many trials there are of each (problem, seed)."""
    if not path.exists():
        return collections.Counter()
    fields = (line.split(",") for line in path.read_text().splitlines()[1:])
    return collections.Counter((field[0], int(field[1])) for field in fields)


def run_one(lib, searcher, name, seed):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    problem = forms.Multi(lib, name, DIM, OBJECTIVES)
    study = optuna.create_study(directions=["minimize"] * OBJECTIVES,
                                sampler=getattr(optuna.samplers, SAMPLERS[searcher])(seed=seed))
    lines = []
    for number in range(TRIALS):
        trial = study.ask()
        values = problem([trial.suggest_float(f"x{i}", problem.low[i], problem.high[i])
                          for i in range(DIM)])
        study.tell(trial, values)
        lines.append(f"{name},{seed},{number}," + ",".join(map(repr, values)) + "\n")
    return lines


def work(searcher, seeds):
    searchers.quiet()
    path = peers.FOLDER / f"multi-{searcher}.csv"
    lib = forms.library(peers.HOME)
    done = recorded(path)
    for seed in seeds:
        began = time.monotonic()
        missing = [name for name in PROBLEMS if done[name, seed] < TRIALS]
        for name in missing:
            bbob_peers.append(path, run_one(lib, searcher, name, seed), HEAD)
        if missing:
            print(f"{time.strftime('%H:%M:%S')} {searcher} seed {seed}: {len(missing)} problems "
                  f"with two objectives in {time.monotonic() - began:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searcher", action="append", choices=list(SAMPLERS))
    parser.add_argument("--seeds", default="1-10")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        return work(asked.searcher[0], peers.seed_list(asked.seeds))
    peers.FOLDER.mkdir(parents=True, exist_ok=True)
    with open(peers.FOLDER / "lock-multi", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python = peers.install("venv")
        return max(subprocess.run(
            [python, __file__, "--work", "--searcher", name, "--seeds", asked.seeds],
            env=searchers.environment(), check=False).returncode
            for name in asked.searcher or SAMPLERS)


if __name__ == "__main__":
    sys.exit(main())
