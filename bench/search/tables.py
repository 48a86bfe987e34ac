# SPDX-License-Identifier: MIT
"""The replay tables: complete grids of real trainings, each setting trained a few times.

A searcher asks for a setting and gets one of its repeats, drawn by `draw`; the truth about a
setting is the mean of its repeats. A row is named by its number in the file, from 0. Only the
standard library is used, because Debian's Python reads these too.
"""
import csv
import gzip
import json
import pathlib
import statistics

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = TOP.parent / "shared" / "data" / "hpo"
TABLES = ["hpobench_australian", "hpobench_car", "hpobench_phoneme", "hpobench_vehicle",
          "hpolib_naval_propulsion", "hpolib_protein_structure", "nasbench201_cifar10"]
MASK = (1 << 64) - 1


def hash_u64(x):
    """splitmix64, as hash_u64 in src/base/rng.c."""
    x = (x + 0x9e3779b97f4a7c15) & MASK
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & MASK
    return x ^ (x >> 31)


def draw(seed, trial, count):
    """Which of a setting's `count` repeats the trial (counted from 0) of a run gets to see."""
    return hash_u64((seed * 1000003 + trial) & MASK) % count


class Param:
    """A column: its name and its values. `numeric` ones are in ascending order."""

    def __init__(self, spec):
        self.name = spec["name"]
        self.numeric = not spec["type"].startswith("categorical")
        self.values = [float(v) if self.numeric else v for v in spec["values"]]

    def index(self, cell):
        return self.values.index(float(cell) if self.numeric else cell)


class Table:
    """params[]; rows by setting (a tuple of value numbers); repeats[row]; truth[row]."""

    def __init__(self, name, folder=FOLDER):
        spec = json.loads((folder / (name.split("_")[0] + ".json")).read_text())
        self.name = name
        self.maximize = spec["goal"] == "maximize"
        self.params = [Param(p) for p in spec["params"]]
        self.rows = {}
        self.repeats = []
        with gzip.open(folder / f"{name}.csv.gz", "rt", newline="") as file:
            self._read(csv.reader(file))
        self.truth = [statistics.fmean(values) for values in self.repeats]
        self.best = max(self.truth) if self.maximize else min(self.truth)
        self.median = statistics.median(self.truth)

    def _read(self, lines):
        head = next(lines)
        n = len(self.params)
        assert head[:n] == [p.name for p in self.params], f"{self.name}: columns are {head[:n]}"
        number = [{} for _ in self.params]
        for cells in lines:
            for i, cell in enumerate(cells[:n]):
                if cell not in number[i]:
                    number[i][cell] = self.params[i].index(cell)
            self.rows[tuple(number[i][cells[i]] for i in range(n))] = len(self.repeats)
            self.repeats.append([float(cell) for cell in cells[n:] if cell])

    def feedback(self, row, seed, trial):
        """(repeat, value) that this trial sees."""
        repeat = draw(seed, trial, len(self.repeats[row]))
        return repeat, self.repeats[row][repeat]

    def regret(self, row):
        """0 at the best setting, 1 at the median one."""
        return (self.truth[row] - self.best) / (self.median - self.best)
