#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run the peers on the BBOB functions and keep what they reached.

    bench/search/bbob_peers.py [--searcher NAME]... [--dim N]... [--instances 1-5]
    bench/search/bbob_peers.py [--quick]

Without a searcher it follows PLAN; --quick leaves out the slow ones, and has only two instances of
the GP in ten dimensions, which takes a quarter of an hour for each.
Histories grow in build/bench/search/peers/bbob-SEARCHER.csv, those of the slow ones in
bench/search/runs, so that they add up over time (HEBO takes three minutes for a problem):

    function,dim,instance,trial,regret

`trial` counts from 0; regret is the value less the least one. The budget is min(10·dim, 100), the
seed of a run is its instance, 1 to 5. A run is written when it is complete: the script may be ended
at any time and goes on when it is started again.
"""
import argparse
import collections
import fcntl
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import forms  # noqa: E402
import peers  # noqa: E402
import searchers  # noqa: E402

HEAD = "function,dim,instance,trial,regret"
INSTANCES = "1-5"
QUICK = {("optuna-gp", 10): "1-2"}
RUNS = pathlib.Path(__file__).resolve().parent / "runs"
# The slow ones have five dimensions only.
PLAN = [("optuna-tpe", [2, 5, 10]), ("optuna-cma", [2, 5, 10]), ("random", [2, 5, 10]),
        ("optuna-gp", [2, 5]), ("optuna-gp", [10]), ("smac-once", [5]), ("hebo", [5])]


def budget(dim):
    return min(10 * dim, 100)


def history(searcher):
    return (RUNS if searcher in peers.SLOW else peers.FOLDER) / f"bbob-{searcher}.csv"


def recorded(path):
    """How many trials there are of each (function, dim, instance)."""
    if not path.exists():
        return collections.Counter()
    lines = path.read_text().splitlines()[1:]
    return collections.Counter(tuple(map(int, line.split(",")[:3])) for line in lines)


def run_one(lib, searcher, function, dim, instance):
    problem = forms.Bbob(lib, function, dim, instance)
    space = searchers.Space([searchers.Real(f"x{i}", -5.0, 5.0) for i in range(dim)],
                            maximize=False, trials=budget(dim))
    peer = searchers.SEARCHERS[searcher](space, instance)
    lines = []
    for trial in range(budget(dim)):
        value = problem(peer.ask())
        peer.tell(value)
        lines.append(f"{function},{dim},{instance},{trial},{value - problem.best:.6g}\n")
    return lines


def append(path, lines, head=HEAD):
    """In one write: all of a run or, when killed, nothing of it."""
    text = "".join(lines) if path.exists() else head + "\n" + "".join(lines)
    with open(path, "ab", buffering=0) as file:
        file.write(text.encode())


def work(searcher, dims, instances):
    searchers.quiet()
    path = history(searcher)
    lib = forms.library(peers.HOME)
    done = recorded(path)
    for dim in dims:
        for instance in instances:
            began = time.monotonic()
            missing = [f for f in range(1, 25) if done[f, dim, instance] < budget(dim)]
            for function in missing:
                append(path, run_one(lib, searcher, function, dim, instance))
            if missing:
                print(f"{time.strftime('%H:%M:%S')} {searcher} dimension {dim} instance {instance}"
                      f": {len(missing)} functions in {time.monotonic() - began:.0f} s", flush=True)


def spawn(searcher, dims, instances):
    words = [peers.python_of(searcher), __file__, "--work", "--searcher", searcher,
             "--instances", instances]
    for dim in dims:
        words += ["--dim", str(dim)]
    status = subprocess.run(words, env=searchers.environment(), check=False).returncode
    if status != 0:
        print(f"bbob_peers: {searcher} ended with {status}", file=sys.stderr, flush=True)
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searcher", action="append", choices=list(searchers.SEARCHERS))
    parser.add_argument("--dim", action="append", type=int)
    parser.add_argument("--instances", default=INSTANCES)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    dims = asked.dim or [2, 5, 10]
    if asked.work:
        return work(asked.searcher[0], dims, peers.seed_list(asked.instances))
    peers.FOLDER.mkdir(parents=True, exist_ok=True)
    with open(peers.FOLDER / "lock-bbob", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        plan = [(name, dims) for name in asked.searcher or []] or PLAN
        fewer = QUICK if asked.quick else {}
        good = [spawn(name, dims, fewer.get((name, dims[0]), asked.instances))
                for name, dims in plan if not asked.quick or name not in peers.SLOW]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
