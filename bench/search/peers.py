#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run the peers over the replay tables and keep their histories.

    bench/search/peers.py [--searcher NAME]... [--table NAME]... [--seeds 1-30] [--trials 100]
    bench/search/peers.py [--quick]

Without a searcher it follows PLAN; --quick leaves out the slow ones.
Histories grow in build/bench/search/peers/TABLE-SEARCHER.csv:

    seed,trial,row,repeat,value[,reported]

`trial` counts from 0, `row` is the line of the table without its head, from 0, `repeat` the one
among the row's repeats that the trial saw (tables.draw), `reported` the row that the peer itself
would report as best after that trial; without it the best observed counts.

A run (searcher, table, seed) is written when it is complete, so the script may be ended at any time
and started again: it goes on with what is missing. Two at once are kept apart by a lock. The newest
peers live in a virtual environment in build/bench/search/venv that the script makes.
"""
import argparse
import collections
import fcntl
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import searchers  # noqa: E402
import tables  # noqa: E402

BUILD = pathlib.Path(os.environ.get("HONE_BUILD", tables.TOP / "build")).resolve()
HOME = BUILD / "bench" / "search"
FOLDER = HOME / "peers"
# What pip installs where. HEBO asks for an old numpy; the bounds say which versions of the others
# still go with that one, because pip alone tries to build older and older sources.
PACKAGES = {
    "venv": ["optuna", "torch", "cmaes", "scipy", "coco-experiment"],
    "venv-smac": ["smac", "scikit-learn<1.8"],
    "venv-hebo": ["HEBO", "numpy<1.25", "pandas<2.2", "scipy<1.12", "scikit-learn<1.5",
                  "matplotlib<3.9", "GPy<1.14"],
}
DEBIAN = "/usr/bin/python3"
SLOW = {"smac", "smac-once", "hebo"}
HEAD = ["seed", "trial", "row", "repeat", "value", "reported"]
# What runs when, most wanted first: searcher, seeds, trials.
PLAN = [
    ("optuna-gp", "1-15", 100), ("optuna-gp", "16-30", 100), ("optuna-tpe", "1-30", 100),
    ("optuna-cma", "1-30", 100), ("random", "1-200", 100), ("debian-tpe", "1-30", 100),
    ("smac", "1-15", 100), ("smac-once", "1-15", 100), ("smac", "16-30", 100),
    ("smac-once", "16-30", 100), ("hebo", "1-5", 50),
]


def seed_list(text):
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def history(table, searcher):
    return FOLDER / f"{table}-{searcher}.csv"


def recorded(path):
    """The lines of the file by seed."""
    seeds = collections.defaultdict(list)
    if path.exists():
        for line in path.read_text().splitlines()[1:]:
            seeds[int(line.split(",")[0])].append(line)
    return seeds


def record(path, seed, lines):
    """Put a run into the file, in the place of a shorter one of that seed; all of it or nothing."""
    seeds = recorded(path)
    seeds[seed] = lines
    text = [",".join(HEAD)] + [line for run in seeds.values() for line in run]
    fresh = path.with_suffix(".new")
    fresh.write_text("\n".join(text) + "\n")
    fresh.rename(path)


def run_one(table, searcher, seed, trials):
    """The history of one run, as lines of the file."""
    space = searchers.Space([searchers.Grid(p.name, len(p.values), p.numeric)
                             for p in table.params], table.maximize, trials)
    peer = searchers.SEARCHERS[searcher](space, seed)
    lines = []
    for trial in range(trials):
        row = table.rows[peer.ask()]
        repeat, value = table.feedback(row, seed, trial)
        peer.tell(value)
        reported = peer.report()
        last = "" if reported is None else table.rows[reported]
        lines.append(f"{seed},{trial},{row},{repeat},{value!r},{last}")
    return lines


def work(searcher, names, seeds, trials):
    """In the peer's own Python: the runs that are missing."""
    searchers.quiet()
    for name in names:
        path = history(name, searcher)
        there = recorded(path)
        missing = [seed for seed in seeds if len(there[seed]) < trials]
        table = tables.Table(name) if missing else None
        for seed in missing:
            began = time.monotonic()
            record(path, seed, run_one(table, searcher, seed, trials))
            print(f"{time.strftime('%H:%M:%S')} {searcher} {name} seed {seed}: "
                  f"{time.monotonic() - began:.1f} s", flush=True)


def install(name):
    """A virtual environment with the packages of that name; kept if it is there."""
    folder = HOME / name
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        subprocess.run([DEBIAN, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--prefer-binary",
                        *PACKAGES[name]], check=True)
        (folder / "installed").touch()
    return python


def python_of(searcher):
    if searcher == "debian-tpe":
        return DEBIAN
    own = "venv-" + searcher.partition("-")[0]
    return install(own if own in PACKAGES else "venv")


def spawn(searcher, names, seeds, trials):
    """Whether the peer did all it was asked for; if not, its words are in the log."""
    try:
        python = python_of(searcher)
    except subprocess.CalledProcessError as failure:
        print(f"peers: {searcher} does not install: {failure}", file=sys.stderr, flush=True)
        return False
    words = [python, __file__, "--work", "--searcher", searcher, "--seeds", seeds,
             "--trials", str(trials)]
    for name in names:
        words += ["--table", name]
    status = subprocess.run(words, env=searchers.environment(), check=False).returncode
    if status != 0:
        print(f"peers: {searcher} ended with {status}", file=sys.stderr, flush=True)
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searcher", action="append", choices=list(searchers.SEARCHERS))
    parser.add_argument("--table", action="append", choices=tables.TABLES)
    parser.add_argument("--seeds", default="1-30")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    names = asked.table or tables.TABLES
    if asked.work:
        return work(asked.searcher[0], names, seed_list(asked.seeds), asked.trials)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        plan = [(name, asked.seeds, asked.trials) for name in asked.searcher or []] or PLAN
        good = [spawn(searcher, names, seeds, trials) for searcher, seeds, trials in plan
                if not asked.quick or searcher not in SLOW]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
