#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Looking at a home in the moment in which it is made, and who may. Prints TAP."""

import os
import stat
import sys

sys.dont_write_bytecode = True
from harness import Place, main


def a_home_that_is_just_being_made_is_empty_or_whole(place: Place):
    for n in range(20):
        place.env["HONE_HOME"] = os.path.join(place.folder, f"home{n}")
        run = place.start("run", "--", "true")
        while run.poll() is None:
            place.trials()  # anything but trials or "no experiment yet" is an error
        assert run.returncode == 0, place.read("err")
        assert [t["state"] for t in place.trials()] == ["completed"]


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def a_home_that_hone_makes_is_its_owners_and_another_keeps_its_mode(place: Place):
    old = os.umask(0o022)
    for n, words in enumerate((["run", "--", "true"], ["token", "add", "ann"], ["pause", "--all"])):
        home = place.env["HONE_HOME"] = os.path.join(place.folder, "new", f"home{n}")
        place.start(*words).wait(60)
        assert mode(home) == 0o700, f"{words}: {mode(home):o}"
    home = place.env["HONE_HOME"] = os.path.join(place.folder, "shared")
    os.mkdir(home, 0o755)
    place.start("run", "--", "true").wait(60)
    assert mode(home) == 0o755, f"{mode(home):o}"
    os.umask(old)


main(a_home_that_is_just_being_made_is_empty_or_whole, a_home_that_hone_makes_is_its_owners_and_another_keeps_its_mode)
