#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two `hone run` on one home at once: both work, the machine is shared, and either may die.

Programs append + and - to one file when they begin and end; the order of these lines shows how many
were at work at once. A program goes on for as long as the test has not made the file it waits for.
"""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from harness import check, scenarios, wait_for  # noqa: E402

CPUS = len(os.sched_getaffinity(0))

PROGRAM = """#!/bin/sh
echo "+ $HONE_TRIAL $HONE_ATTEMPT" >> "$SWEEP_FOLDER/log"
while [ -n "$2" ] && [ ! -e "$SWEEP_FOLDER/$2" ]; do sleep 0.01; done
sleep 0.0$(( ${1#--x=} % 9 + 1 ))
echo "loss=${1#--x=}"
echo "- $HONE_TRIAL $HONE_ATTEMPT" >> "$SWEEP_FOLDER/log"
"""

SPEC = """
name: {name}
command: [sh, program.sh, '--x={{x}}', '{gate}']
params: {{x: {{range: [0, {trials}]}}}}
objective: loss
search: {{algorithm: grid}}
code: none
"""


def begin(home, name, trials, gate=""):
    """Start an experiment; with a gate its trials end only once the file of that name is there."""
    if not home.read("program.sh"):  # a shell that is just starting would find it cut short
        home.file("program.sh", PROGRAM)
    home.file(f"{name}.yaml", SPEC.format(name=name, trials=trials, gate=gate))
    proc = home.start("run", f"{name}.yaml", "--json")
    home.wait_event(proc, "started")
    return proc


def log(home, sign, experiment=None):
    lines = [line.split() for line in home.read("log").split("\n")[:-1]]
    return [words[1] for words in lines if words[0] == sign and experiment in (None, int(words[1].split(".")[0]))]


def wait_running(home, experiment):
    wait_for(f"experiment {experiment} runs", lambda: log(home, "+", experiment))


def check_cores(home):
    running = most = 0
    for line in home.read("log").splitlines():
        running += 1 if line[0] == "+" else -1
        most = max(most, running)
    check(0 < most <= CPUS, most, "trials at once on", CPUS, "cpus")


def check_ended(home, experiment, trials):
    """Finished, and each of its trials ran once."""
    shown = home.show(str(experiment))
    check(shown["state"] == "finished", "experiment", experiment, "is", shown["state"])
    check(shown["trials"]["completed"] == trials, "experiment", experiment, "has", shown["trials"])
    for sign in "+-":
        check(sorted(log(home, sign, experiment)) == sorted(f"{experiment}.{n + 1}" for n in range(trials)),
              "not once each:", log(home, sign, experiment))


def check_told(home, proc, trials):
    """Its events are whole, whoever was the engine meanwhile."""
    told = [(event["event"], event.get("trial")) for event in home.events(proc)]
    experiment = home.events(proc)[-1]["experiment"]
    names = [f"{experiment}.{n + 1}" for n in range(trials)]
    want = [("started", None), ("finished", None)]
    want += [(what, name) for what in ("trial_started", "trial_ended") for name in names]
    check(sorted(map(str, told)) == sorted(map(str, want)), "told:", told)
    check(told[0][0] == "started" and told[-1][0] == "finished", "told:", told)


def both_work(home):
    """two at once both reach their end, and never use more cpus than there are"""
    first = begin(home, "first", 3 * CPUS, "open")
    wait_running(home, 1)
    second = begin(home, "second", 3 * CPUS, "open")
    home.file("open", "")
    check(home.wait(first) == 0 and home.wait(second) == 0, home.errors(first), home.errors(second))
    check_ended(home, 1, 3 * CPUS)
    check_ended(home, 2, 3 * CPUS)
    check_told(home, first, 3 * CPUS)
    check_told(home, second, 3 * CPUS)
    check_cores(home)


def first_ends(home):
    """when the first one ends, the second goes on, as the engine"""
    first = begin(home, "first", 1, "open1")
    second = begin(home, "second", 2 * CPUS + 1, "open2")
    home.file("open1", "")
    check(home.wait(first) == 0, home.errors(first))
    check(second.poll() is None, "the second ended with the first")
    check_ended(home, 1, 1)
    wait_running(home, 2)
    home.file("open2", "")
    check(home.wait(second) == 0, home.errors(second))
    check_ended(home, 2, 2 * CPUS + 1)
    check_told(home, second, 2 * CPUS + 1)
    check_cores(home)


def first_killed(home):
    """when the first one is killed, the second takes over both experiments"""
    first = begin(home, "first", 2 * CPUS, "open1")
    wait_running(home, 1)
    second = begin(home, "second", 2 * CPUS, "open2")
    first.kill()
    home.wait(first)
    home.file("open1", "")
    wait_for("the first experiment is taken over", lambda: len(log(home, "-", 1)) == 2 * CPUS)
    check(second.poll() is None, "the second ended too", home.errors(second))
    home.file("open2", "")
    check(home.wait(second) == 0, home.errors(second))
    check_ended(home, 1, 2 * CPUS)
    check_ended(home, 2, 2 * CPUS)
    check_told(home, second, 2 * CPUS)
    check_cores(home)


def first_killed_then_resumed(home):
    """an experiment whose hone was killed can be resumed after the one that took over has ended"""
    first = begin(home, "first", 2 * CPUS, "open1")
    wait_running(home, 1)
    second = begin(home, "second", 1, "open2")
    home.file("open2", "")
    first.kill()
    home.wait(first)
    resumed = home.start("resume", "first", "--json")
    home.file("open1", "")
    check(home.wait(second) == 0, home.errors(second))
    check(home.wait(resumed) == 0, home.errors(resumed))
    check_ended(home, 1, 2 * CPUS)
    check_ended(home, 2, 1)
    check_cores(home)


def second_killed(home):
    """when the second one is killed, its experiment stays with the engine and can be watched again"""
    first = begin(home, "first", CPUS, "open")
    wait_running(home, 1)
    second = begin(home, "second", 2 * CPUS, "open")
    second.kill()
    home.wait(second)
    again = home.start("resume", "second", "--json")
    home.file("open", "")
    check(home.wait(first) == 0 and home.wait(again) == 0, home.errors(first), home.errors(again))
    check_ended(home, 1, CPUS)
    check_ended(home, 2, 2 * CPUS)
    check_cores(home)


def second_interrupted(home):
    """Ctrl-C in the second one stops only its own experiment"""
    first = begin(home, "first", CPUS, "open1")
    second = begin(home, "second", 2 * CPUS, "open2")
    os.kill(second.pid, signal.SIGINT)
    check(home.wait(second) == 130, home.errors(second))
    check(home.show("2")["state"] == "interrupted", home.show("2")["state"])
    check(first.poll() is None, "the first ended with the second")
    home.file("open1", "")
    check(home.wait(first) == 0, home.errors(first))
    check_ended(home, 1, CPUS)


def first_interrupted(home):
    """Ctrl-C in the first one, the engine, stops only its own experiment"""
    first = begin(home, "first", CPUS, "open1")
    wait_running(home, 1)
    second = begin(home, "second", 2 * CPUS, "open2")
    os.kill(first.pid, signal.SIGINT)
    check(home.wait(first) == 130, home.errors(first))
    check(home.show("1")["state"] == "interrupted", home.show("1")["state"])
    home.file("open2", "")
    check(home.wait(second) == 0, home.errors(second))
    check_ended(home, 2, 2 * CPUS)


scenarios([both_work, first_ends, first_killed, first_killed_then_resumed, second_killed, second_interrupted,
           first_interrupted])
