#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""hone export --influx against a server that fails in every way: what arrives is what the store has.

The server here keeps points as InfluxDB does: one for each series and nanosecond, fields united.
Prints TAP."""

import collections
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
from harness import DEADLINE, HONE, Place, main, wait_for

POINTS = 6000
PROGRAM = """
import os, sys, time
def tell(first, last):
    out = []
    for i in range(first, last):
        out.append("train train/loss=%%r,train/acc=%%r,step=%%di\\n" %% (1 / (i + 3), i * 0.1, i))
        if i %% 100 == 0:
            out.append("train lr=%%r\\n" %% (0.5 / (i + 1)))
        if i %% 500 == 0:
            out.append("train val/loss=%%s,step=%%di\\n" %% (("nan", "inf", "-0.0")[i // 500 %% 3], i))
    fd = os.open(os.environ["HONE_METRICS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, "".join(out).encode())
    os.close(fd)
tell(0, %(half)d)
while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
tell(%(half)d, %(all)d)
"""


class Server:
    """`plan` is asked for every request: "ok", a status, "lose" (takes nothing, no answer), "mute"
    (takes it, no answer), or a function that is called when it was taken."""

    def __init__(self, plan=None, up=True):
        self.points = collections.defaultdict(dict)
        self.batches, self.connections, self.requests = [], 0, []
        self.plan = plan or (lambda n: "ok")
        self.lock = threading.Lock()  # of the points
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))  # the port is ours; who connects is refused until we listen
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        if up:
            self.come_up()

    def come_up(self):
        self.socket.listen(8)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            peer, _ = self.socket.accept()
            self.connections += 1
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        stream = peer.makefile("rb")
        try:
            while self.request(peer, stream):
                pass
        except OSError:
            pass
        stream.close()
        peer.close()

    def request(self, peer, stream):
        first = stream.readline().decode().split()
        if not first:
            return False
        heads = {}
        while (line := stream.readline().decode().strip()):
            key, value = line.split(":", 1)
            heads[key.lower()] = value.strip()
        body = stream.read(int(heads["content-length"]))
        self.requests.append((first[1], heads))
        what = self.plan(len(self.requests))
        if what == "lose":
            return False
        if what in ("ok", "mute") or callable(what):
            self.take(gzip.decompress(body).decode())
        if what == "mute":
            return False
        if callable(what):
            what()
        status, text = what if isinstance(what, tuple) else (204, "")
        if status == 400:
            self.take(gzip.decompress(body).decode())
        peer.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
        return True

    def take(self, text):
        with self.lock:
            self.batches.append(text)
            for line in text.splitlines():
                key, fields, time = line.split(" ")
                self.points[key, int(time)].update(field.split("=") for field in fields.split(","))

    def samples(self):
        """(trial, metric, step, value), sorted."""
        found = []
        with self.lock:
            points = [(key, dict(fields)) for (key, _), fields in self.points.items()]
        for key, fields in points:
            measurement, tags = key.split(",", 1)
            tags = dict(tag.split("=") for tag in tags.split(","))
            if tags["source"] == "system":
                continue
            step = fields.get("step", "").rstrip("i")
            for name, value in fields.items():
                if name != "step":
                    metric = name if measurement == "hone" else f"{measurement}/{name}"
                    found.append((tags["experiment"] + "." + tags["trial"], metric, step, float(value)))
        return sorted(found)


def stored(place, experiment="1"):
    out, _ = place.hone("export", experiment, "--metrics", "--jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    return sorted((row["trial"], row["metric"], str(row["step"]), float(row["value"])) for row in rows
                  if not isinstance(row["value"], str))


def spec_of(place, trials, *more):
    place.write("train.py", PROGRAM % {"half": POINTS // 2, "all": POINTS})
    return ["--minimize", "lr", "--set", "params.x=" + json.dumps(list(range(trials))), "--", "/usr/bin/python3",
            "train.py", "{x}", *more]


def make_experiment(place, trials=2):
    place.hone("run", *spec_of(place, trials))


def export(place, server, *more):
    return subprocess.Popen([HONE, "export", "1", "--influx", server.url, "--db", "hone", *more], cwd=place.folder,
                            env=place.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, code=0):
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == code, (process.returncode, out, err)
    return out.decode(), err.decode()


def same(place, server):
    want, got = stored(place), server.samples()
    assert len(want) > POINTS, len(want)
    assert want == got, (len(want), len(got), [p for p in want if p not in set(got)][:3])


def all_points_arrive_once_in_batches_over_one_connection(place: Place):
    make_experiment(place)
    server = Server()
    out, _ = finish(export(place, server))
    same(place, server)
    assert server.connections == 1, server.connections
    assert len(server.batches) >= 3, len(server.batches)
    assert all(len(b) <= 1 << 20 and b.count("\n") <= 5000 for b in server.batches)
    assert "; 16 NaN or infinite left out" in out, out
    server.batches.clear()
    out, _ = finish(export(place, server))
    assert not server.batches and "0 points" in out, out
    finish(export(place, server, "--tags"))
    assert all(",x=" in line for batch in server.batches for line in batch.splitlines())


def an_exporter_killed_before_and_after_every_batch_loses_and_doubles_nothing(place: Place):
    make_experiment(place)
    process = None

    def plan(number):
        if number in (1, 3, 4):
            process.kill()
            return "lose"
        return process.kill if number in (2, 6, 8) else "ok"

    server = Server(plan)
    for _ in range(20):
        process = export(place, server)
        process.communicate(timeout=DEADLINE)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, process.returncode
    assert process.returncode == 0
    assert len(server.requests) > 8, len(server.requests)
    same(place, server)


def a_batch_whose_answer_was_lost_is_the_same_when_the_store_has_grown(place: Place):
    run = place.start("run", *spec_of(place, 1, place.path("go")))
    # what its summaries tell of is in the store
    wait_for("the first half", lambda: place.trials("1")
             and sum(m["count"] for m in place.show("1.1")["metrics"]) >= POINTS)
    process = None
    server = Server(lambda n: process.kill if n == 1 else "ok")
    process = export(place, server)
    finish(process, code=-signal.SIGKILL)
    place.write("go", "")
    assert run.wait(timeout=DEADLINE) == 0
    finish(export(place, server))
    assert server.batches[0] == server.batches[1]
    same(place, server)


def answers_that_fail_are_told_and_the_same_command_goes_on(place: Place):
    make_experiment(place)
    answers = {1: (503, '{"error":"engine: cache maximum memory size exceeded"}'), 2: "mute", 3: "lose",
               5: (429, '{"code":"too many requests","message":"org me has exceeded limited write plan limit"}'),
               6: "mute", 7: (500, "")}
    server = Server(lambda n: answers.get(n, "ok"))
    said = []
    for _ in range(20):
        process = export(place, server)
        _, err = process.communicate(timeout=DEADLINE)
        if process.returncode == 0:
            break
        assert process.returncode == 1 and b"the same command goes on" in err, err
        said.append(err.decode())
    assert len(said) == 6, said
    assert "cache maximum memory size exceeded" in said[0] and "exceeded limited write plan" in said[3], said
    same(place, server)
    _, err = finish(export(place, Server(up=False)), code=1)
    assert "onnect" in err and "--follow waits" in err, err


def a_follower_waits_for_the_server_and_goes_on_to_the_end(place: Place):
    server = Server(lambda n: {2: (503, "")}.get(n, "ok"), up=False)
    run = place.start("run", *spec_of(place, 1, place.path("go")))
    wait_for("the experiment", lambda: place.trials("1"))
    follower = export(place, server, "--follow")
    first = follower.stderr.readline().decode()
    assert "trying again" in first, first
    server.come_up()
    wait_for("the first half", lambda: len(server.samples()) >= POINTS)
    assert follower.poll() is None and run.poll() is None
    place.write("go", "")
    finish(follower)
    assert run.wait(timeout=DEADLINE) == 0
    same(place, server)


def refusals_end_it_with_the_servers_sentence(place: Place):
    make_experiment(place, 1)
    refusals = [(401, '{"error":"authorization failed"}', "authorization failed"),
                (403, '{"code":"forbidden","message":"insufficient permissions for write"}', "insufficient perm"),
                (404, '{"error":"database not found: \\"hone\\""}', 'database not found: "hone"'),
                (301, "", "status 301")]
    for status, body, want in refusals:
        server = Server(lambda n, answer=(status, body): answer)
        _, err = finish(export(place, server, "--follow"), code=1)
        assert want in err and len(server.requests) == 1, err
    server = Server(lambda n: (400, '{"error":"partial write: field type conflict: x dropped=1"}') if n == 1 else "ok")
    out, err = finish(export(place, server))
    assert "field type conflict" in err and "1 batches were refused in part" in out, (out, err)
    same(place, server)


def both_apis_are_asked_as_they_want_it(place: Place):
    make_experiment(place, 1)
    server = Server()
    place.env["HONE_INFLUX_TOKEN"] = "sesame"
    place.hone("export", "1", "--influx", server.url + "/", "--org", "my org", "--bucket", "b")
    path, heads = server.requests[0]
    assert path == "/api/v2/write?org=my%20org&bucket=b&precision=ns", path
    assert heads["authorization"] == "Token sesame" and heads["content-encoding"] == "gzip", heads
    del place.env["HONE_INFLUX_TOKEN"]
    server.requests.clear()
    place.hone("export", "1", "--influx", server.url.replace("//", "//me:p%40ss@"), "--db", "x")
    assert server.requests[0][0] == "/write?db=x&precision=ns", server.requests[0]
    assert server.requests[0][1]["authorization"] == "Basic bWU6cEBzcw==", server.requests[0]
    for name in os.listdir(os.path.join(place.home, "export")):
        with open(os.path.join(place.home, "export", name), encoding="utf-8") as f:
            assert not re.search("sesame|p@ss|p%40ss", f.read()), name


def whole_numbers_go_with_all_their_digits(place: Place):
    place.write("lines", "train n=5i,loss=1,step=1i 1700000000000000007\n"
                "train n=9007199254740993i,loss=2,step=2i 1700000000000000008\n")
    place.hone("run", "--minimize", "loss", "--", "sh", "-c", "cat lines >> $HONE_METRICS")
    server = Server()
    finish(export(place, server))
    lines = [line for batch in server.batches for line in batch.splitlines() if "source=metrics" in line]
    got = [sorted(line.split(" ")[1].split(",")) + line.split(" ")[2:] for line in lines]
    assert got == [["loss=1", "n=5i", "step=1i", "1700000000000000007"],
                   ["loss=2", "n=9007199254740993i", "step=2i", "1700000000000000008"]], lines


def two_exporters_do_not_share_a_cursor(place: Place):
    make_experiment(place, 1)
    held, go = threading.Event(), threading.Event()

    def hold():
        held.set()
        go.wait(DEADLINE)

    server = Server(lambda n: hold if n == 1 else "ok")
    first = export(place, server)
    assert held.wait(DEADLINE)
    _, err = finish(export(place, server), code=1)
    assert "already" in err, err
    go.set()
    finish(first)
    same(place, server)


main(all_points_arrive_once_in_batches_over_one_connection,
     an_exporter_killed_before_and_after_every_batch_loses_and_doubles_nothing,
     a_batch_whose_answer_was_lost_is_the_same_when_the_store_has_grown,
     answers_that_fail_are_told_and_the_same_command_goes_on,
     a_follower_waits_for_the_server_and_goes_on_to_the_end,
     refusals_end_it_with_the_servers_sentence,
     both_apis_are_asked_as_they_want_it,
     whole_numbers_go_with_all_their_digits,
     two_exporters_do_not_share_a_cursor)
