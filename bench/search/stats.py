# SPDX-License-Identifier: MIT
"""The arithmetic of the search bench, on plain arrays; report.py reads files and prints.

A `Run set` is what one searcher did on one table: arrays of shape (seeds, trials). Regret is 0 at
the best setting of the table and 1 at the median one. R joins tables: the geometric mean of (mean
regret over the seeds + 0.01), so that a table that is solved does not outweigh all others.
"""
import numpy

FLOOR = 0.01
RESAMPLES = 2000
PERMUTATIONS = 20000


def best_observed(rows, values, maximize):
    """After each trial, the row with the best value seen so far; of equal ones the first."""
    gain = values if maximize else -values
    best = numpy.maximum.accumulate(gain, axis=1)
    fresh = numpy.ones_like(gain, dtype=bool)
    fresh[:, 1:] = gain[:, 1:] > best[:, :-1]
    at = numpy.where(fresh, numpy.arange(rows.shape[1]), 0)
    return numpy.take_along_axis(rows, numpy.maximum.accumulate(at, axis=1), axis=1)


def duplicates(rows):
    """Of each run, how many trials ran a row that an earlier one had run."""
    return numpy.array([len(run) - len(set(run.tolist())) for run in rows])


def joined(regrets):
    """R of a list with, for each table, the regret of every seed. Also over leading axes:
    (…, seeds) gives (…)."""
    logs = [numpy.log(table.mean(axis=-1) + FLOOR) for table in regrets]
    return numpy.exp(numpy.mean(logs, axis=0))


def ratio(ours, theirs, rng):
    """R / R with its 95 % interval. Seed i of ours is paired with seed i of theirs in every table,
    and a resample takes the same seeds in all tables: runs with one seed begin alike."""
    seeds = len(ours[0])
    picks = rng.integers(0, seeds, size=(RESAMPLES, seeds))
    spread = joined([table[picks] for table in ours]) / joined([table[picks] for table in theirs])
    low, high = numpy.quantile(spread, [0.025, 0.975])
    return float(joined(ours) / joined(theirs)), float(low), float(high)


def chance_not_worse(ours, theirs, rng):
    """p of a mean regret as much above theirs as ours is, if there were no difference
    (permutation test, one side)."""
    both = numpy.concatenate([ours, theirs])
    observed = ours.mean() - theirs.mean()
    order = rng.permuted(numpy.tile(numpy.arange(len(both)), (PERMUTATIONS, 1)), axis=1)
    mine = both[order[:, :len(ours)]].sum(axis=1)
    others = (both.sum() - mine) / len(theirs)
    beyond = numpy.count_nonzero(mine / len(ours) - others >= observed - 1e-15)
    return (beyond + 1) / (PERMUTATIONS + 1)


def mean_ranks(scores):
    """scores (problems, searchers), the smaller the better: ranks from 1, equal ones share."""
    less = (scores[:, None, :] < scores[:, :, None]).sum(axis=2)
    same = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
    return less + (same + 1) / 2


def rank_interval(ranks, groups, rng):
    """The mean rank of each searcher with its 95 % interval, (3, searchers): whole groups (the
    instances of a function) are resampled, because they are alike."""
    names = sorted(set(groups))
    totals = numpy.array([ranks[[g == name for g in groups]].mean(axis=0) for name in names])
    picks = rng.integers(0, len(names), size=(RESAMPLES, len(names)))
    low, high = numpy.quantile(totals[picks].mean(axis=1), [0.025, 0.975], axis=0)
    return numpy.array([totals.mean(axis=0), low, high])
