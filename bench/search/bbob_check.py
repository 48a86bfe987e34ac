#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold bbob.c against COCO: the same value, to 1e-9 of it, for 24 functions × 2, 5, 10 dimensions ×
5 instances, at random points within and a little beyond the box; and the least value where
bbob.h says it is. Needs the package coco-experiment:

    build/bench/search/venv/bin/python bench/search/bbob_check.py
"""
import pathlib
import random
import sys
import tempfile

import cocoex  # from the virtual environment

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import forms  # noqa: E402

POINTS = 20
DIMENSIONS = [2, 5, 10]


def worst_difference(ours, theirs, points):
    return max(abs(ours(x) - theirs(x)) / abs(theirs(x)) for x in points)


def check(lib, suite, function, dim, instance, points):
    """A complaint, or None."""
    theirs = suite.get_problem_by_function_dimension_instance(function, dim, instance)
    ours = forms.Bbob(lib, function, dim, instance)
    worst = worst_difference(ours, theirs, points)
    if not worst <= 1e-9:
        return f"off by {worst:.2g} of the value"
    excess = ours(ours.optimum) - ours.best
    if not -1e-9 <= excess <= 1e-7 * max(1, abs(ours.best)):
        return f"the optimum is {excess:.2g} above the least value"
    return None


def main():
    draw = random.Random(1)
    suite = cocoex.Suite("bbob", "instances: 1-5", "dimensions: 2,5,10")
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        lib = forms.library(pathlib.Path(folder))
        for function in range(1, 25):
            for dim in DIMENSIONS:
                for instance in range(1, 6):
                    reach = [5, 5, 6][instance % 3]
                    points = [[draw.uniform(-reach, reach) for _ in range(dim)]
                              for _ in range(POINTS)]
                    what = check(lib, suite, function, dim, instance, points)
                    count += 1
                    if what:
                        wrong += 1
                        print(f"f{function} in {dim} dimensions, instance {instance}: {what}")
    print(f"{count} problems, {count * POINTS} points: {wrong} of the problems differ from COCO")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
