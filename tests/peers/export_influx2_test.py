#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""hone export --influx to a real InfluxDB 2: whatever dies in the middle, afterwards it has what the store
has, value for value; and what it refuses is told. Prints TAP.

support/influxd2 builds it in build/peers/influxd2 when HONE_PEERS=all; else what was built before is taken.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "support"), os.path.join(HERE, "..", "bad")]
from harness import Place, main, wait_for
from influx_peer import ROWS, Server, check_both_die_in_the_middle, check_same, start_export, stored

TOKEN = "the-token-of-the-test"
PASSWORD = "a password of the test"


def find_influxd():
    """Its path; without one the whole test is skipped."""
    more = [] if os.environ.get("HONE_PEERS") == "all" else ["--have"]
    made = subprocess.run([os.path.join(HERE, "support", "influxd2"), *more], capture_output=True, text=True)
    if made.returncode != 0:
        print(f"1..0 # SKIP {made.stderr.strip().splitlines()[-1]}")
        sys.exit(0)
    return made.stdout.strip()


class Influx2(Server):
    """With an organisation `lab`, its bucket `hone` and a token that may do everything."""

    def __init__(self, place):
        super().__init__(place)
        folder = place.path("influx")
        self.command = [INFLUXD, "run", "--http-bind-address", f"127.0.0.1:{self.port}", "--bolt-path", folder + "/bolt",
                        "--sqlite-path", folder + "/sqlite", "--engine-path", folder + "/engine", "--reporting-disabled",
                        "--log-level", "warn"]
        self.headers = {"Authorization": "Token " + TOKEN}
        self.to = ["--influx", self.url, "--org", "lab", "--bucket", "hone"]
        place.env.update(INFLUXD_CONFIG_PATH=place.path("none"), HONE_INFLUX_TOKEN=TOKEN)
        self.start()
        made = self.call("/api/v2/setup", username="tester", password=PASSWORD, org="lab", bucket="hone", token=TOKEN)
        self.org = made["org"]["id"]

    def call(self, path, **words):
        return json.loads(self.post(path, json.dumps(words).encode(), **{"Content-Type": "application/json"}))

    def flux(self, text):
        """The rows of an answer, as dictionaries."""
        answer = self.post("/api/v2/query?org=lab", text.encode(), **{"Content-Type": "application/vnd.flux", "Accept": "application/csv"})
        tables = answer.decode().replace("\r\n", "\n").split("\n\n")
        return [row for table in tables for row in csv.DictReader(io.StringIO(table.strip("\n")))]


def run_program(place, text, *words):
    place.write("tell.py", text)
    place.hone("run", "--minimize", "one", *words, "--", "/usr/bin/python3", "tell.py")


TELL = """
import os
def tell(text):
    fd = os.open(os.environ["HONE_METRICS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, text.encode())
    os.close(fd)
"""


def a_real_influxdb_2_that_dies_in_the_middle_has_every_value_once(place: Place):
    server = Influx2(place)
    check_both_die_in_the_middle(place, server)
    counts = server.flux('from(bucket: "hone") |> range(start: 0) |> filter(fn: (r) => r._field == "loss" and '
                         'r.source == "metrics") |> count()')
    assert [int(row["_value"]) for row in counts] == [ROWS, ROWS], counts


def an_exporter_that_is_killed_again_and_again_loses_and_doubles_nothing(place: Place):
    server = Influx2(place)
    run_program(place, TELL + f"""
tell("".join("train train/loss=%r,step=%di\\n" % (i / 7, i) for i in range({4 * ROWS})) + "train one=1\\n")
""")
    kills, seen = 0, 0
    while True:
        exporter = start_export(place, server)
        more = wait_for("more points, or the end", lambda: exporter.poll() is not None or points(server) > seen)
        if exporter.poll() is not None:
            break
        exporter.kill()
        exporter.wait()
        kills, seen = kills + 1, points(server)
        assert more
    assert exporter.returncode == 0, place.read("said")
    assert kills > 1, kills
    want = stored(place)
    assert len(want) == 4 * ROWS + 1, len(want)
    check_same(want, server.samples())


def points(server):
    series = server.query("SELECT count(loss) FROM train").get("series")
    return series[0]["values"][0][1] if series else 0


def any_name_of_a_metric_and_of_a_parameter_is_taken(place: Place):
    server = Influx2(place)
    names = ["a b/c d", "a=b/c=d", "a,b/c,d", "ü/é", '"q"/"r"', "back\\slash/x\\y", "_field", "_measurement", "_value",
             "t/_time", "_start/_stop", "/", "a/b/c", "'", "a/step", "#a/b"]
    renamed = {"a/step": "a/step_", "#a/b": "_a/b"}
    lines = "".join("train " + re.sub("([,= ])", r"\\\1", name) + f"={i}.5\n" for i, name in enumerate(names))
    tags = {"_field_": "_field", "_measurement_": "_measurement", "time_": "time", "trial_": "trial", "trial__": "trial_", "lr": "lr"}
    run_program(place, TELL + f"tell({lines!r} + 'train one=1\\n')",
                *[word for name in tags.values() for word in ("--set", f"params.{name}=[{name}]")])
    place.hone("export", "1", *server.to, "--tags")
    want = stored(place)
    assert len(want) == len(names) + 1, want
    got = server.samples(tags=tags)
    check_same(sorted((trial, renamed.get(metric, metric), *rest) for trial, metric, *rest in want), got)
    for _, row in server.rows():
        assert tags == {tag: row[tag] for tag in tags}, row
    told = server.flux('from(bucket: "hone") |> range(start: 0) |> filter(fn: (r) => r._field == "c_d" and r.lr == "lr")')
    assert len(told) == 1, told


def what_is_too_old_for_the_bucket_is_told_and_the_rest_goes_on(place: Place):
    server = Influx2(place)
    server.call("/api/v2/buckets", orgID=server.org, name="short", retentionRules=[{"type": "expire", "everySeconds": 3600}])
    run_program(place, TELL + """
import time
tell("train train/old=1.5 1000000000000000000\\ntrain train/new=2.5 %d\\ntrain one=1\\n" % time.time_ns())
""")
    out, err = place.hone("export", "1", "--influx", server.url, "--org", "lab", "--bucket", "short")
    assert "partial write" in err and "1 batches were refused in part" in out, (out, err)
    assert {metric for _, metric, *_ in server.samples("short")} == {"train/new", "one"}, server.samples("short")


def who_may_not_write_is_told_so(place: Place):
    server = Influx2(place)
    run_program(place, TELL + "tell('train one=1\\n')")
    reader = server.call("/api/v2/authorizations", orgID=server.org, description="reads", permissions=[
        {"action": "read", "resource": {"type": "buckets", "orgID": server.org}}])["token"]
    for token, org, bucket, sentence in [
            ("wrong", "lab", "hone", "unauthorized access"), ("", "lab", "hone", "unauthorized access"),
            (reader, "lab", "hone", "insufficient permissions for write"),
            (TOKEN, "none", "hone", 'organization name "none" not found'), (TOKEN, "lab", "none", 'bucket "none" not found')]:
        place.env["HONE_INFLUX_TOKEN"] = token
        for follow in [], ["--follow"]:
            _, err = place.hone("export", "1", "--influx", server.url, "--org", org, "--bucket", bucket, *follow, code=1)
            assert sentence in err and err.count("\n") == 1, (sentence, err)
    assert not server.samples(), server.samples()


INFLUXD = find_influxd()
main(a_real_influxdb_2_that_dies_in_the_middle_has_every_value_once,
     an_exporter_that_is_killed_again_and_again_loses_and_doubles_nothing,
     any_name_of_a_metric_and_of_a_parameter_is_taken,
     what_is_too_old_for_the_bucket_is_told_and_the_rest_goes_on,
     who_may_not_write_is_told_so)
