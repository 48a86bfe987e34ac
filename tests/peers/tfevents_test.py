#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Event files of the newest writers from PyPI, read by us and by TensorBoard's own reader: the same
tags, steps, times and bits of values. Prints TAP.

TensorBoard and tensorboardX live in a virtual environment in build/peers/tfevents that this makes
(above Debian's Python, for its torch). Without a way to PyPI it says so and is skipped.
"""
import collections
import csv
import datetime
import io
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("HONE_BUILD", TOP / "build"))
HONE = os.environ.get("HONE_BIN", str(BUILD / "hone"))
VENV = BUILD / "peers" / "tfevents"
STEPS = 2000


def skip(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def enter_venv():
    """Go on as a program of the virtual environment, which is made if need be."""
    python = VENV / "bin" / "python"
    if not (VENV / "ready").exists():
        try:
            subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", VENV],
                           check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "tensorboard", "tensorboardX"],
                           check=True, capture_output=True, timeout=600)
        except (OSError, subprocess.SubprocessError) as error:
            skip(f"no TensorBoard from PyPI: {error}")
        (VENV / "ready").touch()
    if sys.prefix != str(VENV):
        os.execv(python, [str(python), *sys.argv])


def bits(value):
    return struct.pack("<d", value).hex() if value == value else "nan"


def theirs(make, folder):
    """For each folder with event files its samples, as TensorBoard has them."""
    runs = collections.defaultdict(list)
    for path in make.event_files(folder):
        for tag, step, wall, value in make.expected(path):
            row = (tag.replace(" ", "_"), step, math.floor(wall * 1e6 + 0.5), bits(value))
            runs[os.path.dirname(path)].append(row)
    return sorted(sorted(run) for run in runs.values())


def microseconds(text):
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)


def ours(folder, home):
    """The same from `hone import` and `hone export`."""
    environment = dict(os.environ, HONE_HOME=home)
    subprocess.run([HONE, "import", folder], check=True, env=environment, stdout=subprocess.DEVNULL)
    text = subprocess.run([HONE, "export", "last", "--metrics", "--csv"], check=True, env=environment,
                          stdout=subprocess.PIPE, text=True).stdout
    trials = collections.defaultdict(list)
    for row in csv.DictReader(io.StringIO(text)):
        sample = (row["metric"], int(row["step"]), microseconds(row["time"]), bits(float(row["value"])))
        trials[row["trial"]].append(sample)
    return sorted(sorted(trial) for trial in trials.values())


def main():
    enter_venv()
    sys.path.insert(0, str(TOP / "tests" / "tfevents"))
    sys.dont_write_bytecode = True
    import make

    print("1..3")
    for number, (name, write) in enumerate([("torch", make.write_torch), ("tf2", make.write_tf2),
                                            ("tensorboardX", make.write_tensorboardx)], 1):
        with tempfile.TemporaryDirectory() as base:
            folder = os.path.join(base, "runs")
            write(folder, STEPS)
            begin = time.monotonic()
            wanted = theirs(make, folder)
            middle = time.monotonic()
            got = ours(folder, os.path.join(base, "home"))
            end = time.monotonic()
        count = sum(len(run) for run in wanted)
        good = got == wanted and count >= STEPS
        print(f"{'ok' if good else 'not ok'} {number} - {name}: {count} samples as TensorBoard has them")
        print(f"# TensorBoard {middle - begin:.2f} s, hone import and export {end - middle:.2f} s")
        for a, b in zip(wanted, got):
            for x, y in zip(a, b):
                if x != y:
                    print(f"# TensorBoard {x}, hone {y}")
                    break


if __name__ == "__main__":
    main()
