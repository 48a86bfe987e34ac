#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How fast event files are read: by us and by TensorBoard's own reader, the same scalars.

    make build/bench/series/tfevents && bench/series/tfevents.py [--print]

Writes the section `tfevents` of bench/RESULTS.md. The readers take turns, three rounds; the ratio is
taken within a round, in CPU seconds, and its median counts. TensorBoard comes from PyPI, in the virtual environment
of tests/peers/tfevents_test.py; its start is not counted, and all its values are kept (size
guidance 0), as ours are all handed over. Where tensorboard-data-server is not used, as here, this is
the reader that TensorBoard itself uses.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TOP / "bench"), str(TOP / "tests" / "peers"), str(TOP / "tests" / "tfevents")]
sys.dont_write_bytecode = True
import lib  # noqa: E402
import tfevents_test  # noqa: E402

STEPS = 20000
ROUNDS = 3
GOAL = 20


def measure(make, files):
    begin = time.process_time()
    count = sum(1 for path in files for _ in make.expected(path))
    return count, time.process_time() - begin


def main():
    tfevents_test.enter_venv()
    import make

    load = os.getloadavg()[0]
    program = lib.BUILD / "bench" / "series" / "tfevents"
    rows, good = [], True
    with tempfile.TemporaryDirectory() as folder:
        for name, write in [("torch", make.write_torch), ("TensorFlow 2", make.write_tf2)]:
            where = os.path.join(folder, name)
            write(where, STEPS)
            files = list(make.event_files(where))
            ratios, ours, theirs = [], [], []
            for _ in range(ROUNDS):
                count, seconds = measure(make, files)
                samples, _sum, bad, own = subprocess.run(
                    [program, *files], check=True, capture_output=True, text=True).stdout.split()
                if int(samples) != count or int(bad):
                    sys.exit(f"tfevents: {samples} samples of ours, {count} of TensorBoard's")
                ours.append(float(own))
                theirs.append(seconds)
                ratios.append(seconds / float(own))
            ratio = statistics.median(ratios)
            good = good and ratio >= GOAL
            rows.append([name, count, f"{count / statistics.median(theirs):,.0f}",
                         f"{count / statistics.median(ours):,.0f}", f"{ratio:.0f}×", f"≥ {GOAL}×",
                         lib.verdict(ratio >= GOAL)])
        text = lib.conditions("bench/series/tfevents.py", load, pathlib.Path(folder)) + "\n" + lib.table(
            ["written by", "scalars", "TensorBoard's reader, 1/s", "hone, 1/s", "ratio", "goal", "met"], rows)
    if "--print" in sys.argv:
        print(text)
    else:
        lib.section("tfevents", "TensorBoard's event files", text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
