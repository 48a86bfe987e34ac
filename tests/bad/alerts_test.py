#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Alerts that cannot be told as they should: servers that are down or refuse, commands that hang, fail or do
not exist. It is said, and the experiment is none the worse for it. Prints TAP."""

import http.server
import json
import os
import socket
import sys
import threading

sys.dont_write_bytecode = True
from harness import main, wait_for

SPEC = """
name: watched
command: sh train.sh
code: none
objective: loss
search: {{trials: 1}}
alerts:
- when: loss > 2
  do: notify
  {how}
"""


class Hook(http.server.BaseHTTPRequestHandler):
    """Answers with the statuses it is given, then with 200."""
    statuses, got = [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Hook.got.append((self.headers["Content-Type"], json.loads(body)))
        self.send_response(Hook.statuses.pop(0) if Hook.statuses else 200)
        self.end_headers()

    def log_message(self, *words):
        pass


def hook(*statuses):
    """A server that has its port, and is down."""
    Hook.statuses, Hook.got = list(statuses), []
    server = http.server.HTTPServer(("127.0.0.1", 0), Hook, bind_and_activate=False)
    server.server_bind()
    return server


def serve(server):
    server.server_activate()
    threading.Thread(target=server.serve_forever, daemon=True).start()


def said(place):
    """By the view while it runs, on standard error afterwards."""
    return place.read("out") + place.read("err")


def run(place, how, train="echo loss: 3"):
    """Started; the trial goes on until there is a file `go`."""
    place.write("train.sh", f"{train}\nwhile [ ! -e go ]; do sleep 0.05; done\n")
    return place.start("run", place.write("spec.yaml", SPEC.format(how=how)))


def finish(place, process):
    place.write("go", "")
    assert process.wait(timeout=60) == 0, said(place)
    assert [t["state"] for t in place.trials()] == ["completed"]
    assert "alert in trial 1.1: loss > 2 holds" in place.read("out"), place.read("out")


def a_webhook_that_is_down_at_first_is_told_once_it_is_up(place):
    server = hook(503)
    process = run(place, f"webhook: http://127.0.0.1:{server.server_port}/hook")
    wait_for("the alert", lambda: "alert in trial" in place.read("out"))
    serve(server)
    wait_for("two tries", lambda: len(Hook.got) == 2)
    kind, alert = Hook.got[1]
    assert kind == "application/json"
    assert alert["alert"] == "loss > 2" and alert["trial"] == "1.1" and alert["did"] == ["notify"], alert
    finish(place, process)
    server.shutdown()
    assert len(Hook.got) == 2 and "webhook" not in said(place), said(place)


def a_webhook_that_refuses_is_not_asked_again(place):
    server = hook(404, 404, 404)
    serve(server)
    process = run(place, f"webhook: http://127.0.0.1:{server.server_port}/")
    wait_for("the refusal", lambda: "answered with status 404" in said(place))
    finish(place, process)
    server.shutdown()
    assert len(Hook.got) == 1


def a_server_that_never_answers_holds_up_nothing(place):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        process = run(place, f"webhook: http://127.0.0.1:{silent.getsockname()[1]}/")
        wait_for("the alert", lambda: "alert in trial" in place.read("out"))
        place.write("go", "")
        wait_for("the end of the trial", lambda: "trial 1.1 completed" in place.read("out"))
        assert process.poll() is None
    assert process.wait(timeout=60) == 0
    assert "was not told" in said(place), said(place)


def a_command_that_hangs_is_killed_with_all_it_started(place):
    place.write("hang.sh", "echo $$ > pid\n(sleep 1000; echo never) &\nsleep 1000\n")
    process = run(place, "command: sh hang.sh")
    wait_for("the command", lambda: os.path.exists(place.path("pid")))
    finish(place, process)  # it waits some seconds for it
    assert "(sh hang.sh) took too long and was killed" in said(place), said(place)


def a_command_that_does_not_exist_is_named(place):
    process = run(place, "command: [./no-such-program, 'a b']")
    wait_for("words", lambda: "cannot be started" in said(place))
    finish(place, process)
    assert "the command of an alert (./no-such-program 'a b') cannot be started: No such file" in said(place)


def a_command_that_fails_is_said_with_its_words(place):
    process = run(place, "command: [sh, -c, 'echo mail is down >&2; head -c 100000 /dev/zero; exit 3']")
    wait_for("words", lambda: "ended with exit code 3" in said(place))
    finish(place, process)
    assert "ended with exit code 3: mail is down" in said(place) and len(said(place)) < 5000, said(place)[:300]


def many_alerts_at_once_are_all_told(place):
    place.write("note.sh", "echo $HONE_TRIAL >> told\n")
    place.write("train.sh", "echo loss: 3\nwhile [ ! -e go ]; do sleep 0.05; done\n")
    spec = SPEC.format(how="command: sh note.sh").replace("{trials: 1}", "{trials: 20, parallel: 20, algorithm: random}")
    spec += "params: {x: {min: 0, max: 1}}\nresources: {cpus: 0.01}\n"
    process = place.start("run", place.write("spec.yaml", spec))
    wait_for("all of them", lambda: os.path.exists(place.path("told")) and len(place.read("told").split()) == 20)
    place.write("go", "")
    assert process.wait(timeout=60) == 0, said(place)
    assert len(set(place.read("told").split())) == 20


main(a_webhook_that_is_down_at_first_is_told_once_it_is_up, a_webhook_that_refuses_is_not_asked_again,
     a_server_that_never_answers_holds_up_nothing, a_command_that_hangs_is_killed_with_all_it_started,
     a_command_that_does_not_exist_is_named, a_command_that_fails_is_said_with_its_words,
     many_alerts_at_once_are_all_told)
