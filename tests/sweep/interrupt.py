#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Ending `hone run` on purpose or by accident: Ctrl-C, a lost terminal, `hone stop`, `--detach`.

The programs note in a file what happens to them, and go on until the test makes the file `open`.
Signals go to the whole process group of hone, as a terminal sends them: trials must not be in it.
"""

import os
import pty
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from harness import check, scenarios, wait_for  # noqa: E402

# A program that knows nothing of Hone; `how` is what it does about SIGTERM.
PLAIN = """#!/bin/sh
note() {{ echo "$1 $HONE_TRIAL $HONE_ATTEMPT $HONE_CHECKPOINT" >> "$SWEEP_FOLDER/log"; }}
{how}
note start
while [ ! -e "$SWEEP_FOLDER/open" ]; do sleep 0.01; done
echo "loss=0.5"
note end
"""
IGNORE = "trap '' TERM"
SAVE = """save() {
    mkdir -p "$HONE_CHECKPOINT_DIR"; echo half > "$HONE_CHECKPOINT_DIR/.part"
    mv "$HONE_CHECKPOINT_DIR/.part" "$HONE_CHECKPOINT_DIR/$HONE_ATTEMPT-7"; note term; exit 0; }
trap save TERM"""
OBEY = "trap 'note term; exit 1' TERM"

# One that uses the SDK: it ends its loop when asked, with a checkpoint.
SDK = """
import os, signal, time, hone
log = open(os.environ["SWEEP_FOLDER"] + "/log", "a", buffering=1)
note = lambda what: log.write(f"{what} {os.environ['HONE_TRIAL']} {os.environ['HONE_ATTEMPT']} {hone.checkpoint or ''}\\n")
signal.signal(signal.SIGTERM, lambda *_: note("term"))
first = int(hone.checkpoint.rpartition("-")[2]) + 1 if hone.checkpoint else 0
note("start")
last = first
for epoch in hone.epochs(10**9, start=first):
    last = epoch
    hone.log(loss=1 / (epoch + 1), step=epoch)
    if os.path.exists(os.environ["SWEEP_FOLDER"] + "/open"):
        note("end")
        break
    time.sleep(0.01)
else:
    with hone.save_checkpoint(last) as path:
        open(path, "w").write("half")
    note("saved")
"""

SPEC = """
name: stops
command: {command}
params: {{x: {{range: [0, {trials}]}}}}
objective: loss
search: {{algorithm: grid, parallel: 2}}
limits: {{grace: {grace}}}
resources: {{cpus: 0.5}}
code: none
"""


def prepare(home, how="", trials=2, grace="30s", sdk=False):
    home.file("program.sh", PLAIN.format(how=how))
    home.file("program.py", SDK)
    command = "[/usr/bin/python3, program.py]" if sdk else "[sh, program.sh]"
    home.file("stops.yaml", SPEC.format(command=command, trials=trials, grace=grace))


def log(home, what):
    lines = [line.split() for line in home.read("log").split("\n")[:-1]]
    return [words[1:] for words in lines if words[0] == what]


def wait_log(home, what, n):
    return wait_for(f"{n} × {what}", lambda: len(log(home, what)) >= n and log(home, what))


def begin(home, **how):
    """Two trials are at work when this returns."""
    prepare(home, **how)
    proc = home.start("run", "stops.yaml", "--json")
    wait_log(home, "start", 2)
    return proc


def interrupt(proc):
    os.killpg(proc.pid, signal.SIGINT)


def check_interrupted(home, proc):
    check(home.wait(proc) == 130, "exit code", proc.returncode, home.errors(proc))
    check(home.events(proc)[-1]["state"] == "interrupted", home.events(proc)[-1])
    check(home.show("last")["state"] == "interrupted", home.show("last")["state"])
    check(not home.left_over(), "trials go on:", home.left_over())


def check_resumed(home, trials=2, attempts=2):
    """What is left is done, and every trial completes."""
    home.file("open", "")
    code, _ = home.ask("resume")
    check(code == 0, "resume gave", code, home.last_error)
    shown = home.trials()
    check(len(shown) == trials, len(shown), "trials")
    for trial in shown:
        check(trial["state"] == "completed", trial["trial"], trial["state"], trial["reason"])
    check([trial["attempts"] for trial in shown[:2]] == [attempts] * 2, [trial["attempts"] for trial in shown])
    check(sorted(words[0] for words in log(home, "end")) == sorted(t["trial"] for t in shown), log(home, "end"))


def sdk_acknowledges(home):
    """Ctrl-C: trials with the SDK save a checkpoint and end without a signal; resume starts from it"""
    proc = begin(home, sdk=True)
    wait_for("they answer", lambda: all("loss" in str(t["metrics"]) for t in home.trials()))
    interrupt(proc)
    check_interrupted(home, proc)
    check(len(log(home, "saved")) == 2, home.read("log"))
    check(not log(home, "term"), "they got SIGTERM", home.read("log"))
    check_resumed(home)
    again = [words for words in log(home, "start") if words[1] == "2"]
    check(len(again) == 2 and all("checkpoints/1-" in words[2] for words in again), again)


def plain_gets_sigterm(home):
    """Ctrl-C: other programs get SIGTERM, and begin again with resume"""
    proc = begin(home, how=OBEY, trials=4)
    interrupt(proc)
    check_interrupted(home, proc)
    check(len(log(home, "term")) == 2, home.read("log"))
    check(len(log(home, "start")) == 2, "more were started", home.read("log"))
    check_resumed(home, trials=4)


def plain_saves(home):
    """Ctrl-C: a program that saves a checkpoint at SIGTERM starts from it with resume"""
    proc = begin(home, how=SAVE)
    interrupt(proc)
    check_interrupted(home, proc)
    check_resumed(home)
    again = [words for words in log(home, "start") if words[1] == "2"]
    check(len(again) == 2 and all(words[2].endswith("/1-7") for words in again), again)


def stubborn_is_killed(home):
    """Ctrl-C: a program that ignores SIGTERM is killed after the grace, not before"""
    proc = begin(home, how=IGNORE, grace="500ms")
    asked = time.monotonic()
    interrupt(proc)
    check_interrupted(home, proc)
    check(time.monotonic() - asked >= 0.5, "killed after", time.monotonic() - asked)
    check_resumed(home)


def twice_kills(home):
    """Ctrl-C twice: trials are killed at once, whatever the grace"""
    proc = begin(home, how=IGNORE, grace="10min")
    interrupt(proc)
    wait_for("the first is heard", lambda: log_is_asked(home))
    interrupt(proc)
    check_interrupted(home, proc)
    check_resumed(home)


def log_is_asked(home):
    """Why an attempt is to end is stored with it before it is asked."""
    return all(run["reason"] == "interrupted" for trial in home.trials() for run in trial["runs"])


def killed_while_stopping(home):
    """hone killed while it waits for the grace: resume ends what was asked to end, then goes on"""
    proc = begin(home, how=OBEY.replace("note term;", "note term; sleep 0.3;"))
    interrupt(proc)
    wait_log(home, "term", 2)
    proc.kill()
    home.wait(proc)
    check_resumed(home)


def sigterm_is_as_ctrl_c(home):
    """SIGTERM to hone is a Ctrl-C"""
    proc = begin(home, how=OBEY)
    os.kill(proc.pid, signal.SIGTERM)
    check_interrupted(home, proc)
    check_resumed(home)


def sighup_changes_nothing(home):
    """SIGHUP changes nothing"""
    proc = begin(home)
    os.killpg(proc.pid, signal.SIGHUP)
    home.file("open", "")
    check(home.wait(proc) == 0, proc.returncode, home.errors(proc))
    check(len(log(home, "end")) == 2 and home.show("last")["state"] == "finished", home.read("log"))


def lost_terminal(home):
    """a terminal that goes away changes nothing"""
    prepare(home, trials=4)
    master, slave = pty.openpty()

    def take_terminal():
        import fcntl
        import termios

        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    proc = home.start("run", "stops.yaml", stdin=slave, stdout=slave, stderr=slave, preexec_fn=take_terminal)
    os.close(slave)
    wait_log(home, "start", 2)
    os.close(master)
    home.file("open", "")
    check(home.wait(proc) == 0, "exit code", proc.returncode)
    check(len(log(home, "end")) == 4 and home.show("last")["state"] == "finished", home.read("log"))


def reader_goes_away(home):
    """a pipe whose reader goes away changes nothing"""
    prepare(home, trials=4)
    end, other = os.pipe()
    proc = home.start("run", "stops.yaml", "--json", stdout=other)
    os.close(other)
    wait_log(home, "start", 2)
    os.close(end)
    home.file("open", "")
    check(home.wait(proc) == 0, "exit code", proc.returncode, home.errors(proc))
    check(home.show("last")["state"] == "finished", home.show("last")["state"])


def stop_now(home):
    """hone stop ends running trials and the experiment for good"""
    proc = begin(home, how=OBEY, trials=4)
    home.tell("stop", "last")
    check(home.wait(proc) == 1, "exit code", proc.returncode)  # no trial completed
    check(home.show("last")["state"] == "stopped", home.show("last")["state"])
    check(len(log(home, "term")) == 2 and len(log(home, "start")) == 2, home.read("log"))
    for trial in home.trials():
        check((trial["state"], trial["reason"]) == ("stopped", "cancelled"), trial["trial"], trial["state"], trial["reason"])
    code, _ = home.ask("stop", "last")
    check(code == 1, "a second stop gave", code)


def stop_drain(home):
    """hone stop --drain lets running trials finish and starts no more"""
    proc = begin(home, how=OBEY, trials=4)
    home.tell("stop", "last", "--drain")
    check(proc.poll() is None, "it did not wait")
    home.file("open", "")
    check(home.wait(proc) == 0, "exit code", proc.returncode)
    check(home.show("last")["state"] == "stopped", home.show("last")["state"])
    check([t["state"] for t in home.trials()] == ["completed"] * 2, [t["state"] for t in home.trials()])
    check(not log(home, "term") and len(log(home, "start")) == 2, home.read("log"))


def stop_after_kill(home):
    """hone stop ends what a killed hone left running"""
    proc = begin(home, how=OBEY, trials=4)
    proc.kill()
    home.wait(proc)
    home.tell("stop", "last")
    check(not home.left_over(), "trials go on:", home.left_over())
    check(home.show("last")["state"] == "stopped", home.show("last")["state"])
    check(len(log(home, "term")) == 2 and len(log(home, "start")) == 2, home.read("log"))


def detached(home):
    """--detach returns at once, and the experiment goes on without terminal or parent"""
    prepare(home, trials=4)
    out = home.tell("run", "stops.yaml", "--detach")
    check("experiment 1" in out, out)
    wait_log(home, "start", 2)
    watcher = home.start("attach", "--json")
    wait_for("attach has joined", lambda: has_socket(watcher.pid))
    home.file("open", "")
    check(home.wait(watcher) == 0, "attach gave", watcher.returncode, home.errors(watcher))
    wait_for("its end", lambda: home.show("last")["state"] == "finished")
    check(len(log(home, "end")) == 4, home.read("log"))
    wait_engine_gone(home)


def has_socket(pid):
    try:
        links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return False
    return any(link.startswith("socket:") for link in links)


def detached_then_stopped(home):
    """a detached run is ended by hone stop"""
    prepare(home, how=OBEY, trials=4)
    home.tell("run", "stops.yaml", "--detach")
    wait_log(home, "start", 2)
    home.tell("stop", "last")
    wait_for("its end", lambda: home.show("last")["state"] == "stopped")
    wait_engine_gone(home)


def wait_engine_gone(home):
    """The process in the background ends by itself: its lock is free."""
    import fcntl

    def free():
        with open(os.path.join(home.path, "engine.lock"), "r+b") as f:
            try:
                fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                return False

    wait_for("the background process ends", free)


scenarios([sdk_acknowledges, plain_gets_sigterm, plain_saves, stubborn_is_killed, twice_kills, killed_while_stopping,
           sigterm_is_as_ctrl_c, sighup_changes_nothing, lost_terminal, reader_goes_away, stop_now, stop_drain,
           stop_after_kill, detached, detached_then_stopped])
