# SPDX-License-Identifier: MIT
"""The bodies that every server gets, made once by lines.c, and what is in them."""
import sys
import time

import servers
from servers import lib

FIELDS = 20
LINES = 5000  # a request


def load(style, order, runs, steps):
    """[body]; kept in $HONE_BUILD/bench/series."""
    servers.HOME.mkdir(parents=True, exist_ok=True)
    path = servers.HOME / f"bodies-{style}-{order}-{runs}x{steps}"
    if not path.exists():
        with open(f"{path}.new", "wb") as out:
            lib.run([servers.program("lines"), style, runs, steps, order], stdout=out)
        (path.parent / f"{path.name}.new").rename(path)
    lines = path.read_bytes().splitlines(keepends=True)
    return [b"".join(lines[i:i + LINES]) for i in range(0, len(lines), LINES)]


def send(server, bodies):
    """One after the other over one connection: the seconds that each took."""
    times = []
    for body in bodies:
        began = time.monotonic()
        status = server.post(body)
        times.append(time.monotonic() - began)
        if status != 204:
            sys.exit(f"{server.name} answered {status}")
    return times


def expected(bodies, run):
    """What was sent of one run: {field: ([ms], [value])}."""
    found, mark = {}, f"ml,run={run} ".encode()
    for line in b"".join(bodies).splitlines():
        if not line.startswith(mark):
            continue
        _, fields, ns = line.decode().split(" ")
        for field in fields.split(","):
            name, value = field.split("=")
            times, values = found.setdefault(name, ([], []))
            times.append(int(ns) // 1000000)
            values.append(float(value))
    return found
