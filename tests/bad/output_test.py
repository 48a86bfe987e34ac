#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Programs that print more than anyone wants to read. Prints TAP."""

import os
import sys

sys.dont_write_bytecode = True
from harness import Place, main

MB = 1 << 20
LOUD = """
import os, sys
block = (b"%s" * (1 << 16))[: 1 << 20]
for _ in range(int(sys.argv[1])):
    os.write(1, block)
os.write(1, b"\\nstep 1 loss=0.5\\n")
"""


def disk_use(folder):
    return sum(os.lstat(os.path.join(base, name)).st_blocks * 512
               for base, _, names in os.walk(folder) for name in names)


def loud(place, words, text, *options):
    program = place.write("loud.py", LOUD % text)
    place.hone("run", "--minimize", "loss", *options, "--", "/usr/bin/python3", program, words)
    trial = place.show("last.1")
    assert trial["state"] == "completed" and trial["value"] == 0.5, trial
    return trial


def a_line_of_100_mb_is_kept_and_passed_over(place: Place):
    loud(place, "100", "x" * 256)
    out, _ = place.hone("logs", "last")
    assert len(out) == 100 * MB + len("\nstep 1 loss=0.5\n"), len(out)


def output_beyond_the_cap_loses_its_middle_and_that_is_said(place: Place):
    loud(place, "300", "a line of output\\n", "--set", "limits.output=64M")
    shown, _ = place.hone("show", "last.1")
    assert "247 MB of output dropped by limits.output" in shown, shown
    out, err = place.hone("logs", "last")
    assert "247 MB of output were dropped here by limits.output" in err, err
    assert 63 * MB < len(out) < 66 * MB, len(out)
    assert out.startswith("a line of output\n") and out.endswith("\nstep 1 loss=0.5\n")
    assert disk_use(place.home) < 70 * MB, disk_use(place.home)


def the_disk_is_spared_while_the_program_still_writes(place: Place):
    """1 GB against a cap of 32 MB: the middle goes while the program still writes."""
    program = place.write("watch.py", f"""
import os, sys, time
stdout = os.path.join(os.path.dirname(os.environ["HONE_PARAMS"]), "stdout")
block, spared, end = b"0123456789abcde\\n" * 65536, 0, time.monotonic() + 60
on_disk = lambda: os.stat(stdout).st_blocks * 512
for _ in range(1024):
    os.write(1, block)
    if on_disk() > 256 << 20:
        while on_disk() > 128 << 20:  # however fast the disk: wait for the keeper
            if time.monotonic() > end:
                sys.exit("nothing was dropped in a minute")
        spared += 1
print("\\nspared:", spared)
""")
    place.hone("run", "--set", "limits.output=32M", "--set", "objective=spared", "--",
               "/usr/bin/python3", program)
    trial = place.show("last.1")
    assert trial["state"] == "completed", trial
    assert disk_use(place.home) < 36 * MB, disk_use(place.home)
    shown, _ = place.hone("show", "last.1")
    assert "1.0 GB of output dropped" in shown, shown


main(a_line_of_100_mb_is_kept_and_passed_over,
     output_beyond_the_cap_loses_its_middle_and_that_is_said,
     the_disk_is_spared_while_the_program_still_writes)
