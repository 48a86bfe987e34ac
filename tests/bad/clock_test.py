#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The wall clock jumps by days, forwards and back, while trials run. Prints TAP."""

import os
import sys

sys.dont_write_bytecode = True
from harness import BUILD, Place, main, wait_for

FAKE = os.path.join(BUILD, "tests", "bad", "fake_clock.so")
DAY = 86400
SPEC = """
name: jump
command: sh train.sh {x}
params: {x: [1, 2, 3]}
objective: loss
search: {algorithm: grid, parallel: 1}
limits: {time: 1h, trial_time: 1h}
retry: [7]
"""
PROGRAM = """
echo "step 1 loss=0.5"
until [ -e "go$1" ]; do sleep 0.02; done
[ "$1" != 2 ] || [ -e again ] || { touch again; exit 7; }
"""


def set_clock(place, seconds):
    with open(place.path("clock.new"), "w") as f:
        f.write(str(seconds))
    os.rename(place.path("clock.new"), place.path("clock"))


def start(place):
    assert os.path.exists(FAKE), f"{FAKE} is not built"
    set_clock(place, 0)
    place.write("train.sh", PROGRAM)
    place.write("spec.yaml", SPEC)
    asan = os.environ.get("ASAN_OPTIONS", "")
    place.env.update(LD_PRELOAD=FAKE, FAKE_CLOCK=place.path("clock"),
                     ASAN_OPTIONS=asan + ":verify_asan_link_order=0")
    return place.start("run", "spec.yaml")


def runs(place, trial):
    """Has this trial reported its first value?"""
    return any(t["trial"] == trial and t["state"] == "running" and t["value"] == 0.5
               for t in place.trials())


def limits_and_back_off_do_not_see_the_clock_jump(place: Place):
    run = start(place)
    wait_for("trial 1 runs", lambda: runs(place, "1.1"))
    set_clock(place, 2 * DAY)
    place.write("go1", "")
    wait_for("trial 2 runs", lambda: runs(place, "1.2"))
    set_clock(place, -3 * DAY)
    place.write("go2", "")
    wait_for("trial 3 runs", lambda: runs(place, "1.3"))
    set_clock(place, 0)
    place.write("go3", "")
    assert run.wait(timeout=60) == 0, place.read("out") + place.read("err")

    trials = place.trials()
    assert [(t["trial"], t["state"], t["attempts"]) for t in sorted(trials, key=lambda t: t["trial"])] == [
        ("1.1", "completed", 1), ("1.2", "completed", 2), ("1.3", "completed", 1)], trials
    assert all(0 <= t["seconds"] < 60 for t in trials), trials


def a_resume_after_the_clock_went_back_goes_on(place: Place):
    run = start(place)
    wait_for("trial 1 runs", lambda: runs(place, "1.1"))
    run.kill()
    run.wait()
    set_clock(place, -10 * DAY)
    for n in "123":
        place.write(f"go{n}", "")
    place.hone("resume")
    trials = place.trials()
    assert {t["state"] for t in trials} == {"completed"} and len(trials) == 3, trials
    assert place.show("jump")["state"] == "finished"


main(limits_and_back_off_do_not_see_the_clock_jump, a_resume_after_the_clock_went_back_goes_on)
