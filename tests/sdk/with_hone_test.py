#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Programs in Python and in C that use the SDKs, run by the real hone. Prints TAP.

Both programs do the same: read parameters, log a walk of odd doubles, obey a stop, go on from their
checkpoint. Each sentence is proved for both.
"""

import csv
import io
import math
import os
import random
import signal
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bad"))
from harness import BUILD, ROOT, Place, main, wait_for

PYTHON = """
import os, struct, sys, time
import hone

p = hone.params(lr=0.125, epochs=3, mode="values")
start = 0
if hone.checkpoint:
    with open(hone.checkpoint) as f:
        start = int(f.read())
print("started at", start, "lr", p.lr, flush=True)

def values():
    with open("values", "rb") as f:
        for epoch in hone.epochs(1000000):
            bits = f.read(8)
            if not bits:
                return
            hone.log(x=struct.unpack("<d", bits)[0])

def walk():
    epoch = start - 1
    for epoch in hone.epochs(p.epochs, start):
        hone.log(loss=1.0 / (epoch + 1))
        if p.mode == "wait":
            time.sleep(0.01)
        if os.path.exists("end"):
            break
    if hone.checkpoint_asked():
        with hone.save_checkpoint(epoch + 1) as path:
            with open(path, "w") as f:
                f.write(str(epoch + 1))
    print("left the loop", "told to stop" if hone.should_stop else "at the end", flush=True)

values() if p.mode == "values" else walk()
"""

C = """
#include "hone.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *mode;

static void values(void)
{
    double x;
    FILE *f = fopen("values", "rb");
    hone_epochs (epoch, 1000000) {
        if (fread(&x, sizeof(x), 1, f) != 1)
            break;
        hone_log(epoch, {"x", x});
    }
    fclose(f);
}

static void save(long epoch)
{
    const char *path = hone_checkpoint_begin(epoch);
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        exit(1);
    fprintf(f, "%ld", epoch);
    fclose(f);
    if (hone_checkpoint_commit() < 0)
        exit(1);
}

static void walk(long start, long n)
{
    long epoch;
    for (epoch = start; epoch < n && hone_step(epoch); epoch++) {
        hone_log(epoch, {"loss", 1.0 / (double)(epoch + 1)});
        if (strcmp(mode, "wait") == 0)
            usleep(10000);
        if (access("end", F_OK) == 0)
            break;
    }
    if (hone_checkpoint_asked())
        save(epoch);
    printf("left the loop %s\\n", hone_should_stop() ? "told to stop" : "at the end");
}

int main(void)
{
    long start = 0;
    const char *path = hone_checkpoint();
    FILE *f = path ? fopen(path, "r") : NULL;
    if (f) {
        if (fscanf(f, "%ld", &start) != 1)
            return 1;
        fclose(f);
    }
    mode = hone_param_text("mode", "values");
    printf("started at %ld lr %.17g\\n", start, hone_param_double("lr", 0.125));
    fflush(stdout);
    if (strcmp(mode, "values") == 0)
        values();
    else
        walk(start, hone_param_int("epochs", 3));
    return 0;
}
"""


def python_program(place):
    return ["/usr/bin/python3", place.write("train.py", PYTHON)]


def c_program(place):
    source = place.write("train.c", C)
    words = [os.environ.get("CC", "cc"), "-O1", "-Wall", "-Werror", "-I" + os.path.join(ROOT, "sdk", "c"),
             "-o", place.path("train"), source, os.path.join(ROOT, "sdk", "c", "hone.c")]
    if not sanitized():
        words[-1] = os.path.join(BUILD, "libhone-client.a")
    subprocess.run([*words, "-lpthread"], check=True)
    return [place.path("train")]


def sanitized():
    """A sanitized library cannot be linked into a plain program; its source can."""
    with open(os.path.join(BUILD, "libhone-client.a"), "rb") as f:
        return b"__asan_" in f.read()


def bits(x):
    return struct.pack("<d", x)


def odd_doubles():
    rng = random.Random(7)
    fixed = [0.0, -0.0, 0.1, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22, 1e23,
             -1e-5, 123456789.0, 2.0**53 + 2, math.inf, -math.inf, math.nan]
    drawn = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(2000)]
    return fixed + [x for x in drawn if not math.isnan(x)]


def whole_numbers_arrive_whole(place):
    sent = [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**60 + 7, 3, 2**64]
    with open(place.path("whole.py"), "w") as f:
        f.write(f"import hone\nfor x in {sent}:\n    hone.log(odd=float('nan'), x=x, y=0.5)\n")
    place.hone("run", "--", sys.executable, "whole.py")
    text, _ = place.hone("export", "last", "--metrics", "--csv")
    got = [r["value"] for r in csv.DictReader(io.StringIO(text)) if r["metric"] == "x"]
    assert got[:6] == list(map(str, sent[:6])), got
    assert float(got[6]) == 2.0**64, got  # more than 64 bits: the nearest double


def metrics_arrive_to_the_bit(place, words):
    sent = odd_doubles()
    with open(place.path("values"), "wb") as f:
        f.write(b"".join(map(bits, sent)))
    place.hone("run", "--param", "mode=values", "--param", "lr=0.1", "--set", "pass=file", "--", *words)
    text, _ = place.hone("export", "last", "--metrics", "--csv")
    rows = [r for r in csv.DictReader(io.StringIO(text)) if r["metric"] == "x"]
    assert [int(r["step"]) for r in rows] == list(range(len(sent))), len(rows)
    wrong = [(s, r["value"]) for s, r in zip(sent, rows)
             if bits(float(r["value"])) != bits(s) and not (math.isnan(s) and r["value"] == "nan")]
    assert not wrong, wrong[:5]
    assert all(r["time"] for r in rows), "times are known"
    out, _ = place.hone("logs", "last")
    assert out.startswith("started at 0 lr 0.1"), out


def begin(place, words, *options):
    """A run of one long trial that has logged something."""
    run = place.start("run", "--name", "walk", "--param", "mode=wait", "--param", "epochs=1000000", "--set",
                      "pass=file", "--set", "limits.grace=600s", "--minimize", "loss", *options, "--", *words)
    wait_for("it logs", lambda: any(t["value"] is not None for t in place.trials()))
    return run


def a_stop_ends_the_loop_at_once(place, words):
    run = begin(place, words)
    place.hone("stop", "walk")
    run.wait(timeout=60)  # the grace is longer
    trial = place.show("walk.1")
    assert (trial["state"], trial["reason"]) == ("stopped", "cancelled"), trial
    assert trial["runs"][0]["exit"] == 0, trial["runs"]
    out, _ = place.hone("logs", "walk.1")
    assert out.endswith("left the loop told to stop\n"), out


def an_interrupted_trial_goes_on_from_its_checkpoint(place, words):
    run = begin(place, words)
    wait_for("some steps", lambda: place.trials()[0]["step"] > 5)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130, place.read("out") + place.read("err")
    reached = place.trials()[0]["step"]
    place.write("end", "")
    place.hone("resume", "walk")
    trial = place.show("walk.1")
    assert (trial["state"], trial["attempts"]) == ("completed", 2), trial
    out, _ = place.hone("logs", "walk.1")
    start = int(out.split()[2])
    assert start == reached + 1, (start, reached)
    assert trial["step"] == start, (trial["step"], start)
    assert out.endswith("left the loop at the end\n"), out


def without_hone_it_prints_and_goes_on(place, words):
    env = {k: v for k, v in place.env.items() if not k.startswith("HONE_")}
    with open(place.path("values"), "wb") as f:
        f.write(b"".join(map(bits, [0.5, 0.25])))
    done = subprocess.run(words, cwd=place.folder, env=env, check=True, stdout=subprocess.PIPE, text=True)
    out = done.stdout
    assert out.startswith("started at 0 lr 0.125\n"), out
    assert "0.5" in out and "0.25" in out, out


def both(test):
    def in_language(name, program):
        def run(place: Place):
            test(place, program(place))
        run.__name__ = f"{name}_{test.__name__}"
        return run
    return in_language("python", python_program), in_language("c", c_program)


main(*both(metrics_arrive_to_the_bit), whole_numbers_arrive_whole, *both(a_stop_ends_the_loop_at_once),
     *both(an_interrupted_trial_goes_on_from_its_checkpoint), *both(without_hone_it_prints_and_goes_on))
