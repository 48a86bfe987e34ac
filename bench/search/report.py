#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The figures of the search bench, from the histories that are there.

    bench/search/report.py [--searcher auto] [--results]

Ours are in build/bench/search/hone/TABLE-SEARCHER.csv, the peers' in build/bench/search/peers/ (see
peers.py for the columns; a column `rerun` = 1 marks a trial that repeats a setting on purpose).
What our posterior would report from a peer's history is in build/bench/search/chosen/, if anybody
wrote it. --searcher names the one of ours that is held against the peers; --results writes the
section into bench/RESULTS.md instead of only printing it. Needs numpy.
"""
import argparse
import csv
import os
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import forms  # noqa: E402
import lib  # noqa: E402
import multi_peers  # noqa: E402
import stats  # noqa: E402
import tables  # noqa: E402

HOME = lib.BUILD / "bench" / "search"
BUDGETS = [25, 50, 100]
GOALS = {25: 0.90, 50: 0.90, 100: 0.95}
BEHIND = 1.10
LEAST_SEEDS = 5
# What was measured of these before, mean regret at 100 trials in the order of tables.TABLES; it
# stands in for a peer that has no history here.
RECORDED = {
    "random": [.283, .082, .076, .073, .036, .176, .142],
    "optuna-tpe": [.251, .042, .044, .060, .0010, .053, .045],
    "optuna-gp": [.255, .040, .055, .038, .0001, .0024, .023],
}


class Runs:
    """What one searcher did on one table: by seed, regrets after each trial of the setting that it
    reports (`own`) and of the best observed (`observed`); and its duplicates."""

    def __init__(self, path, table):
        self.own, self.observed, self.repeated, self.unintended = {}, {}, {}, {}
        for seed, lines in read(path).items():
            for line in lines:
                check(path, line, table)
            self._add(seed, lines, table)

    def _add(self, seed, lines, table):
        rows = numpy.array([[int(line["row"]) for line in lines]])
        values = numpy.array([[float(line["value"]) for line in lines]])
        best = stats.best_observed(rows, values, table.maximize)[0]
        named = [line.get("reported") or best[i] for i, line in enumerate(lines)]
        on_purpose = sum(line.get("rerun") == "1" for line in lines)
        self.own[seed] = numpy.array([table.regret(int(row)) for row in named])
        self.observed[seed] = numpy.array([table.regret(int(row)) for row in best])
        self.repeated[seed] = int(stats.duplicates(rows)[0])
        self.unintended[seed] = self.repeated[seed] - on_purpose

    def seeds(self, budget):
        return {seed for seed, regrets in self.own.items() if len(regrets) >= budget}

    def at(self, budget, seeds, observed=False):
        kept = self.observed if observed else self.own
        return numpy.array([kept[seed][budget - 1] for seed in seeds])


def check(path, line, table):
    """Ends the program if the table says otherwise than a line of a history."""
    row, repeat, value = int(line["row"]), int(line["repeat"]), float(line["value"])
    there = table.repeats[row]
    if repeat >= len(there) or abs(there[repeat] - value) > 1e-6 * abs(value):
        sys.exit(f"report: {path}: repeat {repeat} of row {row} is not {value}")


def read(path):
    """Lines by seed, in the order of the trials."""
    runs = {}
    with open(path, newline="", encoding="ascii") as file:
        for line in csv.DictReader(file):
            runs.setdefault(int(line["seed"]), []).append(line)
    for seed, lines in runs.items():
        lines.sort(key=lambda line: int(line["trial"]))
        if [int(line["trial"]) for line in lines] != list(range(len(lines))):
            sys.exit(f"report: {path}: the trials of seed {seed} have gaps")
    return runs


def load(folder, loaded_tables):
    """{searcher: {table: Runs}} of a folder."""
    found = {}
    for name, table in loaded_tables.items():
        for path in sorted(folder.glob(f"{name}-*.csv")):
            found.setdefault(path.stem[len(name) + 1:], {})[name] = Runs(path, table)
    return found


def common_seeds(budget, *searchers):
    """Seeds that all of them finished on every table."""
    sets = [runs.seeds(budget) if runs else set()
            for searcher in searchers for runs in map(searcher.get, tables.TABLES)]
    return sorted(set.intersection(*sets))


def regrets(searcher, budget, seeds, observed=False):
    return [searcher[name].at(budget, seeds, observed) for name in tables.TABLES]


def number(value):
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def with_interval(triple):
    return "{:.2f} ({:.2f}–{:.2f})".format(*triple)


def standing(searchers):
    """The table of R, and of the regret on each table at the last budget that a searcher has."""
    rows = []
    for name, searcher in searchers.items():
        cells, last = [], None
        for budget in BUDGETS:
            seeds = common_seeds(budget, searcher)
            if len(seeds) < LEAST_SEEDS:
                cells.append("–")
                continue
            last = (budget, seeds)
            cells.append(f"{stats.joined(regrets(searcher, budget, seeds)):.4f}")
        if last:
            means = [number(table.mean()) for table in regrets(searcher, *last)]
            rows.append([name, len(last[1]), *cells, last[0], *means])
    shown = {row[0] for row in rows}
    for name, means in RECORDED.items():
        if name not in shown:
            joined = stats.joined([numpy.array([mean]) for mean in means])
            rows.append([f"{name} (recorded)", "–", "–", "–", f"{joined:.4f}", 100,
                         *map(number, means)])
    head = ["searcher", "seeds", *(f"R at {budget}" for budget in BUDGETS), "trials",
            *(name.partition("_")[2].split("_")[0] for name in tables.TABLES)]
    return lib.table(head, rows)


def repeats(searchers):
    rows = []
    for name, searcher in searchers.items():
        counts = [(runs.repeated[s], runs.unintended[s]) for runs in searcher.values()
                  for s in runs.seeds(BUDGETS[-1])]
        if counts:
            every, unintended = numpy.mean(counts, axis=0)
            rows.append([name, f"{every:.1f}", f"{unintended:.1f}", max(u for _, u in counts)])
    return lib.table(["searcher", "repeated settings of 100 trials", "not on purpose",
                      "most of them in a run"], rows)


def against(ours, peers, chosen):
    """Ratios to every peer at every budget; the best peer first."""
    rows = []
    for budget in BUDGETS:
        found = []
        for name, peer in peers.items():
            seeds = common_seeds(budget, ours, peer)
            if len(seeds) >= LEAST_SEEDS:
                found.append((float(stats.joined(regrets(peer, budget, seeds))), name, seeds))
        for rank, (_, name, seeds) in enumerate(sorted(found)):
            rows.append(versus(ours, peers[name], chosen.get(name), budget, name, seeds,
                               best=rank == 0))
    return lib.table(["trials", "peer", "seeds", "R / R(peer)", "by search", "by choice, ours",
                      "both by our posterior", "goal"], rows)


def versus(ours, peer, chosen, budget, name, seeds, best):
    rng = numpy.random.default_rng(budget)
    mine, theirs = regrets(ours, budget, seeds), regrets(peer, budget, seeds)
    mine_seen = regrets(ours, budget, seeds, observed=True)
    whole = stats.ratio(mine, theirs, rng)
    search = stats.ratio(mine_seen, regrets(peer, budget, seeds, observed=True), rng)
    choice = stats.ratio(mine, mine_seen, rng)
    posterior = "–"
    if chosen and set(common_seeds(budget, chosen)) >= set(seeds):
        posterior = with_interval(stats.ratio(mine, regrets(chosen, budget, seeds), rng))
    if best:
        goal = f"≤ {GOALS[budget]:.2f}, end < 1: " + lib.verdict(
            whole[0] <= GOALS[budget] and whole[2] < 1)
    else:
        goal = f"end ≤ {BEHIND:.2f}: " + lib.verdict(whole[2] <= BEHIND)
    return [budget, f"**{name}**" if best else name, len(seeds), with_interval(whole),
            with_interval(search), with_interval(choice), posterior, goal]


def against_random(ours, random):
    """On each table, whether we are worse than random draws."""
    rows = []
    for name in tables.TABLES:
        cells = [name]
        for budget in BUDGETS:
            seeds, others = (sorted(s[name].seeds(budget)) for s in (ours, random))
            mine, theirs = ours[name].at(budget, seeds), random[name].at(budget, others)
            p = stats.chance_not_worse(mine, theirs, numpy.random.default_rng(budget))
            cells.append(f"{number(mine.mean())} / {number(theirs.mean())}, p = {p:.3f}"
                         + (" **worse**" if p < 0.01 else ""))
        rows.append(cells)
    return lib.table(["table", *(f"at {budget}: ours / random" for budget in BUDGETS)], rows)


def replay_text(chosen_searcher):
    loaded = {name: tables.Table(name) for name in tables.TABLES}
    peers = load(HOME / "peers", loaded)
    ours = load(HOME / "hone", loaded)
    parts = [f"Regret of what is reported, 0 the best setting of the table, 1 the median one; R "
             f"joins the {len(loaded)} tables.\n", standing({**ours, **peers}),
             repeats({**ours, **peers})]
    if set(ours.get(chosen_searcher, {})) == set(loaded):
        parts.append(f"`{chosen_searcher}` against the peers, 95 % intervals over the seeds:\n")
        parts.append(against(ours[chosen_searcher], peers, load(HOME / "chosen", loaded)))
        if set(peers.get("random", {})) == set(loaded):
            parts.append(against_random(ours[chosen_searcher], peers["random"]))
    return "\n".join(parts)


def bbob_scores(folders):
    """{searcher: {(function, dim, instance): log10 of the least regret}}"""
    found = {}
    for folder in folders:
        for path in sorted(folder.glob("bbob-*.csv")):
            best = {}
            with open(path, newline="", encoding="ascii") as file:
                for line in csv.DictReader(file):
                    key = tuple(int(line[k]) for k in ("function", "dim", "instance"))
                    best[key] = min(best.get(key, numpy.inf), float(line["regret"]))
            found[path.stem[len("bbob-"):]] = {
                key: numpy.log10(max(value, 1e-8)) for key, value in best.items()}
    return found


def bbob_rows(scores, dims):
    """Mean ranks over the problems that all of these have; a row for each searcher."""
    keys = sorted(key for key in set.intersection(*map(set, scores.values())) if key[1] in dims)
    if not keys or len(scores) < 2:
        return []
    names = list(scores)
    matrix = numpy.array([[scores[name][key] for name in names] for key in keys])
    ranks = stats.mean_ranks(matrix)
    summary = stats.rank_interval(ranks, [key[0] for key in keys], numpy.random.default_rng(1))
    what = ", ".join(map(str, dims))
    return [[what, len(keys), names[i], with_interval(summary[:, i]), f"{matrix[:, i].mean():.2f}"]
            for i in numpy.argsort(summary[0])]


def bbob_text():
    scores = bbob_scores([HOME / "hone", HOME / "peers"])
    whole = {name: s for name, s in scores.items() if {key[1] for key in s} >= {2, 5, 10}}
    rows = bbob_rows(whole, [2, 5, 10]) if whole else []
    for dim in (2, 5, 10):
        having = {name: s for name, s in scores.items() if any(key[1] == dim for key in s)}
        rows += bbob_rows(having, [dim]) if having else []
    if not rows:
        return ""
    return ("\nBBOB, 24 functions, budget min(10·d, 100): mean rank of the log regret among those "
            "who ran, with its 95 % interval over the functions.\n\n"
            + lib.table(["dimensions", "problems", "searcher", "mean rank", "mean log10 regret"],
                        rows))


def multi_volumes(path, library):
    """{(problem, seed): part of the best volume that its trials reached}, complete runs only."""
    points = {}
    with open(path, newline="", encoding="ascii") as file:
        for line in csv.DictReader(file):
            points.setdefault((line["problem"], int(line["seed"])), []).append(
                (int(line["trial"]), float(line["f0"]), float(line["f1"])))
    found = {}
    for key, run in points.items():
        problem = forms.Multi(library, key[0], multi_peers.DIM, multi_peers.OBJECTIVES)
        values = [values for trial, *values in run if trial < multi_peers.TRIALS]
        if len(values) == multi_peers.TRIALS:
            found[key] = problem.volume(values) / problem.best_volume
    return found


def multi_text():
    """The part of the best volume that is still missing: the smaller the better."""
    paths = [path for folder in ("hone", "peers")
             for path in sorted((HOME / folder).glob("multi-*.csv"))]
    if len(paths) < 2:
        return ""
    library = forms.library(HOME)
    volumes = {path.stem[len("multi-"):]: multi_volumes(path, library) for path in paths}
    keys = sorted(set.intersection(*map(set, volumes.values())))
    if not keys:
        return ""
    names = list(volumes)
    missing = numpy.array([[1 - volumes[name][key] for name in names] for key in keys])
    summary = stats.rank_interval(stats.mean_ranks(missing), [key[0] for key in keys],
                                  numpy.random.default_rng(1))
    problems = sorted({key[0] for key in keys})
    rows = [[names[i], len(keys), with_interval(summary[:, i]),
             *(number(missing[[key[0] == p for key in keys], i].mean()) for p in problems)]
            for i in numpy.argsort(summary[0])]
    return (f"\nTwo objectives, {multi_peers.DIM} parameters, {multi_peers.TRIALS} trials: the "
            "part of the best volume that is not reached, and the mean rank by it.\n\n"
            + lib.table(["searcher", "runs", "mean rank", *problems], rows))


def versions():
    """Of the peers that are installed."""
    found = {path.name.split("-")[0].lower(): path.name.split("-")[1].removesuffix(".dist-info")
             for path in HOME.glob("venv*/lib/python*/site-packages/*.dist-info")}
    told = [f"{name} {found[name.lower()]}" for name in ("optuna", "smac", "HEBO")
            if name.lower() in found]
    return f"\nPeers: {', '.join(told)}; `debian-tpe` is Debian's optuna.\n\n" if told else "\n"


def main():
    load = os.getloadavg()[0]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searcher", default="auto")
    parser.add_argument("--results", action="store_true")
    asked = parser.parse_args()
    text = versions() + replay_text(asked.searcher) + bbob_text() + multi_text()
    if asked.results:
        where = lib.conditions("bench/search/run", load, HOME)
        lib.section("search", "How good a setting the search finds", where + text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
