# SPDX-License-Identifier: MIT
"""The part of the report on closed forms (BBOB, two objectives, conditional parameters) and on the
latency of a suggestion. Each `…_text` takes the folder with hone/ and peers/, and gives "" where
there is nothing to compare.
"""
import csv
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import bbob_peers  # noqa: E402
import forms  # noqa: E402
import lib  # noqa: E402
import multi_peers  # noqa: E402
import nested_peers  # noqa: E402
import stats  # noqa: E402

# What is wanted of p50, in ms.
LATENCY = {("tpe", 1000): 0.5, ("bayes", 100): 10, ("bayes", 300): 40, ("bayes", 1000): 150}


def number(value):
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def with_interval(triple):
    return "{:.2f} ({:.2f}–{:.2f})".format(*triple)


def milliseconds(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


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


def bbob_text(home):
    scores = bbob_scores([home / "hone", home / "peers", bbob_peers.RUNS])
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


def multi_table(volumes):
    """On the runs that all of these have; "" if there are none."""
    keys = sorted(set.intersection(*map(set, volumes.values())))
    if not keys or len(volumes) < 2:
        return ""
    names = list(volumes)
    missing = numpy.array([[1 - volumes[name][key] for name in names] for key in keys])
    summary = stats.rank_interval(stats.mean_ranks(missing), [key[0] for key in keys],
                                  numpy.random.default_rng(1))
    problems = sorted({key[0] for key in keys})
    rows = [[names[i], len(keys), with_interval(summary[:, i]),
             *(number(missing[[key[0] == p for key in keys], i].mean()) for p in problems)]
            for i in numpy.argsort(summary[0])]
    return "\n" + lib.table(["searcher", "runs", "mean rank", *problems], rows)


def multi_text(home):
    """The part of the best volume that is still missing: the smaller the better."""
    paths = [path for folder in ("hone", "peers")
             for path in sorted((home / folder).glob("multi-*.csv"))]
    if len(paths) < 2:
        return ""
    library = forms.library(home)
    volumes = {path.stem[len("multi-"):]: multi_volumes(path, library) for path in paths}
    most = max(map(len, volumes.values()))
    whole = {name: found for name, found in volumes.items() if len(found) == most}
    text = multi_table(whole)
    if len(whole) < len(volumes):  # beside those that have not finished, on what they have
        text += multi_table(volumes)
    return (f"\nTwo objectives, {multi_peers.DIM} parameters, {multi_peers.TRIALS} trials: the "
            "part of the best volume that is not reached, and the mean rank by it.\n" + text)


def nested_regrets(path):
    """{instance: the least regret}, complete runs only."""
    runs = {}
    with open(path, newline="", encoding="ascii") as file:
        for line in csv.DictReader(file):
            runs.setdefault(int(line["instance"]), []).append(float(line["regret"]))
    return {key: min(run[:nested_peers.TRIALS]) for key, run in runs.items()
            if len(run) >= nested_peers.TRIALS}


def nested_text(home):
    """Every instance is a table with one seed: R and its ratio to Optuna's TPE."""
    found = {path.stem[len("nested-"):]: nested_regrets(path)
             for folder in ("hone", "peers")
             for path in sorted((home / folder).glob("nested-*.csv"))}
    base = found.get("optuna-tpe")
    keys = sorted(set.intersection(*map(set, found.values()))) if base else []
    if not keys:
        return ""
    rows = []
    for name, runs in found.items():
        mine, theirs = (numpy.log([s[key] + stats.FLOOR for key in keys]) for s in (runs, base))
        picks = numpy.random.default_rng(1).integers(0, len(keys), (stats.RESAMPLES, len(keys)))
        low, high = numpy.exp(numpy.quantile((mine - theirs)[picks].mean(axis=1), [0.025, 0.975]))
        ratio = numpy.exp((mine - theirs).mean())
        rows.append((numpy.exp(mine.mean()), [
            name, len(keys), f"{numpy.exp(mine.mean()):.4f}",
            number(numpy.mean([runs[key] for key in keys])), with_interval((ratio, low, high))]))
    return (f"\nConditional parameters, two levels, {nested_peers.TRIALS} trials: R is the "
            f"geometric mean of (regret + {stats.FLOOR}) over the instances.\n\n"
            + lib.table(["searcher", "instances", "R", "mean regret", "R / R(optuna-tpe)"],
                        [row for _, row in sorted(rows, key=lambda pair: pair[0])]))


def latency_text(home):
    """By the processor's time, which other work on the machine does not lengthen as much."""
    lines = {}
    for folder in ("hone", "peers"):
        path = home / folder / "latency.csv"
        if path.exists():
            with open(path, newline="", encoding="ascii") as file:
                for line in csv.DictReader(file):
                    key = line["algorithm"], int(line["results"])
                    lines.setdefault(key, {})[line["what"]] = line
    rows = []
    for key, by_clock in lines.items():
        cpu, wall = by_clock["cpu"], by_clock["wall"]
        p50, p99 = float(cpu["p50_ms"]), float(cpu["p99_ms"])
        goal = LATENCY.get(key)
        met = lib.verdict(p50 <= goal and p99 <= 5 * p50) if goal else None
        times = p50, p99, *(float(line) for line in (wall["p50_ms"], wall["p99_ms"],
                                                     cpu["first_ms"]))
        rows.append([key[0], f"{key[1]:,}", cpu["asks"], *map(milliseconds, times),
                     f"≤ {goal} ms, p99 ≤ 5×: {met}" if met else ""])
    if not rows:
        return ""
    head = ["searcher", "results", "asks", "CPU p50", "CPU p99", "p50", "p99", "first", "goal"]
    return ("\nA suggestion with 10 parameters, in milliseconds, with the telling of its result; "
            "`first` is the one after all results were told at once.\n\n" + lib.table(head, rows))


def curves_text(home):
    """What curves.c printed."""
    found = [home / "hone" / f"curves-{what}.md" for what in ("regret", "kill")]
    told = [path.read_text().strip() for path in found if path.exists()]
    return "\n### Early stopping\n\n" + "\n\n".join(told) + "\n" if told else ""


def text(home):
    return (bbob_text(home) + multi_text(home) + nested_text(home) + latency_text(home)
            + curves_text(home))
