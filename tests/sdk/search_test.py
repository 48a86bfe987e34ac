#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hone.search and hone.optimize over libhone-search.so, as a user's program uses them. Prints TAP."""

import math
import os
import pickle
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SDK = os.path.join(ROOT, "sdk", "python")
sys.path.insert(0, SDK)
os.environ["HONE_SEARCH_LIB"] = os.path.join(
    os.environ.get("HONE_BUILD") or os.path.join(ROOT, "build"), "libhone-search.so")

import hone
from hone.search import Exhausted, Search, SearchError

MIXED = {
    "lr": {"min": 1e-4, "max": 1e-1, "scale": "log"},
    "batch": [32, 64],
    "opt": ["sgd", "adam"],
    "momentum": {"min": 0, "max": 0.99, "when": {"opt": "sgd"}},
}
PLANE = {"x": {"min": -1, "max": 1}, "y": {"min": -1, "max": 1}}


def says(sentence, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except SearchError as e:
        assert sentence in str(e), str(e)
    else:
        assert False, f"'{sentence}' was not said"


def bowl(p):
    return (p["x"] - 0.3) ** 2 + (p["y"] + 0.2) ** 2


# ---- ask and tell ----


def the_words_of_the_readme_work():
    s = Search(MIXED, goal="maximize", algorithm="auto", seed=1, trials=20)
    for t in s:
        assert 1e-4 <= t.params["lr"] <= 1e-1 and t.params["batch"] in (32, 64)
        assert ("momentum" in t.params) == (t.params["opt"] == "sgd")
        assert s.tell(t.id, -abs(math.log10(t.params["lr"]) + 2)) is False
    best = s.best()
    assert len(s) == 20 and best.id in range(1, 21)
    assert best.params == s.trial(best.id).params and best.value == s.trial(best.id).value
    assert abs(math.log10(best.params["lr"]) + 2) < 0.5, best


def the_same_seed_gives_the_same_settings():
    def settings():
        s = Search(MIXED, seed=3)
        for t in s:
            s.tell(t.id, t.params["lr"])
            if t.id == 25:
                return [u.params for u in s.trials]

    assert settings() == settings()


def a_bowl_is_found_in_forty_trials():
    for seed in range(3):
        result = hone.optimize(bowl, PLANE, trials=40, seed=seed)
        assert min(t.value for t in result.trials) < 1e-3, seed
        assert bowl(result.best.params) < 1e-2, (seed, result.best)


def values_come_back_as_they_were_written():
    sizes = [(64, 64), (128,)]
    params = {"f": [1.0, 2.5], "b": [True, False], "n": [None, "none"], "t": sizes,
              "u": {"min": 0, "max": 2, "step": 1}, "k": {"min": 1, "max": 3, "type": "int"}, "c": 7}
    s = Search(params, algorithm="random", seed=1, tries=[{"t": (128,), "b": False}],
               forbid=[{"t": (64, 64), "f": [2.5]}])
    first = s.ask()
    assert first.params["t"] is sizes[1] and first.params["b"] is False and first.why == "try"
    for _ in range(50):
        p = s.ask().params
        assert type(p["f"]) is float and type(p["b"]) is bool and p["n"] in (None, "none")
        assert p["t"] in sizes and type(p["u"]) is float and type(p["k"]) is int and p["c"] == 7
        assert not (p["t"] == (64, 64) and p["f"] == 2.5)


def choices_that_are_not_finite_come_back_as_numbers():
    choices = [math.inf, -math.inf, math.nan, 1.5, "inf?"]
    s = Search({"a": choices}, seed=1)
    given = [t.params["a"] for t in s]
    assert len(given) == 5 and sum(isinstance(a, float) for a in given) == 4
    assert math.inf in given and -math.inf in given and "inf?" in given
    assert sum(isinstance(a, float) and math.isnan(a) for a in given) == 1
    again = Search.load(s.save(), {"a": choices})
    assert isinstance(again.trial(given.index(math.inf) + 1).params["a"], float)


def steps_are_whole_numbers():
    s = Search(PLANE, seed=1)
    t = s.ask()
    s.tell(t.id, 1, step=2.0)
    for step in (2.5, 2**70, -(2**70), math.inf, math.nan, "3"):
        says("a step must be a whole number of 64 bits", s.tell, t.id, 1, step=step)
    says("an instance must be a whole number", s.tell, t.id, 1, instance=0.5)
    says("an id must be a whole number", s.tell, 1.5, 1)
    s.tell(t.id, 1, step=3)
    assert s.trial(t.id).state == "running"


def numbers_of_a_result_are_numbers():
    s = Search(PLANE, seed=1)
    read = s._restored({"params": {}, "value": ["inf", 1], "mean": "nan", "deviation": "inf", "noise": None})
    assert read["value"] == [math.inf, 1] and math.isnan(read["mean"])
    assert read["deviation"] == math.inf and read["noise"] is None


def mistakes_are_said():
    says("min 2 is above max 1", Search, {"x": {"min": 2, "max": 1}})
    says("did you mean", Search, {"x": {"min": 1, "max": 2, "scael": "log"}})
    says("magic", Search, PLANE, algorithm="magic")
    says("sideways", Search, PLANE, goal="sideways")
    says("goals are given for", Search, PLANE, goal=["minimize"] * 3, objectives=2)
    says("no parameters", Search, {})
    s = Search(PLANE)
    says("there is no trial 9", s.tell, 9, 1)
    t = s.ask()
    says("2 values are given, not 1", s.tell, t.id, [1, 2])
    says("nothing was reported", s.tell, t.id)
    s.tell(t.id, 1)
    says("has ended", s.fail, t.id)
    says("several objectives", Search(PLANE, goal=["minimize", "maximize"]).best)
    says("no trial has a result", Search(PLANE).best)


def a_finite_space_is_given_out_once():
    s = Search({"a": [1, 2, 3], "b": ["x", "y"]})
    seen = {(t.params["a"], t.params["b"]) for t in s}
    assert len(seen) == len(s) == 6
    try:
        s.ask()
    except Exhausted:
        pass
    else:
        assert False


def bad_results_do_no_harm():
    s = Search(PLANE, seed=1)
    for i, t in zip(range(30), s):
        if i % 3 == 0:
            s.fail(t.id)
        elif i % 3 == 1:
            s.tell(t.id, float("nan") if i % 2 else float("inf"))
        else:
            s.tell(t.id, 1e300)
    assert s.best().value == 1e300
    assert {t.state for t in s.trials} == {"failed", "completed"}


# ---- on the way ----


def a_poor_trial_is_told_to_stop():
    s = Search(PLANE, stop="median", seed=1)
    for t in (s.ask() for _ in range(8)):
        for step in range(1, 6):
            assert not s.tell(t.id, 1 / step + t.id / 1000, step=step) or t.id > 5
        s.tell(t.id)
    t = s.ask()
    assert any(s.tell(t.id, 9, step=step) for step in range(1, 6))
    s.stopped(t.id)
    assert s.trial(t.id).state == "stopped" and s.trial(t.id).verdict["stop"]
    says("not both", s.tell, t.id, 1, step=1, instance=1)


def folds_race_against_the_best():
    s = Search(PLANE, seed=1)
    folds = [10, 0, 30, 20, 50, 5, 7, 9]

    def run(offset):
        t = s.ask()
        for k, hard in enumerate(folds):
            if s.tell(t.id, hard + offset * (1 + k / 10), instance=k):
                break
        s.tell(t.id)
        return s.trial(t.id), k + 1

    first, n = run(1)
    assert n == 8 and first.state == "completed"
    worse, n = run(3)
    assert n < 8 and worse.state == "stopped" and worse.value > first.value
    better, n = run(0)
    assert n == 8 and better.state == "completed"


# ---- several objectives, constraints ----


def several_objectives_have_a_front():
    s = Search(PLANE, goal=["minimize", "maximize"], seed=1)
    for value in ([1, 10], [2, 20], [2, 10], [0.5, 5]):
        s.tell(s.ask().id, value)
    assert [t.id for t in s.front()] == [4, 1, 2]
    assert s.front()[0].value == [0.5, 5]


def what_breaks_a_constraint_is_not_the_best():
    s = Search(PLANE, constraints=["latency_ms <= 20"], seed=1)
    for value in ([1, 21], [2, 20], [3, 1]):
        s.tell(s.ask().id, value)
    assert [t.id for t in s.front()] == [2] and s.trial(1).constraints == [21]
    assert s.best().id == 2, s.best()
    s = Search(PLANE, constraints=1, seed=1)
    s.tell(s.ask().id, [1, 0.1])
    assert s.front() == []


# ---- save and load ----


def what_is_saved_goes_on():
    s = Search(MIXED, seed=4, trials=40)
    for t in s:
        if t.id == 20:
            break
        s.tell(t.id, t.params["lr"])
    for u in (Search.load(s.save()), pickle.loads(pickle.dumps(s))):
        assert u.trials == s.trials
        mine = Search.load(s.save())
        for _ in range(5):
            a, b = mine.ask(), u.ask()
            assert a == b
            mine.tell(a.id, 1), u.tell(b.id, 1)
    says("not a saved search", Search.load, b"hello")
    says("damaged", Search.load, s.save()[:-1])


def threads_may_share_a_search():
    s = Search(PLANE, algorithm="random", seed=1)

    def work():
        for _ in range(50):
            t = s.ask()
            s.tell(t.id, bowl(t.params))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(s) == 200 and all(t.value == bowl(t.params) for t in s.trials)


# ---- optimize ----


def a_function_is_optimized_side_by_side():
    for processes in (False, True):
        result = hone.optimize(bowl, PLANE, trials=24, parallel=3, processes=processes, seed=1)
        assert len(result.trials) == 24 and not result.errors
        assert all(t.value == bowl(t.params) for t in result.trials)


def slow(p, trial):
    for step in range(1, 11):
        if trial.report(bowl(p) + 1 / step, step):
            assert trial.should_stop
            return None
    return bowl(p)


def a_function_reports_and_is_told_to_stop():
    for parallel, processes in ((1, False), (2, True)):
        result = hone.optimize(slow, PLANE, trials=30, stop="median", algorithm="random", seed=1,
                               parallel=parallel, processes=processes)
        states = [t.state for t in result.trials]
        assert states.count("stopped") > 3 and states.count("completed") > 5, states
        assert not result.errors and result.best.id


def sometimes(p):
    if p["x"] > 0.5:
        os._exit(3)
    if p["x"] > 0:
        raise RuntimeError("too large")
    return bowl(p)


def an_exception_or_a_crash_fails_its_trial_only():
    result = hone.optimize(sometimes, PLANE, trials=20, processes=True, algorithm="sobol", seed=1)
    texts = set(result.errors.values())
    assert texts == {"RuntimeError: too large", "its process ended with code 3"}, texts
    assert len(result.trials) == 20 and result.best.params["x"] <= 0


def when_all_fail_the_first_exception_is_raised():
    calls = []

    def broken(p):
        calls.append(p)
        raise KeyError("lr")

    try:
        hone.optimize(broken, PLANE, trials=100)
    except SearchError as e:
        assert "KeyError: 'lr'" in str(e) and isinstance(e.__cause__, KeyError)
    else:
        assert False
    assert len(calls) == 5


def an_interrupt_ends_it():
    def interrupted(p):
        raise KeyboardInterrupt

    try:
        hone.optimize(interrupted, PLANE)
    except KeyboardInterrupt:
        return
    assert False


def the_example_runs():
    done = subprocess.run([sys.executable, os.path.join(ROOT, "examples", "optimize", "optimize.py")],
                          capture_output=True, text=True)
    assert done.stdout.startswith("40 trials, ") and "'kind': 'a'" in done.stdout, done


def numbers_of_numpy_are_numbers():
    try:
        import numpy
    except ImportError:
        print("# skipped: numpy is not installed")
        return
    s = Search({"k": numpy.arange(3).tolist() + [numpy.int64(7)], "x": {"min": numpy.float32(0), "max": 1}},
               goal=["minimize", "minimize"], seed=1)
    for value in (numpy.array([1.0, 2.0]), (numpy.float32(0.5), numpy.int64(3))):
        s.tell(s.ask().id, value)
    assert [t.value for t in s.trials] == [[1, 2], [0.5, 3]]
    s = Search(PLANE, seed=1)
    s.tell(s.ask().id, numpy.array(4.0))
    assert s.best().value == 4


# ---- the library ----


def python(code, **env):
    env = {**os.environ, "PYTHONPATH": SDK, **env}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)


def a_missing_library_is_said_in_one_sentence():
    done = python("from hone.search import Search\n"
                  "try: Search({'x': [1, 2]})\n"
                  "except ImportError as e: print(e)", HONE_SEARCH_LIB="/no/where.so")
    assert done.stdout.count("\n") == 1 and "/no/where.so" in done.stdout, done
    assert "make" in done.stdout and "HONE_SEARCH_LIB" in done.stdout, done.stdout


def a_missing_openblas_is_said_in_one_sentence():
    with tempfile.TemporaryDirectory(prefix="hone-blas-") as folder:
        for name in ("libopenblas.so.0", "libopenblas.so"):
            with open(os.path.join(folder, name), "w") as file:
                file.write("not a library")
        done = python("from hone.search import Search, SearchError\n"
                      "try: Search({'x': {'min': 0, 'max': 1}}, algorithm='bayes')\n"
                      "except SearchError as e: print(e)\n"
                      "s = Search({'x': [1, 2]}); t = s.ask(); s.tell(t.id, 3); print(s.best().mean)",
                      LD_LIBRARY_PATH=folder)
    assert done.stdout.count("\n") == 2 and "install it" in done.stdout, done
    assert done.stdout.endswith("\n3\n"), done.stdout  # what needs no model works


def another_library_is_refused():
    done = python("from hone.search import Search\n"
                  "try: Search({'x': [1, 2]})\n"
                  "except ImportError as e: print(e)", HONE_SEARCH_LIB="libc.so.6")
    assert "is not of this version" in done.stdout, done


def only_its_own_names_are_visible():
    done = subprocess.run(["nm", "-D", "--defined-only", os.environ["HONE_SEARCH_LIB"]],
                          capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    assert len(names) > 15 and all(name.startswith("hone_search_") for name in names), names


def hone_itself_stays_light():
    done = python("import sys, hone; assert 'ctypes' not in sys.modules and 'json' not in sys.modules\n"
                  "assert hone.search.Search and callable(hone.optimize) and callable(hone.optimize)")
    assert done.returncode == 0, done.stderr


def it_is_found_where_it_is_installed():
    with tempfile.TemporaryDirectory(prefix="hone-prefix-") as prefix:
        package = os.path.join(prefix, "lib", "python3", "dist-packages")
        os.makedirs(package)
        os.symlink(os.environ["HONE_SEARCH_LIB"], os.path.join(prefix, "lib", "libhone-search.so"))
        subprocess.run(["cp", "-r", os.path.join(SDK, "hone"), package], check=True)
        done = python("from hone.search import Search, _lib; print(Search({'x': [1]}).ask().params)",
                      PYTHONPATH=package, HONE_SEARCH_LIB="")
        assert done.stdout == "{'x': 1}\n", done


def main():
    print(f"1..{len(TESTS)}")
    failed = 0
    for i, test in enumerate(TESTS, 1):
        try:
            test()
            print(f"ok {i} - {test.__name__}", flush=True)
        except Exception as e:
            import traceback

            failed += 1
            print(f"not ok {i} - {test.__name__}")
            print("# " + (repr(e) + "\n" + traceback.format_exc()).replace("\n", "\n# "), flush=True)
    return 1 if failed else 0


TESTS = [
    the_words_of_the_readme_work,
    the_same_seed_gives_the_same_settings,
    a_bowl_is_found_in_forty_trials,
    values_come_back_as_they_were_written,
    choices_that_are_not_finite_come_back_as_numbers,
    steps_are_whole_numbers,
    numbers_of_a_result_are_numbers,
    mistakes_are_said,
    a_finite_space_is_given_out_once,
    bad_results_do_no_harm,
    a_poor_trial_is_told_to_stop,
    folds_race_against_the_best,
    several_objectives_have_a_front,
    what_breaks_a_constraint_is_not_the_best,
    what_is_saved_goes_on,
    threads_may_share_a_search,
    a_function_is_optimized_side_by_side,
    a_function_reports_and_is_told_to_stop,
    an_exception_or_a_crash_fails_its_trial_only,
    when_all_fail_the_first_exception_is_raised,
    an_interrupt_ends_it,
    the_example_runs,
    numbers_of_numpy_are_numbers,
    a_missing_library_is_said_in_one_sentence,
    a_missing_openblas_is_said_in_one_sentence,
    another_library_is_refused,
    only_its_own_names_are_visible,
    hone_itself_stays_light,
    it_is_found_where_it_is_installed,
]

if __name__ == "__main__":
    sys.exit(main())
