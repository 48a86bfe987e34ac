#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The figures of the search bench, from the histories that are there: the tables here, the closed
forms and the latency in report_forms.py.

    bench/search/report.py [--searcher auto] [--results]

Ours are in build/bench/search/hone/TABLE-SEARCHER-TRIALS[-KIND].csv, a file for each budget, since
the search knows its budget; KIND is how it was run (replay.c: by8, siblings, reversed, unrelated).
The peers' are in build/bench/search/peers/TABLE-SEARCHER.csv (see peers.py for the columns; a
column `rerun` = 1 marks a trial that repeats a setting on purpose).
What our posterior would report from a peer's history is in build/bench/search/chosen/, if anybody
wrote it. --searcher names the one of ours that is held against the peers; --results writes the
section into bench/RESULTS.md instead of only printing it. Needs numpy.
"""
import argparse
import csv
import os
import pathlib
import re
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import lib  # noqa: E402
import report_forms  # noqa: E402
import stats  # noqa: E402
import tables  # noqa: E402
from report_forms import number, with_interval  # noqa: E402

HOME = lib.BUILD / "bench" / "search"
BUDGETS = [25, 50, 100]
GOALS = {25: 0.90, 50: 0.90, 100: 0.95}
BEHIND = 1.10
IN_FLIGHT = ("by8", [24, 48], 1.20)
MISLED = 1.10
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


class Apart:
    """Runs of one searcher on one table, a `Runs` for each budget."""

    def __init__(self):
        self.by_budget = {}

    def seeds(self, budget):
        return self.by_budget[budget].seeds(budget) if budget in self.by_budget else set()

    def at(self, budget, seeds, observed=False):
        return self.by_budget[budget].at(budget, seeds, observed)

    @property
    def repeated(self):
        return self.by_budget[BUDGETS[-1]].repeated

    @property
    def unintended(self):
        return self.by_budget[BUDGETS[-1]].unintended


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


def load_apart(folder, loaded_tables):
    """{searcher, and its kind behind a "-": {table: Apart}} of a folder."""
    found = {}
    for name, table in loaded_tables.items():
        for path in sorted(folder.glob(f"{name}-*.csv")):
            parts = re.fullmatch(r"(.+?)-(\d+)(-\w+)?", path.stem[len(name) + 1:])
            if not parts:
                sys.exit(f"report: {path} does not say its budget")
            runs = found.setdefault(parts[1] + (parts[3] or ""), {}).setdefault(name, Apart())
            runs.by_budget[int(parts[2])] = Runs(path, table)
    return found


def common_seeds(budget, *searchers, names=tables.TABLES):
    """Seeds that all of them finished on every table."""
    sets = [runs.seeds(budget) if runs else set()
            for searcher in searchers for runs in map(searcher.get, names)]
    return sorted(set.intersection(*sets))


def regrets(searcher, budget, seeds, observed=False, names=tables.TABLES):
    return [searcher[name].at(budget, seeds, observed) for name in names]


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


def held(ours, budget, base, base_budget, names):
    """Seeds, R of both, and the ratio with its interval; None with too few seeds."""
    seeds = sorted(set(common_seeds(budget, ours, names=names))
                   & set(common_seeds(base_budget, base, names=names)))
    if len(seeds) < LEAST_SEEDS:
        return None
    mine = regrets(ours, budget, seeds, names=names)
    theirs = regrets(base, base_budget, seeds, names=names)
    triple = stats.ratio(mine, theirs, numpy.random.default_rng(budget))
    return len(seeds), stats.joined(mine), stats.joined(theirs), triple


def in_flight(ours, searcher):
    kind, budgets, most = IN_FLIGHT
    rows = []
    for budget in budgets:
        found = held(ours.get(f"{searcher}-{kind}", {}), budget, ours[searcher], budget,
                     tables.TABLES)
        if found:
            seeds, mine, theirs, triple = found
            rows.append([budget, seeds, f"{mine:.4f}", f"{theirs:.4f}", with_interval(triple),
                         f"≤ {most:.2f}: " + lib.verdict(triple[0] <= most)])
    return rows and "8 in flight against one at a time:\n\n" + lib.table(
        ["trials", "seeds", "R, 8 in flight", "R, one at a time", "ratio", "goal"], rows)


def knowledge(ours, searcher):
    """(what is known, trials with it, against cold trials, at most)"""
    rows = []
    for kind, budget, base_budget, most in [("siblings", 10, 50, 1), ("reversed", 50, 50, MISLED),
                                            ("unrelated", 50, 50, MISLED)]:
        warm = ours.get(f"{searcher}-{kind}", {})
        names = [name for name in tables.TABLES if name in warm]
        found = names and held(warm, budget, ours[searcher], base_budget, names)
        if found:
            seeds, mine, theirs, triple = found
            rows.append([kind, len(names), seeds, f"{mine:.4f} at {budget}",
                         f"{theirs:.4f} at {base_budget}", with_interval(triple),
                         f"≤ {most:.2f}: " + lib.verdict(triple[0] <= most)])
    return rows and (
        "Knowledge: the histories of the other tables with the same parameters (100 trials each, "
        "our own); and what misleads: the same table upside down, or with its values dealt out "
        "anew.\n\n" + lib.table(
            ["what is known", "tables", "seeds", "R", "R cold", "ratio", "goal"], rows))


def alone_text(chosen_searcher):
    """What needs no peer: ours against ours."""
    loaded = {name: tables.Table(name) for name in tables.TABLES}
    ours = load_apart(HOME / "hone", loaded)
    if set(ours.get(chosen_searcher, {})) != set(loaded):
        sys.exit(f"bench/search: {HOME / 'hone'} lacks cold runs of {chosen_searcher}")
    parts = [in_flight(ours, chosen_searcher), knowledge(ours, chosen_searcher)]
    return "\n" + "\n".join(part for part in parts if part)


def kills_text():
    """What `curves kill-model` printed for each chance: one table."""
    found = [path.read_text(encoding="utf-8").splitlines()
             for path in sorted((HOME / "kills").glob("*.md"))]
    if not found:
        sys.exit(f"bench/search: nothing in {HOME / 'kills'}")
    head = next(i for i, line in enumerate(found[0]) if line.startswith("|---"))
    rows = [line for lines in found for line in lines[head + 1:] if line.startswith("|")]
    return "\n" + "\n".join(found[0][:head + 1] + rows) + "\n"


def replay_text(chosen_searcher):
    loaded = {name: tables.Table(name) for name in tables.TABLES}
    peers = load(HOME / "peers", loaded)
    ours = load_apart(HOME / "hone", loaded)
    plain = {name: searcher for name, searcher in ours.items() if "-" not in name}
    parts = [f"Regret of what is reported, 0 the best setting of the table, 1 the median one; R "
             f"joins the {len(loaded)} tables.\n", standing({**plain, **peers}),
             repeats({**plain, **peers})]
    if set(ours.get(chosen_searcher, {})) == set(loaded):
        parts.append(f"`{chosen_searcher}` against the peers, 95 % intervals over the seeds:\n")
        parts.append(against(ours[chosen_searcher], peers, load(HOME / "chosen", loaded)))
        if set(peers.get("random", {})) == set(loaded):
            parts.append(against_random(ours[chosen_searcher], peers["random"]))
    return "\n".join(part for part in parts if part)


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
    parser.add_argument("--command", default="bench/search/report.py")
    parser.add_argument("--alone", action="store_true", help="only what needs no peer")
    parser.add_argument("--bbob", action="store_true", help="only BBOB")
    parser.add_argument("--kills", action="store_true", help="only the winners that were stopped")
    asked = parser.parse_args()
    if asked.kills:
        name, title = "search-kills", "Early stopping: winners stopped where the model chooses"
        text = kills_text()
    elif asked.bbob:
        name, title = "search-bbob", "Search: functions without noise"
        text = report_forms.bbob_text(HOME)
    elif asked.alone:
        name, title = "search-alone", "Search: many in flight, and knowledge"
        text = alone_text(asked.searcher)
    else:
        name, title = "search", "How good a setting the search finds"
        text = versions() + replay_text(asked.searcher) + report_forms.text(HOME)
    if asked.results:
        lib.section(name, title, lib.conditions(asked.command, load, HOME) + text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
