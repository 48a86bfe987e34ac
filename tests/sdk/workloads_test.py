#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/system under a control page that changes while they run: they take the threads that it
says with their next step, answer, and end when asked. What they compute stays the same.

Prints TAP. train_cnn.py is tested where PyTorch is installed.
"""

import os
import subprocess
import sys
import tempfile
import time

from python_test import ROOT, Attempt

BUILD = os.environ.get("HONE_BUILD", os.path.join(ROOT, "build"))
PROGRAMS = ["svm", "logreg", "kmeans", "jacobi", "bfs"]
PYTHON = "/usr/bin/python3"  # Debian's, for which python3-torch is
PATIENCE_S = 50  # only a program that hangs needs it


class Run:
    """A program that runs without end, until its page says stop."""

    def __init__(self, attempt, command):
        self.attempt = attempt
        self.program = subprocess.Popen(command, env=attempt.env, cwd=attempt.folder)

    def lines(self):
        """The whole lines in the metrics, without their timestamps."""
        try:
            with open(self.attempt.env["HONE_METRICS"], encoding="utf-8") as f:
                text = f.read()
        except FileNotFoundError:
            return []
        return [line.rsplit(" ", 1)[0] for line in text.split("\n")[:-1]]

    def wait_for(self, start, part=""):
        """The place of the first line that begins so and holds that part."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.program.poll() is None:
            for at, line in enumerate(self.lines()):
                if line.startswith(start) and part in line:
                    return at
            time.sleep(0.005)
        raise AssertionError(f"no line {start}…{part}: exit {self.program.poll()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()


def change_live(a, command):
    """Threads 1, then 3, then 2, then stop; each is answered, and in force from the step after."""
    a.with_hone()
    a.env.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", HONE_SYSTEM='{"threads": 1}')
    with Run(a, command) as run:
        run.wait_for("train loss=", "threads=1")
        for generation, threads in ((4, 3), (6, 2)):
            a.put_page(generation, f'{{"system": {{"threads": {threads}}}}}')
            answer = run.wait_for(f"hone generation={generation}i,step=")
            run.wait_for("train loss=", f"threads={threads}")
            first = next(line for line in run.lines()[answer:] if line.startswith("train"))
            assert f"threads={threads}" in first, first
        a.put_page(8, '{"stop": true}')
        assert run.program.wait(PATIENCE_S) == 0
    assert any(line.startswith("hone generation=8i") for line in run.lines())
    return [line.split(",threads=")[0] for line in run.lines() if line.startswith("train loss=")]


def one_thread(a, command, steps):
    a.with_hone()
    a.env.update(OMP_NUM_THREADS="1", HONE_SYSTEM='{"threads": 1}')
    subprocess.run([*command, f"--steps={steps}"], env=a.env, cwd=a.folder, check=True)
    return [line.split(",threads=")[0] for line in a.lines() if line.startswith("train loss=")]


def obeys(program):
    """Live changes, and the same bits as without them."""
    command = [os.path.join(BUILD, "examples", "system", program)]
    with tempfile.TemporaryDirectory(prefix="hone-sdk-") as folder:
        changed = change_live(Attempt(folder), [*command, "--steps=1000000000"])
    with tempfile.TemporaryDirectory(prefix="hone-sdk-") as folder:
        steady = one_thread(Attempt(folder), command, len(changed))
    assert changed == steady, (changed, steady)


def cnn_obeys(_):
    script = os.path.join(ROOT, "examples", "system", "train_cnn.py")
    with tempfile.TemporaryDirectory(prefix="hone-sdk-") as folder:
        change_live(Attempt(folder), [PYTHON, script, "--steps=1000000000", "--batch=4", "--channels=2"])


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0


def main():
    tests = [(name, obeys) for name in PROGRAMS] + [("train_cnn", cnn_obeys)]
    print(f"1..{len(tests)}")
    failed = 0
    for i, (name, test) in enumerate(tests, 1):
        title = f"{i} - {name} takes threads and a stop while it runs"
        if name == "train_cnn" and not has_torch():
            print(f"ok {title} # SKIP no python3-torch")
            continue
        try:
            test(name)
            print(f"ok {title}")
        except Exception as e:
            failed += 1
            print(f"not ok {title}")
            print("# " + repr(e).replace("\n", "\n# ")[:2000])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
