#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the search bench is built on: its functions, its statistics, its histories. Prints TAP."""

import gzip
import json
import math
import os
import pathlib
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRATCH = tempfile.TemporaryDirectory(prefix="hone-bench-")     # goes with the program
os.environ["HONE_BUILD"] = SCRATCH.name
sys.path.insert(0, str(ROOT / "bench" / "search"))
import bbob_peers  # noqa: E402
import forms  # noqa: E402
import multi_peers  # noqa: E402
import nested_peers  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import report_forms  # noqa: E402
import stats  # noqa: E402
import tables  # noqa: E402

LIB = forms.library(pathlib.Path(SCRATCH.name))
# What COCO says of instance 3 at x[i] = 4 sin(i + function), functions 1 to 24.
COCO = {
    2: [
        -183.9907503282073, 9098063.458909955, 192.8933539397907, 228.2158795345179,
        106.69768297339041, 306829.0934080786, 342.56849474159804, 86625.90645698826,
        2188.9432655927003, 15072257.358513223, 2793499.0104512386, 345357672.649899,
        930.5688579789378, 115.7972112404992, 240.65528889750325, 114.98702902669947,
        307.16391435851034, 349.0604323172522, 291.1769710301458, 748.1512577760706,
        -356.2589067732629, -25.176182463836085, -80.78725863055419, 28.649573626956272,
    ],
    5: [
        -181.43070726349484, 3850567.1734223682, 2941.7189097431874, 320.7934347919495,
        171.24739368926603, 91244.53146221346, 257.2358100063218, 139181.0058005502,
        1784.6292924732807, 5749004.532410812, 8649354.70975573, 119252857.78655571,
        2662.3408802707886, 149.607407624606, 60.08329948323427, 209.76641889668883,
        287.82632693926934, 350.7523443079755, 233.8867514294952, 165637.51572857107,
        -334.30734300863014, 32.14859254998837, -98.13596713897489, 146.32824807911373,
    ],
}


def close(a, b, within=1e-9):
    assert abs(a - b) <= within * max(1, abs(b)), f"{a!r} is not {b!r}"


def bbob_functions_have_the_values_of_coco():
    for dim, values in COCO.items():
        for function, value in enumerate(values, 1):
            x = [4 * math.sin(i + function) for i in range(dim)]
            close(forms.Bbob(LIB, function, dim, 3)(x), value)


def bbob_functions_are_least_at_their_optimum():
    for function in range(1, 25):
        for dim in (2, 3, 40, 100):
            problem = forms.Bbob(LIB, function, dim, 7)
            close(problem(problem.optimum), problem.best, 1e-6)
            assert problem([1.5] * dim) > problem.best


def bbob_refuses_what_does_not_exist():
    for function, dim, instance in [(0, 2, 1), (25, 2, 1), (1, 1, 1), (1, 2, 0)]:
        try:
            forms.Bbob(LIB, function, dim, instance)
        except ValueError:
            continue
        raise AssertionError(f"there is a function {function}, {dim}, {instance}")


def on_front(name, objectives, t):
    """A point of the front: t[objectives - 1] in 0…1 says where, the rest is at its best."""
    rest = {"zdt": 0.0, "dtlz1": 0.5, "dtlz2": 0.5, "dtlz7": 0.0}
    at = rest["zdt" if name.startswith("zdt") else name]
    return list(t) + [at] * 8


def fronts_fill_the_volume_that_is_said_to_be_the_best():
    for name in ["zdt1", "zdt2", "zdt3", "zdt4", "zdt6", "dtlz1", "dtlz2", "dtlz7"]:
        problem = forms.Multi(LIB, name, 9, 2)
        points = [problem(on_front(name, 2, [i / 20000])) for i in range(20001)]
        volume = problem.volume(points)
        assert volume <= problem.best_volume * (1 + 1e-9), (name, volume, problem.best_volume)
        assert volume >= problem.best_volume - 1e-2, (name, volume, problem.best_volume)


def fronts_of_three_objectives_do_too():
    for name in ["dtlz1", "dtlz2", "dtlz7"]:
        problem = forms.Multi(LIB, name, 10, 3)
        points = [problem(on_front(name, 3, [i / 30, j / 30]))
                  for i in range(31) for j in range(31)]
        volume, best = problem.volume(points), problem.best_volume
        assert best * 0.96 <= volume <= best * (1 + 1e-9), (name, volume, best)


def volume_counts_only_what_is_within_the_reference():
    problem = forms.Multi(LIB, "zdt1", 3, 2)    # its reference is (11, 11)
    close(problem.volume([]), 0)
    close(problem.volume([[1.0, 1.0]]), 100)
    close(problem.volume([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [0.0, 12.0]]), 100)
    close(problem.volume([[1.0, 1.0], [0.0, 10.0], [math.nan, 0.0]]), 101)
    close(problem.volume([[-math.inf, 0.0], [0.0, -math.inf]]), 0)
    cube = forms.Multi(LIB, "dtlz7", 4, 3)      # (15, 15, 15)
    close(cube.volume([[14.0, 13.0, 12.0], [13.0, 14.0, 12.0]]), 3 * (2 + 2 - 1))


def conditional_forms_are_least_at_their_optimum():
    for instance in range(1, 31):
        problem = forms.Nested(LIB, instance)
        best = problem.optimum()
        close(problem(best), 0, 1e-12)
        active = {param.name for param, value in zip(problem.params, best)
                  if not math.isnan(value)}
        for i, param in enumerate(problem.params):
            assert param.parent < 0 or problem.params[param.parent].name in active \
                or param.name not in active
            other = list(best)
            if param.name in active and param.high > param.low:
                other[i] = param.low if best[i] != param.low else param.high
                assert problem(problem.fill(iter_of(problem, other))) > 0


def iter_of(problem, x):
    """Answers of a point for problem.fill; where it says nothing, the lower end."""
    value = {param.name: v for param, v in zip(problem.params, x)}
    return lambda param: param.low if math.isnan(value[param.name]) else value[param.name]


def conditional_forms_ask_only_for_what_is_active():
    problem = forms.Nested(LIB, 1)
    asked = []

    def first(param):
        asked.append(param.name.decode())
        return param.low
    problem.fill(first)
    assert asked == ["method", "linear_c", "linear_penalty"], asked


def draws_are_those_of_the_c_side():
    close(tables.hash_u64(0), 0xe220a8397b1dcdaf, 0)     # splitmix64's first number of state 0
    assert tables.hash_u64(tables.MASK) == tables.hash_u64(-1 & tables.MASK)
    counts = [0, 0, 0]
    for trial in range(3000):
        counts[tables.draw(7, trial, 3)] += 1
    assert min(counts) > 900


def made_up_table(folder):
    """Four settings; rows 2 and 3 have fewer repeats. Truths 1, 2, 4, 8, to be minimised."""
    (folder / "made.json").write_text(json.dumps({"goal": "minimize", "params": [
        {"name": "a", "type": "int log", "values": [1, 10]},
        {"name": "b", "type": "categorical", "values": ["x", "y"]}]}))
    with gzip.open(folder / "made_up.csv.gz", "wt") as file:
        file.write("a,b,value0,value1\n10,y,0,2\n1,x,2,2\n1,y,4\n10,x,8,\n")
    return tables.Table("made_up", folder)


def tables_are_read_with_missing_repeats():
    with tempfile.TemporaryDirectory() as folder:
        table = made_up_table(pathlib.Path(folder))
    assert table.rows == {(1, 1): 0, (0, 0): 1, (0, 1): 2, (1, 0): 3}
    assert table.truth == [1, 2, 4, 8] and table.median == 3 and table.best == 1
    assert [table.regret(row) for row in range(4)] == [0, 0.5, 1.5, 3.5]
    assert table.feedback(3, seed=5, trial=9) == (0, 8.0)
    assert {table.feedback(0, 1, trial) for trial in range(20)} == {(0, 0.0), (1, 2.0)}


def reported_is_the_first_of_the_best():
    rows = numpy.array([[5, 6, 7, 8]])
    values = numpy.array([[2.0, 1.0, 1.0, 3.0]])
    assert stats.best_observed(rows, values, maximize=False).tolist() == [[5, 6, 6, 6]]
    assert stats.best_observed(rows, values, maximize=True).tolist() == [[5, 5, 5, 8]]


def runs_are_read_as_they_are_written():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = made_up_table(folder)
        path = folder / "h.csv"
        peers.record(path, 4, ["4,0,3,0,8.0,", "4,1,1,0,2.0,", "4,2,1,1,2.0,3"])
        peers.record(path, 9, ["9,0,2,0,4.0,"])
        peers.record(path, 9, ["9,0,0,1,2.0,", "9,1,1,0,2.0,"])
        runs = report.Runs(path, table)
    assert runs.own[4].tolist() == [3.5, 0.5, 3.5] and runs.observed[4].tolist() == [3.5, 0.5, 0.5]
    assert runs.own[9].tolist() == [0, 0]
    assert runs.repeated == {4: 1, 9: 0} and runs.seeds(3) == {4} and runs.seeds(2) == {4, 9}


def repeats_on_purpose_are_no_duplicates():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = made_up_table(folder)
        path = folder / "h.csv"
        path.write_text("seed,trial,row,repeat,value,reported,rerun\n"
                        "1,0,1,0,2,1,0\n1,1,1,1,2,1,1\n1,2,1,0,2,1,0\n")
        runs = report.Runs(path, table)
    assert runs.repeated == {1: 2} and runs.unintended == {1: 1}


def ours_have_a_file_for_each_budget():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = made_up_table(folder)
        for budget, row in [(1, 2), (2, 0), (100, 1)]:
            for kind, seed in [("", 1), ("-by8", 2)]:
                peers.record(folder / f"made_up-auto-{budget}{kind}.csv", seed,
                             [f"{seed},{i},{row},0,{table.repeats[row][0]},{row}"
                              for i in range(budget)])
        ours = report.load_apart(folder, {"made_up": table})
    assert set(ours) == {"auto", "auto-by8"}
    cold = ours["auto"]["made_up"]
    assert cold.seeds(1) == {1} and cold.seeds(2) == {1} and cold.seeds(3) == set()
    assert cold.at(1, [1]).tolist() == [1.5] and cold.at(2, [1]).tolist() == [0]
    assert ours["auto-by8"]["made_up"].seeds(2) == {2} and cold.repeated == {1: 99}


def what_is_known_is_held_against_a_cold_run():
    class Made:
        def __init__(self, regrets):
            self.regrets = numpy.array(regrets)

        def seeds(self, budget):
            return set(range(len(self.regrets)))

        def at(self, budget, seeds, observed=False):
            return self.regrets[list(seeds)]
    warm, cold = {"a": Made([0.09] * 6)}, {"a": Made([0.19] * 5), "b": Made([9] * 5)}
    seeds, mine, theirs, (ratio, low, high) = report.held(warm, 10, cold, 50, ["a"])
    assert seeds == 5
    for value, wanted in [(mine, 0.1), (theirs, 0.2), (ratio, 0.5), (low, 0.5), (high, 0.5)]:
        close(value, wanted)
    assert report.held({"a": Made([0.1] * 4)}, 10, cold, 50, ["a"]) is None


def histories_that_the_table_contradicts_are_refused():
    for line in ["4,0,3,0,8.5,", "4,0,3,1,8.0,", "4,1,3,0,8.0,"]:     # value, repeat, first trial
        with tempfile.TemporaryDirectory() as name:
            table = made_up_table(pathlib.Path(name))
            path = pathlib.Path(name) / "h.csv"
            peers.record(path, 4, [line])
            try:
                report.Runs(path, table)
            except SystemExit:
                continue
            raise AssertionError(f"'{line}' was taken")


def r_is_the_geometric_mean_over_tables():
    close(stats.joined([numpy.array([0.0, 0.18]), numpy.array([0.39, 0.39])]), 0.2)
    one = numpy.array([0.1, 0.3, 0.2])
    close(stats.joined([one]), 0.21)


def ratios_are_paired_by_seed():
    rng = numpy.random.default_rng(1)
    base = [rng.random(30), rng.random(30)]
    half = [(table + stats.FLOOR) / 2 - stats.FLOOR for table in base]
    ratio, low, high = stats.ratio(half, base, rng)
    for value in (ratio, low, high):
        close(value, 0.5)                       # seed by seed the same half: no spread at all
    ratio, low, high = stats.ratio([rng.random(30)], [rng.random(30)], rng)
    assert low < ratio < high and low < 1 < high


def a_difference_is_told_from_none():
    rng = numpy.random.default_rng(2)
    near, far = rng.random(30), rng.random(200)
    assert stats.chance_not_worse(near + 0.3, far, rng) < 0.01
    assert stats.chance_not_worse(near, far, rng) > 0.01
    assert stats.chance_not_worse(near - 0.3, far, rng) > 0.99
    assert stats.chance_not_worse(numpy.zeros(30), numpy.zeros(200), rng) == 1


def ranks_share_ties():
    ranks = stats.mean_ranks(numpy.array([[1.0, 3.0, 2.0], [1.0, 1.0, 5.0]]))
    assert ranks.tolist() == [[1, 3, 2], [1.5, 1.5, 3]]
    mean, low, high = stats.rank_interval(ranks, ["f", "g"], numpy.random.default_rng(1))
    assert mean.tolist() == [1.25, 2.25, 2.5] and (low <= mean).all() and (mean <= high).all()


def a_bbob_history_is_scored_by_its_least_regret():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bbob_peers.append(folder / "bbob-a.csv", ["1,2,1,0,10.0\n", "1,2,1,1,0.1\n"])
        bbob_peers.append(folder / "bbob-a.csv", ["2,2,1,0,0.0\n"])
        assert bbob_peers.recorded(folder / "bbob-a.csv") == {(1, 2, 1): 2, (2, 2, 1): 1}
        scores = report_forms.bbob_scores([folder])
    assert scores == {"a": {(1, 2, 1): -1, (2, 2, 1): -8}}


def a_history_with_two_objectives_is_scored_by_its_volume():
    trials = multi_peers.TRIALS
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "multi-a.csv"
        bbob_peers.append(path, [f"zdt1,1,{i},1.0,{1.0 + i}\n" for i in range(trials)],
                          multi_peers.HEAD)
        bbob_peers.append(path, ["zdt1,2,0,1.0,1.0\n"], multi_peers.HEAD)
        assert multi_peers.recorded(path) == {("zdt1", 1): trials, ("zdt1", 2): 1}
        volumes = report_forms.multi_volumes(path, LIB)
    assert set(volumes) == {("zdt1", 1)}        # the other one is not complete
    close(volumes["zdt1", 1], 100 / (121 - 1 / 3))


def conditional_histories_count_when_they_are_complete():
    trials = nested_peers.TRIALS
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        for folder, searcher, regret in [("hone", "auto", 0.0), ("peers", "optuna-tpe", 0.01)]:
            (home / folder).mkdir()
            path = home / folder / f"nested-{searcher}.csv"
            for instance in (1, 2):
                bbob_peers.append(path, [f"{instance},{i},{regret + (i == 0)}\n"
                                         for i in range(trials)], nested_peers.HEAD)
            bbob_peers.append(path, ["3,0,0.0\n"], nested_peers.HEAD)
        assert nested_peers.recorded(path) == {1: trials, 2: trials, 3: 1}
        assert report_forms.nested_regrets(path) == {1: 0.01, 2: 0.01}
        text = report_forms.nested_text(home)
    assert "| auto | 2 | 0.0100 | 0.0000 | 0.50 (0.50–0.50) |" in text, text


def latency_is_held_against_its_goal():
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        (home / "hone").mkdir()
        lines = ["algorithm,results,asks,what,p50_ms,p99_ms,first_ms"]
        for searcher, p50, p99 in [("tpe", 0.4, 1.9), ("bayes", 100, 600)]:
            lines += [f"{searcher},1000,100,{what},{p50},{p99},7" for what in ("cpu", "wall")]
        (home / "hone" / "latency.csv").write_text("\n".join(lines) + "\n")
        text = report_forms.latency_text(home)
    assert "≤ 0.5 ms, p99 ≤ 5×: yes" in text and "≤ 150 ms, p99 ≤ 5×: **no**" in text, text


TESTS = [
    bbob_functions_have_the_values_of_coco,
    bbob_functions_are_least_at_their_optimum,
    bbob_refuses_what_does_not_exist,
    fronts_fill_the_volume_that_is_said_to_be_the_best,
    fronts_of_three_objectives_do_too,
    volume_counts_only_what_is_within_the_reference,
    conditional_forms_are_least_at_their_optimum,
    conditional_forms_ask_only_for_what_is_active,
    draws_are_those_of_the_c_side,
    tables_are_read_with_missing_repeats,
    reported_is_the_first_of_the_best,
    runs_are_read_as_they_are_written,
    repeats_on_purpose_are_no_duplicates,
    ours_have_a_file_for_each_budget,
    what_is_known_is_held_against_a_cold_run,
    histories_that_the_table_contradicts_are_refused,
    r_is_the_geometric_mean_over_tables,
    ratios_are_paired_by_seed,
    a_difference_is_told_from_none,
    ranks_share_ties,
    a_bbob_history_is_scored_by_its_least_regret,
    a_history_with_two_objectives_is_scored_by_its_volume,
    conditional_histories_count_when_they_are_complete,
    latency_is_held_against_its_goal,
]


def main():
    print(f"1..{len(TESTS)}")
    failed = 0
    for i, test in enumerate(TESTS, 1):
        try:
            test()
            print(f"ok {i} - {test.__name__}")
        except (Exception, SystemExit) as e:
            failed += 1
            print(f"not ok {i} - {test.__name__}")
            print("# " + repr(e).replace("\n", "\n# "))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
