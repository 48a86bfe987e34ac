#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What acts over HTTP, treated badly: bodies, names, hashes, words of commands. Prints TAP."""

import hashlib
import json
import os
import shutil
import signal
import sys
import threading
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
from harness import Place, main, wait_for

SPEC = "command: [sh, -c, 'echo loss=0.5; until [ -e %s/go ]; do sleep 0.02; done']\nobjective: loss\ncode: none\nsearch: {parallel: 1}\n"


class Server:
    """hone serve on a free port, and an admin's token."""

    def __init__(self, place):
        self.place = place
        self.process = place.start("serve", "--port", "0", "--json")
        wait_for("its address", lambda: place.read("out").endswith("\n") or self.process.poll() is not None)
        assert self.process.poll() is None, place.read("err")
        self.url = "http://" + json.loads(place.read("out"))["address"]
        self.token = place.token("admin", "ann")

    def ask(self, method, path, body=None, token=None):
        """Status and answer, as JSON where it is."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        headers = {"Authorization": "Bearer " + (token or self.token), "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return status, json.loads(text) if text else None

    def refuse(self, expected, *what, **how):
        """It is refused with a sentence, and the server is well after it."""
        status, answer = self.ask(*what, **how)
        assert status == expected, (what, status, answer)
        assert answer["error"] and answer["code"], answer
        assert self.ask("GET", "/v1/queue")[0] == 200

    def submit(self, **more):
        status, answer = self.ask("POST", "/v1/experiments", {"text": SPEC % self.place.folder, **more})
        assert status in (200, 201), answer
        return answer["experiment"]


def bodies_that_are_no_submission_are_refused_with_a_sentence(place: Place):
    server = Server(place)
    wrong = [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"text":3}', b'{"spec":[]}', b'{"spec":{},"text":"x"}',
        {"text": ""}, {"text": "command: ["}, {"text": "a: b\n"}, {"text": "command: x", "priority": 101},
        {"text": "command: x", "priority": "high"}, {"text": "command: x", "code": "../../etc/passwd"},
        {"text": "command: x\ncode: none\n", "key": "k" * 201}, {"spec": {"command": ["x"], "dir": "/no/such/folder"}},
        {"text": "x" * 100000}, {"text": "[" * 50000}, {"text": "command: x\nresources: {cpus: 99999}\ncode: none\n"},
    ]
    for body in wrong:
        server.refuse(400, "POST", "/v1/experiments", body)
    server.refuse(404, "POST", "/v1/experiments", {"text": "command: x", "code": "a" * 64})
    assert server.ask("GET", "/v1/queue")[1]["experiments"] == []


def acts_on_what_is_not_there_or_with_nonsense_are_refused(place: Place):
    server = Server(place)
    server.submit(key="one")
    for what in ("stop", "resume", "pause", "priority"):
        server.refuse(404, "POST", f"/v1/experiments/99/{what}", {"priority": 1})
        server.refuse(404, "POST", f"/v1/experiments/..%2f..%2fetc/{what}", {"priority": 1})
        server.refuse(404, "POST", f"/v1/experiments/%3Cscript%3E/{what}", {"priority": 1})
        server.refuse(400, "POST", f"/v1/experiments/1/{what}", b"[1]")
    for trial, status in (("1.99", 404), ("99.1", 404), ("1", 404), ("1.x", 404), ("..%2f1", 404)):
        server.refuse(status, "POST", f"/v1/trials/{trial}/stop", {})
    server.refuse(400, "POST", "/v1/trials/1.1/stop", {"mode": "now"})
    server.refuse(400, "POST", "/v1/experiments/1/stop", {"mode": "gently"})
    server.refuse(400, "POST", "/v1/experiments/1/pause", {"mode": "gently"})
    server.refuse(400, "POST", "/v1/experiments/1/priority", {"priority": 1000})
    server.refuse(400, "POST", "/v1/experiments/1/priority", {})
    server.refuse(400, "POST", "/v1/queue", {"paused": "yes"})
    for what, body in (("stop", {"mode": None}), ("stop", {"now": True}), ("resume", {"trials": {}}), ("resume", {"trials": {"add": 0}}),
                       ("resume", {"trials": {"add": 1, "set": 9}}), ("resume", {"trials": None}), ("priority", {"priority": 1.5})):
        server.refuse(400, "POST", f"/v1/experiments/1/{what}", body)
    for change in ({"do": "submit"}, {"do": "gc_objects", "sha256": []}, {"do": "tag"}, {"do": "tag", "experiment": 1}, {}):
        server.refuse(400, "POST", "/v1/changes", change)
    server.refuse(409, "POST", "/v1/changes", {"do": "rm", "experiment": 1})
    server.refuse(404, "POST", "/v1/changes", {"do": "star", "experiment": 99})
    for change in ({"do": "note", "text": "x"}, {"do": "star"}, {"do": "tag", "tag": "x"}):
        server.refuse(404, "POST", "/v1/changes", {**change, "experiment": 1, "trial": 99})


def the_same_key_from_many_at_once_begins_one_experiment(place: Place):
    server = Server(place)
    got = []
    threads = [threading.Thread(target=lambda: got.append(server.submit(key="same"))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [1] * 12, got


def the_same_code_from_many_at_once_is_unpacked_whole(place: Place):
    server = Server(place)
    os.mkdir(place.path("code"))
    for i in range(200):
        place.write(f"code/part{i}", "x" * 1000)
    place.write("code/check.sh", "test $(cat part* | wc -c) = 200000 && echo loss=1\n")
    text = "command: [sh, check.sh]\nobjective: loss\n"
    place.env["HONE_TOKEN"] = server.token
    place.hone("submit", place.write("code/spec.yaml", text), "--server", server.url)
    wait_for("its end", lambda: server.ask("GET", "/v1/queue")[1]["experiments"] == [])
    code = place.show("1")["code"]
    shutil.rmtree(os.path.join(place.home, "checkouts"))
    got = []
    threads = [threading.Thread(target=lambda: got.append(server.ask("POST", "/v1/experiments", {"text": text, "code": code})))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in got] == [201] * 8, got
    wait_for("their end", lambda: server.ask("GET", "/v1/queue")[1]["experiments"] == [])
    assert all(trial["state"] == "completed" for e in range(1, 10) for trial in place.trials(str(e)))
    assert os.listdir(os.path.join(place.home, "checkouts")) == [code]


def a_user_changes_only_what_is_the_users(place: Place):
    server = Server(place)
    bob, eve = place.token("user", "bob"), place.token("viewer", "eve")
    server.submit()
    for what in ("stop", "resume", "pause", "priority"):
        server.refuse(403, "POST", f"/v1/experiments/1/{what}", {"priority": 1}, token=bob)
    server.refuse(403, "POST", "/v1/trials/1.1/stop", {}, token=bob)
    for change in ({"do": "rm"}, {"do": "note", "text": "x"}, {"do": "star"}, {"do": "tag", "tag": "x"}):
        server.refuse(403, "POST", "/v1/changes", {**change, "experiment": 1}, token=bob)
    server.refuse(403, "POST", "/v1/queue", {"paused": True}, token=bob)
    server.refuse(403, "POST", "/v1/experiments", {"text": SPEC % place.folder}, token=eve)
    server.refuse(403, "POST", "/v1/commands/gc", {"args": []}, token=bob)
    server.refuse(400, "POST", "/v1/experiments", {"text": SPEC % place.folder, "owner": "ann"}, token=bob)
    status, mine = server.ask("POST", "/v1/experiments", {"text": SPEC % place.folder}, token=bob)
    assert status == 201
    assert server.ask("POST", f"/v1/experiments/{mine['experiment']}/pause", {}, token=bob)[0] == 200
    assert [e["owner"] for e in server.ask("GET", "/v1/queue")[1]["experiments"]].count("bob") == 1


def a_change_reaches_no_further_than_it_says(place: Place):
    server = Server(place)
    bob, data = place.token("user", "bob"), b"code of others"
    name = hashlib.sha256(data).hexdigest()
    assert server.ask("PUT", "/v1/objects/" + name, data)[0] == 201
    assert server.ask("POST", "/v1/experiments", {"text": SPEC % place.folder}, token=bob)[1]["experiment"] == 1
    # Numbers that are none: not the whole experiment, and no trial of another one (3 = 1 | 2).
    for trial in ("1", 1.5, True, [1], -1, (2 << 32) + 1):
        for change in ({"do": "rm"}, {"do": "note", "text": "x"}, {"do": "star"}, {"do": "tag", "tag": "x"}):
            server.refuse(400, "POST", "/v1/changes", {**change, "experiment": 1, "trial": trial}, token=bob)
    assert server.ask("POST", "/v1/experiments/1/stop", {}, token=bob)[0] == 200
    wait_for("its end", lambda: server.ask("GET", "/v1/queue")[1]["experiments"] == [])
    server.refuse(400, "POST", "/v1/changes", {"do": "rm", "experiment": 1, "sha256": [name]}, token=bob)
    assert server.ask("POST", "/v1/changes", {"do": "rm", "experiment": 1, "trial": None}, token=bob)[0] == 200
    assert server.ask("HEAD", "/v1/objects/" + name)[0] == 200
    server.refuse(404, "POST", "/v1/changes", {"do": "star", "experiment": 1}, token=bob)


def objects_are_what_their_names_say(place: Place):
    server = Server(place)
    data = b"some code"
    name = hashlib.sha256(data).hexdigest()
    server.refuse(409, "PUT", "/v1/objects/" + "0" * 64, data)
    server.refuse(404, "PUT", "/v1/objects/short", data)
    server.refuse(404, "PUT", "/v1/objects/" + name.upper(), data)
    assert server.ask("HEAD", "/v1/objects/" + name)[0] == 404
    assert server.ask("PUT", "/v1/objects/" + name, data)[0] == 201
    assert server.ask("PUT", "/v1/objects/" + name, data)[0] == 200
    assert server.ask("HEAD", "/v1/objects/" + name)[0] == 200
    # An object that is no archive is found out when it is to be unpacked.
    status, answer = server.ask("POST", "/v1/experiments", {"text": "command: x", "code": name})
    assert status >= 400 and answer["error"], answer


def commands_touch_no_file_and_no_other_home(place: Place):
    server = Server(place)
    server.submit()
    wanted = place.path("written")
    for name, args in (
        ("export", ["1", "-o", wanted]), ("export", ["1", "-o" + wanted]), ("export", ["1", "--output=" + wanted]),
        ("plot", ["1", "history", "--svg", wanted]), ("ls", ["--home", "/tmp"]), ("ls", ["--home=/tmp"]),
        ("export", ["1", "--influx", "http://127.0.0.1:1", "--db", "x"]), ("ls", ["--server", "http://127.0.0.1:1"]),
        ("ls", ["--token-file", "/etc/passwd"]), ("knowledge", ["export", wanted]), ("knowledge", ["import", "/etc/passwd"]),
        ("knowledge", ["forget", "--all"]), ("logs", ["-f", "1.1"]), ("ls", ["--home", "-"]), ("ls", ["--server", "-"]),
    ):
        status, answer = server.ask("POST", f"/v1/commands/{name}", {"args": args, "plain": True})
        assert status == 200 and answer["exit"] == 2, (name, args, answer)
        assert answer["error"].startswith("hone"), answer
    assert not os.path.exists(wanted)
    status, answer = server.ask("POST", "/v1/commands/export", {"args": ["1", "-o", "-"], "plain": True})
    assert status == 200 and answer["exit"] == 0 and answer["text"].startswith("trial"), answer
    assert not os.path.exists("/-")  # it would run there
    for name in ("run", "serve", "tune", "stop", "rm", "token", "open", "import", "rerun", "..%2fls", "ls%00", ""):
        assert server.ask("POST", f"/v1/commands/{name}", {"args": []})[0] in (400, 404), name
    for args in ("1", {"a": 1}, [1], [None], ["x"] * 1001):
        server.refuse(400, "POST", "/v1/commands/ls", {"args": args})
    status, answer = server.ask("POST", "/v1/commands/ls", {"args": ["; echo hi", "$(id)"], "plain": True})
    assert status == 200 and answer["exit"] != 0 and "uid=" not in json.dumps(answer), answer


def a_stop_while_commands_and_submissions_are_under_way_ends_cleanly(place: Place):
    server = Server(place)
    server.submit()

    def ask():
        try:
            server.ask("POST", "/v1/commands/show", {"args": ["1"]})
            server.ask("POST", "/v1/experiments", {"text": SPEC % place.folder})
        except (OSError, urllib.error.URLError, ValueError):
            pass  # it has gone

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(60) == 0, place.read("err")
    for thread in threads:
        thread.join()


main(bodies_that_are_no_submission_are_refused_with_a_sentence,
     acts_on_what_is_not_there_or_with_nonsense_are_refused,
     the_same_key_from_many_at_once_begins_one_experiment,
     the_same_code_from_many_at_once_is_unpacked_whole, a_user_changes_only_what_is_the_users,
     a_change_reaches_no_further_than_it_says,
     objects_are_what_their_names_say,
     commands_touch_no_file_and_no_other_home,
     a_stop_while_commands_and_submissions_are_under_way_ends_cleanly)
