#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stock clients of InfluxDB and Telegraf against `hone serve`, unmodified: pytelegraf and influxdb from
PyPI, and the `influx` command line of Debian's influxdb-client. Prints TAP.

The Python ones live in a virtual environment in build/peers/influx that this makes. What cannot be
installed is skipped, with the reason.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("HONE_BUILD", TOP / "build")).resolve()
VENV = BUILD / "peers" / "influx"
sys.path.insert(0, str(TOP / "tests" / "bad"))
from harness import Place, Skip, main, wait_for


def enter_venv():
    """Go on as a program of the virtual environment, which is made if need be."""
    python = VENV / "bin" / "python"
    if not (VENV / "ready").exists():
        try:
            subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "pytelegraf[http]", "influxdb"],
                           check=True, capture_output=True, timeout=600)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"1..0 # SKIP no pytelegraf and influxdb from PyPI: {error}")
            sys.exit(0)
        (VENV / "ready").touch()
    if sys.prefix != str(VENV):
        os.execv(python, [str(python), *sys.argv])


enter_venv()
import influxdb
import telegraf


class Server:
    def __init__(self, place):
        self.process = place.start("serve", "--port", "0", "--udp", "0", "--json", "--trust-local")
        wait_for("its address", lambda: place.read("out").endswith("\n") or self.process.poll() is not None)
        assert self.process.poll() is None, place.read("err")
        says = json.loads(place.read("out"))
        self.port, self.udp = int(says["address"].rsplit(":", 1)[1]), says["udp"]
        self.client = influxdb.InfluxDBClient("localhost", self.port, database="test")

    def points(self, text, db="test"):
        return list(self.client.query(text, database=db, epoch="ns").get_points())

    def end(self):
        self.client.close()
        self.process.terminate()
        assert self.process.wait(60) == 0


def python_influxdb_writes_and_reads(place: Place):
    server = Server(place)
    client = server.client
    assert client.ping()
    client.create_database("test")
    assert {"name": "test"} in client.get_list_database()
    assert client.get_list_retention_policies("test")[0]["name"] == "autogen"
    points = [{"measurement": "cpu", "tags": {"run": f"r{n % 2}", "odd name": "a,b=c"}, "time": n + 1,
               "fields": {"value": n / 7, "count": n, "up": n % 2 == 0}} for n in range(100)]
    assert client.write_points(points, batch_size=30)
    found = server.points("SELECT value, count, up FROM cpu")
    assert [p["value"] for p in found] == [n / 7 for n in range(100)]
    assert [p["time"] for p in found] == list(range(1, 101))
    assert [p["count"] for p in found] == list(range(100))
    groups = client.query("SELECT max(value) FROM cpu GROUP BY run")
    assert [tags["run"] for (_, tags) in groups.keys()] == ["r0", "r1"]
    assert client.get_list_measurements() == [{"name": "cpu"}]
    assert {"key": "odd name", "value": "a,b=c"} in server.points('SHOW TAG VALUES WITH KEY = "odd name"')
    assert client.get_list_series() == [f"cpu,odd\\ name=a\\,b\\=c,run=r{n}" for n in range(2)]
    assert {"fieldKey": "count", "fieldType": "integer"} in server.points("SHOW FIELD KEYS")
    client.drop_database("test")
    assert client.get_list_database() == []
    server.end()


def python_influxdb_sees_errors_as_its_own(place: Place):
    server = Server(place)
    for text, part in (("SELECT", "error parsing query"), ("SELECT v FROM m", "database not found: none")):
        try:
            server.client.query(text, database="none")
            raise AssertionError(f"no error for {text}")
        except influxdb.exceptions.InfluxDBClientError as error:
            assert part in str(error), error
    try:
        server.client.write(["m v=1 1", "bad"], {"db": "test"}, protocol="line")
        raise AssertionError("no error for a bad line")
    except influxdb.exceptions.InfluxDBClientError as error:
        assert error.code == 400 and "partial write" in str(error), error
    assert server.points("SELECT v FROM m") == [{"time": 1, "v": 1}]
    server.end()


def python_influxdb_keeps_house(place: Place):
    server = Server(place)
    client = server.client
    client.create_database("test")
    client.create_retention_policy("short", "3d", 1, "test", default=True)
    client.alter_retention_policy("short", "test", duration="4d")
    client.drop_retention_policy("short", "test")
    assert client.get_list_users() == []
    assert client.get_list_continuous_queries() == [{"test": []}]
    assert client.write_points([{"measurement": "m", "tags": {"run": r}, "time": 1, "fields": {"v": v}} for r, v in (("a", 1.5), ("b", 2.5))])
    found = client.query("SELECT v FROM m WHERE run = $run", bind_params={"run": "b"}, epoch="ns")
    assert list(found.get_points()) == [{"time": 1, "v": 2.5}]
    for drop in (lambda: client.drop_measurement("m"), lambda: client.delete_series(measurement="m")):
        try:
            drop()
            raise AssertionError("a part of a database was dropped")
        except influxdb.exceptions.InfluxDBClientError as error:
            assert "only all of it" in str(error), error
    assert len(server.points("SELECT v FROM m")) == 2
    server.end()


def python_influxdb_packs_and_sends_datagrams(place: Place):
    server = Server(place)
    packed = influxdb.InfluxDBClient("localhost", server.port, database="test", gzip=True)
    assert packed.write_points([{"measurement": "m", "time": 5, "fields": {"value": 1.5}}])
    assert server.points("SELECT value FROM m") == [{"time": 5, "value": 1.5}]
    packed.close()
    udp = influxdb.InfluxDBClient("localhost", use_udp=True, udp_port=server.udp)
    udp.write_points([{"measurement": "u", "time": 7, "fields": {"value": 2.5}}])
    wait_for("the datagram", lambda: {"name": "outside"} in server.client.get_list_database())
    wait_for("its point", lambda: server.points("SELECT value FROM u", "outside") == [{"time": 7, "value": 2.5}])
    udp.close()
    server.end()


def pytelegraf_sends_by_udp_and_http(place: Place):
    server = Server(place)
    by_udp = telegraf.TelegrafClient(host="localhost", port=server.udp, tags={"run": "a b"})
    by_udp.metric("train", {"loss": 1e-05, "n": 3, "ok": True, "bad": float("nan"), "big": float("inf")},
                  timestamp=11)
    by_udp.metric("odd=name,x", 5, timestamp=12)
    wait_for("both", lambda: "outside" in str(server.client.get_list_database()) and
             len(server.points("SHOW MEASUREMENTS", "outside")) == 2)
    row = server.points("SELECT loss, n, ok, bad, big FROM train WHERE run = 'a b'", "outside")[0]
    assert (row["loss"], row["n"], row["ok"], row["bad"], row["big"]) == (1e-05, 3, 1, None, None), row
    assert server.points('SELECT value FROM "odd=name,x"', "outside") == [{"time": 12, "value": 5}]
    by_http = telegraf.HttpClient(host="localhost", port=server.port)
    by_http.metric("over_http", 2.5, timestamp=13)
    wait_for("it", lambda: server.points("SELECT value FROM over_http", "outside") == [{"time": 13, "value": 2.5}])
    server.end()


def the_influx_command_line_works(place: Place):
    if not shutil.which("influx"):
        raise Skip("no influx here (Debian's package influxdb-client has it)")
    server = Server(place)

    def influx(text, form="column", database=("-database", "test")):
        done = subprocess.run(["influx", "-host", "localhost", "-port", str(server.port), *database, "-format", form,
                               "-execute", text], capture_output=True, text=True, timeout=60, env=place.env)
        return done.stdout + done.stderr

    assert influx("CREATE DATABASE test", database=()) == ""
    assert "test" in influx("SHOW DATABASES", database=())
    assert influx("INSERT cpu,run=a busy=0.5,idle=3i 1000") == ""
    assert influx("INSERT cpu,run=b busy=1.5 2000") == ""
    assert "1000 0.5  3    a" in influx("SELECT * FROM cpu")
    assert influx("SELECT mean(busy) FROM cpu", "csv") == "name,time,mean\ncpu,0,1\n"
    parts = json.loads(influx("SELECT last(busy) FROM cpu GROUP BY run", "json"))["results"]  # it asks for chunks
    assert [one["tags"]["run"] for part in parts for one in part["series"]] == ["a", "b"]
    assert "unable to parse" in influx("INSERT cpu")
    assert "error parsing query" in influx("SELECT FROM")
    server.end()


main(python_influxdb_writes_and_reads, python_influxdb_sees_errors_as_its_own, python_influxdb_keeps_house,
     python_influxdb_packs_and_sends_datagrams, pytelegraf_sends_by_udp_and_http, the_influx_command_line_works)
