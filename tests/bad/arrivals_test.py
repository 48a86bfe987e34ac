#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Experiments that arrive one after the other at a busy machine. Prints TAP."""

import json
import sys

sys.dont_write_bytecode = True
from harness import Place, main, wait_for

JOBS = 20


def twenty_jobs_all_finish_in_the_order_in_which_they_came(place):
    """Each takes the whole machine, so they wait for each other; some are tuned, some are not."""
    import os
    cpus = len(os.sched_getaffinity(0))
    place.write("train.sh", "echo loss: 1\nsleep 0.1\n")
    place.write("hold.sh", "while [ ! -e go ]; do sleep 0.05; done\necho loss: 1\n")
    runs = []
    for i in range(JOBS):
        spec = place.write(f"{i}.yaml", f"""
name: job{i}
command: sh {"hold.sh" if i == 0 else "train.sh"}
code: none
objective: loss
search: {{trials: 1}}
resources: {{cpus: {cpus}}}
{"system: {cpus: auto}" if i % 2 else ""}
""")
        runs.append(place.start("run", "--json", spec))
        wait_for(f"job {i} is in the queue",
                 lambda: any(e["name"] == f"job{i}" for e in json.loads(place.hone("ls", "--json", code=None)[0] or "[]")))
    place.write("go", "")
    for run in runs:
        assert run.wait(timeout=600) == 0, place.read("err")
    trials = [place.show(f"job{i}.1") for i in range(JOBS)]
    assert all(t["state"] == "completed" for t in trials), trials
    started = [t["runs"][0]["started"] for t in trials]
    assert started == sorted(started), started


main(twenty_jobs_all_finish_in_the_order_in_which_they_came)
