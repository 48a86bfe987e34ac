#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""hone export --influx to a real InfluxDB 1.x, killed and started again in the middle: afterwards it has
what the store has, value for value. Prints TAP."""

import json
import math
import os
import shutil
import socket
import subprocess
import sys
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bad"))
from harness import DEADLINE, HONE, Place, Skip, main, wait_for

ROWS = 20000
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


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Influx:
    def __init__(self, place):
        if not shutil.which("influxd"):
            raise Skip("there is no influxd here: tools/setup peers")
        self.place, self.port = place, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder = place.path("influx")
        self.config = place.write("influxdb.conf", f"""reporting-disabled = true
bind-address = "127.0.0.1:{free_port()}"
[meta]
dir = "{folder}/meta"
[data]
dir = "{folder}/data"
wal-dir = "{folder}/wal"
query-log-enabled = false
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:{self.port}"
log-enabled = false
max-row-limit = 0
[continuous_queries]
enabled = false
[subscriber]
enabled = false
""")
        self.process = None

    def start(self):
        with open(self.place.path("influx.log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(["influxd", "-config", self.config], stdout=log, stderr=log, env=self.place.env)
        self.place.started.append(self.process)
        wait_for("influxd", self.is_up)

    def is_up(self):
        if self.process.poll() is not None:
            raise Skip("influxd does not start here")
        try:
            return self.query("SHOW DATABASES") is not None
        except OSError:
            return False

    def query(self, text, db="hone"):
        words = urllib.parse.urlencode({"db": db, "q": text, "epoch": "ns"}).encode()
        with urllib.request.urlopen(self.url + "/query", data=words, timeout=DEADLINE) as reply:
            return json.load(reply)["results"][0]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def samples(self):
        """(trial, metric, step, bits of the value), sorted."""
        found = []
        for series in self.query("SELECT * FROM train, hone").get("series", []):
            for values in series["values"]:
                row = dict(zip(series["columns"], values))
                if row["source"] == "system":
                    continue
                for name in set(row) - {"time", "step", "experiment", "trial", "attempt", "source"}:
                    if row[name] is not None:
                        metric = name if series["name"] == "hone" else series["name"] + "/" + name
                        found.append((row["experiment"] + "." + row["trial"], metric, row["step"], float(row[name]).hex()))
        return sorted(found)


def stored(place):
    out, _ = place.hone("export", "1", "--metrics", "--jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    return sorted((row["trial"], row["metric"], row["step"], float(row["value"]).hex()) for row in rows
                  if math.isfinite(float(row["value"])))


def a_real_influxdb_that_dies_in_the_middle_has_every_value_once(place: Place):
    server = Influx(place)
    server.start()
    server.query("CREATE DATABASE hone")
    place.write("train.py", PROGRAM)
    run = place.start("run", "--minimize", "one", "--set", "params.x=[1, 2]", "--", "/usr/bin/python3", "train.py", "{x}")
    wait_for("the experiment", lambda: len(place.trials("1")) == 2)
    with open(place.path("said"), "wb") as said:
        follower = subprocess.Popen([HONE, "export", "1", "--influx", server.url, "--db", "hone", "--follow"], env=place.env,
                                    stdout=said, stderr=said, stdin=subprocess.DEVNULL)
    place.started.append(follower)
    wait_for("some points", lambda: len(server.samples()) > 5000)
    server.kill()
    place.write("go", "")
    assert run.wait(timeout=DEADLINE) == 0
    wait_for("a word about it", lambda: "trying again" in place.read("said"))
    follower.kill()
    follower.wait()
    server.start()
    place.hone("export", "1", "--influx", server.url, "--db", "hone", "--follow")
    want, got = stored(place), server.samples()
    assert len(want) > 4 * ROWS, len(want)
    assert len(want) == len(got), (len(want), len(got))
    assert want == got, [pair for pair in zip(want, got) if pair[0] != pair[1]][:3]
    place.hone("export", "1", "--influx", server.url, "--db", "hone", "--tags")
    _, err = place.hone("export", "1", "--influx", server.url, "--db", "none", code=1)
    assert 'database not found: "none"' in err, err


main(a_real_influxdb_that_dies_in_the_middle_has_every_value_once)
