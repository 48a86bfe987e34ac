#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Looking at a home in the moment in which it is made. Prints TAP."""

import os
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


main(a_home_that_is_just_being_made_is_empty_or_whole)
