#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Homes on a full disk and on one that may only be read. Needs the right to mount. Prints TAP."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from harness import Place, Skip, main, wait_for
from serving import Serving

PROGRAM = """
echo "step 1 loss=0.5"
until [ -e "go$1" ]; do sleep 0.02; done
touch "went$1"
echo "step 2 loss=0.25"
"""
SPEC = """
name: full
command: sh train.sh {x}
params: {x: [1, 2, 3, 4]}
objective: loss
search: {algorithm: grid, parallel: 2}
resources: {cpus: 0.1}
"""


@contextlib.contextmanager
def mounted(place, *options):
    """A file system of its own as the home."""
    os.makedirs(place.home, exist_ok=True)
    words = ["mount", "-t", "tmpfs", *options, "hone-test", place.home]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Skip(f"cannot mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place.home], check=True)


def fill(path):
    """Take what is left of the disk; again while one waits, for others may give something back."""
    with open(path, "ab", buffering=0) as f:
        for size in (1 << 20, 4096):
            try:
                while True:
                    f.write(b"x" * size)
            except OSError as e:
                assert e.errno == errno.ENOSPC, e


def states(place):
    return {t["trial"]: t["state"] for t in place.trials()}


def running(place):
    return list(states(place).values()).count("running") == 2 and all(
        t["value"] == 0.5 for t in place.trials())


def a_full_disk_holds_the_engine_up_and_loses_nothing(place: Place):
    place.write("train.sh", PROGRAM)
    place.write("spec.yaml", SPEC)
    with mounted(place, "-o", "size=24m"):
        run = place.start("run", "spec.yaml")
        wait_for("two trials run", lambda: running(place))
        place.hone("tag", "full", "before")
        ballast = os.path.join(place.home, "ballast")
        fill(ballast)

        for n in "1234":
            place.write(f"go{n}", "")
        wait_for("running trials go on", lambda: os.path.exists(place.path("went1"))
                 and os.path.exists(place.path("went2")))
        wait_for("it says so", lambda: fill(ballast) or "disk is full" in place.read("err") + place.read("out"))
        assert run.poll() is None, "the engine gave up"
        assert set(states(place).values()) <= {"running", "completed", "queued"}, states(place)

        os.unlink(ballast)
        assert run.wait(timeout=60) == 0, place.read("err") + place.read("out")
        assert states(place) == {f"1.{n}": "completed" for n in range(1, 5)}, place.trials()
        assert all(t["attempts"] == 1 for t in place.trials()), place.trials()
        assert place.show("full")["tags"] == ["before"]


def ctrl_c_gets_out_even_while_the_disk_is_full(place: Place):
    place.write("train.sh", PROGRAM)
    place.write("spec.yaml", SPEC)
    with mounted(place, "-o", "size=24m"):
        run = place.start("run", "spec.yaml")
        wait_for("two trials run", lambda: running(place))
        ballast = os.path.join(place.home, "ballast")
        fill(ballast)
        for words in ("stopping:", "killing", "leaving"):
            wait_for(words, lambda: fill(ballast) or interrupted(run) or words in place.read("out"))
        code = run.wait(timeout=60)  # one Ctrl-C more may have caught it on the way out
        assert code in (130, -signal.SIGINT), (code, place.read("err") + place.read("out"))
        os.unlink(ballast)
        for n in "1234":
            place.write(f"go{n}", "")
        place.hone("resume", "full")
        assert states(place) == {f"1.{n}": "completed" for n in range(1, 5)}, place.trials()


def interrupted(run):
    """One more Ctrl-C, unless it is over."""
    if run.poll() is None:
        run.send_signal(signal.SIGINT)
    return run.poll() is not None


def a_run_on_a_full_disk_says_so_and_is_kept_whole_or_not_at_all(place: Place):
    place.write("train.sh", "echo loss=1")
    place.write("spec.yaml", SPEC)
    with mounted(place, "-o", "size=4m"):
        place.hone("run", "spec.yaml")
        ballast = os.path.join(place.home, "ballast")
        fill(ballast)
        run = place.start("run", "spec.yaml", "--name", "second")
        wait_for("it says so", lambda: fill(ballast) or "full" in place.read("err") or "No space" in place.read("err"))
        os.unlink(ballast)
        code = run.wait(timeout=60)
        names = [e["name"] for e in place.experiments()]
        assert names == (["second", "full"] if code == 0 else ["full"]), (code, names)


def a_home_mounted_read_only_can_be_read_and_refuses_changes(place: Place):
    place.write("train.sh", "echo loss=1")
    place.write("spec.yaml", SPEC)
    with mounted(place, "-o", "size=24m"):
        place.hone("run", "spec.yaml")
        subprocess.run(["mount", "-o", "remount,ro", place.home], check=True)
        assert len(states(place)) == 4
        for words in (["run", "spec.yaml"], ["tag", "full", "x"], ["rm", "--yes", "full"],
                      ["resume", "full"]):
            _, err = place.hone(*words, code=None)
            assert "ead-only" in err and place.home in err and err.count("\n") == 1, (words, err)
        place.hone("show", "full")
        place.hone("logs", "last.1")
        place.hone("export", "full")


def answer(serving, db, lines):
    status, _, text = serving.ask(f"/write?db={db}", lines.encode())
    return status, text.decode()


def values(serving, db):
    """Of all series: what /query tells."""
    got = serving.json(f"/query?db={db}&q=SELECT+v+FROM+m")["results"][0]
    return sorted(v for s in got.get("series", []) for _, v in s["values"])


def a_write_that_needs_a_commit_is_answered_while_the_disk_is_full(place: Place):
    with mounted(place, "-o", "size=16m"):
        serving = Serving(place)
        serving.write("m,t=old v=1 1", db="known")
        ballast = os.path.join(place.home, "ballast")
        fill(ballast)
        began = time.monotonic()
        first = answer(serving, "new", "m v=1 1")  # it finds out
        for db, lines in (("newer", "m v=1 1"), ("known", "m,t=fresh v=2 2\nm,t=old v=7 7"),
                          ("new", "m v=1 1")):
            status, text = answer(serving, db, lines)
            assert status == 503 and "No space left on device" in text, (db, status, text)
        status, _, text = serving.ask("/query?q=CREATE+DATABASE+newest", b"")
        assert status == 200 and b"No space left on device" in text, (status, text)
        assert first[0] == 503 and "No space left on device" in first[1], first
        assert time.monotonic() - began < 8, "somebody waited"

        os.unlink(ballast)
        wait_for("room", lambda: answer(serving, "known", "m,t=fresh v=2 2")[0] == 204)
        assert values(serving, "known") == [1, 2], values(serving, "known")  # no 7: nothing of it was stored
        serving.write("m v=5 1", db="new")
        assert values(serving, "new") == [5]
        got = serving.json("/query?q=SHOW+DATABASES")["results"][0]["series"][0]["values"]
        assert sorted(n for n, in got) == ["known", "new"], got
        serving.end()


main(a_full_disk_holds_the_engine_up_and_loses_nothing,
     ctrl_c_gets_out_even_while_the_disk_is_full,
     a_run_on_a_full_disk_says_so_and_is_kept_whole_or_not_at_all,
     a_home_mounted_read_only_can_be_read_and_refuses_changes,
     a_write_that_needs_a_commit_is_answered_while_the_disk_is_full)
