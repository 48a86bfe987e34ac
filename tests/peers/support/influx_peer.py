# SPDX-License-Identifier: MIT
"""A real InfluxDB as the goal of hone export --influx: what the tests against 1.x and 2.x share.

A Server knows how to start one and how to ask it. Whatever its version, it is asked in InfluxQL, whose
answers have numbers that read back as the same doubles.
"""

import json
import math
import os
import socket
import subprocess
import sys
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bad"))
from harness import DEADLINE, HONE, Skip, wait_for

ROWS = 20000
# Doubles of all sizes in two halves; the second waits for the file "go".
PROGRAM = f"""
import os, random, struct, sys, time
pick = random.Random(int(sys.argv[1]))
def number():
    while True:
        x = struct.unpack("d", struct.pack("Q", pick.getrandbits(64)))[0]
        if x - x == 0:
            return x
def tell(first, last):
    text = "".join("train train/loss=%r,train/acc=%r,step=%di\\n" % (number(), i * 0.1, i) for i in range(first, last))
    fd = os.open(os.environ["HONE_METRICS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, text.encode() + b"train odd\\\\ name=nan,one=%d\\n" % last)
    os.close(fd)
tell(0, {ROWS} // 2)
while not os.path.exists("go"):
    time.sleep(0.02)
tell({ROWS} // 2, {ROWS})
"""
TAGS = {"time", "step", "experiment", "trial", "attempt", "source"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """`command` starts it; `to` are the words behind `hone export EXPERIMENT`; `headers` open the door."""

    def __init__(self, place):
        self.place, self.port = place, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process, self.command, self.to, self.headers = None, [], [], {}

    def start(self):
        with open(self.place.path("influx.log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=self.place.env)
        self.place.started.append(self.process)
        wait_for("influxd", self.is_up)

    def is_up(self):
        if self.process.poll() is not None:
            raise Skip("influxd does not start here")
        try:
            with urllib.request.urlopen(self.url + "/ping", timeout=DEADLINE) as reply:
                return reply.status == 204
        except OSError:
            return False

    def post(self, path, data, **headers):
        request = urllib.request.Request(self.url + path, data=data, headers={**self.headers, **headers})
        with urllib.request.urlopen(request, timeout=DEADLINE) as reply:
            return reply.read()

    def query(self, text, db="hone"):
        words = urllib.parse.urlencode({"db": db, "q": text, "epoch": "ns"})
        result = json.loads(self.post("/query", words.encode()))["results"][0]
        assert "error" not in result and "partial" not in result, result
        return result

    def kill(self):
        self.process.kill()
        self.process.wait()

    def rows(self, db="hone"):
        """(measurement, row) for every point that a program has told, with its tags and fields."""
        for series in self.query("SELECT * FROM /.*/", db).get("series", []):
            for values in series["values"]:
                row = dict(zip(series["columns"], values))
                if row["source"] != "system":
                    yield series["name"], row

    def samples(self, db="hone", tags=()):
        """(trial, metric, step, bits of the value), sorted."""
        found = []
        for measurement, row in self.rows(db):
            for name in set(row) - TAGS - set(tags):
                if row[name] is not None:
                    metric = name if measurement == "hone" else measurement + "/" + name
                    found.append((row["experiment"] + "." + row["trial"], metric, row["step"], float(row[name]).hex()))
        return sorted(found)


def stored(place, experiment="1"):
    """The same, as the store has it: what InfluxDB can keep."""
    out, _ = place.hone("export", experiment, "--metrics", "--jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    return sorted((row["trial"], row["metric"], row["step"], float(row["value"]).hex()) for row in rows
                  if math.isfinite(float(row["value"])))


def check_same(want, got):
    assert len(want) == len(got), (len(want), len(got))
    assert want == got, [pair for pair in zip(want, got) if pair[0] != pair[1]][:3]


def start_export(place, server, *more):
    """hone export in the background; what it says goes to the file `said`."""
    with open(place.path("said"), "wb") as said:
        exporter = subprocess.Popen([HONE, "export", "1", *server.to, *more], env=place.env,
                                    stdout=said, stderr=said, stdin=subprocess.DEVNULL)
    place.started.append(exporter)
    return exporter


def check_both_die_in_the_middle(place, server):
    """The server, while trials run and an exporter follows; then the exporter that waits for it."""
    place.write("train.py", PROGRAM)
    run = place.start("run", "--minimize", "one", "--set", "params.x=[1, 2]", "--", "/usr/bin/python3", "train.py", "{x}")
    wait_for("the experiment", lambda: len(place.trials("1")) == 2)
    follower = start_export(place, server, "--follow")
    wait_for("some points", lambda: len(server.samples()) > 5000)
    server.kill()
    place.write("go", "")
    assert run.wait(timeout=DEADLINE) == 0
    wait_for("a word about it", lambda: "trying again" in place.read("said"))
    follower.kill()
    follower.wait()
    server.start()
    place.hone("export", "1", *server.to, "--follow")
    want = stored(place)
    assert len(want) > 4 * ROWS, len(want)
    check_same(want, server.samples())
