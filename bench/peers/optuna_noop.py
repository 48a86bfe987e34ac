# SPDX-License-Identifier: MIT
"""No-op trials under Optuna with SQLite storage: optuna_noop.py FOLDER COUNT JOBS PROGRAM.

Prints the seconds and the processor seconds of the loop alone; importing and making the study are
not counted. The sampler is the cheapest one.
"""
import json
import pathlib
import subprocess
import sys
import time

import optuna

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import lib  # noqa: E402

folder, count, jobs, program = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]


def objective(trial):
    i = trial.suggest_int("i", 0, 1_000_000)
    return float(subprocess.run([program, f"--i={i}"], check=False).returncode)


optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(storage=f"sqlite:///{folder}/optuna.db",
                            sampler=optuna.samplers.RandomSampler(seed=1))
began, cpu = time.monotonic(), lib.own_cpu()
study.optimize(objective, n_trials=count, n_jobs=jobs)
print(json.dumps({"wall": time.monotonic() - began, "cpu": lib.own_cpu() - cpu,
                  "version": optuna.__version__}))
