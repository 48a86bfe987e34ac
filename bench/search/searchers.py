# SPDX-License-Identifier: MIT
"""The peers behind one face: ask for a point, tell its value (the smaller the better or the larger,
as the space says), and, where a peer has an opinion of its own, which point it would report.

A point is a tuple: for a `Grid` parameter the number of the value, for a `Real` one a float. Each
peer is used as its manual says for a user who sets nothing but the seed. A library is imported
only by the peer that needs it: two Pythons with different libraries read this file.
"""
import collections
import logging
import os
import warnings

Grid = collections.namedtuple("Grid", "name count numeric")
Real = collections.namedtuple("Real", "name low high")
Space = collections.namedtuple("Space", "params maximize trials")


class Optuna:
    def __init__(self, space, seed, sampler):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space = space
        self.study = optuna.create_study(
            direction="maximize" if space.maximize else "minimize",
            sampler=sampler(optuna.samplers)(seed=seed))

    def _suggest(self, trial, param):
        if isinstance(param, Real):
            return trial.suggest_float(param.name, param.low, param.high)
        if param.numeric:
            return trial.suggest_int(param.name, 0, param.count - 1)
        return trial.suggest_categorical(param.name, list(range(param.count)))

    def ask(self):
        self.trial = self.study.ask()
        return tuple(self._suggest(self.trial, param) for param in self.space.params)

    def tell(self, value):
        self.study.tell(self.trial, value)

    def report(self):
        return None


class Hebo:
    def __init__(self, space, seed):
        import numpy
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO
        numpy.random.seed(seed)
        torch.manual_seed(seed)
        self.array = numpy.array
        self.space = space
        self.hebo = HEBO(DesignSpace().parse([self._column(p) for p in space.params]),
                         scramble_seed=seed)

    def _column(self, param):
        if isinstance(param, Real):
            return {"name": param.name, "type": "num", "lb": param.low, "ub": param.high}
        if param.numeric:
            return {"name": param.name, "type": "int", "lb": 0, "ub": param.count - 1}
        return {"name": param.name, "type": "cat", "categories": list(range(param.count))}

    def ask(self):
        self.asked = self.hebo.suggest(n_suggestions=1)
        row = self.asked.iloc[0]
        return tuple(float(row[p.name]) if isinstance(p, Real) else int(row[p.name])
                     for p in self.space.params)

    def tell(self, value):
        self.hebo.observe(self.asked, self.array([[-value if self.space.maximize else value]]))

    def report(self):
        return None


class Smac:
    """The facade for hyperparameters (random forest). Noisy: it runs its favourites again, and
    reports the incumbent that survived; `once` tells it that the objective has no noise."""

    def __init__(self, space, seed, once):
        import tempfile
        import ConfigSpace
        import smac
        self.space = space
        self.info_class = smac.runhistory.dataclasses.TrialValue
        config = ConfigSpace.ConfigurationSpace(seed=seed)
        config.add([self._column(ConfigSpace, p) for p in space.params])
        self.folder = tempfile.TemporaryDirectory()
        facade = smac.HyperparameterOptimizationFacade
        scenario = smac.Scenario(config, deterministic=once, n_trials=space.trials, seed=seed,
                                 output_directory=self.folder.name)
        self.smac = facade(scenario, lambda config, seed=0: 0.0, logging_level=False,
                           overwrite=True)

    def _column(self, library, param):
        if isinstance(param, Real):
            return library.UniformFloatHyperparameter(param.name, param.low, param.high)
        if param.numeric:
            return library.UniformIntegerHyperparameter(param.name, 0, param.count - 1)
        return library.CategoricalHyperparameter(param.name, list(range(param.count)))

    def _point(self, config):
        return tuple(config[p.name] if isinstance(p, Real) else int(config[p.name])
                     for p in self.space.params)

    def ask(self):
        self.asked = self.smac.ask()
        return self._point(self.asked.config)

    def tell(self, value):
        cost = -value if self.space.maximize else value
        self.smac.tell(self.asked, self.info_class(cost=cost, time=0.0))

    def report(self):
        incumbents = self.smac.intensifier.get_incumbents()
        return self._point(incumbents[0]) if incumbents else None


SEARCHERS = {
    "optuna-gp": lambda space, seed: Optuna(space, seed, lambda s: s.GPSampler),
    "optuna-tpe": lambda space, seed: Optuna(space, seed, lambda s: s.TPESampler),
    "optuna-cma": lambda space, seed: Optuna(space, seed, lambda s: s.CmaEsSampler),
    "random": lambda space, seed: Optuna(space, seed, lambda s: s.RandomSampler),
    "debian-tpe": lambda space, seed: Optuna(space, seed, lambda s: s.TPESampler),
    "smac": lambda space, seed: Smac(space, seed, once=False),
    "smac-once": lambda space, seed: Smac(space, seed, once=True),
    "hebo": Hebo,
}


def quiet():
    """One thread, no chatter."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    try:
        import torch
        torch.set_num_threads(1)
    except ImportError:
        pass                    # Debian's Python: nothing there uses it


def environment():
    """For a process that runs peers: every library of theirs with one thread."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]
    return dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0",
                **{name: "1" for name in names})
