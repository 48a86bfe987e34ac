#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""`hone run` killed with SIGKILL at random instants, again and again, until the experiment is through.

The trials are short and are never touched: whatever happens to the engine, each of them runs once. They
note their beginning and end in a file outside of the home. One round is one experiment.
"""

import concurrent.futures
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from harness import ROUNDS, SEED, Home, Tap, check  # noqa: E402

AT_ONCE = 4
TRIALS = 12

SAID = "a trial that was said to have ended has that state and value afterwards"
ALL = "trials are numbered without a gap, and are as many as asked for"
ONCE = "each trial's program ran to its end exactly once, in one attempt"
SAME = "the search goes on as if nothing had happened"
GONE = "nothing is left: no process, no cgroup"

PROGRAM = """#!/bin/sh
echo "start $HONE_TRIAL $HONE_ATTEMPT" >> "$SWEEP_FOLDER/log"
case $HONE_TRIAL in *[02468]) sleep 0.0{pause} ;; esac
echo "loss=${{1#--x=}}"
echo "end $HONE_TRIAL $HONE_ATTEMPT" >> "$SWEEP_FOLDER/log"
"""

SPEC = """
name: kills
command: [sh, program.sh]
params: {{x: {{min: 0.0, max: 1.0}}}}
objective: loss
search: {{algorithm: {algorithm}, trials: {trials}, seed: {seed}}}
resources: {{cpus: 0.5}}
code: none
"""


def prepare(home, rng):
    home.file("program.sh", PROGRAM.format(pause=rng.randint(1, 5)))
    home.file("kills.yaml", SPEC.format(trials=TRIALS, seed=rng.randint(0, 1), algorithm=rng.choice(["random", "sobol"])))


def points(home):
    return [trial["params"]["x"] for trial in home.trials()]


class Round:
    def __init__(self, seed, tap):
        self.seed, self.tap = seed, tap
        self.rng = random.Random(seed)
        self.home = Home(f"engine-{seed}")
        self.said, self.kills, self.failed = {}, 0, False

    def begin(self):
        there = self.home.experiments()
        check(there or not self.said, "the experiment was announced and is not there")
        if not there:
            return self.home.start("run", "kills.yaml", "--json")
        if there[0]["state"] not in ("running", "interrupted"):
            return None
        return self.home.start("resume", "--json")

    def listen(self, proc):
        for event in self.home.events(proc):
            self.said["started"] = True
            if event["event"] == "trial_ended":
                self.said[event["trial"]] = (event["state"], event["value"])

    def drive(self):
        """Kill it after times that grow, so that it gets through in the end."""
        proc = self.begin()
        while proc:
            moment = time.monotonic() + self.rng.random() * (0.03 + 0.01 * self.kills)
            while time.monotonic() < moment and proc.poll() is None:
                time.sleep(0.001)
            if proc.poll() is None:
                proc.kill()
                self.kills += 1
            code = self.home.wait(proc)
            self.listen(proc)
            check(code in (0, -9), "hone ended with", code, self.home.errors(proc))
            proc = self.begin()
        self.all = self.home.trials()

    def check_said(self):
        for trial in self.all:
            now = (trial["state"], trial["value"])
            check(self.said.get(trial["trial"], now) == now, trial["trial"], "is", now, "not", self.said.get(trial["trial"]))

    def check_all(self):
        names = [trial["trial"] for trial in self.all]
        check(names == [f"1.{n}" for n in range(1, TRIALS + 1)], names)
        check(len(self.home.experiments()) == 1, "there is more than one experiment")
        check(self.home.show("last")["state"] == "finished", self.home.show("last")["state"])

    def check_once(self):
        lines = sorted(self.home.read("log").splitlines())
        want = sorted(f"{what} 1.{n} 1" for what in ("start", "end") for n in range(1, TRIALS + 1))
        check(lines == want, sorted(set(lines) ^ set(want)) or lines)
        for trial in self.all:
            check(trial["state"] == "completed" and trial["attempts"] == 1, trial["trial"], trial["state"], trial["attempts"])
            check(trial["value"] == trial["params"]["x"], trial["trial"], trial["value"], trial["params"])

    def check_same(self):
        other = Home(f"engine-{self.seed}-calm")
        try:
            prepare(other, random.Random(self.seed))
            other.tell("run", "kills.yaml")
            check(points(other) == [trial["params"]["x"] for trial in self.all], "other points than without kills")
        finally:
            other.close()

    def check_gone(self):
        check(not self.home.left_over(), "processes are left:", self.home.left_over())
        for folder in self.home.cgroups():  # empty if the last kill hit between the end and the leaving
            check(not [f for f in os.scandir(folder) if f.is_dir()], "cgroups are left in", folder)
            os.rmdir(folder)

    def prove(self, sentence, fn):
        try:
            fn()
        except Exception as problem:  # neither a Problem nor a surprise may hide the other rounds
            self.tap.fail(sentence, f"round {self.seed}, {self.kills} kills: {problem!r}\nkept: {self.home.folder}")
            self.failed = True

    def run(self):
        prepare(self.home, self.rng)
        self.prove(ALL, self.drive)
        if not self.failed:
            self.prove(GONE, self.check_gone)
            self.prove(SAID, self.check_said)
            self.prove(ALL, self.check_all)
            self.prove(ONCE, self.check_once)
        if not self.failed and self.seed % 10 == 0:
            self.prove(SAME, self.check_same)
        self.home.close(keep=self.failed)
        return self.kills


def main():
    tap = Tap(SAID, ALL, ONCE, SAME, GONE)
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        kills = sum(pool.map(lambda seed: Round(seed, tap).run(), range(SEED, SEED + ROUNDS)))
    print(f"# {ROUNDS} rounds, {kills} kills in {time.monotonic() - begun:.0f} s")
    tap.finish()


main()
