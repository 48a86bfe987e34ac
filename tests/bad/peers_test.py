#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Who speaks to a home's socket: peers that are slow, silent or talk nonsense, and an engine that dies
between what it kept and what it said. Prints TAP."""

import json
import os
import signal
import socket
import sys

sys.dont_write_bytecode = True
from harness import Place, main, wait_for

PROGRAM = """
echo "step 1 loss=0.5"
until [ -e "$1" ]; do sleep 0.02; done
"""
SPEC = """
name: NAME
command: sh train.sh NAME
code: none
params: {x: [1, 2]}
objective: loss
search: {algorithm: grid, parallel: 1}
"""


def start(place, name):
    place.write("train.sh", PROGRAM)
    place.write(name + ".yaml", SPEC.replace("NAME", name))
    process = place.start("run", name + ".yaml", "--json")
    return process


def runs(place, name):
    return any(t["state"] == "running" and t["value"] == 0.5 for t in place.trials(name))


def connect(place, name="hone.sock"):
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(60)
    peer.connect(os.path.join(place.home, name))
    return peer


def line_of(peer):
    text = b""
    while not text.endswith(b"\n"):
        piece = peer.recv(65536)
        assert piece, "closed before a line came"
        text += piece
    return text


def closed(peer):
    """Has the engine let go of it?"""
    try:
        while True:
            if not peer.recv(65536):
                return True
    except (ConnectionResetError, BrokenPipeError):
        return True


def nonsense_on_the_socket_hurts_nobody(place: Place):
    run = start(place, "a")
    wait_for("it runs", lambda: runs(place, "a"))
    silent = [connect(place) for _ in range(20)]
    for text in (b"\n", b"nonsense\n", b"[]\n", b"{}\n", b'{"do":"submit"}\n', b"\0\xff\n",
                 b'{"do":"stop","experiment":99}\n', b'{"do":"rm","experiment":1}\n', b"[" * 5000 + b"\n"):
        peer = connect(place)
        peer.sendall(text)
        assert "error" in json.loads(line_of(peer)), text
        peer.close()
    long = connect(place)
    try:
        for _ in range(300):
            long.sendall(b"x" * 65536)
    except (ConnectionResetError, BrokenPipeError):
        pass
    assert closed(long), "a line without end is read without end"
    half = connect(place)
    half.sendall(b'{"do":"watch","exper')
    half.close()
    deaf = connect(place)
    deaf.sendall(b'{"do":"watch","experiment":1}\n')
    place.write("a", "")
    assert run.wait(60) == 0, place.read("err")
    for peer in silent:
        assert closed(peer)


def a_submission_sent_twice_runs_once(place: Place):
    run = start(place, "a")
    wait_for("it runs", lambda: runs(place, "a"))
    request = {"do": "submit", "key": "0123", "env": ["PATH=/usr/bin:/bin"],
               "spec": {"name": "b", "command": ["true"], "code": "none", "params": {"x": [1]}}}
    ids = []
    for _ in range(2):
        peer = connect(place)
        peer.sendall(json.dumps(request).encode() + b"\n")
        ids.append(json.loads(line_of(peer).splitlines()[0])["experiment"])  # events follow
        peer.close()
    assert ids == [2, 2], ids
    place.write("a", "")
    assert run.wait(60) == 0


def an_engine_that_dies_before_its_answer_has_kept_the_submission_once(place: Place):
    first = start(place, "a")
    wait_for("it runs", lambda: runs(place, "a"))
    # In the middle between the two: it passes the request on, but not the answer.
    real, front = os.path.join(place.home, "real.sock"), os.path.join(place.home, "hone.sock")
    os.rename(front, real)
    middle = socket.socket(socket.AF_UNIX)
    middle.settimeout(60)
    middle.bind(front)
    middle.listen(8)
    second = start(place, "b")
    peer, _ = middle.accept()
    peer.settimeout(60)
    engine = connect(place, "real.sock")
    engine.sendall(line_of(peer))
    assert json.loads(line_of(engine).splitlines()[0])["experiment"] == 2
    first.send_signal(signal.SIGKILL)
    first.wait()
    middle.close()
    os.unlink(front)
    peer.close()
    place.write("a", "")
    place.write("b", "")
    assert second.wait(60) == 0, place.read("err")
    assert sorted(e["experiment"] for e in place.experiments()) == [1, 2]
    events = [json.loads(line) for line in place.read("out").splitlines()]
    assert [e["event"] for e in events].count("started") == 1, events
    assert events[-1]["event"] == "finished" and events[-1]["trials"]["completed"] == 2


main(nonsense_on_the_socket_hurts_nobody, a_submission_sent_twice_runs_once,
     an_engine_that_dies_before_its_answer_has_kept_the_submission_once)
