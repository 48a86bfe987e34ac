#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The machine under real programs is tuned, and programs that make it hard. Prints TAP.

Steps are sleeps whose length depends on the configuration, and much so: a busy machine does not matter.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
from harness import Place, Skip, main, wait_for

TRAIN = """
import os, sys, time
import hone

start = 0
if hone.checkpoint:
    with open(hone.checkpoint) as f:
        start = int(f.read())
with open("starts", "a") as f:
    f.write("%d %s\\n" % (start, os.environ.get("HONE_SYSTEM")))

def save(step):
    with hone.save_checkpoint(step) as path:
        with open(path, "w") as f:
            f.write(str(step))

for step in hone.epochs(100000, start):
    seconds = SECONDS
    time.sleep(seconds)
    hone.log(loss=1.0 / (step + 1))
    if step % 20 == 19:
        save(step + 1)
    if os.path.exists("end"):
        break
if hone.should_stop:
    save(step + 1)
"""


def spec(place, system, program="python3 train.py", more=""):
    return place.write("spec.yaml", f"""
name: tuned
command: {program}
code: none
objective: loss
search: {{trials: 1, stop: none}}
system: {system}
{more}
""")


def events(place, kind=None):
    """What `run --json` has told so far."""
    lines = place.read("out").splitlines()
    told = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
    return [event for event in told if kind in (None, event.get("event"))]


def begin(place, seconds, system, more=""):
    place.write("train.py", TRAIN.replace("SECONDS", seconds))
    return place.start("run", "--json", spec(place, system, more=more))


def end(place, run):
    place.write("end", "")
    assert run.wait(timeout=60) == 0, place.read("out")[-2000:] + place.read("err")


def threads_are_changed_inside_the_running_trial(place):
    run = begin(place, "0.3 if hone.system('threads') == 2 else 0.01", "{threads: [2, 1]}")
    wait_for("it is adopted", lambda: any(e["advice"] == "adopt" for e in events(place, "tuned")))
    end(place, run)
    adopted = [e for e in events(place, "tuned") if e["advice"] == "adopt"][0]
    assert adopted["from"] == {"threads": 1} or adopted["to"] == {"threads": 1}, adopted
    assert -1 < adopted["measured"] < 0, adopted
    assert events(place, "changed"), "what the change cost"
    assert len(place.read("starts").splitlines()) == 1, "it was not started again"
    text, _ = place.hone("show", "tuned.1")
    assert "threads 2 → 1" in text, text
    summary, _ = place.hone("export", "tuned", "--summary")
    assert "threads" in summary.splitlines()[0], summary


def what_needs_a_restart_goes_on_from_the_checkpoint(place):
    run = begin(place, "0.3 if hone.system('loaders') == 1 else 0.01", "{loaders: {values: [1, 2], apply: restart}}")
    wait_for("it was started again",
             lambda: os.path.exists(place.path("starts")) and len(place.read("starts").splitlines()) > 1)
    wait_for("its cost is known", lambda: any(e["kind"] == "restart" for e in events(place, "changed")))
    end(place, run)
    starts = [line.split(" ", 1) for line in place.read("starts").splitlines()]
    assert json.loads(starts[0][1]) == {"loaders": 1}, starts
    assert json.loads(starts[1][1]) == {"loaders": 2}, starts
    assert int(starts[1][0]) > 0, starts
    trial = place.show("tuned.1")
    assert trial["state"] == "completed" and trial["attempts"] >= 2, trial
    assert trial["runs"][0]["reason"] == "reconfigured", trial["runs"]
    changed = [e for e in events(place, "changed") if e["kind"] == "restart"]
    assert changed and 0 <= changed[0]["cost_s"] < 60, changed


def a_configuration_under_which_it_fails_is_learned_and_the_trial_goes_on(place):
    run = begin(place, "0.02 if hone.system('threads') == 2 else sys.exit(3)", "{threads: [2, 1]}",
                "limits: {retries: 0}")
    wait_for("it was started again",
             lambda: os.path.exists(place.path("starts")) and len(place.read("starts").splitlines()) > 1)
    wait_for("it goes on", lambda: place.trials()[0]["state"] == "running")
    end(place, run)
    trial = place.show("tuned.1")
    assert (trial["state"], trial["attempts"]) == ("completed", 2), trial
    assert any("is not tried again" in e["text"] for e in events(place, "tune_note")), events(place)


def a_program_without_steps_is_judged_by_what_it_uses(place):
    place.write("train.sh", "while [ ! -e end ]; do sleep 0.1; done\necho loss: 1\n")
    run = place.start("run", "--json", spec(place, "{cpus: [1, 2], threads: [1, 2]}", "sh train.sh"))
    wait_for("that is said", lambda: any("reports no step" in e["text"] for e in events(place, "tune_note")))
    end(place, run)
    assert place.show("tuned.1")["state"] == "completed"


def steps_that_go_backwards_do_no_harm(place):
    place.write("train.py", """
import time, hone
for epoch in range(30):
    for step in range(10):
        hone.log(step=step, loss=1.0 / (1 + step))
        time.sleep(0.005)
""")
    place.hone("run", spec(place, "{threads: [2, 1], cpus: auto}"))
    assert place.show("tuned.1")["state"] == "completed"


def one_epoch_is_enough(place):
    place.write("train.py", "import hone\nfor epoch in hone.epochs(1):\n    hone.log(loss=1)\n")
    place.hone("run", spec(place, "{threads: [2, 1]}"))
    trial = place.show("tuned.1")
    assert (trial["state"], trial["value"]) == ("completed", 1), trial


def all_threads(place):
    """Of the keeper and its program."""
    return [int(tid) for pid in place.read("pids").split() for tid in os.listdir(f"/proc/{pid}/task")]


def narrow(place, cpu):
    """From outside: the keeper and its program may use this processor only, whatever was asked for."""
    for tid in all_threads(place):
        os.sched_setaffinity(tid, {cpu})


def two_processors():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("there is one processor only")
    return cpus


def cores_taken_away(place, cpu):
    """It trains on, with what is left, and says so; with two cpus a step is quicker, so both are wanted."""
    place.write("train.py", """
import os, time
import hone

with open("pids.part", "w") as f:
    f.write("%d %d" % (os.getppid(), os.getpid()))
os.rename("pids.part", "pids")
while not os.path.exists("narrowed"):
    time.sleep(0.01)
for step in hone.epochs(100000):
    time.sleep(0.01 if hone.system("cpus") == 2 else 0.3)
    hone.log(loss=1.0 / (step + 1))
    if os.path.exists("end"):
        break
""")
    run = place.start("run", "--json", spec(place, "{cpus: [2, 1]}"))
    wait_for("it runs", lambda: os.path.exists(place.path("pids")))
    wait_for("its first configuration is in place", lambda: place.trials()[0]["state"] == "running")
    narrow(place, cpu)
    place.write("narrowed", "")
    wait_for("that is said", lambda: any("may be used here" in e["text"] for e in events(place, "tune_note")))
    steps = place.show("tuned.1")["step"] or 0
    wait_for("it goes on", lambda: (place.show("tuned.1")["step"] or 0) > steps)
    wait_for("nothing runs on what was taken away",
             lambda: all(os.sched_getaffinity(tid) == {cpu} for tid in all_threads(place)))
    end(place, run)
    trial = place.show("tuned.1")
    assert (trial["state"], trial["attempts"]) == ("completed", 1), trial
    assert "error" not in place.read("err").lower(), place.read("err")


def the_last_cores_may_be_taken_away_while_it_runs(place):
    cores_taken_away(place, two_processors()[0])


def the_first_cores_may_be_taken_away_while_it_runs(place):
    cores_taken_away(place, two_processors()[-1])


def a_user_of_their_own_environment_is_left_alone_when_asked(place):
    place.write("train.sh", "echo loss: ${OMP_NUM_THREADS:-0} > /dev/null; echo loss: ${OMP_NUM_THREADS:-77}\n")
    place.env.pop("OMP_NUM_THREADS", None)
    place.hone("run", spec(place, "{threads: [2, 1]}", "sh train.sh", "tune: off-raw"))
    assert place.show("tuned.1")["value"] == 77
    place.hone("run", spec(place, "{threads: [2, 1]}", "sh train.sh", "tune: off"))
    assert place.show("tuned.1")["value"] == 1
    place.hone("run", spec(place, "{threads: [2, 1]}", "sh train.sh", "tune: hyper"))
    assert place.show("tuned.1")["value"] == 2


main(
    threads_are_changed_inside_the_running_trial,
    what_needs_a_restart_goes_on_from_the_checkpoint,
    a_configuration_under_which_it_fails_is_learned_and_the_trial_goes_on,
    a_program_without_steps_is_judged_by_what_it_uses,
    steps_that_go_backwards_do_no_harm,
    one_epoch_is_enough,
    the_last_cores_may_be_taken_away_while_it_runs,
    the_first_cores_may_be_taken_away_while_it_runs,
    a_user_of_their_own_environment_is_left_alone_when_asked,
)
